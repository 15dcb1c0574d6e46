"""docs/autodiff.md promises what there is; what there is says tests/tnp_autodiff/test_derivatives.py, name by name."""

import re
from pathlib import Path

import numpy
import pytest

from tnp_autodiff.recorder import CALLS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "autodiff.md"
SPACES = {"": numpy, "linalg.": numpy.linalg, "fft.": numpy.fft}

NOT_RULES = "linalg fft nextafter frexp i0 out where reduce r_ c_"  # that the section speaks of


def said():
    text = DOCUMENT.read_text()
    section = text[text.index("## Which functions") : text.index("A gradient by way of any other")]
    for line in re.split(r"\n- ", section)[1:]:
        prefix = "linalg." if line.startswith("`linalg`") else ""
        for name in re.findall(r"`([a-z_0-9]+)`", line):
            if name not in NOT_RULES.split():
                yield prefix + name


@pytest.mark.parametrize("name", sorted(set(said())))
def test_the_document_promises_what_there_is(name):
    space, _, short = name.rpartition(".")
    spaces = (SPACES[f"{space}." if space else ""], numpy.ndarray, numpy.random)
    functions = [getattr(where, short, None) for where in spaces]
    methods = ("stack", "concatenate", "accumulate", "outer", "at")
    builders = [getattr(type(f), "__getitem__", None) for f in functions]
    assert short in methods or any(f is not None and f in CALLS for f in functions + builders)
