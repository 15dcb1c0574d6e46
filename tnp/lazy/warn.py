"""Floating-point warnings of operations that run later than the program said.

A kernel reports only that something happened. The operations are then run again one by one through NumPy, which says
what happened in which of them, and the warnings are given with the line, and in the order, of the program.
"""

import warnings
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW
from tnp.core import native

try:
    from numpy._core.umath import _extobj_contextvar  # private: one lookup of 30 ns instead of 1 us

    _state: Any = _extobj_contextvar
except ImportError:
    _state = None

FLAGS = {"divide": DIVIDE, "over": OVERFLOW, "under": UNDERFLOW, "invalid": INVALID}
_KINDS = {"divide by zero": "divide", "overflow": "over", "underflow": "under", "invalid value": "invalid"}
KINDS = tuple(_KINDS)  # NumPy's words for what happens, in its order


def kinds_of(flags: int) -> list[str]:
    """NumPy's words for these flags."""
    return [kind for kind, name in _KINDS.items() if flags & FLAGS[name]]


# The verdict on the present error state and warning filters, and what it was made from
_seen_state: Any = None
_seen_filters: Any = None
_seen_first: Any = None
_seen_length = -1
_modes: dict[str, str] | None = None
_snapshot: list[Any] = []
_asks = False  # does the error state want warnings at all?
_warnings: Any = warnings  # with private names, which its published types have not
_names: dict[str, Any] = vars(warnings)  # looked up as Python does, and faster
_show = _warnings._showwarning_orig
_print = None  # what prints warnings when nobody records them; known once it has been seen at rest

# Runs what is pending and could warn: the schedule puts its own here
_finish: list[Callable[[], None]] = []


def before_printing(finish: Callable[[], None]) -> None:
    """Have `finish` called before a warning is printed."""
    _finish.append(finish)


def _in_order(message: Any) -> None:
    """Print a warning, after those of operations that the program wrote before it."""
    try:
        for finish in _finish:
            finish()
    finally:
        _print(message)  # type: ignore[misc]


class Where:
    """Where, under which error state and under which warning filters an operation was recorded."""

    __slots__ = ("_instruction", "code", "filters", "globals", "modes")

    code: CodeType
    globals: dict[str, Any]
    modes: dict[str, str]
    filters: list[Any]
    _instruction: int

    @property
    def line(self) -> int:
        """Line of the program (finding it takes longer than recording, so it waits until somebody asks)."""
        last = self.code.co_firstlineno
        for start, end, line in self.code.co_lines():
            if start <= self._instruction < end and line is not None:
                return line
        return last


def error_modes() -> dict[str, str] | None:
    """The error state, if operations recorded under it may run later; None if they must run at once.

    They must where an error state is raise, call, print or log, and where a filter would make an exception of the
    warning or somebody records warnings.
    """
    global _seen_state, _seen_filters, _seen_first, _seen_length, _modes, _snapshot, _asks
    filters = _names["filters"]
    first = filters[0] if filters else None
    state = native.value(_state) if _state is not None else None
    if (
        state is not None
        and state is _seen_state
        and filters is _seen_filters
        and first is _seen_first
        and len(filters) == _seen_length
    ):
        return _modes if _printing() else None
    _seen_state, _seen_filters, _seen_first, _seen_length = state, filters, first, len(filters)
    _modes, _snapshot = _verdict(filters), list(filters)
    _asks = _modes is not None and "warn" in _modes.values()
    return _modes if _printing() else None


def asked() -> int:
    """The flags that the present error state does anything about."""
    return sum(FLAGS[kind] for kind, mode in np.geterr().items() if mode != "ignore")


def _printing() -> bool:
    """Do warnings go to the standard error stream, as Python has it? (pytest and others put recorders there.)

    From then on they are printed in the order of the program.
    """
    global _print
    now = _names["_showwarnmsg_impl"]
    if now is not _in_order:
        if getattr(now, "__module__", None) != "warnings" or not hasattr(now, "__code__"):
            return False
        _print, _warnings._showwarnmsg_impl = now, _in_order
    return _names["showwarning"] is _show


def _verdict(filters: Any) -> dict[str, str] | None:
    modes: dict[str, Any] = {**np.geterr()}
    if not set(modes.values()) <= {"ignore", "warn"}:
        return None
    if any(f[0] == "error" and issubclass(RuntimeWarning, f[2]) for f in filters):
        return None
    return modes


def here(modes: dict[str, str], point: tuple[CodeType, int, dict[str, Any]] | None) -> Where | None:
    """Where the program is: the innermost frame that is not ours, which is `point` if that was asked already."""
    if not _asks:
        return QUIET
    if point is None:
        point = native.point()
        if point is None:
            return QUIET
    w = Where.__new__(Where)
    w.code, w._instruction, w.globals = point[0], point[1], point[2]
    w.modes, w.filters = modes, _snapshot
    return w


# An operation that may set flags, under an error state that ignores them all
QUIET = None


def give(where: Where, ufunc_name: str, kinds: list[str]) -> None:
    """The warnings of one operation; `kinds` are NumPy's words for what happened, in NumPy's order."""
    now = _warnings.filters, _warnings.showwarning, _warnings._showwarnmsg_impl
    _warnings.filters, _warnings.showwarning, _warnings._showwarnmsg_impl = where.filters, _show, _print
    try:
        _give(where, ufunc_name, kinds)
    finally:
        _warnings.filters, _warnings.showwarning, _warnings._showwarnmsg_impl = now


def _give(where: Where, ufunc_name: str, kinds: list[str]) -> None:
    for kind in kinds:
        if where.modes[_KINDS[kind]] == "warn":
            registry = where.globals.setdefault("__warningregistry__", {})
            warnings.warn_explicit(
                f"{kind} encountered in {ufunc_name}",
                RuntimeWarning,
                where.code.co_filename,
                where.line,
                where.globals.get("__name__") or "<unknown>",  # a module that is being torn down has no name
                registry,
            )


def happened(function: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Result of ``function()`` and the kinds of floating-point errors in it."""
    kinds: list[str] = []
    with np.errstate(all="call", call=lambda kind, flag: kinds.append(kind)):
        result = function()
    return result, kinds
