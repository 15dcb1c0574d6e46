"""Reductions of memory as it lies: by the engine's threads or by NumPy, with the same bits."""

import os

import numpy
import pytest

import tnp as np
from tnp import content
from tnp.backends.cpu import reduce
from tnp.backends.cpu.engine import SUPPORTED


@pytest.mark.parametrize(
    ("shape", "axis", "name", "shared"),
    [
        ((1 << 13, 80), 1, "sum", True),
        ((1 << 13, 80), 1, "max", True),
        ((1 << 13, 80), 0, "sum", False),
        ((1 << 15, 16), 1, "sum", False),
        ((1 << 15, 40), 0, "max", False),
        ((800_000,), None, "sum", True),
        ((800_000,), None, "max", False),
        ((1100, 1000), None, "max", True),
        ((4, 1 << 12, 70), (1, 2), "sum", True),
        ((1 << 11, 100), 1, "sum", False),
    ],
)
def test_plain_memory_is_shared_out_where_that_pays(shape, axis, name, shared, monkeypatch):
    """What NumPy reduces as fast on one thread is left to it: counted, not timed."""
    if not SUPPORTED or os.environ.get("TNP_STRESS") == "1":
        pytest.skip("only where kernels are compiled, and not everything is to go through them")
    monkeypatch.setattr(reduce, "COMPILE_NS", 0)  # else a fast machine may be done before a kernel pays
    x = numpy.random.default_rng(5).normal(size=shape)
    mine, want = np.array(x), getattr(x, name)(axis=axis)
    with np.config(threads=2):
        before = content.backend.stats.launched
        for _ in range(70):
            got = getattr(mine, name)(axis=axis)
        assert (content.backend.stats.launched > before) == shared
    assert got.tobytes() == want.tobytes() and got.shape == want.shape
    with np.config(threads=1):
        before = content.backend.stats.launched
        assert getattr(mine, name)(axis=axis).tobytes() == want.tobytes()
        assert content.backend.stats.launched == before
