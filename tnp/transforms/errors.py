"""What goes wrong when a function is recorded, and notices."""

import linecache
import sys
from types import FrameType
from typing import Any

_OWN = frozenset({"tnp", "tnp_autodiff", "tnp_keras", "tnp_dist", "numpy"})


class ConcretizationError(TypeError):
    """The function asked for a value that a later call may have another of: a truth value, a number, a shape."""


class RetraceWarning(UserWarning):
    """A function is recorded again and again, for ever new shapes, dtypes or static arguments."""


def explain(did: str, got: str, expected: str, hint: str) -> str:
    """The text of an error."""
    return f"{did}\n  got:      {got}\n  expected: {expected}\n  hint:     {hint}"


def line_of(point: Any) -> tuple[str, int]:
    """File and line of the program (see `tnp.core.native.point`)."""
    code, instruction, _ = point
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return code.co_filename, line
    return code.co_filename, code.co_firstlineno


def concrete(did: str, hint: str) -> ConcretizationError:
    """The error for a value that is not known while a function is recorded, with the program's line."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] in _OWN:
        frame = frame.f_back
    where = "unknown"
    if frame is not None:
        file, line = frame.f_code.co_filename, frame.f_lineno
        where = f"{file}:{line}: {linecache.getline(file, line).strip()}"
    same = "the same steps at every call, for arrays of the same shapes and dtypes"
    return ConcretizationError(explain(f"jit: {did}", where, same, hint))
