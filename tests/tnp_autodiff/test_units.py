"""Rows and columns of Jacobians in one pass are those of one pass each."""

from unittest import mock

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp.transforms import DataDependentError
from tnp_autodiff import GradientTape, custom_gradient, grad, hessian, jacfwd, jacrev, units

X = numpy.random.default_rng(7).standard_normal((3, 4))


def f(x):
    y = tnp.zeros((2, 3))
    y[0] = tnp.sin(x).sum(1)
    y[1, 1:] = x[:2, 0] * x[1:, 3]
    y[1] *= y[0]
    return y


def by_loop(call):
    """As if no function could be batched."""
    with mock.patch.object(units, "_at_once", side_effect=DataDependentError):
        return call()


def tape_jacobian():
    x, w = tnp.array(X), tnp.array(X[0])
    with GradientTape() as tape:
        tape.watch([x, w])
        y = f(x * w)
    return tape.jacobian(y, {"x": x, "w": [w, None]})


def batch_jacobian():
    x = tnp.array(X)
    with GradientTape() as tape:
        tape.watch(x)
        y = tnp.cumsum(x, axis=1) * x[:, :1]
    return tape.batch_jacobian(y, x)


CALLS = {
    "jacrev": lambda: jacrev(f)(tnp.array(X)),
    "jacrev of two": lambda: jacrev(lambda x, y: f(x) * y[:2, :3], (0, 1))(tnp.array(X), tnp.array(X)),
    "jacfwd": lambda: jacfwd(f)(tnp.array(X)),
    "hessian": lambda: hessian(lambda x: (f(x) ** 2).sum())(tnp.array(X)),
    "forward over reverse": lambda: jacfwd(grad(lambda x: (f(x) ** 2).sum()))(tnp.array(X)),
    "forward over forward": lambda: jacfwd(jacfwd(f))(tnp.array(X)),
    "reverse over forward": lambda: jacrev(jacfwd(f))(tnp.array(X)),
    "of a structure": lambda: jacrev(lambda t: f(t["x"]) * t["s"])({"x": tnp.array(X), "s": tnp.array(2.0)}),
    "tape.jacobian": tape_jacobian,
    "tape.batch_jacobian": batch_jacobian,
}


def leaves(y):
    if isinstance(y, dict):
        return [leaf for k in y for leaf in leaves(y[k])]
    if isinstance(y, (list, tuple)):
        return [leaf for item in y for leaf in leaves(item)]
    return [] if y is None else [plain(y)]


@pytest.mark.parametrize("most", [1 << 22, 12], ids=["one pass", "several"])
@pytest.mark.parametrize("name", CALLS)
def test_one_pass_is_many(name, most):
    with mock.patch.object(units, "AT_ONCE", most):
        got = leaves(CALLS[name]())
    want = leaves(by_loop(CALLS[name]))
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape and g.dtype == w.dtype
        numpy.testing.assert_allclose(g, w, rtol=1e-13, atol=1e-13)


def test_a_rule_that_looks_at_values_goes_row_by_row():
    @custom_gradient
    def clipped(x):
        return x * 1.0, lambda g: g if float(abs(g).sum()) < 2 else g * 0.0

    assert numpy.array_equal(jacrev(lambda x: clipped(x) * tnp.array([1.0, 3.0]))(tnp.ones(2)), [[1, 0], [0, 0]])


def test_the_function_runs_once():
    ran = []

    def counted(x):
        ran.append(1)
        return x * x

    jacrev(counted)(tnp.ones(5))
    jacfwd(counted)(tnp.ones(5))
    assert len(ran) == 2
