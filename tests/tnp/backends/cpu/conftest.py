"""What tests of the CPU engine share."""

import pytest

from .groups import compiling


@pytest.fixture(scope="module")
def engine():
    return compiling()
