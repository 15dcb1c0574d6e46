"""What overwrites its own input must not stop halfway: Ctrl-C waits until it has ended."""

import signal
import threading
from types import FrameType
from typing import Any

_MAIN = threading.main_thread()


class Uninterrupted:
    """While it is entered in the main thread, an interrupt waits; it acts at the end.

    Other threads are never interrupted.
    """

    __slots__ = ("_former", "_held")

    def __enter__(self) -> None:
        self._held: tuple[int, FrameType | None] | None = None
        self._former: Any = None
        if threading.current_thread() is _MAIN and callable(former := signal.getsignal(signal.SIGINT)):
            self._former = former
            signal.signal(signal.SIGINT, self._hold)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        self._held = number, frame

    def __exit__(self, *exc: object) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)
            if self._held is not None:
                self._former(*self._held)
