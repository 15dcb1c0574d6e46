"""What overwrites its own input must not stop halfway: Ctrl-C waits until it has ended."""

import threading
from signal import SIGINT
from types import FrameType
from typing import Any

try:
    # Private: the public ones make enumerations of numbers, which takes as long as a small kernel
    from _signal import getsignal, signal  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from signal import getsignal, signal

_NUMBER = int(SIGINT)


class Uninterrupted:
    """While it is entered in the main thread, an interrupt waits; it acts at the end.

    Other threads are never interrupted.
    """

    __slots__ = ("_former", "_held")

    def __enter__(self) -> None:
        self._held: tuple[int, FrameType | None] | None = None
        self._former: Any = None
        if threading.get_ident() == threading.main_thread().ident and callable(former := getsignal(_NUMBER)):
            self._former = former
            signal(_NUMBER, self._hold)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        self._held = number, frame

    def __exit__(self, *exc: object) -> None:
        if self._former is not None:
            signal(_NUMBER, self._former)
            if self._held is not None:
                self._former(*self._held)
