"""What becomes one kernel where the bits of an operation depend on the strides it sees."""

import numpy as np
import pytest

import tnp
from tnp.core.cells import Place, Storage
from tnp.core.elementwise import PRIMITIVES
from tnp.lazy.fusion import collect
from tnp.lazy.graph import record

F8 = np.dtype("f8")


def recorded(ufunc, *args):
    return record(PRIMITIVES[ufunc], (), args, (F8,) * len(args), F8, (6,), None, None)


def only_contiguous(prim, in_dtypes, operand):
    """Stand as `Backend.fusible` for operations that NumPy computes otherwise on strided memory."""
    return operand.flags.c_contiguous


@pytest.mark.parametrize("swapped", [False, True])
def test_an_operation_on_strided_memory_runs_without_others(swapped):
    """Its other operands are run before: alone it is given to NumPy, which sees the strides."""
    whole = Storage(np.arange(6.0), None)
    backwards = Place(whole, whole.full[::-1])
    inner = recorded(np.add, whole, whole)
    outer = recorded(np.multiply, *((backwards, inner) if swapped else (inner, backwards)))
    forced = []

    def force(storage):
        forced.append(storage)
        storage.full, storage.node = np.ones(6), None

    assert collect([outer], force, only_contiguous) == [outer]
    assert forced == [inner]
    alone = recorded(np.multiply, backwards, backwards)
    assert collect([alone], force, only_contiguous) == [alone]
    above = recorded(np.add, alone, whole)
    assert collect([above], force, only_contiguous) == [above]
    assert forced == [inner, alone]


@pytest.mark.parametrize("n", [40, 200_003])
def test_bits_of_complex_products_of_strided_operands(n):
    rng = np.random.default_rng(3)
    x, y = ((rng.normal(size=n) + 1j * rng.normal(size=n)).astype("c8") for _ in range(2))
    with tnp.config(lazy_from=1):
        a, b = tnp.array(x), tnp.array(y)
        pairs = [
            ((a + 1) * b[::-1], (x + 1) * y[::-1]),
            (b[::-1] * (a + 1), y[::-1] * (x + 1)),
            (1 + b[::-1] * b[::-1], 1 + y[::-1] * y[::-1]),
            (tnp.square(a[::-1]) + a, np.square(x[::-1]) + x),
            (abs(a[::-1]), abs(x[::-1])),
        ]
        for ours, theirs in pairs:
            assert ours.tobytes() == theirs.tobytes()


numpy_random = np.random.default_rng
WRITES = {
    "in place": lambda np, a, b: a.__imul__(b) is not None and a,
    "whole": lambda np, a, b: a.__setitem__(Ellipsis, b * 3) or a,
    "out": lambda np, a, b: np.add(b, b, out=a),
    "and on": lambda np, a, b: np.subtract(a, b, out=a) * 2 - b,
    "row": lambda np, a, b: np.subtract(a, b[0], out=a),
    "column": lambda np, a, b: np.subtract(b[:, :1], a, out=a) + b[::-1],
    "twice": lambda np, a, b: np.multiply(np.subtract(a, b, out=a), b, out=a),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
@pytest.mark.parametrize("other", ["C", "F", "reversed", "every other"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("write", WRITES)
def test_sums_go_in_the_order_of_the_memory_that_was_written(recorded, write, order, other, dtype):
    """The array that is written keeps its order in memory, whatever it is made from."""

    def run(np, axis):
        rng = numpy_random(8)
        a = np.empty((37, 29), dtype, order=order)
        a[...] = np.array(rng.normal(size=(37, 29)).astype(dtype))
        b = np.array(rng.normal(size=(74, 29)).astype(dtype))
        b = {"C": lambda: b[:37].copy(), "F": lambda: np.asarray(b[:37], order="F"),
             "reversed": lambda: b[:37][:, ::-1], "every other": lambda: b[::2]}[other]()  # fmt: skip
        value = WRITES[write](np, a, b)
        return [np.sum(value, axis=axis), np.mean(value, axis=axis), np.prod(value + b, axis=axis)]

    for axis in (0, 1, None):
        for mine, theirs in zip(run(tnp, axis), run(np, axis), strict=True):
            assert mine.tobytes() == theirs.tobytes()
            assert mine.dtype == theirs.dtype


@pytest.mark.parametrize("swapped", [False, True])
def test_one_element_is_seen_with_its_stride(swapped):
    """It is contiguous whatever the stride, which NumPy's loops are given nevertheless."""
    whole = Storage(np.arange(1.0), None)
    backwards = Place(whole, whole.full[::-1])
    inner = record(PRIMITIVES[np.add], (), (whole, whole), (F8, F8), F8, (1,), None, None)
    operands = (backwards, inner) if swapped else (inner, backwards)
    outer = record(PRIMITIVES[np.multiply], (), operands, (F8, F8), F8, (1,), None, None)
    forced = []

    def force(storage):
        forced.append(storage)
        storage.full, storage.node = np.ones(1), None

    assert collect([outer], force, lambda prim, in_dtypes, nd: nd.strides == (8,)) == [outer]
    assert forced == [inner]
