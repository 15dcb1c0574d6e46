"""Large products of matrices: NumPy's bits, in memory of the pool."""

import operator

import numpy
import pytest

import tnp
from tnp.backends.cpu import memory

SIZES = (260, 140, 300)
LAYOUTS = {
    "by rows": lambda a: a.copy(),
    "by columns": numpy.asfortranarray,
    "upside down": lambda a: a[::-1],
    "backwards": lambda a: a[:, ::-1],
    "a window": lambda a: numpy.pad(a, 1)[1:-1, 1:-1],
    "broadcast": lambda a: numpy.broadcast_to(a[0], a.shape),
}
WAYS = {"@": operator.matmul, "matmul": lambda a, b: (numpy if type(a) is numpy.ndarray else tnp).matmul(a, b)}


def matrices(dtype):
    rng, (n, k, m) = numpy.random.default_rng(0), SIZES
    a, b = rng.standard_normal((n, k)), rng.standard_normal((k, m))
    if numpy.dtype(dtype).kind == "c":
        a, b = a + 1j * a[::-1], b - 1j * b[:, ::-1]
    return a.astype(dtype), b.astype(dtype)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D", ">d", "e", "g", "i8", "?", "O"])
def test_bits_of_every_dtype(way, dtype):
    a, b = matrices(dtype) if dtype != "?" else [x > 0 for x in matrices("d")]
    want, got = WAYS[way](a, b), WAYS[way](tnp.asarray(a), tnp.asarray(b))
    assert type(got) is tnp.ndarray and got.dtype == want.dtype and got.strides == want.strides
    if dtype in ("O", "g"):  # whose bytes are references, or partly nobody's
        assert (tnp.to_numpy(got) == want).all()
    else:
        assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_bits_of_every_layout(first, second):
    a, b = matrices("d")
    a, b = LAYOUTS[first](a), LAYOUTS[second](b)
    assert (tnp.asarray(a) @ tnp.asarray(b)).tobytes() == (a @ b).tobytes()


def test_a_matrix_and_its_own_transpose():
    a, _ = matrices("d")
    x = tnp.array(a)
    assert (x @ x.T).tobytes() == (a @ a.T).tobytes() and (x.T @ x).tobytes() == (a.T @ a).tobytes()


def test_pending_operands_and_results_that_are_written():
    a, b = matrices("d")
    r = (tnp.array(a) * 2.0) @ (tnp.array(b) + 1.0)
    want = (a * 2.0) @ (b + 1.0)
    r[0] = 0
    want[0] = 0
    assert r.tobytes() == want.tobytes() and r.flags.owndata and r.base is None


def test_the_memory_is_the_pools_and_free_with_the_array():
    a, b = (tnp.array(x) for x in matrices("d"))
    r = a @ b
    assert id(r._nd.base) in memory._held_roots
    first = r.__array_interface__["data"][0]
    del r
    again = a @ b
    assert again.__array_interface__["data"][0] == first


def test_other_shapes_are_numpys_to_judge():
    a, b = matrices("d")
    x, y = tnp.array(a), tnp.array(b)
    for way in WAYS.values():
        with pytest.raises(ValueError, match="mismatch in its core dimension") as ours:
            way(x, x)
        with pytest.raises(ValueError, match="mismatch in its core dimension") as theirs:
            way(a, a)
        assert str(ours.value) == str(theirs.value)
    for p, q in [(a[0], b), (a, b[:, 0]), (a[None], b), (a[:, :0], b[:0]), (a[:0], b), (a, b.astype("f"))]:
        assert (tnp.asarray(p) @ tnp.asarray(q)).tobytes() == (p @ q).tobytes()
    out = tnp.empty((SIZES[0], SIZES[2]))
    assert tnp.matmul(x, y, out=out) is out and out.tobytes() == (a @ b).tobytes()
    x @= tnp.eye(SIZES[1])
    assert x.tobytes() == (a @ numpy.eye(SIZES[1])).tobytes()
