"""The oracle does what NumPy does, says what NumPy would warn of, and never warns itself."""

import threading
import warnings

import numpy as np
import pytest

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW, Group, Step
from tnp.backends.reference import ReferenceBackend
from tnp.core.primitive import Elementwise, Reduction, cast_p, where_p

F4, F8, I8, B1 = (np.dtype(t) for t in ("f4", "f8", "i8", "?"))


def elementwise(ufunc):
    return Elementwise(name=ufunc.__name__, impl=ufunc, ufunc=ufunc)


def reduction(ufunc):
    return Reduction(name=ufunc.__name__, impl=ufunc.reduce, ufunc=ufunc)


add, multiply, divide, less, exp = (elementwise(f) for f in (np.add, np.multiply, np.divide, np.less, np.exp))
add_reduce, all_reduce = reduction(np.add), reduction(np.logical_and)


def run(steps, leaves, outputs, shape):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ReferenceBackend().run(Group(steps, leaves, outputs, shape))


def test_names():
    assert [ReferenceBackend(i).name for i in range(2)] == ["ref:0", "ref:1"]


def test_chunks_run_in_order_on_the_calling_thread():
    backend, seen = ReferenceBackend(), []
    backend.run_chunks(lambda c: seen.append((c, threading.get_ident())), iter(range(3)))
    assert seen == [(c, threading.get_ident()) for c in range(3)]
    assert backend.workers() == 1
    assert backend.memory_report()


def test_memory():
    empty = ReferenceBackend().empty((2, 3), F4, "F")
    assert (empty.shape, empty.dtype, empty.strides) == ((2, 3), F4, (4, 8))
    assert ReferenceBackend().fusible(exp, (F8,), empty)


def test_a_chain_with_broadcast_leaves_casts_and_two_outputs():
    a = np.arange(12.0).reshape(3, 4)[:, ::-1]
    row = np.arange(4, dtype=np.int8)
    steps = [
        Step(add, (~0, ~1), (F8, F8), F8),
        Step(less, (0, ~2), (F8, F8), B1),
        Step(cast_p, (0,), (F8,), F4, (("dtype", F4),)),
        Step(where_p, (1, 2, ~3), (B1, F4, F4), F4),
    ]
    total, chosen = np.empty((3, 4), np.int64), np.empty((3, 8), F4)[:, ::2]
    flags = run(steps, [a, row, np.float64(7.5), np.float32(-1)], [(0, total), (3, chosen)], (3, 4))
    want = a + row.astype(float)
    assert flags == 0
    np.testing.assert_array_equal(total, want.astype(np.int64))
    np.testing.assert_array_equal(chosen, np.where(want < 7.5, want.astype(F4), F4.type(-1)))


@pytest.mark.parametrize(
    ("prim", "operands", "want"),
    [
        (divide, (1.0, 0.0), DIVIDE),
        (divide, (0.0, 0.0), INVALID),
        (multiply, (1e300, 1e300), OVERFLOW),
        (multiply, (1e-300, 1e-300), UNDERFLOW),
        (multiply, (2.0, 3.0), 0),
        (less, (np.nan, 1.0), 0),
        (divide, ([1.0, 0.0], [0.0, 0.0]), DIVIDE | INVALID),
    ],
)
def test_flags(prim, operands, want):
    leaves = [np.array(x, F8) for x in operands]
    dtype = B1 if prim is less else F8
    out = np.empty(leaves[0].shape, dtype)
    with np.errstate(all="raise"):  # the caller's modes play no part
        assert run([Step(prim, (~0, ~1), (F8, F8), dtype)], leaves, [(0, out)], out.shape) == want


def test_flags_of_casts_and_stores():
    x = np.array([1e300, 2.0])
    out = np.empty(2, F4)
    assert run([Step(cast_p, (~0,), (F8,), F4, (("dtype", F4),))], [x], [(0, out)], (2,)) == OVERFLOW
    assert run([Step(add, (~0, ~0), (F8, F8), F8)], [x], [(0, out)], (2,)) == OVERFLOW
    nan = np.array([np.nan])
    assert run([Step(add, (~0, ~0), (F8, F8), F8)], [nan], [(0, np.empty(1, np.int64))], (1,)) == INVALID


def test_storing_complex_as_real_does_not_warn():
    z, out = np.array([1 + 2j]), np.empty(1)
    c16 = np.dtype("c16")
    assert run([Step(add, (~0, ~0), (c16, c16), c16)], [z], [(0, out)], (1,)) == 0
    assert out[0] == 2


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("axis", "keepdims"), [((0,), False), ((1,), True), ((0, 1), False), ((), False)])
def test_reductions_follow_the_layout_numpy_gives_the_operand(order, axis, keepdims):
    a = np.asarray(np.random.default_rng(1).standard_normal((70, 130)), order=order)
    want = np.add.reduce(a * a, axis=axis, keepdims=keepdims)
    out = np.empty(want.shape)
    params = (("axis", axis), ("keepdims", keepdims))
    steps = [Step(multiply, (~0, ~0), (F8, F8), F8), Step(add_reduce, (0,), (F8,), F8, params)]
    run(steps, [a], [(1, out)], a.shape)
    assert out.tobytes() == want.tobytes()


def test_reductions_cast_as_numpy_does():
    rng = np.random.default_rng(2)
    params = (("axis", (0,)), ("keepdims", False))
    differing = 0
    for _ in range(20):
        a = rng.integers(-(2**62), 2**62, 30_000)
        out = np.empty(())
        run([Step(add_reduce, (~0,), (F8,), F8, params)], [a], [(0, out)], a.shape)
        assert out == a.sum(dtype=F8)
        differing += out != a.astype(F8).sum()
    assert differing  # NumPy adds up buffer by buffer, and that is another order
    out = np.empty((), B1)
    run([Step(all_reduce, (~0,), (F8,), B1, params)], [np.array([1.0, np.nan, 0.0])], [(0, out)], (3,))
    assert not out


def test_operands_are_cast_in_the_operation():
    """Complex products of one element have other bits where NumPy casts an operand in a buffer."""
    rng = np.random.default_rng(0)
    c16 = np.dtype("c16")
    for _ in range(50):
        a, b = (rng.normal(size=(1, 1)) + 1j * rng.normal(size=(1, 1)) for _ in range(2))
        swapped, out = b.astype(">c16"), np.empty((1, 1), c16)
        run([Step(multiply, (~0, ~1), (c16, c16), c16)], [a, swapped], [(0, out)], (1, 1))
        assert out.tobytes() == (a * swapped).tobytes()
