"""`jit`, `vmap` and derivatives of one another, in both orders, over in-place code; plans are met again."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp import jit, vmap
from tnp.transforms import LoopCarriedError
from tnp_autodiff import grad, hessian, jacrev, jvp, value_and_grad

XS = numpy.linspace(0.2, 1.3, 12).reshape(3, 4)


def f(x):
    y = tnp.sin(x) * x
    y[1:] += x[:-1]
    y[::2] *= 2
    return (y * y).sum()


def g(x):
    a = tnp.zeros(5)
    a[0] = x[0]
    for i in range(1, 5):
        a[i] = tnp.tanh(a[i - 1]) * x[i % 4]
    return a


def of_rows(h):
    """What a loop over the rows gives."""
    return numpy.stack([plain(h(tnp.array(x))) for x in XS])


ROWS = {
    "vmap(jit(f))": (lambda: vmap(jit(f)), f),
    "jit(vmap(f))": (lambda: jit(vmap(f)), f),
    "jit(vmap(jit(g)))": (lambda: jit(vmap(jit(g))), g),
    "vmap(grad(f))": (lambda: vmap(grad(f)), grad(f)),
    "jit(vmap(grad(f)))": (lambda: jit(vmap(grad(f))), grad(f)),
    "vmap(jit(grad(f)))": (lambda: vmap(jit(grad(f))), grad(f)),
    "vmap(grad(jit(f)))": (lambda: vmap(grad(jit(f))), grad(f)),
    "jit(vmap(hessian(f)))": (lambda: jit(vmap(hessian(f))), hessian(f)),
    "vmap(jacrev(g))": (lambda: vmap(jacrev(g)), jacrev(g)),
    "jit(vmap(jacrev(jit(g))))": (lambda: jit(vmap(jacrev(jit(g)))), jacrev(g)),
}
ONE = {
    "grad(jit(f))": (lambda: grad(jit(f)), grad(f)),
    "jit(grad(f))": (lambda: jit(grad(f)), grad(f)),
    "jit(grad(jit(f)))": (lambda: jit(grad(jit(f))), grad(f)),
    "jit(hessian(f))": (lambda: jit(hessian(f)), hessian(f)),
    "hessian(jit(f))": (lambda: hessian(jit(f)), hessian(f)),
    "jit(jacrev(g))": (lambda: jit(jacrev(g)), jacrev(g)),
    "jit of the value beside the gradient": (lambda: jit(lambda x: value_and_grad(f)(x)[1]), grad(f)),
    "jit of a tangent": (
        lambda: jit(lambda x: jvp(g, [x], [tnp.ones(4)])[1]),
        lambda x: jvp(g, [x], [tnp.ones(4)])[1],
    ),
    "grad of a sum over vmap": (
        lambda: grad(lambda x: vmap(lambda s: f(s * x))(tnp.array([1.0, 2.0])).sum()),
        grad(lambda x: f(x) + f(2.0 * x)),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_many_examples(name):
    make, alone = ROWS[name]
    h, want = make(), of_rows(alone)
    for _ in range(3):
        numpy.testing.assert_allclose(plain(h(tnp.array(XS))), want, rtol=1e-12, atol=1e-13)
    numpy.testing.assert_allclose(plain(h(tnp.array(XS[:1]))), want[:1], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ONE)
def test_one(name):
    make, plainly = ONE[name]
    h = make()
    for x in (XS[0], XS[1], XS[0]):
        want = plain(plainly(tnp.array(x)))
        numpy.testing.assert_allclose(plain(h(tnp.array(x))), want, rtol=1e-12, atol=1e-13)


def test_writes_of_a_compiled_function_to_what_examples_share_are_refused():
    total = tnp.zeros(4)

    @jit
    def add(x):
        total[:] += x
        return x.sum()

    add(tnp.ones(4))  # a plan is there
    assert total.tolist() == [1] * 4
    alike = tnp.ones(4)
    for f_of_row in (add, lambda x: add(alike)):
        with pytest.raises(LoopCarriedError):
            vmap(f_of_row)(tnp.array(XS))
        assert total.tolist() == [1] * 4
