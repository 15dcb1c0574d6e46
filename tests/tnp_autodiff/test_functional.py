"""grad, value_and_grad, vjp, jvp, Jacobians and Hessians."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import (
    GradientTape,
    NotDifferentiableError,
    Variable,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)

X, W = numpy.array([0.3, -0.7, 1.1, 0.5]), numpy.array([2.0, 3.0, 5.0, 7.0])


def test_value_and_gradient():
    value, g = value_and_grad(lambda x: (x * x).sum())(tnp.array(X))
    assert type(value) is numpy.float64
    assert value == (X * X).sum()
    assert g.tolist() == (2 * X).tolist()


def test_arguments_of_all_kinds():
    f = grad(lambda p, s: (p["a"] * p["b"][0]).sum() * s, argnums=(0, 1))
    gp, gs = f({"a": X, "b": [Variable(2.0), None]}, 3.0)
    assert gp["a"].tolist() == [6] * 4
    assert gp["b"][0] == 3 * X.sum()
    assert gp["b"][1] is None
    assert gs == 2 * X.sum()
    assert grad(lambda x, y: (x * y).sum(), argnums=1)(X, tnp.array(W)).tolist() == X.tolist()
    assert grad(lambda x, y=2.0: x * y)(3.0, y=5.0) == 5


def test_auxiliary_values():
    g, aux = grad(lambda x: ((x * x).sum(), {"n": 3}), has_aux=True)(X)
    assert g.tolist() == (2 * X).tolist()
    assert aux == {"n": 3}
    (value, aux), g = value_and_grad(lambda x: (x.sum(), x), has_aux=True)(tnp.array(X))
    assert (value, g.tolist()) == (X.sum(), [1] * 4)
    assert aux.tolist() == X.tolist()


def test_nothing_depends_on_the_argument():
    assert grad(lambda x: 1.0)(X).tolist() == [0] * 4
    assert grad(lambda x: tnp.ones(3).sum())(2.0) == 0


def test_higher_orders():
    f = tnp.sin
    for want in (numpy.cos, lambda x: -numpy.sin(x), lambda x: -numpy.cos(x), numpy.sin):
        f = grad(f)
        assert float(f(0.4)) == pytest.approx(want(0.4), rel=1e-14)


def test_writes_reach_the_callers_array():
    x, y = tnp.array(X), X.copy()

    def f(x):
        x[0] = 7.0
        x *= 2.0
        return (x * x).sum()

    assert grad(f)(x).tolist() == [0, *8 * X[1:]]
    grad(f)(y)
    assert x.tolist() == y.tolist() == [14, *2 * X[1:]]


def test_what_is_refused():
    with pytest.raises(TypeError, match="no single real number"):
        grad(lambda x: x * x)(X)
    with pytest.raises(TypeError, match="no single real number"):
        grad(lambda x: (x * 1j).sum())(X)
    with pytest.raises(NotDifferentiableError, match="an argument of int64"):
        grad(lambda x: x * 1.0)(3)


def test_complex_arguments():
    """df/dx + i df/dy; for a function into the reals, twice the derivative by the conjugate."""
    z = numpy.array([1 + 2j, -0.5 + 1j])
    g = grad(lambda z: (abs(z) ** 2).sum())(z)
    numpy.testing.assert_allclose(plain(g), 2 * z)
    g = grad(lambda z: tnp.real(z**3).sum())(z)
    numpy.testing.assert_allclose(plain(g), numpy.conj(3 * z**2))


def test_vjp_and_jvp_are_transposes():
    rng = numpy.random.default_rng(0)

    def f(x, w):
        y = tnp.cumsum(tnp.tanh(x) * w)
        y[1:3] *= x[0]
        return {"y": y, "s": [y.sum()]}

    u, v, g, h = (rng.normal(size=4) for _ in range(4))
    value, tangent = jvp(f, (X, W), (u, v))
    again, pull = vjp(f, X, W)
    assert plain(value["y"]).tolist() == plain(again["y"]).tolist()
    gx, gw = pull({"y": tnp.array(g), "s": [h[0]]})
    left = (plain(tangent["y"]) * g).sum() + plain(tangent["s"][0]) * h[0]
    numpy.testing.assert_allclose(left, (plain(gx) * u).sum() + (plain(gw) * v).sum(), rtol=1e-13)
    assert plain(pull({"y": tnp.array(g), "s": [h[0]]})[0]).tolist() == plain(gx).tolist()
    with pytest.raises(ValueError, match="a cotangent"):
        pull({"y": tnp.ones(3), "s": [1.0]})
    assert vjp(lambda x: (x, "more"), X, has_aux=True)[2] == "more"
    assert jvp(lambda x: (x, "more"), (X,), (X,), has_aux=True)[2] == "more"


def f(x):
    return tnp.stack([x[0] * x[1], tnp.sin(x[2]), x.sum() ** 2])


JACOBIAN = numpy.array([[X[1], X[0], 0, 0], [0, 0, numpy.cos(X[2]), 0], [2 * X.sum()] * 4])


def test_jacobians():
    numpy.testing.assert_allclose(plain(jacrev(f)(X)), JACOBIAN, rtol=1e-14)
    numpy.testing.assert_allclose(plain(jacfwd(f)(X)), JACOBIAN, rtol=1e-14)
    assert jacrev(lambda m: m @ m)(numpy.ones((2, 2))).shape == (2, 2, 2, 2)
    assert jacfwd(lambda m: m @ m)(numpy.ones((2, 2))).tolist() == jacrev(lambda m: m @ m)(numpy.ones((2, 2))).tolist()
    by_both = jacrev(lambda x, w: x * w, argnums=(0, 1))(X, W)
    assert plain(by_both[1]).tolist() == numpy.diag(X).tolist()
    parts = jacrev(lambda p: p["a"] * 2.0)({"a": X})
    assert plain(parts["a"]).tolist() == (2 * numpy.eye(4)).tolist()


def rosenbrock(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def rosenbrock_hessian(x):
    n = x.size
    h = numpy.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        h[i + 1, i + 1] += 200
        h[i, i + 1] = h[i + 1, i] = -400 * x[i]
    return h


def test_the_hessian_of_rosenbrocks_function():
    want = rosenbrock_hessian(X)
    numpy.testing.assert_allclose(plain(hessian(rosenbrock)(X)), want, rtol=1e-13)
    numpy.testing.assert_allclose(plain(hvp(rosenbrock, (X,), (W,))), want @ W, rtol=1e-13)
    numpy.testing.assert_allclose(plain(jacfwd(grad(rosenbrock))(X)), want, rtol=1e-13)


def test_writes_reach_the_callers_array_in_forward_mode_too():
    def f(x):
        x *= 2.0
        return x.sum()

    for x in (tnp.array(X), X.copy()):
        value, tangent = jvp(f, (x,), (numpy.ones(4),))
        assert (value, tangent) == (2 * X.sum(), 8)
        assert x.tolist() == (2 * X).tolist()


@pytest.mark.parametrize("of", [tnp.array, numpy.array, Variable])
@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobians_hand_back_once_what_the_function_writes(jacobian, of):
    def f(x):
        x *= x
        return x

    x = of([1.0, 4.0])
    numpy.testing.assert_array_equal(plain(jacobian(f)(x)), [[2.0, 0.0], [0.0, 8.0]])
    numpy.testing.assert_array_equal(plain(x), [1.0, 16.0])


def test_jacfwd_hands_back_to_an_outer_tape():
    def f(x):
        x *= x
        return x

    x = tnp.array([1.0, 4.0])
    with GradientTape() as tape:
        tape.watch(x)
        z = x * 1.0
        jacfwd(f)(z)
    numpy.testing.assert_array_equal(plain(tape.gradient(z, x)), [2.0, 8.0])


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
@pytest.mark.parametrize(
    ("f", "n", "shape"),
    [
        (lambda x: x[:0], 3, (0, 3)),
        (lambda x: x * 2, 0, (0, 0)),
        (lambda x: x.sum(), 0, (0,)),
        (lambda x: tnp.stack([x, x]), 0, (2, 0, 0)),
        (lambda x: tnp.zeros((2, 0)), 3, (2, 0, 3)),
    ],
)
def test_jacobians_of_empty_arrays(jacobian, f, n, shape):
    assert jacobian(f)(tnp.ones(n)).shape == shape


def test_hessian_of_an_empty_array():
    assert hessian(lambda x: (x**2).sum())(tnp.zeros(0)).shape == (0, 0)


def test_jacrev_of_a_structure_and_an_empty_value():
    found = jacrev(lambda p: p["a"][:0] * p["b"])({"a": tnp.ones(3), "b": tnp.ones(())})
    assert {k: v.shape for k, v in found.items()} == {"a": (0, 3), "b": (0,)}


# ------------------------------------------------------------------------------------------------ linear maps
def loop(x, w):
    y = tnp.zeros(4)
    y[0] = x[0]
    for i in range(1, 4):
        y[i] = tnp.sin(y[i - 1]) * w[i] + x[i]
    return {"y": y, "s": (y * w).sum()}


def test_linearize_pushes_what_jvp_pushes_and_runs_once():
    calls = []

    def f(x, w):
        calls.append(1)
        return loop(x, w)

    value, push = linearize(f, X, W)
    assert plain(value["y"]).tolist() == plain(loop(tnp.array(X), tnp.array(W))["y"]).tolist()
    for seed in range(3):
        u, v = numpy.random.default_rng(seed).normal(size=(2, 4))
        got, want = push(u, v), jvp(loop, (X, W), (u, v))[1]
        numpy.testing.assert_allclose(plain(got["y"]), plain(want["y"]), rtol=1e-13)
        numpy.testing.assert_allclose(float(got["s"]), float(want["s"]), rtol=1e-13)
    assert len(calls) == 1
    assert plain(grad(lambda u: push(u, tnp.zeros(4))["s"])(X)).tolist() == pytest.approx(
        plain(vjp(loop, X, W)[1]({"y": tnp.zeros(4), "s": 1.0})[0]).tolist()
    )


def test_linearize_of_complex_and_unconnected_values():
    _, push, aux = linearize(lambda z: ((z * z, tnp.ones(2)), "more"), numpy.array([1 + 2j]), has_aux=True)
    assert aux == "more"
    t, none = push(numpy.array([0.5 - 1j]))
    numpy.testing.assert_allclose(plain(t), 2 * (1 + 2j) * (0.5 - 1j))
    assert none.tolist() == [0, 0]
    with pytest.raises(ValueError, match="linearize: tangents"):
        push(numpy.ones(2))
    with pytest.raises(ValueError, match="linearize: tangents"):
        push()


def test_jacobians_of_structures():
    def f(p, w):
        return [p["a"] * w.sum(), {"s": (p["b"] ** 2).sum()}]

    p, w = {"a": X[:2], "b": X[1:]}, W
    want = [({"a": numpy.eye(2) * 17, "b": numpy.zeros((2, 3))}, numpy.outer(X[:2], numpy.ones(4)))]
    want.append(({"a": numpy.zeros(2), "b": 2 * X[1:]}, numpy.zeros(4)))
    for jacobian in (jacrev, jacfwd):
        first, rest = jacobian(f, (0, 1))(p, w)
        for (gp, gw), (wp, ww) in zip([first, rest["s"]], want, strict=True):
            for k in "ab":
                numpy.testing.assert_allclose(plain(gp[k]), wp[k])
            numpy.testing.assert_allclose(plain(gw), ww)
        alone = jacobian(f)(p, w)
        assert set(alone[0]) == {"a", "b"}


def test_hessian_by_several_arguments_of_different_shapes():
    def f(x, y):
        return (x[:, 0] * y).sum() * (y**2).sum() + (x**3).sum()

    x, y = numpy.arange(6.0).reshape(3, 2) / 7, numpy.array([0.5, -1.0, 2.0])
    h = hessian(f, (0, 1))(x, y)
    assert [[b.shape for b in row] for row in h] == [[(3, 2, 3, 2), (3, 2, 3)], [(3, 3, 2), (3, 3)]]

    def flat(z):
        return f(z[:6].reshape(3, 2), z[6:])

    whole = plain(hessian(flat)(numpy.concatenate([x.ravel(), y])))
    numpy.testing.assert_allclose(plain(h[0][0]).reshape(6, 6), whole[:6, :6], atol=1e-14)
    numpy.testing.assert_allclose(plain(h[0][1]).reshape(6, 3), whole[:6, 6:], atol=1e-14)
    numpy.testing.assert_allclose(plain(h[1][0]).reshape(3, 6), whole[6:, :6], atol=1e-14)
    numpy.testing.assert_allclose(plain(h[1][1]), whole[6:, 6:], atol=1e-14)
