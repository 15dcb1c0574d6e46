"""The pool runs every chunk once, ends quiet after errors and interrupts, and survives a fork."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest

from tnp.backends.cpu import threads


@pytest.fixture(autouse=True, name="n", params=[1, 2, 3])
def _n(request):
    former = threads.set_num_threads(request.param)
    yield request.param
    threads.set_num_threads(former)


def nap(_chunk=None, seconds=0.01):
    time.sleep(seconds)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 100])
def test_every_chunk_runs_once(count):
    seen = []
    threads.run_chunks(lambda c: (nap(seconds=0.0001), seen.append(c)), iter(range(count)))
    assert sorted(seen) == list(range(count))


def test_chunks_run_on_as_many_threads_as_asked(n):
    barrier = threading.Barrier(n, timeout=20)  # broken unless n chunks run at the same time
    names = []
    threads.run_chunks(lambda _: (barrier.wait(), names.append(threading.get_ident())), range(n))
    assert len(set(names)) == n
    assert threading.get_ident() in names


def test_no_more_threads_than_asked(n):
    running, most = set(), []

    def chunk(i):
        running.add(i)
        nap(seconds=0.002)
        most.append(len(running))
        running.discard(i)

    threads.run_chunks(chunk, range(20))
    assert max(most) <= n


def test_the_first_error_is_raised_when_nothing_runs_any_more(n):
    running = []

    def chunk(i):
        running.append(i)
        nap(seconds=0.02 * (i % 2))
        running.remove(i)
        if i == 4:
            raise IndexError("chunk 4")

    with pytest.raises(IndexError, match="chunk 4"):
        threads.run_chunks(chunk, range(50))
    assert not running
    seen = []
    threads.run_chunks(seen.append, range(5))
    assert sorted(seen) == list(range(5))


def test_nested_calls_run_on_their_own_thread(n):
    wrong = []

    def chunk(_):
        me = threading.get_ident()
        threads.run_chunks(lambda _: wrong.append(1) if threading.get_ident() != me else nap(seconds=0.001), range(4))

    threads.run_chunks(chunk, range(6))
    assert not wrong


def test_callers_on_several_threads(n):
    sums = [0] * 6

    def caller(k):
        for _ in range(50):
            part = []
            threads.run_chunks(part.append, range(8))
            sums[k] += sum(part)

    callers = [threading.Thread(target=caller, args=(k,)) for k in range(6)]
    for c in callers:
        c.start()
    for c in callers:
        c.join(30)
    assert sums == [50 * 28] * 6


def test_idle_threads_hold_nothing(n):
    class Chunk:
        pass

    chunks = [Chunk() for _ in range(4)]
    alive = [weakref.ref(c) for c in chunks]
    gc.disable()
    try:
        threads.run_chunks(nap, chunks)
        del chunks
        deadline = time.monotonic() + 5
        while any(r() for r in alive) and time.monotonic() < deadline:
            nap()
        assert not any(r() for r in alive)
    finally:
        gc.enable()


@pytest.mark.parametrize("interrupts", [1, 3])
def test_an_interrupt_cancels_waits_and_is_raised(n, interrupts):
    running, ran = [], []

    def chunk(i):
        running.append(i)
        try:
            for _ in range(10):
                nap(seconds=0.005)
        finally:
            running.remove(i)
        ran.append(i)

    def interrupt():
        for _ in range(interrupts):
            nap(seconds=0.03)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def raise_inside(_signum, frame):
        while frame is not None and frame.f_code is not threads.run_chunks.__code__:
            frame = frame.f_back
        if frame is not None:
            raise KeyboardInterrupt

    former = signal.signal(signal.SIGINT, raise_inside)
    sender = threading.Thread(target=interrupt)
    try:
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            threads.run_chunks(chunk, range(1000))
        left = list(running)
        sender.join()
        nap()
    finally:
        signal.signal(signal.SIGINT, former)
    assert not left
    assert len(ran) < 100
    threads.run_chunks(nap, range(3))


INTERRUPTED_ANYWHERE = """
import ctypes, signal, sys, time
from tnp.backends.cpu import threads
threads.set_num_threads(3)
usleep = ctypes.CDLL(None).usleep
hits = 0
end = time.monotonic() + 2
while time.monotonic() < end:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0004)
        while True:
            threads.run_chunks(usleep, [20] * 4)
    except KeyboardInterrupt:
        hits += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print("survived", hits > 10)
"""


@pytest.mark.parametrize("n", [3], indirect=True)
def test_interrupts_at_any_moment_never_hang(n):
    code = "import signal\nsignal.signal(signal.SIGALRM, signal.default_int_handler)\n" + INTERRUPTED_ANYWHERE
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "survived True", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads(n):
    threads.run_chunks(nap, range(4))
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        idents = []
        barrier = threading.Barrier(n, timeout=10)
        threads.run_chunks(lambda _: (barrier.wait(), idents.append(threading.get_ident())), range(n))
        os._exit(0 if len(set(idents)) == n else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_setting_the_number():
    former = threads.set_num_threads(5)
    assert threads.num_threads() == 5
    assert threads.set_num_threads(former) == 5
    with pytest.raises(ValueError, match=r"(?s)threads.*got: +0.*at least 1"):
        threads.set_num_threads(0)


@pytest.mark.parametrize("n", [1, 2, 8])
def test_work_is_cut_finely_enough_but_not_finer(n):
    for ns in (1e3, 1.2e5, 1e6, 1e8, 1e10):
        each = ns / threads.pieces(ns, n)
        assert each <= 2.1e7  # an interrupt waits for it
        if n > 1:
            assert threads.pieces(ns, n) >= n
            assert each >= min(2.5e4, ns / n)
            assert each <= max(2.5e4 * 2, ns / (4 * n))  # held up by a chunk, the others do the rest
