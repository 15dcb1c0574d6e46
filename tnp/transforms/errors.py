"""What goes wrong when a function is recorded, and notices."""

import linecache
from typing import Any

from tnp.core import native


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
    point = native.point()
    where = "unknown"
    if point is not None:
        file, line = line_of(point)
        where = f"{file}:{line}: {linecache.getline(file, line).strip()}"
    return ConcretizationError(
        explain(f"jit: {did}", where, "the same steps at every call, for arrays of the same shapes and dtypes", hint)
    )
