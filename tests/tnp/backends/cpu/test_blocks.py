"""Groups as calls of NumPy's inner loops in C: bits and flags are NumPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tnp.backends.base import Group
from tnp.backends.cpu import blocks, interpret, threads
from tnp.backends.cpu.inner_loops import BLOCK

from .groups import cast_step, hostile, numpy_result, same_bits, step

pytestmark = pytest.mark.skipif(blocks.run is None, reason="the modules were not compiled")

UFUNCS = {
    "d": "add subtract multiply divide sqrt absolute square negative exp log sin floor power arctan2 remainder",
    "f": "add subtract multiply divide sqrt absolute square negative exp log sin rint reciprocal power hypot",
    "D": "add subtract multiply divide sqrt square negative conjugate exp",
    "q": "add subtract multiply absolute square negative bitwise_and floor_divide remainder left_shift gcd",
    "B": "add subtract multiply bitwise_or invert floor_divide right_shift",
    "?": "logical_and logical_or logical_xor logical_not",
}
SIZES = (2, 63, BLOCK - 1, BLOCK, BLOCK + 1, 5000, 40_000)


@st.composite
def groups(draw):
    code = draw(st.sampled_from(sorted(UFUNCS)))
    size = draw(st.sampled_from(SIZES))
    dtype = np.dtype(code)
    leaves = []
    for seed in range(draw(st.integers(1, 3))):
        leaf = hostile(dtype, size, draw(st.integers(0, 5)))
        leaves.append(dtype.type(leaf[-1]) if draw(st.booleans()) and seed else leaf)
    steps = []
    for k in range(draw(st.integers(1, 8))):
        ufunc = getattr(np, draw(st.sampled_from(UFUNCS[code].split())))
        known = st.sampled_from([*range(k), *(~i for i in range(len(leaves)))])
        steps.append(step(ufunc, tuple(draw(known) for _ in range(ufunc.nin)), code * ufunc.nin))
    stored = sorted(draw(st.sets(st.sampled_from(range(len(steps))), max_size=2)) | {len(steps) - 1})
    on_leaf = draw(st.booleans())
    outputs = [(i, leaves[0] if on_leaf and k == 0 else np.empty(size, dtype)) for k, i in enumerate(stored)]
    return Group(steps, leaves, outputs, (size,))


@settings(max_examples=300, deadline=None)
@given(groups(), st.booleans())
def test_groups(group, threaded):
    kept = Group(group.steps, [np.array(x) if x.shape else x for x in group.leaves], group.outputs, group.shape)
    expected, flags = numpy_result(kept)
    recipe = interpret.Recipe(group.steps)
    former = threads.WORTH_NS
    threads.WORTH_NS = 0.0 if threaded else former
    try:
        assert recipe.run_blocks(group, group.shape[0]) == flags
    finally:
        threads.WORTH_NS = former
    assert len(recipe.programs) == 1
    for (_, out), value in zip(group.outputs, expected, strict=True):
        assert same_bits(out, value).all()


def test_scratch_is_used_again():
    d = np.dtype("d")
    steps = [step(np.add, (~0, ~0), "dd"), *(step(np.add, (k, ~0), "dd") for k in range(9))]
    recipe = interpret.Recipe(steps)
    out = np.empty(3000)
    group = Group(steps, [hostile(d, 3000)], [(9, out)], (3000,))
    recipe.run_blocks(group, 3000)
    (program,) = recipe.programs.values()
    assert program.slots == 2
    with np.errstate(all="ignore"):
        assert same_bits(out, numpy_result(group)[0][0]).all()


@pytest.mark.parametrize(
    "steps",
    [
        [cast_step(~0, "d", "f"), step(np.add, (0, 0), "ff")],  # no ufunc
        [step(np.maximum, (~0, ~0), "dd")],  # its bits depend on where blocks begin
        [step(np.add, (~0, ~0), "ff")],  # the leaf has to be cast
    ],
    ids=["a cast", "maximum", "another dtype"],
)
def test_what_is_not_for_it_goes_the_long_way(steps):
    leaf = hostile(np.dtype("d"), 40_000)
    out = np.empty(40_000, steps[-1].dtype)
    group = Group(steps, [leaf], [(len(steps) - 1, out)], (40_000,))
    recipe = interpret.Recipe(steps)
    expected, flags = numpy_result(group)
    assert recipe.run_blocks(group, 40_000) == flags and not recipe.programs
    assert same_bits(out, expected[0]).all()


def test_comparisons_with_nan_raise_nothing():
    leaf = np.array([1.0, np.nan] * 1000)
    steps = [step(np.less, (~0, ~0), "dd"), step(np.divide, (~0, ~1), "dd")]
    outputs = [(0, np.empty(2000, bool)), (1, np.empty(2000))]
    assert interpret.Recipe(steps).run_blocks(Group(steps, [leaf, np.float64(2.0)], outputs, (2000,)), 2000) == 0
