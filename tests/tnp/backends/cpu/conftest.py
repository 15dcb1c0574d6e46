"""What tests of the CPU engine share."""

import pytest

from tnp.backends.cpu.engine import CpuBackend


@pytest.fixture(scope="module")
def engine():
    """A backend that compiles at first sight."""
    backend = CpuBackend(stress=False)
    backend.compile_ns = 0
    return backend
