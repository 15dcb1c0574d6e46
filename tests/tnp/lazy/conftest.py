"""Tests of laziness run as scripts do: with no recorder of warnings, for which operations would run at once."""

import sys

import pytest

import tnp
from tests.programs import engine, execute


@pytest.fixture(autouse=True)
def at_rest():
    with execute.at_rest(sys.stderr):
        yield


@pytest.fixture
def recorded():
    """Record operations on arrays of any size."""
    with engine.recorded(tnp, 1):
        yield
