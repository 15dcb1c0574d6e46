"""What goes wrong under `vmap` and `jit`, with the program's line."""

import linecache
import os
import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np

import tnp
from tnp.core.errors import explain as explain

_OWN = tuple(os.path.dirname(file) + os.sep for file in (np.__file__ or "", tnp.__file__ or ""))
_OWN += (os.path.join(os.path.dirname(os.path.dirname(tnp.__file__ or "")), "tnp_autodiff") + os.sep,)


class DataDependentError(TypeError):
    """A value that differs between the examples was to steer Python, or the shape of a result."""


class EscapedError(RuntimeError):
    """An array of one example was used after `vmap` had returned."""


class LoopCarriedError(RuntimeError):
    """The result would depend on the order of the examples."""


class VmapLoopWarning(UserWarning):
    """A function ran for one example after the other.

    Once for each line of the program. To be told of none: ``warnings.simplefilter("ignore", VmapLoopWarning)``.
    """


class ConcretizationError(TypeError):
    """The function asked for a value that a later call may have another of: a truth value, a number, a shape."""


class RetraceWarning(UserWarning):
    """A function is recorded again and again, for ever new shapes, dtypes or static arguments."""


def program() -> FrameType:
    """The program's innermost frame."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN) and frame.f_back is not None:
        frame = frame.f_back
    assert frame is not None
    return frame


def here() -> str:
    """Where the program is: its file, line, and what stands there."""
    frame = program()
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line, frame.f_globals).strip()
    return f"{file}:{line}{': ' + text if text else ''}"


def depends(what: str, hint: str) -> DataDependentError:
    """The error of a value that would have to be the same for all examples."""
    return DataDependentError(
        explain(
            f"vmap: {what}", f"a value that differs between the examples, at {here()}", "shapes and static values", hint
        )
    )


STEERS = (
    "where(c, x, y) or select instead of if; tnp.cond, tnp.while_loop and tnp.scan instead of branches and loops; "
    "return values to look at them"
)


def warn_loop(name: str) -> None:
    """Say that the function `name` runs for one example after the other."""
    frame = program()
    text = explain(
        f"vmap: {name} runs for one example after the other",
        "a function without a batching rule",
        "functions that docs/vmap.md lists",
        'warnings.simplefilter("ignore", tnp.transforms.VmapLoopWarning) where that is meant',
    )
    registry: Any = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, VmapLoopWarning, frame.f_code.co_filename, frame.f_lineno, registry=registry)


def line_of(point: Any) -> tuple[str, int]:
    """File and line of the program (see `tnp.core.native.point`)."""
    code, instruction, _ = point
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return code.co_filename, line
    return code.co_filename, code.co_firstlineno


def concrete(did: str, hint: str) -> ConcretizationError:
    """The error for a value that is not known while a function is recorded, with the program's line."""
    same = "the same steps at every call, for arrays of the same shapes and dtypes"
    return ConcretizationError(explain(f"jit: {did}", here(), same, hint))
