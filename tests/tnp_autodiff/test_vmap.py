"""Differentiation and vmap in every order."""

import numpy
import pytest

import tnp
from tests.tnp.transforms.looped import assert_same
from tnp_autodiff import (
    ForwardAccumulator,
    GradientTape,
    NotDifferentiableError,
    Variable,
    custom_gradient,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    recompute_grad,
    stop_gradient,
    value_and_grad,
    vjp,
)

X = numpy.random.default_rng(3).standard_normal((5, 4))
W = numpy.random.default_rng(4).standard_normal((4, 4))


def fill(x):
    a = tnp.zeros(4)
    a[0] = x[0] * 2
    for i in range(1, 4):
        a[i] = tnp.sin(a[i - 1]) * x[i]
    a += x
    a[1:] = a[:-1] * x[1:]
    return (a * a).sum()


FUNCTIONS = {
    "sum": lambda x: (x * x).sum(),
    "fill": fill,
    "matmul": lambda x: tnp.tanh(tnp.asarray(W) @ x).sum(),
    "views": lambda x: (x[::-1] * x.reshape(2, 2).T.ravel()).sum(),
    "where": lambda x: tnp.where(x > 0, tnp.sqrt(abs(x)), x).sum(),
    "max": lambda x: x.max() * tnp.sort(x)[0],
    "std": lambda x: x.std() + tnp.linalg.norm(x) + tnp.median(x),
    "cov": lambda x: tnp.cumsum(x).prod() + tnp.trapezoid(x),
    "fancy": lambda x: (x[[0, 0, 2]] * x[tnp.array([True, True, True, False])]).sum(),
    "not of x": lambda x: tnp.ones(3).sum() + 0.0,
    "solve": lambda x: tnp.linalg.solve(tnp.eye(4) * 3 + tnp.outer(x, x), x).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_of_grad(name):
    f = FUNCTIONS[name]
    got = tnp.vmap(grad(f))(tnp.array(X))
    expected = numpy.stack([tnp.to_numpy(grad(f)(tnp.array(x))) for x in X])
    assert_same(got, expected, ulp=32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_grad_of_vmap(name):
    f = FUNCTIONS[name]
    got = grad(lambda xs: tnp.vmap(f)(xs).sum())(tnp.array(X))
    expected = numpy.stack([tnp.to_numpy(grad(f)(tnp.array(x))) for x in X])
    assert_same(got, expected, ulp=32)


@pytest.mark.parametrize("name", ["sum", "fill", "matmul", "views"])
def test_vmap_of_jvp_and_hvp(name):
    f = FUNCTIONS[name]
    t = X[::-1].copy()
    got = tnp.vmap(lambda x, t: jvp(f, (x,), (t,)))(tnp.array(X), tnp.array(t))
    expected = [jvp(f, (tnp.array(x),), (tnp.array(s),)) for x, s in zip(X, t, strict=True)]
    for k in range(2):
        assert_same(got[k], numpy.stack([numpy.asarray(e[k]) for e in expected]), ulp=32)
    got = tnp.vmap(lambda x, t: hvp(f, (x,), (t,)))(tnp.array(X), tnp.array(t))
    expected = [tnp.to_numpy(hvp(f, (tnp.array(x),), (tnp.array(s),))) for x, s in zip(X, t, strict=True)]
    assert_same(got, numpy.stack(expected), ulp=64)


@pytest.mark.parametrize("name", ["sum", "fill", "matmul"])
def test_vmap_of_hessian(name):
    f = FUNCTIONS[name]
    got = tnp.vmap(hessian(f))(tnp.array(X))
    expected = numpy.stack([tnp.to_numpy(hessian(f)(tnp.array(x))) for x in X])
    assert_same(got, expected, ulp=64)


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_vmap_of_jacobians(transform):
    def f(x):
        a = tnp.zeros(3)
        a[0] = x.sum()
        a[1:] = x[:2] * x[2:]
        return a

    got = tnp.vmap(transform(f))(tnp.array(X))
    expected = numpy.stack([tnp.to_numpy(transform(f)(tnp.array(x))) for x in X])
    assert_same(got, expected, ulp=32)


def test_gradient_by_a_shared_argument_is_each_examples():
    got = tnp.vmap(lambda x: grad(lambda w: (w @ x).sum())(tnp.asarray(W)))(tnp.array(X))
    expected = numpy.broadcast_to(X[:, None], (5, 4, 4)).copy()
    assert_same(got, expected, ulp=8)


def test_gradient_by_what_vmap_closes_over():
    got = grad(lambda w: tnp.vmap(lambda x: (w @ x).sum())(tnp.array(X)).sum())(tnp.array(W))
    expected = numpy.broadcast_to(X.sum(0), (4, 4)).copy()
    assert_same(got, expected, ulp=8)


def test_value_and_grad_with_aux_and_argnums():
    def f(x, y):
        return (x * y).sum(), x[0]

    (value, aux), (gx, gy) = tnp.vmap(value_and_grad(f, (0, 1), has_aux=True))(tnp.array(X), tnp.array(X * 2))
    assert_same(value, (X * X * 2).sum(1), ulp=8)
    assert_same(aux, X[:, 0])
    assert_same(gx, X * 2)
    assert_same(gy, X)


def test_nested_orders():
    f = tnp.sin
    x = tnp.array(X[0])
    assert_same(tnp.vmap(grad(grad(grad(f))))(x), -numpy.cos(X[0]), ulp=4)
    got = grad(lambda v: tnp.vmap(grad(f))(v).sum())(x)
    assert_same(got, -numpy.sin(X[0]), ulp=4)
    got = tnp.vmap(grad(lambda r: tnp.vmap(grad(lambda s: s**3))(r).sum()))(tnp.array(X))
    assert_same(got, 6 * X, ulp=8)


def test_tape_inside():
    def f(x):
        with GradientTape() as tape:
            tape.watch(x)
            y = x * x
            y[0] = 5 * x[2]
        return tape.gradient(y.sum(), x)

    expected = 2 * X
    expected[:, 2] += 5
    expected[:, 0] = 0
    assert_same(tnp.vmap(f)(tnp.array(X)), expected, ulp=2)


def test_tape_inside_watches_what_is_shared():
    w = tnp.array(W)

    def f(x):
        with GradientTape() as tape:
            tape.watch(w)
            y = (w @ x).sum()
        return tape.gradient(y, w)

    assert_same(tnp.vmap(f)(tnp.array(X)), numpy.broadcast_to(X[:, None], (5, 4, 4)).copy())
    assert numpy.array_equal(w, W) and (w + 1).shape == (4, 4)


def test_tape_outside():
    x, w = tnp.array(X), tnp.array(W)
    with GradientTape() as tape:
        tape.watch([x, w])
        y = tnp.vmap(lambda r: (r @ w).sum())(x)
    gx, gw = tape.gradient(y, [x, w])
    assert_same(gx, numpy.broadcast_to(W.sum(1), (5, 4)).copy(), ulp=8)
    assert_same(gw, numpy.repeat(X.sum(0)[:, None], 4, 1), ulp=8)


def test_variables():
    v = Variable(W)

    def f(x):
        with GradientTape() as tape:
            y = (v @ x).sum()
        return tape.gradient(y, v)

    assert_same(tnp.vmap(f)(tnp.array(X)), numpy.broadcast_to(X[:, None], (5, 4, 4)).copy())
    assert numpy.array_equal(v.numpy(), W)
    with GradientTape() as tape:
        y = tnp.vmap(lambda x: (v @ x).sum())(tnp.array(X)).sum()
    assert_same(tape.gradient(y, v), numpy.broadcast_to(X.sum(0), (4, 4)).copy(), ulp=8)


def test_one_examples_gradient_by_what_all_share_is_refused():
    w = tnp.array(W)
    with GradientTape(persistent=True) as tape:
        tape.watch(w)
        with pytest.raises(NotDifferentiableError, match="share"):
            tnp.vmap(lambda x: tape.gradient((w @ x).sum(), w))(tnp.array(X))


def test_accumulator_inside():
    def f(x, t):
        with ForwardAccumulator(x, t) as acc:
            y = x * x
            y[1] = y[0]
        return acc.jvp(y)

    expected = 2 * X * X
    expected[:, 1] = expected[:, 0]
    assert_same(tnp.vmap(f)(tnp.array(X), tnp.array(X)), expected)


def test_vjp():
    def f(x):
        y, pull = vjp(lambda x: x * x, x)
        return y, pull(x)[0]

    y, g = tnp.vmap(f)(tnp.array(X))
    assert_same(y, X * X)
    assert_same(g, 2 * X * X)


def test_pull_under_vmap():
    _, pull = vjp(lambda x: tnp.cumsum(x * x), tnp.array(X[0]))
    got = tnp.vmap(lambda g: pull(g)[0])(tnp.eye(4))
    assert_same(got + 0.0, 0.0 + numpy.tril(numpy.broadcast_to(2 * X[0], (4, 4))))


def test_writes_to_arguments():
    def f(x):
        x[0] = x[1] * 2
        return (x * x).sum()

    x = tnp.array(X)
    got = tnp.vmap(grad(f))(x)
    expected = 2 * X
    expected[:, 0] = 0
    expected[:, 1] += 8 * X[:, 1]
    assert_same(got, expected, ulp=8)
    assert numpy.array_equal(x[:, 0], X[:, 1] * 2)


def test_stop_gradient():
    got = tnp.vmap(grad(lambda x: (x * stop_gradient(x)).sum()))(tnp.array(X))
    assert_same(got, X)


@custom_gradient
def doubled(x):
    e = tnp.exp(x)

    def backward(g):
        assert g.shape == x.shape
        return g * 2 * e

    return e, backward


@pytest.mark.parametrize("of", ["vmap(grad)", "grad(vmap)"])
def test_custom_gradient(of):
    x = tnp.array(X)
    if of == "vmap(grad)":
        got = tnp.vmap(grad(lambda r: doubled(r).sum()))(x)
    else:
        got = grad(lambda x: tnp.vmap(doubled)(x).sum())(x)
    assert_same(got, 2 * numpy.exp(X), ulp=2)


@pytest.mark.parametrize("of", ["vmap(grad)", "grad(vmap)"])
def test_recompute_grad(of):
    f = recompute_grad(lambda r: tnp.sin(r) * r)
    x = tnp.array(X)
    if of == "vmap(grad)":
        got = tnp.vmap(grad(lambda r: f(r).sum()))(x)
    else:
        got = grad(lambda x: tnp.vmap(f)(x).sum())(x)
    assert_same(got, numpy.cos(X) * X + numpy.sin(X), ulp=4)


def test_random_numbers_differ():
    rng = tnp.random.default_rng(0)
    got = tnp.vmap(grad(lambda x: (x * rng.normal(size=4)).sum()))(tnp.array(X))
    assert numpy.array_equal(got, numpy.random.default_rng(0).normal(size=(5, 4)))


def test_cotangents_are_of_the_size_of_a_row():
    big = tnp.ones((300, 50))
    got = tnp.vmap(grad(lambda x: (x[::2] * x[1::2]).sum()))(big)
    assert numpy.array_equal(got, numpy.ones((300, 50)))
