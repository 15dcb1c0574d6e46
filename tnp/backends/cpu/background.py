"""One thread that compiles what turned out to run often. It starts with the first job and never delays anybody."""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

_Queue = SimpleQueue[Callable[[], object] | None]

_finishing = threading.Lock()  # one waits at a time: the jobs of all before have ended, too
_lock = threading.Lock()  # of the two below
_queue: _Queue = SimpleQueue()
_thread: threading.Thread | None = None


def submit(job: Callable[[], object]) -> None:
    """Run ``job()`` some time soon. It must not raise."""
    global _thread
    with _lock:
        _queue.put(job)
        if _thread is None:
            thread = threading.Thread(target=_work, args=(_queue,), name="tnp-compile", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is shutting down: nobody will want the result
                return
            _thread = thread


def _work(queue: _Queue) -> None:
    while (job := queue.get()) is not None:
        job()
        job = None  # what it holds must not wait for the next one


def finish() -> None:
    """Wait until everything submitted is done."""
    global _queue, _thread
    with _finishing:
        with _lock:
            thread, queue = _thread, _queue
            _thread, _queue = None, SimpleQueue()  # what is submitted from here on is a new thread's
        if thread is not None:
            queue.put(None)
            thread.join()


def close() -> None:
    """Let the running job end (the compiler must not be destroyed under it); drop the others."""
    with _lock:
        while not _queue.empty():
            _queue.get()
    finish()


def _after_fork() -> None:
    global _finishing, _lock, _queue, _thread
    _finishing, _lock, _queue, _thread = threading.Lock(), threading.Lock(), SimpleQueue(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
