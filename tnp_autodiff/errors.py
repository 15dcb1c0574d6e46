"""What goes wrong in differentiation, and warnings of values that leave it."""

import os
import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np

import tnp
from tnp.core.errors import explain as explain

_OWN = tuple(os.path.dirname(file) + os.sep for file in (np.__file__ or "", tnp.__file__ or "", __file__))


class NotDifferentiableError(TypeError):
    """A gradient was asked through an operation, or of an array, that has none."""


class AliasError(RuntimeError):
    """An argument of a differentiated function was reached under two names, and one of them was written."""

    def __init__(self, did: str) -> None:
        super().__init__(
            explain(
                f"grad: {did} memory that an argument shares with another name",
                "one array reached as an argument, and through a closure or a second argument",
                "one name, or no writes",
                "GradientTape.watch follows every name",
            )
        )


class LeavingTapeWarning(UserWarning):
    """A tracked value became a plain one: what is computed from it is a constant to every tape.

    Once for each line of the program. As an error: ``warnings.simplefilter("error", LeavingTapeWarning)``.
    """


def program_line() -> tuple[str, int, Any]:
    """File, line and warning registry of the program's innermost frame."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN) and frame.f_back is not None:
        frame = frame.f_back
    assert frame is not None
    return frame.f_code.co_filename, frame.f_lineno, frame.f_globals.setdefault("__warningregistry__", {})


def warn_leaving(what: str) -> None:
    """Warn that a tracked value leaves, with the program's line."""
    file, line, registry = program_line()
    text = explain(
        f"a tracked value leaves the tape: {what}",
        "a plain number or NumPy array, constant to every tape",
        "tnp's functions on tnp arrays",
        "tnp_autodiff.stop_gradient(x) where a constant is meant",
    )
    warnings.warn_explicit(text, LeavingTapeWarning, file, line, registry=registry)
