"""Derivatives of compiled functions, and compiled derivatives, are those of the functions."""

import numpy
import pytest

import tnp as np
from tests.tnp.transforms.test_jit import same
from tnp.transforms.errors import ConcretizationError
from tnp_autodiff import GradientTape, grad, hessian, hvp, jacrev, jvp, value_and_grad


def fill(x):
    a = np.zeros(5)
    a[0] = x[0]
    for i in range(1, 5):
        a[i] = np.sin(a[i - 1]) * x[i]
    return (a * a).sum()


def in_place(x):
    y = x * 2
    y += np.exp(-x)
    y[1:] *= y[:-1]
    return y.sum()


def attention(x):
    m = np.outer(x, x) + np.eye(5)
    e = np.exp(m - m.max(axis=1, keepdims=True))
    return ((e / e.sum(axis=1, keepdims=True)) @ x).sum()


def swapped(x):
    y = x.copy()
    y[0], y[2] = y[2], y[0]
    y[::2] = y[1] * np.sqrt(abs(x[::2]))
    return np.where(y > 0, y, 3 * y).mean() + np.linalg.norm(x)


FUNCTIONS = {
    "elementwise": lambda x: (np.sin(x) * x**2).sum(),
    "fill": fill,
    "in place": in_place,
    "attention": attention,
    "swapped": swapped,
    "solve": lambda x: np.linalg.solve(np.diag(x) + 5 * np.eye(5), x).sum(),
    "gather": lambda x: (x[np.array([0, 0, 3])] * x[:3]).sum(),
    "scan": lambda x: (np.cumsum(x) * np.cumprod(x)[0]).sum(),
}


def vectors():
    return [np.array(numpy.random.default_rng(seed).normal(size=5)) for seed in range(4)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_derivatives(name):
    f = FUNCTIONS[name]
    for plain in (
        grad(f),
        value_and_grad(f),
        jacrev(f),
        lambda x: jvp(f, (x,), (x * 2,)),
        lambda x: hvp(f, (x,), (x,)),
    ):
        compiled = np.jit(plain)
        for x in vectors():
            same(plain(x.copy()), compiled(x.copy()))
        assert compiled._traces == 1


def test_compiled_hessian():
    f = FUNCTIONS["elementwise"]
    compiled = np.jit(hessian(f))
    for x in vectors():
        same(hessian(f)(x), compiled(x))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_compiled_functions(name):
    f, compiled = FUNCTIONS[name], np.jit(FUNCTIONS[name])
    compiled(vectors()[0])
    for x in vectors():
        same(grad(f)(x.copy()), grad(compiled)(x.copy()))
    assert compiled(vectors()[1]) == f(vectors()[1])


def test_writes_by_computed_masks_are_refused():
    def f(x):
        y = x * 2
        y[y > 1] = 0.5
        return y.sum()

    with pytest.raises(ConcretizationError, match=r"test_jit.py:\d+: y\[y > 1\] = 0.5"):
        np.jit(grad(f))(vectors()[0])


def test_tape_inside_a_compiled_function():
    w = np.array([1.0, 2.0, 3.0])

    def step(x):
        with GradientTape() as tape:
            tape.watch(w)
            loss = ((w * x) ** 2).sum()
        g = tape.gradient(loss, w)
        w.__isub__(0.1 * g)
        return loss, g

    compiled, x = np.jit(step), np.ones(3)
    expected = numpy.array([1.0, 2.0, 3.0])
    for _ in range(4):
        loss, g = compiled(x)
        assert float(loss) == (expected**2).sum()
        numpy.testing.assert_array_equal(np.to_numpy(g), 2 * expected)
        expected -= 0.1 * (2 * expected)
        numpy.testing.assert_array_equal(np.to_numpy(w), expected)
    assert compiled._traces == 1
    with GradientTape() as tape:  # nothing of the recording is left
        tape.watch(w)
        y = (w * w).sum()
    numpy.testing.assert_array_equal(np.to_numpy(tape.gradient(y, w)), 2 * np.to_numpy(w))
