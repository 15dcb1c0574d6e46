"""The thread pool: chunks of a kernel run on a few persistent threads, the calling one among them.

Idle threads sleep in ``SimpleQueue.get`` and nobody ever spins: under load a spinning pool is many times slower than
one thread. Chunks must release the GIL while they work (a ctypes call does), otherwise they run one after another.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from typing import Any

from tnp.core.config import Config, config

WORTH_NS = 100_000.0  # work for which another thread is woken: it comes 20 to 60 microseconds later
_SHORTEST_NS = 25_000.0  # of a chunk; beginning one costs about two microseconds
_LONGEST_NS = 2_000_000.0  # of a chunk where a thread may have to wait for another one's last
_UNINTERRUPTED_NS = 20_000_000.0  # of any chunk, so that an interrupt acts soon


class _Job:
    """One call of `run_chunks`. Whoever has time takes chunks from the left until there are none.

    Each helper holds one of `locks` while it does so. The caller ends by acquiring them all: then nobody works on the
    job any more, and a helper that comes later goes away. An interrupt may strike between any two steps of this in the
    caller; all of them may be repeated (the locks are re-entrant), so nothing is counted wrongly and nobody hangs.
    """

    __slots__ = ("chunks", "errors", "fn", "locks")

    def __init__(self, fn: Callable[[Any], object], chunks: Iterable[Any], helpers: int) -> None:
        self.fn = fn
        self.chunks = deque(chunks)
        self.errors: list[BaseException] = []
        self.locks = [threading.RLock() for _ in range(helpers)]

    def work(self) -> None:
        chunks, fn = self.chunks, self.fn
        try:
            while chunks:
                try:
                    chunk = chunks.popleft()
                except IndexError:  # another thread took the last one
                    return
                fn(chunk)
        except BaseException as error:
            self.errors.append(error)
            chunks.clear()

    def finish(self) -> None:
        while True:
            try:
                for lock in self.locks:
                    lock.acquire()
                self.fn = _done  # a helper that comes late must not keep arrays alive
                return
            except BaseException as error:  # an interrupt: what runs is awaited all the same
                self.errors.append(error)
                self.chunks.clear()


def _done(chunk: Any) -> None:
    """What nobody calls any more."""


class _Local(threading.local):
    busy = False  # this thread runs a chunk: what the chunk starts runs serially


_local = _Local()
_queue: "SimpleQueue[tuple[_Job, Any]]" = SimpleQueue()
_started = 0
_lock = threading.Lock()  # of starting threads


_num_threads = 1  # as tnp.config says


def num_threads() -> int:
    """How many threads a kernel may use, the calling one included."""
    return _num_threads


def set_num_threads(n: int) -> int:
    """Set how many threads a kernel may use, the calling one included. Returns the former number.

    >>> import tnp
    >>> former = tnp.set_num_threads(1)
    >>> tnp.set_num_threads(former)
    1
    """
    former = _num_threads
    config.threads = n
    return former


def _configured(settings: Config) -> None:
    global _num_threads
    _num_threads = settings.threads


config.listen(_configured)


def _help(queue: "SimpleQueue[tuple[_Job, Any]]") -> None:
    _local.busy = True
    while True:
        job, lock = queue.get()
        if lock.acquire(blocking=False):
            job.work()
            lock.release()
        del job, lock  # an idle thread must not keep arrays alive


def _start(n: int) -> None:
    global _started
    with _lock:
        while _started < n:
            thread = threading.Thread(target=_help, args=(_queue,), name=f"tnp-{_started}", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is shutting down, or the system has no more: the caller does it all
                return
            _started += 1


def _after_fork() -> None:
    """The child has none of the threads: its next kernel starts its own."""
    global _queue, _started, _lock
    _queue, _started, _lock = SimpleQueue(), 0, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def pieces(ns: float, threads: int) -> int:
    """Into how many chunks work is best cut, so that threads that began late or were held up end together.

    Parameters
    ----------
    ns : float
        What all of it takes one thread.
    threads : int
    """
    if threads == 1:
        return 1 + int(ns / _UNINTERRUPTED_NS)
    return max(threads, int(ns / min(max(ns / (8 * threads), _SHORTEST_NS), _LONGEST_NS)))


def helpers(chunks: int) -> int:
    """How many other threads may take part in so many chunks."""
    return 0 if _local.busy else min(_num_threads, chunks) - 1


def run_chunks(fn: Callable[[Any], object], chunks: Iterable[Any]) -> None:
    """Call ``fn(chunk)`` for each chunk, on several threads.

    The first exception, of a chunk or KeyboardInterrupt here, cancels the chunks that have not begun, waits for those
    that run and is then raised: when this returns, nothing uses the chunks' memory any more. A call from within a
    chunk runs serially.

    Parameters
    ----------
    fn : callable
        Releases the GIL while it works.
    chunks : iterable
        In the order in which they are begun; a few milliseconds each at most, so that an interrupt acts soon.
    """
    chunks = list(chunks)
    others = helpers(len(chunks))
    if others < 1:
        for chunk in chunks:
            fn(chunk)
        return
    if _started < others:
        _start(others)
    job = _Job(fn, chunks, others)
    try:
        _local.busy = True
        for lock in job.locks:
            _queue.put((job, lock))
        job.work()
    except BaseException as error:  # an interrupt outside the chunks
        job.errors.append(error)
        job.chunks.clear()
    finally:
        job.finish()
        _local.busy = False
    if job.errors:
        try:
            raise job.errors[0]
        finally:
            del job  # no cycle of the error's frames and the error
