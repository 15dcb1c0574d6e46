"""A substitute for numpy, and test files to run against it, for the tests of the runner itself."""

import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from .results import Run
from .run import Settings, run_all

# `sum` is off by one and counts its calls; `add` is another object that does the same; `absolute` is not there.
SUBSTITUTE = """
import functools
import numpy

class ndarray:
    def __init__(self, values):
        self.values = numpy.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values

calls = []

def asarray(values):
    return ndarray(values)

def sum(values):
    calls.append(values)
    return numpy.sum(values) + 1

@functools.wraps(numpy.add)
def add(*args):
    return numpy.add(*args)

def __getattr__(name):
    if name.startswith("__") or name in ("absolute", "abs", "testing"):
        raise AttributeError(name)
    return getattr(numpy, name)
"""


@pytest.fixture
def run_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Run test files, given as ``name=text``, against the substitute; options of Settings go into ``settings``."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "conformance_substitute.py").write_text(SUBSTITUTE)
    monkeypatch.syspath_prepend(modules)

    def run(settings: Settings | None = None, **texts: str) -> Run:
        suite = tmp_path / "suite"
        suite.mkdir()
        for name, text in texts.items():
            (suite / f"{name}.py").write_text(textwrap.dedent(text))
        redirected = (("NPCONFORM_TESTS", str(suite)),)
        settings = replace(settings or Settings(), module="conformance_substitute", environment=redirected)
        found = sorted(path.name for path in suite.glob("test_*.py"))
        return run_all(found, settings, root=suite)

    return run
