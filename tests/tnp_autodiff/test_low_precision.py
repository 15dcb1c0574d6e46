"""bfloat16 and the other small floats: gradients are of the source's dtype, and near those of float64."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import ForwardAccumulator, GradientTape, grad, jvp

X = numpy.array([0.5, 1.5, -2.0])
M = numpy.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def written(x):
    a = x * 1
    a[0] = x[1] * x[2]
    a[1:] += a[:-1] * x[0]
    return a


PROGRAMS = {
    "product": lambda x: (x * x).sum(),
    "chain": lambda x: (tnp.tanh(x) * tnp.exp(x)).mean(),
    "elements": lambda x: (x[[0, 0, 1]] * x[1:2]).sum(),
    "slices": lambda x: (x[:2] * x[1:]).sum(),
    "largest": lambda x: tnp.max(x * x),
    "matrix": lambda x: (x @ tnp.array(M, x.dtype)).sum(),
    "cast": lambda x: (x.astype("f4") ** 2).sum(),
    "choice": lambda x: tnp.where(x > 0, x * x, 0 * x).sum(),
    "running sum": lambda x: (tnp.cumsum(x) * x).sum(),
    "deviation": lambda x: tnp.std(x),
    "all factors": lambda x: tnp.prod(x),
    "writes": lambda x: written(x).sum(),
    "order": lambda x: (tnp.sort(x) * x).sum(),
    "powers": lambda x: (x**2 + 1 / x).sum(),
    "inner product": lambda x: tnp.dot(x, x),
    "network": lambda x: (tnp.softmax(x) * tnp.sigmoid(x) + tnp.relu(x)).sum(),
    "stretched": lambda x: (x[:, None] ** 2 * x).sum(axis=0).max(),
}


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_near_float64(name, kind):
    dtype = tnp.bfloat16 if kind == "bfloat16" else numpy.dtype(kind)
    eps = 2.0**-8 if kind == "bfloat16" else float(numpy.finfo(kind).eps)
    f = PROGRAMS[name]
    x = tnp.array(X, dtype)
    want = plain(grad(f)(tnp.array(X)))
    scale = numpy.abs(want).max()
    g = grad(f)(x)
    assert g.dtype == dtype
    numpy.testing.assert_allclose(plain(g).astype(float) / scale, want / scale, rtol=0, atol=6 * eps)
    t = jvp(f, (x,), (tnp.ones(3, dtype),))[1]
    numpy.testing.assert_allclose(float(plain(t)) / scale, want.sum() / scale, rtol=0, atol=8 * eps)


def test_tapes_and_accumulators_take_bfloat16():
    x = tnp.array(X, tnp.bfloat16)
    with GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert plain(tape.gradient(y, x)).astype(float).tolist() == (2 * X).tolist()
    with ForwardAccumulator(x, tnp.ones(3, tnp.bfloat16)) as accumulator:
        y = x * x
    assert plain(accumulator.jvp(y)).astype(float).tolist() == (2 * X).tolist()
