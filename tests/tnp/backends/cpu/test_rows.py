"""Windows: kernels that go from row to row themselves, over rows of every length."""

import numpy as np
import pytest

from tnp.backends.base import Group
from tnp.backends.cpu.layout import layout_of
from tnp.backends.cpu.reach import ROW, UNIT

from .groups import cast_step, check, compiling, hostile, laid_out, step, where_step

DOUBLE = np.dtype("f8")


@pytest.fixture(scope="module", params=["plain", "stress"])
def engine(request):
    return compiling(request.param == "stress")


def goes_by_rows(group):
    operands = group.leaves + [out for _, out in group.outputs]
    return layout_of(operands, group.shape, False, len(group.leaves)).strided is not None


def space(shape, dtype, seed=0, wider=(2, 3)):
    """An array of this shape amid others' memory."""
    before, after = wider
    whole = hostile(np.dtype(dtype), int(np.prod([n + before + after for n in shape])), seed)
    whole = whole.reshape([n + before + after for n in shape])
    return whole, whole[tuple(slice(before, before + n) for n in shape)]


def verify(engine, group, wholes, what=""):
    """Bits and flags are NumPy's, and around the outputs nothing changes."""
    before = [(whole.tobytes(), out.copy()) for whole, (_, out) in zip(wholes, group.outputs, strict=True)]
    check(engine, group, what)
    for whole, (_, out), (memory, content) in zip(wholes, group.outputs, before, strict=True):
        out[...] = content
        assert whole.tobytes() == memory, f"{what}: written outside"


def arithmetic(code):
    """(a + b) * c - b, and a < c."""
    plus, times, minus = (
        (np.logical_or, np.logical_and, np.logical_xor) if code == "?" else (np.add, np.multiply, np.subtract)
    )
    two = (code, code)
    return [
        step(plus, (~0, ~1), two),
        step(times, (0, ~2), two),
        step(minus, (1, ~1), two),
        step(np.less, (~0, ~2), two),
    ]


@pytest.mark.parametrize("code", ["d", "f", "i", "b", "?"])
@pytest.mark.parametrize("n", [*range(1, 41), 47, 48, 49, 63, 64, 65, 66, 95, 96, 97, 127, 128, 129, 130])
def test_rows_of_every_length(engine, n, code):
    shape = (5, n)
    leaves = [space(shape, code, k, (k + 1, 2))[1] for k in range(3)]
    (whole, out), (other, less) = space(shape, code, 7), space(shape, "?", 8)
    group = Group(arithmetic(code), leaves, [(2, out), (3, less)], shape)
    assert goes_by_rows(group) == (n >= 4)
    verify(engine, group, [whole, other], f"{n} of {code}")


@pytest.mark.parametrize("code", ["d", "f", "h", "D", "e"])
@pytest.mark.parametrize("n", [4, 5, 7, 9, 38, 70])
def test_conversions(engine, n, code):
    """Elements of several sizes, each with its own number of bytes a row."""
    shape = (3, 4, n)
    a, b = space(shape, code, 1)[1], space(shape, "d" if code != "D" else "D", 2)[1]
    wide = "D" if code == "D" else "d"
    steps = [
        cast_step(~0, code, wide),
        step(np.add, (0, ~1), (wide, wide)),
        cast_step(1, wide, "F" if code == "D" else "f"),
    ]
    outputs = [space(shape, "F" if code == "D" else "f", 3), space(shape, wide, 4)]
    group = Group(steps, [a, b], [(2, outputs[0][1]), (1, outputs[1][1])], shape)
    assert goes_by_rows(group)
    verify(engine, group, [whole for whole, _ in outputs], f"{n} of {code}")


@pytest.mark.parametrize("n", [4, 9, 33, 130])
@pytest.mark.parametrize("ndim", [2, 3, 4])
def test_steps_between_rows(engine, ndim, n):
    """Backwards, several rows at a time, other orders of the outer dimensions."""
    outer = (6, 5, 3)[: ndim - 1]
    shape = (*outer, n)
    big = space((*(3 * k for k in outer), n + 4), "d", 5, (0, 0))[0]
    inside = slice(1, 1 + n)
    backwards = big[(*[slice(k - 1, None, -1) for k in outer], inside)]
    thirds = big[(*[slice(None, None, 3) for _ in outer], slice(4, 4 + n))]
    swapped = hostile(DOUBLE, int(np.prod(outer)) * (n + 1), 3).reshape(*outer[::-1], n + 1)[..., 1:]
    swapped = swapped.transpose(*range(ndim - 2, -1, -1), ndim - 1)
    for leaves in ([backwards, thirds, swapped], [swapped, backwards, backwards], [thirds, thirds, thirds]):
        whole, out = space(shape, "d", 6, (1, 1))
        group = Group(arithmetic("d"), leaves, [(2, out)], shape)
        assert goes_by_rows(group)
        verify(engine, group, [whole], str(ndim))
        whole = np.zeros((*outer[::-1], n + 2))
        out = whole[..., :n].transpose(*range(ndim - 2, -1, -1), ndim - 1)
        check(engine, Group(arithmetic("d"), leaves, [(1, out), (3, np.zeros(shape, bool))], shape), str(ndim))


@pytest.mark.parametrize("n", [4, 9, 33, 130])
def test_broadcast_leaves(engine, n):
    """One value for a row, one row for all, one row for a plane, one value for everything."""
    shape = (3, 4, n)
    column, row, plane = hostile(DOUBLE, 12, 1).reshape(3, 4, 1), hostile(DOUBLE, n, 2), hostile(DOUBLE, 4 * n, 3)
    planes = hostile(DOUBLE, 3 * n, 4).reshape(3, 1, n)
    window = space(shape, "d", 9)[1]
    for leaves in (
        [window, column, row], [column, row, plane.reshape(4, n)], [planes, window, np.array(2.5)],
        [column, column, window], [row, np.float64(1.5), column], [column, np.float64(1.5), np.array(3.0)],
    ):  # fmt: skip
        whole, out = space(shape, "d", 6)
        group = Group(arithmetic("d"), leaves, [(2, out)], shape)
        verify(engine, group, [whole], str([x.shape for x in leaves]))


def test_results_of_constants_are_those_of_their_row(engine):
    """Only values of rows: nothing is left for a whole kernel's beginning."""
    column, scale = hostile(DOUBLE, 40, 1).reshape(5, 8, 1), np.float64(0.5)
    steps = [
        step(np.multiply, (~0, ~1), "dd"),
        step(np.sqrt, (~1,), "d"),
        step(np.add, (0, 1), "dd"),
        step(np.add, (2, ~2), "dd"),
    ]
    window = space((5, 8, 11), "d", 2)[1]
    (whole, out), (other, plain) = space((5, 8, 11), "d", 3), space((5, 8, 11), "d", 4)
    group = Group(steps, [column, scale, window], [(3, out), (2, plain)], (5, 8, 11))
    assert goes_by_rows(group)
    verify(engine, group, [whole, other])


@pytest.mark.parametrize("n", [4, 21, 64])
def test_unaligned(engine, n):
    leaves = [laid_out(hostile(DOUBLE, 7 * (n + 1), k).reshape(7, n + 1), "unaligned")[:, 1:] for k in range(3)]
    out = laid_out(np.zeros((7, n + 2)), "unaligned")[:, :n]
    group = Group(arithmetic("d"), leaves, [(2, out)], (7, n))
    assert goes_by_rows(group) and not leaves[0].flags.aligned
    check(engine, group)


@pytest.mark.parametrize("n", [4, 5, 11, 38, 130])
@pytest.mark.parametrize("bad", ["first", "last", "outside"])
def test_flags_are_those_of_the_elements(engine, n, bad):
    """Only elements of the window count, each of them does."""
    whole = np.ones((9, n + 2))
    whole[:, [0, -1]] = 0.0
    window = whole[:, 1:-1]
    if bad != "outside":
        window[4, 0 if bad == "first" else -1] = 0.0
    steps = [step(np.divide, (~0, ~1), "dd"), step(np.add, (0, ~1), "dd")]
    group = Group(steps, [np.ones((9, n + 1))[:, 1:], window], [(1, np.zeros((9, n + 3))[:, 2:-1])], (9, n))
    assert goes_by_rows(group)
    check(engine, group)
    assert bool(engine.run(group)) == (bad != "outside")


@pytest.mark.parametrize("code", ["d", "i", "?"])
@pytest.mark.parametrize("n", [4, 5, 11, 38, 50, 130])
def test_in_place(engine, n, code):
    """A destination that is what the kernel reads is computed once."""
    shape = (7, n)
    window, other = space(shape, code, 1)[1], space(shape, code, 2)[1]
    for leaves in ([window, other, other], [other, window, window]):
        check(engine, Group(arithmetic(code), leaves, [(2, window), (3, np.zeros(shape, bool))], shape), code)
    again = np.zeros((7, n + 1), window.dtype)[:, 1:]  # a kernel for other memory must not be taken
    group = Group(arithmetic(code), [window, other, other], [(2, again), (3, np.zeros(shape, bool))], shape)
    check(engine, group)
    check(engine, Group(arithmetic(code), [window, other, other], [(2, window), (3, np.zeros(shape, bool))], shape))


def test_choices(engine):
    """`where`, comparisons and conditions that are one for a row."""
    shape = (6, 37)
    condition = hostile(np.dtype(bool), 6 * 40, 1).reshape(6, 40)[:, 3:]
    leaves = [condition, space(shape, "f", 1)[1], space(shape, "f", 2)[1]]
    steps = [where_step((~0, ~1, ~2), "f"), step(np.greater, (0, ~2), "ff"), step(np.logical_or, (1, ~0), "??")]
    for first in (condition, condition[:, :1]):
        (whole, out), (other, truth) = space(shape, "f", 4), space(shape, "?", 5)
        group = Group(steps, [first, *leaves[1:]], [(0, out), (2, truth)], shape)
        assert goes_by_rows(group)
        verify(engine, group, [whole, other])


def test_kernels_are_shared_by_rows_of_other_lengths():
    engine = compiling()
    for n in range(32, 64):
        whole, out = space((4, n), "d", n)
        group = Group(arithmetic("d"), [space((4, n), "d", k)[1] for k in range(3)], [(2, out)], (4, n))
        verify(engine, group, [whole])
    assert engine.held_kernels() == 1


def test_what_numpys_loops_compute_does_not_go_by_rows(engine):
    shape = (5, 30)
    leaves = [space(shape, "d", 1)[1], space(shape, "d", 2)[1]]
    steps = [step(np.add, (~0, ~1), "dd"), step(np.log1p, (0,), "d"), step(np.multiply, (1, ~1), "dd")]
    whole, out = space(shape, "d", 3)
    verify(engine, Group(steps, leaves, [(2, out)], shape), [whole])


def test_threads_share_long_rows():
    """Few rows are cut across: pieces narrower than a vector begin before their first column."""
    engine = compiling(stress=True)
    for rows, n in ((1, 200), (2, 65), (2, 129), (3, 1000), (2, 70_001)):
        shape = (rows + 1, n)
        whole, out = space(shape, "d", n)
        leaves = [space(shape, "d", k)[1] for k in range(3)]
        verify(engine, Group(arithmetic("d"), leaves, [(2, out)], shape), [whole])


def test_layouts():
    """Rows that a vector fits into, all operands side by side or one value in each."""
    wide = np.zeros((9, 30))
    row, column = np.zeros(20), np.zeros((9, 1))
    found = layout_of([wide[:, :20], row, column, wide[:, 5:25]], (9, 20), False, 3)
    assert found.strided.classes == (UNIT, UNIT, ROW, UNIT) and found.strided.lanes == 16
    assert (found.strided.rows, found.strided.columns) == (9, 20)
    for operands, shape in (
        ([wide[:, :3], wide[:, 3:6]], (9, 3)),  # narrow
        ([wide[:, ::2], wide[:, :15]], (9, 15)),  # gaps in a row
        ([wide[:, 20:0:-1], wide[:, :20]], (9, 20)),  # backwards in a row
        ([wide, np.zeros((9, 30))], (9, 30)),  # no rows at all
    ):
        assert layout_of(operands, shape, False, 1).strided is None
    assert layout_of([wide[:, :20], wide[:, 5:25]], (9, 20), True, 1).strided is None
