"""The pitfalls of batching through mutation, one by one: each program has one right answer."""

import weakref
from unittest import mock

import numpy
import pytest

import tnp
from tnp.transforms import EscapedError, LoopCarriedError
from tnp_autodiff import LeavingTapeWarning, grad

X = tnp.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])


@pytest.mark.parametrize("transform", [lambda f: f, grad], ids=["vmap", "vmap of grad"])
def test_whole_overwrites_in_a_long_loop_forget_the_past(transform):
    steps = []

    def f(w):
        buf = tnp.zeros(4)
        for k in range(30):
            step = w * float(k)
            steps.append(weakref.ref(step))
            buf[...] = step
            del step
        assert sum(r() is not None for r in steps) == 0
        return buf.sum()

    got = tnp.vmap(transform(f))(X)
    expected = numpy.full((2, 4), 29.0) if transform is grad else [290.0, 754.0]
    assert numpy.array_equal(got, expected)


def test_an_outer_accumulator():
    total = tnp.zeros(2)

    def adds(x):
        total[:] += x
        return x

    def doubles(x):
        tnp.multiply(total, 2, out=total)
        return x

    for f in (adds, doubles):
        with pytest.raises(LoopCarriedError):
            tnp.vmap(f)(tnp.ones((3, 2)))
        assert total.tolist() == [0, 0]


def test_outer_scratch():
    buf = tnp.zeros(3)

    def f(x):
        buf[:] = x
        return buf.sum()

    assert tnp.vmap(f)(tnp.array([1.0, 2.0])).tolist() == [3, 6]
    assert buf.tolist() == [2, 2, 2]
    with pytest.raises(LoopCarriedError):  # what the last example left is there from the start
        tnp.vmap(lambda x: buf.__iadd__(x).sum())(tnp.array([1.0, 2.0]))


def test_a_batched_argument_with_a_broadcast_axis():
    def f(r):
        r[0] = 1
        return r

    w = tnp.broadcast_to(X[0], (8, 4))
    with pytest.raises(ValueError, match="read-only"):
        tnp.vmap(f)(w)
    assert tnp.vmap(lambda r: r * 2)(w).shape == (8, 4)
    assert tnp.vmap(f)(tnp.broadcast_to(X[0], (8, 4)).copy())[:, 0].tolist() == [1] * 8


def test_windows_under_vmap_of_grad_are_of_the_size_of_a_row():
    big, sizes = tnp.ones((200, 300)), []
    zeros = tnp.zeros

    def noted(shape, *dtype):
        if isinstance(shape, int):  # memory for a cotangent
            sizes.append(8 * shape)
        return zeros(shape, *dtype)

    def f(x):
        a = tnp.zeros(300)
        a[::2] = x[1::2]
        x[:10] = a[:10]
        return (a * x).sum()

    with mock.patch.object(tnp, "zeros", noted):
        tnp.vmap(grad(f))(big)
    assert sizes and max(sizes) <= 200 * 300 * 8


def test_an_integer_buffer():
    def f(x):
        buf = tnp.zeros(4, int)
        buf[0] = x[0] * 1.5
        return buf.sum() * x[1]

    with pytest.warns(LeavingTapeWarning, match="int64") as seen:
        got = tnp.vmap(grad(f))(X)
    assert numpy.array_equal(got, [[0, 1, 0, 0], [0, 7, 0, 0]])
    assert len(seen) == 1 and seen[0].filename == __file__


def test_results_that_escape():
    kept = []
    tnp.vmap(lambda x: kept.append(2 * x) or x)(X)
    with pytest.raises(EscapedError):
        kept[0] + 1
    with pytest.raises(EscapedError):
        kept[0][0] = 1
    with pytest.raises(EscapedError):
        tnp.vmap(lambda x: x + kept[0])(X)
