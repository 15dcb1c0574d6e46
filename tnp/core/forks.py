"""Locks that a forked child finds free, whichever thread of its parent held them.

What they guard must be whole between any two bytecodes, for the child goes on with it as it stood.
"""

import os
import threading
import weakref


class Lock:
    """A re-entrant lock, for ``with``."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_all: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def _after_fork() -> None:
    for lock in _all:
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
