"""The thread that compiles."""

import subprocess
import sys
import threading
import time
import weakref

from tnp.backends.cpu import background

AT_EXIT = """
import atexit
import time

compiled = []
atexit.register(lambda: print([c._tracker.closed for c in compiled]))  # the first runs last

from tnp.backends.cpu import background
from tnp.backends.cpu.compile import compiler

def job():
    time.sleep(0.5)
    compiled.append(compiler().compile(b"one", lambda: "define i64 @f() { ret i64 1 }", ("f",)))

compiler()
background.submit(job)
while not background._queue.empty():
    time.sleep(0.01)
"""


def test_what_is_compiled_as_the_process_ends_is_left_in_place():
    ended = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[True]\n", "")


def test_every_job_runs_once_whoever_submits_and_waits():
    done = []

    def work(first):
        for k in range(first, first + 50):
            background.submit(lambda k=k: done.append(k))
            if k % 10 == 9:
                background.finish()
                assert k in done

    threads = [threading.Thread(target=work, args=(1000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    background.finish()
    assert sorted(done) == [1000 * n + k for n in range(4) for k in range(50)]


def test_no_thread_can_start(monkeypatch):
    """As when the interpreter shuts down."""
    background.finish()

    def refused(self):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refused)
    background.submit(lambda: None)
    background.finish()


def test_a_job_that_has_run_is_let_go():
    class Held:
        pass

    held = Held()
    ref = weakref.ref(held)
    background.submit(lambda held=held: None)
    del held
    until = time.monotonic() + 10
    while ref() is not None and time.monotonic() < until:
        time.sleep(0.001)
    assert ref() is None  # though no other job has come
