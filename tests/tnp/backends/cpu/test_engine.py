"""Whole groups: layouts, several outputs, destinations on leaves, random graphs of steps, threads, and what is cold."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tnp.backends.base import DIVIDE, FAST, INVALID, OVERFLOW, UNDERFLOW, Group
from tnp.backends.cpu import vector_math
from tnp.backends.cpu.engine import CpuBackend

from .groups import cast_step, check, compiling, hostile, laid_out, numpy_result, same_bits, step, where_step

D = np.dtype("f8")


@pytest.fixture(scope="module", params=["plain", "stress"])
def engine(request):
    return compiling(request.param == "stress")


def double(ufunc, *args):
    return step(ufunc, args, "d" * len(args))


CHAIN = [  # (a*b+c)*(a-c)/(b*b+1) + sqrt(a*a+b*b)*0.5, leaves a, b, c, 1, 0.5
    double(np.multiply, ~0, ~1), double(np.add, 0, ~2), double(np.subtract, ~0, ~2), double(np.multiply, 1, 2),
    double(np.multiply, ~1, ~1), double(np.add, 4, ~3), double(np.divide, 3, 5), double(np.multiply, ~0, ~0),
    double(np.add, 7, 4), double(np.sqrt, 8), double(np.multiply, 9, ~4), double(np.add, 6, 10),
]  # fmt: skip
MIXED = [  # exp and friends between arithmetic: several segments
    double(np.subtract, ~0, ~1), double(np.exp, 0), double(np.multiply, 1, ~2), double(np.log1p, 2),
    double(np.power, 1, ~3), double(np.add, 3, 4), double(np.exp, 5), double(np.subtract, 6, ~0),
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 63, 64, 65, 1023, 1024, 1025, 2047, 2049, 5000])
def test_flat(engine, size):
    for steps in (CHAIN, MIXED):
        leaves = [hostile(D, size, k) for k in range(3)] + [np.float64(1.5), np.float64(0.5)]
        check(engine, Group(steps, leaves, [(len(steps) - 1, np.empty(size))], (size,)))


SHAPES = [
    (),
    (1,),
    (5,),
    (0,),
    (7, 5),
    (3, 100),
    (100, 3),
    (2, 3, 70),
    (70, 2, 3),
    (5, 0, 3),
    (1, 1),
    (2, 1, 65),
    (3, 4, 2, 5),
]


def broadcasts(shape, k):
    """An operand's shape that broadcasts to the whole."""
    if k == 0:
        return shape
    if k == 1:
        return shape[1:]
    if k == 2:
        return (*shape[:-1], 1) if shape else ()
    return tuple(n if (i + k) % 2 else 1 for i, n in enumerate(shape))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_broadcasting(engine, shape):
    for kinds in ((0, 1, 2), (2, 0, 1), (3, 2, 0), (4, 3, 1), (0, 0, 0)):
        leaves = [hostile(D, int(np.prod(broadcasts(shape, k))), k).reshape(broadcasts(shape, k)) for k in kinds]
        leaves += [np.float64(1.5), np.array(0.5)]
        outputs = [(1, np.empty(shape)), (11, np.empty(shape, np.float32)), (6, np.empty(shape, order="F"))]
        check(engine, Group(CHAIN, leaves, outputs, shape), str(kinds))


@pytest.mark.parametrize("how", ["contiguous", "strided", "negative", "unaligned"])
@pytest.mark.parametrize("shape", [(65,), (3, 70), (70, 3)], ids=str)
def test_strides(engine, shape, how):
    size = int(np.prod(shape))
    leaves = [laid_out(hostile(D, size, k).reshape(shape), how if k != 1 else "contiguous") for k in range(3)]
    leaves[2] = np.asfortranarray(leaves[2])
    leaves += [np.float64(1.5), np.float64(0.5)]
    out = laid_out(np.zeros(shape), how)
    check(engine, Group(CHAIN, leaves, [(11, out), (3, np.empty(shape))], shape))


def test_transposed_and_nested_views(engine):
    base = hostile(D, 8 * 9 * 70).reshape(8, 9, 70)
    views = [
        base.transpose(2, 0, 1)[:, ::-1, 2:8],
        base[:, 3:9, :].transpose(2, 0, 1),
        base[::-1, :6, ::-1].transpose(2, 0, 1),
    ]
    for order in ("C", "F"):
        out = np.empty((70, 8, 6), order=order)
        check(engine, Group(CHAIN, [*views, np.float64(2), np.float64(3)], [(11, out)], (70, 8, 6)))


@pytest.mark.parametrize("n", [40, 70, 1100])
def test_stencil_views(engine, n):
    a = hostile(D, n * n).reshape(n, n)
    leaves = [a[1:-1, 1:-1], a[:-2, 1:-1], a[2:, 1:-1], a[1:-1, :-2], a[1:-1, 2:], np.float64(0.2)]
    steps = [
        double(np.add, ~0, ~1),
        double(np.add, 0, ~2),
        double(np.add, 1, ~3),
        double(np.add, 2, ~4),
        double(np.multiply, 3, ~5),
    ]
    check(engine, Group(steps, leaves, [(4, np.empty((n, n))[1:-1, 1:-1])], (n - 2, n - 2)))


@pytest.mark.parametrize("steps", [CHAIN, MIXED], ids=["one segment", "several"])
@pytest.mark.parametrize("view", [np.s_[:], np.s_[::3], np.s_[::-1]], ids=str)
def test_destination_on_a_leaf(engine, steps, view):
    for which in range(3):
        leaves = [hostile(D, 3300, k)[view] for k in range(3)] + [np.float64(1.5), np.float64(0.5)]
        shape = leaves[0].shape
        group = Group(steps, leaves, [(len(steps) - 1, leaves[which][...]), (2, np.empty(shape))], shape)
        kept = [np.array(x) for x in leaves]
        (expected, second), flags = numpy_result(Group(steps, kept, group.outputs, shape))
        assert engine.run(group) == flags
        assert same_bits(leaves[which], expected).all() and same_bits(group.outputs[1][1], second).all()
        for k in range(3):
            assert k == which or same_bits(leaves[k], kept[k]).all()


def test_one_step_to_several_destinations(engine):
    x = hostile(D, 1100)
    outputs = [
        (0, np.empty(1100)),
        (0, np.empty(1100)),
        (0, np.empty(1100, np.float32)),
        (1, np.empty(2200)[::2]),
        (1, np.empty(1100)),
    ]
    check(engine, Group([double(np.exp, ~0), double(np.sin, 0)], [x], outputs, (1100,)))
    moved = [(0, np.empty(1100)), (0, np.empty(1100)[::-1])]
    check(engine, Group([cast_step(~0, D, D)], [x], moved, (1100,)))


@pytest.mark.parametrize("dtype", ["?", "e", "f", "d", "D"])
@pytest.mark.parametrize("by", [1, 2, -1, 3, -2, 0])
def test_gathered_and_scattered_at_every_step(engine, dtype, by):
    """The last elements of a view are the last of their memory, and a row may end anywhere in a block."""
    kind = np.dtype(dtype)
    flip = step(np.logical_not if dtype == "?" else np.negative, (~0,), dtype)
    for rows, n in ((1, 1), (1, 5), (1, 1100), (40, 3), (40, 33), (7, 47), (3, 700)):
        space = hostile(kind, rows * (n * max(1, abs(by)) + 2)).reshape(rows, -1)
        if by == 0:
            x = np.broadcast_to(space[:, :1], (rows, n))
        else:
            x = space[:, -1 - abs(by) * (n - 1) :: by] if by > 0 else space[:, abs(by) * (n - 1) :: by][:, :n]
        assert x.shape == (rows, n)
        for out in (
            np.empty((rows, n), kind),
            np.empty((rows, 2 * n), kind)[:, ::2],
            np.empty((rows, n), kind)[:, ::-1],
        ):
            check(engine, Group([flip], [x], [(0, out)], (rows, n)), f"{rows} rows of {n}")


def test_subclasses_are_memory_like_any_other(engine):
    a = hostile(D, 70).view(np.recarray)
    check(engine, Group([double(np.multiply, ~0, ~1)], [a, a[::2].repeat(2)], [(0, np.empty(70))], (70,)))


def test_a_constant_group(engine):
    """Every operand is one value for all elements."""
    steps = [double(np.multiply, ~0, ~1), double(np.exp, 0), double(np.add, 1, 0)]
    check(
        engine, Group(steps, [np.float64(0.3), np.array([0.7])], [(2, np.empty((3, 5))), (0, np.empty((3, 5)))], (3, 5))
    )


def test_scalars_are_arguments():
    engine = compiling()
    for value in (1.5, -2.0, np.inf):
        check(
            engine,
            Group([double(np.multiply, ~0, ~1)], [hostile(D, 100), np.float64(value)], [(0, np.empty(100))], (100,)),
        )
    assert engine.stats.distinct == 1 and engine.stats.compiled + engine.stats.from_disk == 1


def test_signed_zeros_of_extremes_in_rows(engine):
    """NumPy's vector and remainder elements choose differently: blocks must lie as in its own pass."""
    zeros = np.where(hostile(np.dtype(bool), 3 * 1030).reshape(3, 1030), -0.0, 0.0)
    other = np.where(hostile(np.dtype(bool), 3 * 1030, 1).reshape(3, 1030), -0.0, 0.0)
    row = np.zeros(1030)
    for ufunc in (np.maximum, np.minimum, np.fmax, np.fmin):
        steps = [double(np.subtract, ~0, ~2), double(np.subtract, ~1, ~2), double(ufunc, 0, 1)]
        check(engine, Group(steps, [zeros, other, row], [(2, np.empty((3, 1030)))], (3, 1030)), ufunc.__name__)


@pytest.mark.parametrize(
    ("flag", "ufunc", "x", "y"),
    [
        (DIVIDE, np.divide, 1.0, 0.0),
        (OVERFLOW, np.multiply, 1e300, 1e300),
        (UNDERFLOW, np.multiply, 1e-300, 1e-300),
        (INVALID, np.subtract, np.inf, np.inf),
        (INVALID, np.power, -1.0, 0.5),
        (OVERFLOW, np.power, 10.0, 400.0),
        (DIVIDE, np.floor_divide, 1.0, 0.0),
        (0, np.less, np.nan, 1.0),
        (0, np.maximum, np.nan, 1.0),
    ],
)
@pytest.mark.parametrize("at", [0, 2047, 2048, 2049])
def test_flags(engine, flag, ufunc, x, y, at):
    """One element raises, whatever its place; nothing else does; a loop that clears the status hides nothing."""
    a, b = np.full(2050, 1.25), np.full(2050, 1.0)
    a[at], b[at] = x, y
    one = double(ufunc, ~0, ~1)
    steps = [
        one,
        step(np.isfinite, (~0,), "d"),
        double(np.cos, ~1),
        step(np.less, (~0, ~1), "d" * 2),
        double(np.maximum, ~1, ~1),
    ]
    outputs = [(i, np.empty(2050, s.dtype)) for i, s in enumerate(steps)]
    assert engine.run(Group(steps, [a, b], outputs, (2050,))) == flag
    assert engine.run(Group(steps, [np.ones(2050), np.ones(2050)], outputs, (2050,))) == 0


def test_steps_that_nobody_reads_still_raise(engine):
    steps = [double(np.divide, ~0, ~1), double(np.add, ~0, ~0)]
    group = Group(steps, [np.ones(100), np.zeros(100)], [(1, np.empty(100))], (100,))
    assert engine.run(group) == DIVIDE


def test_a_step_that_nobody_reads_runs_after_the_loop_that_it_reads(engine):
    steps = [double(np.exp, ~0), double(np.multiply, 0, ~1), double(np.add, ~0, ~0)]
    for scale, flag in ((1e308, OVERFLOW), (0.5, 0)):
        group = Group(steps, [np.full(1030, 2.0), np.float64(scale)], [(2, np.empty(1030))], (1030,))
        assert engine.run(group) == flag


@pytest.mark.parametrize("shape", [(70,), (4, 50), (6, 7)], ids=str)
def test_a_group_without_outputs_runs_for_its_flags(engine, shape):
    zeros = np.zeros(shape[::-1]).T
    for steps in ([double(np.divide, ~0, ~1)], [double(np.exp, ~1), double(np.divide, ~0, ~1)]):
        assert engine.run(Group(steps, [np.ones(shape), zeros], [], shape)) == DIVIDE
        assert engine.run(Group(steps, [np.ones(shape), zeros[..., :1]], [], shape)) == DIVIDE
        assert engine.run(Group(steps, [np.ones(shape), zeros + 1], [], shape)) == 0


@pytest.mark.parametrize("ufunc", [np.log, np.sqrt, np.square], ids=lambda u: u.__name__)
@pytest.mark.parametrize("shape", [(63,), (5000,), (9, 70)])
@pytest.mark.parametrize("leaf", ["plain", "backwards"])
def test_one_step_at_several_places(engine, ufunc, shape, leaf):
    """Of which some have gaps; NumPy's loops run it where they see strides."""
    values = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    values = values[..., ::-1] if leaf == "backwards" else values
    wide = np.zeros((*shape, 3))
    outputs = [(0, wide[..., 0]), (0, np.empty(shape)), (0, wide[..., 2]), (0, np.empty(shape, "f4"))]
    engine.run(Group([step(ufunc, (~0,), "d")], [values], outputs, shape))
    for _, out in outputs:
        np.testing.assert_array_equal(out, ufunc(values).astype(out.dtype))
    assert not wide[..., 1].any()


@pytest.mark.parametrize("shape", [(4, 4), (20, 60), (3, 5, 7)])
def test_flags_of_what_a_row_shares(engine, shape):
    """Nothing is stored, and what is computed once a row raises flags all the same."""
    column = np.zeros((*shape[:-1], 1))
    column[1] = 1
    leaf = np.broadcast_to(column, shape)
    steps = [step(np.divide, (~0, ~1), "dd"), step(np.subtract, (0, 0), "dd")]
    for outputs in ([], [(1, np.empty(shape))]):
        assert engine.run(Group(steps, [leaf, np.float64(0)], outputs, shape)) == DIVIDE | INVALID


def test_copy_of_the_second_leaf():
    leaves = [np.arange(70.0), -np.arange(70.0)]
    group = Group([cast_step(~1, np.dtype("d"), "d")], leaves, [(0, np.empty(70))], (70,))
    check(_PLAIN, group)


OPERATIONS = [
    np.add,
    np.subtract,
    np.multiply,
    np.divide,
    np.sqrt,
    np.exp,
    np.negative,
    np.maximum,
    np.floor,
    np.arctan2,
    np.sin,
]
COMPARISONS = [np.less, np.equal, np.isnan, np.logical_and]


@st.composite
def graphs(draw):
    """A random group of steps over leaves of random dtypes and layouts."""
    shape = draw(st.sampled_from([(70,), (1, 3), (4, 65), (1030,), (2, 3, 5)]))
    leaves, kinds = [], []
    for k in range(draw(st.integers(1, 4))):
        dtype = np.dtype(draw(st.sampled_from("fddiqb")))
        values = hostile(dtype, int(np.prod(shape)), k).reshape(shape)
        if draw(st.booleans()):
            values = values[tuple(slice(0, 1) if draw(st.booleans()) else slice(None) for _ in shape)]
        leaves.append(values)
        kinds.append(dtype)
    steps, dtypes = [], []

    def pick():
        i = draw(st.integers(-len(leaves), len(steps) - 1))
        return i, dtypes[i] if i >= 0 else kinds[~i]

    for _ in range(draw(st.integers(1, 14))):
        (a, da), (b, db) = pick(), pick()
        what = draw(st.integers(0, 9))
        if what == 0:
            target = draw(st.sampled_from("fdqi"))
            steps.append(cast_step(a, da, target) if da.kind != "f" or target in "fd" else cast_step(a, da, "d"))
        elif what == 1:
            common = np.result_type(da, db)
            steps.append(cast_step(a, da, "?"))
            dtypes.append(np.dtype(bool))
            steps.append(where_step((len(steps) - 1, a, b), common))
        else:
            ufunc = draw(st.sampled_from(OPERATIONS if what < 8 else COMPARISONS))
            common = "f" if da == db == np.float32 else "d"
            steps.append(step(ufunc, (a, b)[: ufunc.nin], common * ufunc.nin))
        dtypes.append(steps[-1].dtype)
    used = {a for s in steps for a in s.args if a >= 0}
    outputs = [
        (i, np.empty(shape, s.dtype)) for i, s in enumerate(steps) if i not in used or draw(st.integers(0, 4)) == 0
    ]
    return Group(steps, leaves, outputs, shape)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs())
def test_random_graphs(graph):
    for engine in (_PLAIN, _STRESS):
        if all(
            engine.fusible(s.prim, s.in_dtypes, graph.leaves[~a])
            for s in graph.steps for a in s.args if a < 0 and not graph.leaves[~a].flags.c_contiguous
        ):  # fmt: skip
            check(engine, graph)


_PLAIN, _STRESS = compiling(), compiling(stress=True)


def test_fast_math_is_close_and_only_on_request():
    engine = compiling()
    x, different = np.linspace(0.1, 20, 1003), 0
    for dtype in "df":
        a = x.astype(dtype)
        for ufunc in (np.exp, np.log, np.sin, np.cos, np.tan, np.tanh, np.power):
            steps = [step(np.add, (~0, ~0), dtype * 2), step(ufunc, (0, ~0)[: ufunc.nin], dtype * ufunc.nin)]
            exact, fast = np.empty(1003, dtype), np.empty(1003, dtype)
            check(engine, Group(steps, [a], [(1, exact)], (1003,)))
            engine.fast_math = True  # look for marks: of these steps, and of no other ones
            check(engine, Group(steps, [a], [(1, exact)], (1003,)))
            steps[1].params = FAST
            engine.run(Group(steps, [a], [(1, fast)], (1003,)))
            np.testing.assert_array_max_ulp(fast, exact, 5)
            different += bool((fast != exact).any())
    assert different or vector_math.vector_function("exp", ("f8",), 32) is None


@pytest.mark.parametrize("ufunc", [np.multiply, np.square, np.absolute])
def test_one_step_on_strided_memory_is_numpys(ufunc):
    """Complex loops choose their arithmetic, and which flags they leave, by strides; also where nothing is stored."""
    rng = np.random.default_rng(5)
    x = (rng.normal(size=3000) + 1j * rng.normal(size=3000)).astype("c8")[::-1]
    one = step(ufunc, (~0,) * ufunc.nin, (x.dtype,) * ufunc.nin)
    out = np.empty(x.shape, one.dtype)
    CpuBackend(stress=True).run(Group([one], [x], [(0, out)], x.shape))
    assert out.tobytes() == ufunc(*(x,) * ufunc.nin).tobytes()
    x = np.full(9, complex(np.inf, np.nan), "c8")
    for a in (x, x[::-1]):
        told: list[str] = []
        with np.errstate(all="call", call=lambda kind, flag, told=told: told.append(kind)):
            ufunc(*(a,) * ufunc.nin)
        flags = CpuBackend(stress=True).run(Group([one], [a], [], a.shape))
        assert bool(flags & INVALID) == bool(told)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("ufunc", [np.multiply, np.square, np.conjugate, np.divide])
def test_one_complex_element_is_given_with_its_stride(engine, ufunc, dtype):
    """NumPy's loops choose their arithmetic, and the flags with it, by that."""
    left, right = (np.array([x], dtype) for x in (complex(np.inf, np.nan), 0j))
    for a in (left, left[::-1], np.array([left[0], 1, 2], dtype)[:1:2]):
        leaves = [a, right[::-1] if a.strides[0] < 0 else right][: ufunc.nin]
        one = step(ufunc, tuple(~k for k in range(ufunc.nin)), [dtype] * ufunc.nin)
        check(engine, Group([one], leaves, [(0, np.empty(1, dtype))], (1,)), f"{ufunc.__name__} {a.strides}")
