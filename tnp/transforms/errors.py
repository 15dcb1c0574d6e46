"""What goes wrong under `vmap`, with the program's line."""

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
