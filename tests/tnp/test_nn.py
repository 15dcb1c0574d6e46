"""Functions of neural networks: values, extremes, derivatives."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check
from tnp_autodiff import grad

RNG = numpy.random.default_rng(0)
A = RNG.normal(size=(3, 4)) * 3

FORMULAS = {
    "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "log_sigmoid": lambda x: -numpy.log(1 + numpy.exp(-x)),
    "relu": lambda x: numpy.maximum(x, 0),
    "relu6": lambda x: numpy.clip(x, 0, 6),
    "leaky_relu": lambda x: numpy.where(x > 0, x, 0.2 * x),
    "elu": lambda x: numpy.where(x > 0, x, numpy.exp(numpy.minimum(x, 0)) - 1),
    "selu": lambda x: 1.0507009873554805 * numpy.where(x > 0, x, 1.6732632423543772 * (numpy.exp(x) - 1)),
    "softplus": lambda x: numpy.log(1 + numpy.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "silu": lambda x: x / (1 + numpy.exp(-x)),
    "swish": lambda x: x / (1 + numpy.exp(-x)),
    "softmax": lambda x: numpy.exp(x) / numpy.exp(x).sum(-1, keepdims=True),
    "log_softmax": lambda x: x - numpy.log(numpy.exp(x).sum(-1, keepdims=True)),
    "logsumexp": lambda x: numpy.log(numpy.exp(x).sum()),
}


def test_every_name_has_a_formula_here():
    assert set(FORMULAS) == set(tnp.nn.__all__) == {n for n, module in tnp.EXTRAS.items() if module == "nn"}


@pytest.mark.parametrize("name", FORMULAS)
def test_values_and_derivatives(name):
    check(lambda np, x: FORMULAS[name](x) if np is numpy else getattr(tnp, name)(x) * 1.0, A, exact=False)


@pytest.mark.parametrize("name", FORMULAS)
def test_float32_stays(name):
    assert getattr(tnp, name)(tnp.array(A, "f4")).dtype == numpy.float32


@pytest.mark.parametrize("name", FORMULAS)
def test_nothing_overflows_on_the_way(name):
    f = getattr(tnp, name)
    x = tnp.array([-1e4, 1e4, 0.0])
    assert numpy.isfinite(tnp.to_numpy(tnp.asarray(f(x)))).all()
    g = grad(lambda x: tnp.sum(f(x) * 1.0))(x)
    assert numpy.isfinite(tnp.to_numpy(g)).all()


def test_relu_is_flat_at_zero():
    assert grad(lambda x: tnp.relu(x).sum())(tnp.array([-1.0, 0.0, 2.0])).tolist() == [0, 0, 1]


def test_axes():
    x = tnp.array(A)
    numpy.testing.assert_allclose(tnp.to_numpy(tnp.softmax(x, axis=0).sum(0)), numpy.ones(4))
    assert tnp.logsumexp(x, axis=0, keepdims=True).shape == (1, 4)
    assert tnp.logsumexp(x, axis=(0, 1)).shape == ()
    with numpy.errstate(divide="ignore"):
        assert tnp.logsumexp(tnp.full(2, -tnp.inf)) == -numpy.inf
