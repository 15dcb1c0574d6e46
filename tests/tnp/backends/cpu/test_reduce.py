"""Reductions: the bits and flags of plain NumPy, over dtypes, sizes, layouts, axes and numbers of threads."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tnp.backends.base import OVERFLOW, Group, Step
from tnp.backends.cpu import reduce, reduction_check, threads
from tnp.backends.cpu.engine import CpuBackend
from tnp.backends.cpu.folds import fold_of
from tnp.backends.reference import ReferenceBackend
from tnp.core.primitive import Elementwise, Reduction, cast_p

F8, F4, F2, I8, B1 = (np.dtype(t) for t in ("f8", "f4", "f2", "i8", "?"))
FLOATS = ["f8", "f4", "f2", "c16", "c8"]
INTEGERS = ["i8", "u8", "i4", "u4", "i2", "u2", "i1", "u1"]
EDGES = [
    1,
    2,
    7,
    8,
    9,
    15,
    16,
    17,
    63,
    64,
    65,
    127,
    128,
    129,
    136,
    255,
    256,
    257,
    1023,
    1024,
    1025,
    8191,
    8192,
    8193,
    20_000,
]

_prims = {}


def elementwise(ufunc):
    return _prims.setdefault(("e", ufunc), Elementwise(name=ufunc.__name__, impl=ufunc, ufunc=ufunc))


def reduction(ufunc):
    return _prims.setdefault(("r", ufunc), Reduction(name=ufunc.__name__, impl=ufunc.reduce, ufunc=ufunc))


def reduce_step(ufunc, operand, loop, axis, keepdims=False):
    loop = np.dtype(loop)
    return Step(reduction(ufunc), (operand,), (loop,), loop, (("axis", axis), ("keepdims", keepdims)))


def values(rng, shape, dtype, width=3.0):
    """Values whose sums show the order of additions."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.9
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    width = min(width, 1.0) if dtype == F2 else width
    x = rng.standard_normal(shape) * 10.0 ** rng.uniform(-width, width, shape)
    return (x + 1j * rng.standard_normal(shape) if dtype.kind == "c" else x).astype(dtype)


def canonical(a):
    """The bits, with every NaN the same."""
    a = np.array(a)
    parts = a.reshape(-1).view(f"f{a.itemsize // 2}") if a.dtype.kind == "c" else a
    if parts.dtype.kind == "f":
        parts[np.isnan(parts)] = np.nan
    return a.tobytes()


def spoiled(a):
    """Memory like a, full of something else."""
    new = np.empty_like(a)
    new.view(np.uint8 if new.flags.c_contiguous and new.ndim else new.dtype).fill(77)
    return new


@pytest.fixture(autouse=True, name="n", params=[1, 2])
def _n(request):
    former = threads.set_num_threads(request.param)
    yield request.param
    threads.set_num_threads(former)


@pytest.fixture(name="by_numpy")
def _by_numpy(monkeypatch):
    """How often a group went to NumPy as a whole."""
    calls = []
    real = reduce._by_numpy
    monkeypatch.setattr(reduce, "_by_numpy", lambda group: (calls.append(group), real(group))[1])
    return calls


def check(steps, leaves, outputs, shape, stress=True):
    """Compute by the engine and by the reference, and compare."""
    group = Group(steps, leaves, outputs, shape)
    mine, theirs = ([(i, spoiled(out)) for i, out in outputs] for _ in range(2))
    want = ReferenceBackend().run(Group(steps, leaves, theirs, shape))
    got = reduce.run(CpuBackend(stress=stress), Group(steps, leaves, mine, shape))
    for (i, a), (_, b) in zip(mine, theirs, strict=True):
        assert canonical(a) == canonical(b), (
            f"{steps[i].prim.name} {a.dtype} {shape} {dict(steps[i].params)}: {a} for {b}"
        )
    assert got == want
    return group


def result(ufunc, shape, dtype, axis, keepdims=False):
    return np.empty([1 if d in axis else n for d, n in enumerate(shape)] if keepdims
                    else [n for d, n in enumerate(shape) if d not in axis], dtype)  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fused", [False, True])
def test_long_sums_at_the_edges_of_the_tree(dtype, fused, n, by_numpy):
    rng = np.random.default_rng(1)
    dtype = np.dtype(dtype)
    for size in EDGES[1:] if n == 1 else (257, 8193, 70_001):
        a = values(rng, size, dtype)
        steps = [Step(elementwise(np.negative), (~0,), (dtype,), dtype)] if fused else []
        steps.append(reduce_step(np.add, len(steps) - 1 if fused else ~0, dtype, (0,)))
        check(steps, [a], [(len(steps) - 1, np.empty((), dtype))], (size,))
    assert not by_numpy


SHAPES = [  # shape, axes: the patterns R, KR, RK, KRK, RKR, and others that are NumPy's
    ((3000,), (0,)),
    ((40, 129), (1,)),
    ((3, 2500), (1,)),
    ((129, 40), (0,)),
    ((17, 700), (0,)),
    ((3, 5, 2100), (0,)),
    ((7, 33, 9), (1,)),
    ((2, 50, 300), (1,)),
    ((5, 4, 130), (0, 2)),
    ((6, 7, 8), (0, 1, 2)),
    ((6, 7, 8), (1, 2)),
    ((6, 7, 8), (0, 1)),
    ((3, 4, 5, 6), (1, 3)),
    ((3, 4, 5, 6), (0, 2)),
    ((1, 40), (0,)),
    ((40, 1), (0,)),
    ((40, 1), (1,)),
]


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("order", ["C", "F", "T"])
def test_patterns_of_axes_and_orders_of_memory(shape, axis, keepdims, order):
    rng = np.random.default_rng(2)
    for dtype in (F8, F4, F2, np.dtype("c16")):
        a = values(rng, shape, dtype)
        if order == "F":
            a = np.asfortranarray(a)
        elif order == "T":  # the last axis outermost
            a = np.moveaxis(np.ascontiguousarray(np.moveaxis(a, -1, 0)), 0, -1)
        steps = [
            Step(elementwise(np.subtract), (~0, ~1), (dtype, dtype), dtype),
            Step(elementwise(np.multiply), (0, 0), (dtype, dtype), dtype),
            reduce_step(np.add, 1, dtype, axis, keepdims),
            reduce_step(np.add, ~0, dtype, axis, keepdims),
        ]
        outputs = [(k, result(np.add, shape, dtype, axis, keepdims)) for k in (2, 3)]
        check(steps, [a, dtype.type(0.3)], outputs, shape)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", *INTEGERS])
def test_arithmetic_and_extremes(ufunc, dtype):
    rng = np.random.default_rng(3)
    dtype = np.dtype(dtype)
    loop = ufunc.reduce(np.ones(1, dtype)).dtype
    for shape, axis in SHAPES[:9]:
        a = values(rng, shape, dtype, 1.0 if ufunc is not np.multiply else 0.01)
        steps = [Step(elementwise(np.add), (~0, ~0), (dtype, dtype), dtype), reduce_step(ufunc, 0, loop, axis)]
        check(steps, [a], [(1, result(ufunc, shape, loop, axis))], shape)


@pytest.mark.parametrize(
    ("ufunc", "dtype"),
    [(np.add, t) for t in (*FLOATS, "i8", "u2", "i1", "?")]
    + [(u, t) for u in (np.multiply, np.maximum, np.minimum) for t in ("f8", "f4", "f2", "i8", "u2", "i1", "?")],
)
@pytest.mark.parametrize("width", [1, 3, 8, 33, 100, 256])
def test_many_short_rows(ufunc, dtype, width):
    """Folded together, several to a block, or more than are handed over at once where nothing is computed."""
    rng = np.random.default_rng(7)
    dtype = np.dtype(dtype)
    loop = ufunc.reduce(np.ones(1, dtype)).dtype
    shape = (70_001 // width + 1, width)
    a = values(rng, shape, dtype, 0.01 if ufunc is np.multiply else 1.0)
    if dtype.kind == "f" and ufunc is not np.multiply:
        a[::50] = -np.abs(a[::50])
        a[::100, ::2] = -0.0
        a[7, -1] = np.nan
    before = np.logical_not if dtype.kind == "b" else np.positive
    for steps in ([], [Step(elementwise(before), (~0,), (dtype,), dtype)]):
        both = [*steps, reduce_step(ufunc, len(steps) - 1 if steps else ~0, loop, (1,))]
        with np.errstate(all="ignore"):
            check(both, [a], [(len(steps), result(ufunc, shape, loop, (1,)))], shape)


@pytest.mark.parametrize("ufunc", [np.logical_and, np.logical_or, np.maximum, np.minimum, np.bitwise_xor, np.add])
@pytest.mark.parametrize("likely", [0.0, 0.001, 0.5, 0.999, 1.0])
def test_of_booleans(ufunc, likely):
    rng = np.random.default_rng(4)
    loop = I8 if ufunc is np.add else B1
    for shape, axis in SHAPES[:9]:
        steps = [Step(elementwise(np.less), (~0, ~1), (F8, F8), B1), reduce_step(ufunc, 0, loop, axis)]
        check(steps, [rng.random(shape), np.float64(likely)], [(1, result(ufunc, shape, loop, axis))], shape)


@pytest.mark.parametrize("ufunc", [np.bitwise_and, np.bitwise_or, np.bitwise_xor])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_of_bits(ufunc, dtype):
    rng = np.random.default_rng(5)
    for shape, axis in SHAPES[:9]:
        a = values(rng, shape, dtype) | values(rng, shape, dtype)
        steps = [Step(elementwise(np.invert), (~0,), (a.dtype,), a.dtype), reduce_step(ufunc, 0, dtype, axis)]
        check(steps, [a], [(1, result(ufunc, shape, dtype, axis))], shape)


CASTS = ["i8-f8", "i4-f8", "f4-f8", "f2-f4", "f4-f2", "f8-f4", "c8-c16", "?-i8", "i2-i8", "u1-f8"]


@pytest.mark.parametrize(("source", "loop"), [tuple(cast.split("-")) for cast in CASTS])
def test_casts_are_a_part_of_the_reduction(source, loop):
    """NumPy casts and adds up buffer by buffer."""
    rng = np.random.default_rng(6)
    source = np.dtype(source)
    for shape, axis in [*SHAPES[:5], ((8193,), (0,)), ((30_000,), (0,)), ((3, 20_000), (1,)), ((2, 3, 9000), (0, 2))]:
        a = values(rng, shape, source)
        emit = elementwise(np.logical_or if source == B1 else np.add)
        steps = [
            Step(emit, (~0, ~0), (source, source), source),
            reduce_step(np.add, 0, loop, axis),
            reduce_step(np.add, ~0, loop, axis),
        ]
        with np.errstate(all="ignore"):
            check(steps, [a], [(k, result(np.add, shape, loop, axis)) for k in (1, 2)], shape)


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(SPECIAL), min_size=2, max_size=40),
    st.sampled_from([np.add, np.multiply, np.maximum, np.minimum]),
    st.sampled_from(["f8", "f4", "f2"]),
    st.integers(1, 30),
)
def test_special_values(n, items, ufunc, dtype, rows):
    dtype = np.dtype(dtype)
    a = np.resize(np.array(items, dtype), (rows, len(items)))
    for axis in ((0,), (1,), (0, 1)):
        steps = [Step(elementwise(np.positive), (~0,), (dtype,), dtype), reduce_step(ufunc, 0, dtype, axis)]
        check(steps, [a], [(1, result(ufunc, a.shape, dtype, axis))], a.shape)


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum])
@pytest.mark.parametrize("rows", [1, 50])
def test_zeros_of_both_signs(ufunc, rows):
    rng = np.random.default_rng(7)
    for size in (2, 9, 100, 2000, 9000):
        a = rng.choice([0.0, -0.0], (rows, size)) * 1.0
        a[rng.random(a.shape) < 0.3] = -1.0 if ufunc is np.maximum else 1.0
        steps = [Step(elementwise(np.positive), (~0,), (F8,), F8), reduce_step(ufunc, 0, F8, (1,))]
        check(steps, [a], [(1, np.empty(rows))], a.shape)
        check([reduce_step(ufunc, ~0, F8, (1,))], [a], [(0, np.empty(rows))], a.shape)


def test_zeros_of_one_sign_need_no_numpy(by_numpy):
    for zero in (0.0, -0.0):
        a = np.full((30, 100), zero)
        a[::3, ::2] = -5.0
        steps = [Step(elementwise(np.positive), (~0,), (F8,), F8), reduce_step(np.maximum, 0, F8, (1,))]
        check(steps, [a], [(1, np.empty(30))], a.shape)
    assert not by_numpy


def test_flags():
    big = np.full(1000, 1e308)
    steps = [Step(elementwise(np.positive), (~0,), (F8,), F8), reduce_step(np.add, 0, F8, (0,))]
    out = np.empty(())
    assert reduce.run(CpuBackend(stress=True), Group(steps, [big], [(1, out)], (1000,))) == OVERFLOW
    assert out == np.inf
    quiet = np.array([1.0, np.nan, np.inf] * 50)
    for ufunc in (np.maximum, np.minimum, np.add):
        steps = [Step(elementwise(np.positive), (~0,), (F8,), F8), reduce_step(ufunc, 0, F8, (0,))]
        assert reduce.run(CpuBackend(stress=True), Group(steps, [quiet], [(1, out)], quiet.shape)) == 0
        assert np.isnan(out)


def test_a_loop_of_numpys_alone_stays_within_its_block():
    """No step of such a pass is emitted, yet what the loop computes lies in scratch memory of one block."""
    rng = np.random.default_rng(2)
    for shape, axis in (((3, 9001), (0,)), ((3, 9001), (1,)), ((20_000,), (0,)), ((2, 3, 5000), (0, 2))):
        a = values(rng, shape, F8, 0.3)
        steps = [Step(elementwise(np.arctan), (~0,), (F8,), F8), reduce_step(np.add, 0, F8, axis)]
        check(steps, [a], [(1, result(np.add, shape, F8, axis))], shape)
        half = a.astype(F2)
        steps = [Step(elementwise(np.logical_not), (~0,), (F2,), B1), reduce_step(np.logical_or, 0, B1, axis)]
        check(steps, [half], [(1, result(np.logical_or, shape, B1, axis))], shape)


def test_several_reductions_and_outputs_in_one_pass(by_numpy):
    """max, sum and sum of squares of rows, the mean's sum, and the values themselves, some into a leaf's place."""
    rng = np.random.default_rng(8)
    a, b = values(rng, (60, 200), F8), values(rng, (60, 1), F8)
    steps = [
        Step(elementwise(np.subtract), (~0, ~1), (F8, F8), F8),
        Step(elementwise(np.exp), (~2,), (F8,), F8),
        Step(elementwise(np.multiply), (0, 1), (F8, F8), F8),
        Step(cast_p, (2,), (F8,), F4, (("dtype", F4),)),
        reduce_step(np.maximum, 2, F8, (1,), True),
        reduce_step(np.add, 2, F8, (1,)),
        reduce_step(np.add, 3, F4, (1,)),
        reduce_step(np.add, 0, F8, (0,)),
        reduce_step(np.add, 2, F8, (0, 1)),
    ]
    c = rng.standard_normal((60, 200))
    outputs = [
        (4, np.empty((60, 1))), (5, np.empty(60)), (6, np.empty(60, F4)), (7, np.empty((200, 2))[:, 0]),
        (8, np.empty((), F4)), (2, np.empty((60, 200), order="F")), (3, np.empty((60, 200), F8)),
    ]  # fmt: skip
    check(steps, [a, b, c], outputs, (60, 200))
    want = [np.empty_like(out) for _, out in outputs]
    ReferenceBackend().run(
        Group(steps, [a, b, c], [(i, w) for (i, _), w in zip(outputs, want, strict=True)], (60, 200))
    )
    inplace = a.copy()
    outputs[5] = (2, inplace)
    reduce.run(CpuBackend(stress=True), Group(steps, [inplace, b, c], outputs, (60, 200)))
    for (_, got), w in zip(outputs, want, strict=True):
        np.testing.assert_array_equal(got, w)
    assert not by_numpy


LAYOUTS = ["C", "F", "strided", "reversed", "row", "column", "scalar", "0-d", "swapped", "unaligned", "permuted"]


def laid_out(rng, shape, dtype, how):
    a = values(rng, shape, dtype, 1.0)
    if how == "F":
        return np.asfortranarray(a)
    if how == "strided":
        return np.repeat(a, 2, axis=-1)[..., ::2]
    if how == "reversed":
        return a[::-1]
    if how == "row":
        return a[:1]
    if how == "column":
        return np.ascontiguousarray(a[..., :1])
    if how == "scalar":
        return a.dtype.type(a.flat[0])
    if how == "0-d":
        return np.array(a.flat[0])
    if how == "swapped":
        return a.astype(a.dtype.newbyteorder())
    if how == "unaligned":
        raw = np.empty(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(shape)
        raw[...] = a
        return raw
    if how == "permuted":
        return np.ascontiguousarray(a.T).T
    return a


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_group(n, data):
    draw = data.draw
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 5, 8, 17, 40, 129, 300]), min_size=1, max_size=3)))
    if np.prod(shape) > 60_000:
        shape = shape[:2]
    dtype = np.dtype(draw(st.sampled_from(["f8", "f4", "f2", "c16", "i4", "u1"])))
    if dtype.kind == "c" and np.prod(shape) == 1:
        shape = (2,)  # the bits of NumPy's product of one complex number depend on the addresses
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    leaves = [laid_out(rng, shape, dtype, draw(st.sampled_from(LAYOUTS))) for _ in range(2)]
    leaves.append(laid_out(rng, shape, dtype, draw(st.sampled_from(["C", "F", "strided", "permuted", "reversed"]))))
    steps = [
        Step(elementwise(np.subtract), (~0, ~2), (dtype, dtype), dtype),
        Step(elementwise(np.multiply), (0, ~1), (dtype, dtype), dtype),
    ]
    outputs = []
    ufuncs = [np.add, np.add, np.multiply] + ([np.maximum, np.minimum] if dtype.kind != "c" else [])
    for _ in range(draw(st.integers(1, 3))):
        axis = tuple(sorted(draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))))
        ufunc, keepdims = draw(st.sampled_from(ufuncs)), draw(st.booleans())
        loop = ufunc.reduce(np.ones(1, dtype)).dtype
        steps.append(reduce_step(ufunc, draw(st.sampled_from([0, 1, 1, ~2])), loop, axis, keepdims))
        outputs.append(
            (len(steps) - 1, result(ufunc, shape, draw(st.sampled_from([loop, loop, "c16"])), axis, keepdims))
        )
    if draw(st.booleans()):
        outputs.append((1, np.empty(shape, dtype, order=draw(st.sampled_from("CF")))))
    with np.errstate(all="ignore"):
        check(steps, leaves, outputs, shape)


def test_bits_do_not_depend_on_the_threads():
    rng = np.random.default_rng(9)
    a, b = values(rng, 400_000, F8), values(rng, 400_000, F8)
    steps = [
        Step(elementwise(np.subtract), (~0, ~1), (F8, F8), F8),
        Step(elementwise(np.multiply), (0, 0), (F8, F8), F8),
        reduce_step(np.add, 1, F8, (0,)),
        reduce_step(np.maximum, 0, F8, (0,)),
    ]
    found = set()
    for k in (1, 2, 3, 5):
        former = threads.set_num_threads(k)
        for stress in (False, True):
            backend = CpuBackend(stress=stress)
            for _ in range(3):  # the second time it pays to compile
                outputs = [(2, np.empty(())), (3, np.empty(()))]
                reduce.run(backend, Group(steps, [a, b], outputs, a.shape))
                found.add(tuple(float(out) for _, out in outputs))
        threads.set_num_threads(former)
    assert found == {(float(((a - b) * (a - b)).sum()), float((a - b).max()))}


def test_an_order_that_numpy_does_not_confirm_is_not_used(monkeypatch, by_numpy):
    monkeypatch.setattr(reduce, "confirmed", lambda *_: False)
    a = values(np.random.default_rng(10), (30, 77), F8)
    steps = [Step(elementwise(np.square), (~0,), (F8,), F8), reduce_step(np.add, 0, F8, (1,))]
    check(steps, [a], [(1, np.empty(30))], a.shape)
    assert len(by_numpy) == 1


@pytest.mark.parametrize("letters", ["R", "KR", "RKR", "RK", "KRK"])
def test_a_wrong_order_is_found_out(letters, monkeypatch):
    reduction_check.confirmed.cache_clear()
    assert reduction_check.confirmed(fold_of("add", "f8"), letters, False)
    reduction_check.confirmed.cache_clear()
    real = np.add.reduce  # a NumPy that adds from the last element to the first

    class Backwards:
        __name__ = "add"

        def reduce(self, x, axis, **more):
            return real(np.flip(x, axis).copy(), axis=axis, **more)

    monkeypatch.setitem(reduction_check._UFUNCS, "add", Backwards())
    assert not reduction_check.confirmed(fold_of("add", "f8"), letters, False)
    reduction_check.confirmed.cache_clear()


def test_empty_and_small_groups_are_numpys(by_numpy):
    a = np.empty((0, 3))
    steps = [Step(elementwise(np.square), (~0,), (F8,), F8), reduce_step(np.add, 0, F8, (0,))]
    check(steps, [a], [(1, np.empty(3))], a.shape)
    check(steps, [np.ones((4, 3))], [(1, np.empty(3))], (4, 3), stress=False)
    assert len(by_numpy) == 2
    steps = [Step(elementwise(np.square), (~0,), (F8,), F8), reduce_step(np.maximum, 0, F8, (0,))]
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum which has no identity"):
        reduce.run(CpuBackend(stress=True), Group(steps, [a], [(1, np.empty(3))], a.shape))


def test_bfloat16_is_summed_in_float32_and_rounded_once():
    bf16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    a = np.ones((3, 1000), bf16)
    for stress in (False, True):
        for axis, want in (((1,), 1000), ((0, 1), 3000), ((0,), 3)):
            out = result(np.add, a.shape, bf16, axis)
            steps = [Step(elementwise(np.positive), (~0,), (bf16,), bf16), reduce_step(np.add, 0, bf16, axis)]
            reduce.run(CpuBackend(stress=stress), Group(steps, [a], [(1, out)], a.shape))
            assert (out.astype(F4) == np.array(want, F4).astype(bf16).astype(F4)).all()


def test_groups_that_differ_in_their_axes_alone_are_told_apart():
    """Both have results of one shape; what is known of one signature is not used for the other."""
    backend = CpuBackend(stress=True)
    a = np.random.default_rng(5).uniform(-1, 1, (150, 150))
    square = Step(elementwise(np.multiply), (~0, ~0), (F8, F8), F8)
    for axis in (0, 1, 0, 1):
        out = np.empty(150)
        group = Group([square, reduce_step(np.add, 0, F8, (axis,))], [a], [(1, out)], a.shape)
        backend.run(group)
        assert out.tobytes() == (a * a).sum(axis).tobytes()
    assert len(backend._ready) == 2
