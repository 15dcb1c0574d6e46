"""Settings: attributes of `tnp.config`, environment variables TNP_*, and context managers.

>>> import tnp
>>> with tnp.config(lazy=False):  # every operation runs at once, for debugging
...     (tnp.arange(3) + 1).sum()
np.int64(6)
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

LAZY_FROM = 32768  # elements: below, an operation costs less than recording and running it later would gain


def _flag(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "off", "no")


class Config:
    """What can be set.

    Attributes
    ----------
    lazy : bool
        Record operations on large arrays and run them fused (TNP_LAZY). Off: every operation runs at once.
    lazy_from : int
        Elements from which an operation is recorded (TNP_LAZY_FROM).
    stress : bool
        Record every operation, thread from the first element, cut 64-element chunks (TNP_STRESS): so that tests on
        small arrays judge the engine too. Read when tnp is imported.
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[[Config], None]] = []
        self._values: dict[str, Any] = {
            "lazy": _flag(os.environ.get("TNP_LAZY", "1")),
            "lazy_from": int(os.environ.get("TNP_LAZY_FROM", LAZY_FROM)),
            "stress": _flag(os.environ.get("TNP_STRESS", "")),
        }
        if self._values["stress"]:
            self._values["lazy_from"] = 1

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            names = ", ".join(sorted(self.__dict__.get("_values", ())))
            raise AttributeError(f"tnp.config: no setting {name!r}\n  expected: one of {names}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        old = getattr(self, name)
        if type(value) is not type(old):
            raise TypeError(f"tnp.config.{name}: wrong type\n  got:      {value!r}\n  expected: {type(old).__name__}")
        self._values[name] = value
        for tell in self._listeners:
            tell(self)

    def listen(self, tell: Callable[["Config"], None]) -> None:
        """Call ``tell(config)`` now and after every change."""
        self._listeners.append(tell)
        tell(self)

    def memory(self) -> int:
        """Bytes of results that may wait, together: more run at once, so that MemoryError comes at the call."""
        return _memory() // 4

    @contextlib.contextmanager
    def __call__(self, **values: Any) -> Iterator["Config"]:
        """Settings for the body of a ``with`` statement."""
        before = {name: getattr(self, name) for name in values}
        for name, value in values.items():
            setattr(self, name, value)
        try:
            yield self
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {value!r}" for name, value in sorted(self._values.items()))


def _memory() -> int:
    """Bytes that this process may use: physical memory, or the limit on its address space."""
    try:
        have = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        have = 1 << 33
    if resource is not None:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            have = min(have, limit)
    return have


config = Config()
