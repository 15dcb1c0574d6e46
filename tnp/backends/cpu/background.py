"""One thread that compiles what turned out to run often. It starts with the first job and never delays anybody."""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

_queue: "SimpleQueue[Callable[[], object] | None]" = SimpleQueue()
_thread: threading.Thread | None = None


def submit(job: Callable[[], object]) -> None:
    """Run ``job()`` some time soon. It must not raise."""
    global _thread
    _queue.put(job)
    if _thread is None:
        _thread = threading.Thread(target=_work, args=(_queue,), name="tnp-compile", daemon=True)
        _thread.start()


def _work(queue: "SimpleQueue[Callable[[], object] | None]") -> None:
    while (job := queue.get()) is not None:
        job()


def finish() -> None:
    """Wait until everything submitted is done."""
    global _thread
    thread, _thread = _thread, None
    if thread is not None:
        _queue.put(None)
        thread.join()


def close() -> None:
    """Let the running job end (the compiler must not be destroyed under it); drop the others."""
    while not _queue.empty():
        _queue.get()
    finish()


def _after_fork() -> None:
    global _queue, _thread
    _queue, _thread = SimpleQueue(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
