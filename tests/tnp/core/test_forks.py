"""Locks of a forked child."""

import os
import threading

import pytest

from tnp.core.forks import Lock


def test_it_is_re_entrant_and_keeps_others_out():
    lock, inside, order = Lock(), threading.Event(), []

    def other():
        inside.set()
        with lock:
            order.append("other")

    with lock, lock:
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait()
        thread.join(0.05)
        assert thread.is_alive()
        order.append("first")
    thread.join()
    assert order == ["first", "other"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_finds_it_free_whoever_held_it():
    lock, held, let_go = Lock(), threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            let_go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        got = lock._lock.acquire(timeout=5)
        os._exit(0 if got else 1)
    let_go.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
