"""Sums, products, extremes, means and deviations along all axes, and running sums and products."""

import itertools

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check, plain
from tnp_autodiff import grad, jvp

RNG = numpy.random.default_rng(2)
A = RNG.normal(size=(3, 4))
C = A + 1j * RNG.normal(size=(3, 4))
ZEROS = A.copy()
ZEROS[1, 2] = ZEROS[0, 0] = ZEROS[2, 0] = 0
MASK = numpy.abs(A) > 0.4
NAMES = "sum mean prod max min var std".split()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("axis", "keepdims"), list(itertools.product((None, 0, 1, -1, (0, 1)), (False, True))))
def test_axes(name, axis, keepdims):
    check(lambda np, x: getattr(np, name)(x, axis=axis, keepdims=keepdims) * 1.0, A)
    check(lambda np, x: getattr(x, name)(axis=axis, keepdims=keepdims) * 1.0, A, second=False)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std"])
def test_where(name):
    check(lambda np, x: getattr(np, name)(x, axis=1, where=np.array(MASK)), A)


PROGRAMS = {
    "max where": (lambda np, x: np.max(x, axis=1, where=np.array(MASK), initial=-9), A),
    "ddof": (lambda np, x: np.var(x, axis=1, ddof=1) + np.std(x, ddof=1), A),
    "correction": (lambda np, x: np.var(x, axis=1, correction=1), A),
    "no axis": (lambda np, x: np.sum(x, axis=()) * np.max(x, axis=()), A),
    "complex": (lambda np, x: np.sum(x, 0) * np.mean(x) * np.prod(x), C),
    "complex var": (lambda np, x: np.var(x, 0) + np.std(x), C),
    "ptp": (lambda np, x: np.ptp(x, axis=0), A),
    "out": (lambda np, x: np.sum(x, axis=0, out=np.zeros(4)), A),
    "out by position": (lambda np, x: np.sum(x, 0, None, np.zeros(4)), A),
    "add.reduce": (lambda np, x: np.add.reduce(x), A),
    "multiply.reduce": (lambda np, x: np.multiply.reduce(x, axis=1), A),
    "maximum.reduce": (lambda np, x: np.maximum.reduce(x, axis=1), A),
    "dtype": (lambda np, x: np.sum(x, axis=0, dtype="c16"), A),
    "prod with zeros": (lambda np, x: np.prod(x, axis=0), ZEROS),
    "prod of all with zeros": (lambda np, x: np.prod(x, axis=1), ZEROS),
    "cumsum": (lambda np, x: np.cumsum(x, axis=1), A),
    "cumsum of all": (lambda np, x: np.cumsum(x), A),
    "cumprod": (lambda np, x: np.cumprod(x, axis=0), A),
    "cumprod with zeros": (lambda np, x: np.cumprod(x, axis=0), ZEROS),
    "cumprod of all, with zeros": (lambda np, x: x.cumprod(), ZEROS),
    "complex cumprod": (lambda np, x: np.cumprod(x), C),
    "add.accumulate": (lambda np, x: np.add.accumulate(x), A),
    "multiply.accumulate": (lambda np, x: np.multiply.accumulate(x, axis=1), A),
    "cumulative_sum": (lambda np, x: np.cumulative_sum(x, axis=1, include_initial=True), A),
    "cumulative_prod": (lambda np, x: np.cumulative_prod(x, axis=1), A),
    "trace": (lambda np, x: np.trace(x) * 1.0, A),
    "trace of a stack": (lambda np, x: np.trace(x.reshape(2, 3, 2), 1, 2, 1), A),
    "average": (lambda np, x: np.average(x, axis=1, weights=x * x), A),
    "nansum": (lambda np, x: np.nansum(x, axis=1), A),
    "nanmean": (lambda np, x: np.nanmean(x, axis=1), A),
    "nanmax": (lambda np, x: np.nanmax(x, axis=1), A),
    "nanstd": (lambda np, x: np.nanstd(x, axis=1), A),
    "nanvar": (lambda np, x: np.nanvar(x, axis=1), A),
    "nanprod": (lambda np, x: np.nanprod(x, axis=1), A),
    "nancumsum": (lambda np, x: np.nancumsum(x, axis=1), A),
    "cov": (lambda np, x: np.cov(x), A),
    "corrcoef": (lambda np, x: np.corrcoef(x), A),
}
PROGRAMS |= {
    f"{name} to a number, {axis}": (
        lambda np, x, name=name, axis=axis: getattr(np, name)(np.where(MASK, x, np.nan), axis) * 1.0,
        A,
    )
    for name in ("nanmean", "nanvar", "nanstd")
    for axis in (None, (0, 1))
}
PROGRAMS |= {
    f"{name} of a line, {axis}": (lambda np, x, name=name, axis=axis: getattr(np, name)(x, axis=axis) * 1.0, A[0])
    for name in ("nanmean", "nanvar", "nanstd")
    for axis in (None, 0, -1)
}
PROGRAMS |= {
    f"{name} into out": (lambda np, x, name=name: getattr(np, name)(x, axis=0, out=np.zeros(4)), A)
    for name in ("nanmean", "nanvar", "nanstd")
}
PROGRAMS |= {
    "nanmean of a number": (lambda np, x: np.nanmean(x.sum()) * 1.0, A),
    "nanvar with axes kept": (lambda np, x: np.nanvar(x, keepdims=True, ddof=1), A),
    "nanstd of complex": (lambda np, x: np.nanstd(x) * 1.0, C),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f, *xs = PROGRAMS[name]
    check(f, *xs)


def slopes(f, x):
    """The gradient, which both modes agree on."""
    x = tnp.array(x)
    back = plain(grad(f)(x))
    for i in range(x.size):
        unit = tnp.zeros(x.size)
        unit[i] = 1.0
        assert jvp(f, (x,), (unit,))[1] == back[i]
    return back.tolist()


def test_ties_are_shared():
    assert slopes(tnp.max, [1.0, 3.0, 3.0, 2.0]) == [0, 0.5, 0.5, 0]
    assert slopes(tnp.min, [1.0, 1.0, 1.0, 1.0]) == [0.25] * 4


def test_an_undefined_maximum_is_the_one_that_is_undefined():
    assert slopes(tnp.max, [1.0, numpy.nan]) == [0, 1]


def test_std_is_flat_where_it_is_zero():
    assert slopes(tnp.std, [2.0, 2.0]) == [0, 0]
    assert slopes(tnp.var, [2.0, 2.0]) == [0, 0]
    assert slopes(tnp.nanstd, [2.0, numpy.nan, 2.0]) == [0, 0, 0]
    flat = tnp.array(numpy.ones((3, 2)))
    assert plain(grad(lambda x: tnp.nanstd(x, axis=0).sum())(flat)).tolist() == [[0, 0]] * 3


def test_undefined_elements_have_no_share_in_the_mean():
    assert slopes(tnp.nanmean, [1.0, 2.0]) == [0.5, 0.5]
    assert slopes(tnp.nanmean, [1.0, numpy.nan]) == [1, 0]


def test_products_of_zeros():
    assert slopes(tnp.prod, [0.0, 3.0, 2.0]) == [6, 0, 0]
    assert slopes(tnp.prod, [0.0, 3.0, 0.0]) == [0, 0, 0]
    second = grad(lambda x: grad(tnp.prod)(x)[1])(tnp.array([0.0, 3.0, 2.0]))
    assert plain(second).tolist() == [2, 0, 0]


def test_empty_reductions():
    x = tnp.zeros((0, 3))
    assert grad(lambda x: tnp.sum(x) + tnp.prod(x))(x).shape == (0, 3)
