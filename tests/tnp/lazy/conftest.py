"""Tests of laziness run as scripts do: with no recorder of warnings, for which operations would run at once."""

import sys

import pytest

from tests.programs import execute


@pytest.fixture(autouse=True)
def at_rest():
    with execute.at_rest(sys.stderr):
        yield
