"""Quantiles by every method, interpolation inside, outside and at the knots, convolution in every mode."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check, plain
from tnp_autodiff import NotDifferentiableError, grad

RNG = numpy.random.default_rng(8)
A, V, W = RNG.normal(size=(3, 4)), RNG.normal(size=7), RNG.normal(size=3)
C = V + 1j * RNG.normal(size=7)
METHODS = """
linear lower higher midpoint nearest inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf
hazen weibull median_unbiased normal_unbiased
"""


@pytest.mark.parametrize("method", METHODS.split())
def test_methods_of_quantiles(method):
    check(lambda np, x: np.quantile(x, [0.1, 0.5, 0.77], axis=1, method=method), A)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_medians_and_percentiles(axis):
    check(lambda np, x: np.median(x, axis=axis) * 1.0, A)
    check(lambda np, x: np.percentile(x, 30, axis=axis, keepdims=True), A)


def test_the_median_of_an_even_number_is_shared():
    assert plain(grad(tnp.median)(tnp.array([3.0, 1.0, 2.0, 9.0]))).tolist() == [0.5, 0, 0.5, 0]


GAPS = numpy.where(RNG.random((4, 5)) < 0.3, numpy.nan, RNG.normal(size=(4, 5)))
GAPS[2], GAPS[0, 0] = numpy.nan, 1.0


def without(f):
    """`f` of an array with NaN where `GAPS` has it."""
    return lambda np, x: np.nan_to_num(f(np, np.where(np.isnan(np.array(GAPS)), np.nan, x)))


@pytest.mark.filterwarnings("ignore:All-NaN slice")
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_undefined_elements_are_left_out(axis):
    x = RNG.normal(size=(4, 5))
    check(without(lambda np, x: np.nanmedian(x, axis=axis) * 1.0), x)
    check(without(lambda np, x: np.nanmedian(x, axis=axis, keepdims=True) * 1.0), x)
    check(without(lambda np, x: np.nanquantile(x, [0.2, 0.9], axis=axis)), x)
    check(without(lambda np, x: np.nanpercentile(x, 30.0, axis=axis, method="hazen") * 1.0), x)


def test_quantiles_by_their_number():
    check(lambda np, x, q: np.quantile(x, q, axis=1), A, numpy.array([0.15, 0.8]), loops=True)
    check(lambda np, x, q: np.percentile(x, 100 * q) * 1.0, A, numpy.array(0.4), loops=True)
    check(lambda np, x, q: np.nanquantile(x, q, axis=0), A, numpy.array([[0.15, 0.8]]), loops=True)
    with pytest.raises(NotDifferentiableError, match="quantile has no derivative rule"):
        grad(lambda q: tnp.quantile(A, q, method="nearest"))(0.3)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_weights_of_quantiles(axis):
    w = numpy.arange(1.0, 13).reshape(3, 4)
    for name in ("quantile", "nanquantile"):
        check(
            lambda np, x, w, name=name: getattr(np, name)(x, [0.3, 0.8], axis=axis, weights=w, method="inverted_cdf"),
            A,
            w,
            loops=True,
        )


def test_polynomials_that_fit():
    x, y = numpy.linspace(-1, 1, 7), RNG.normal(size=7)
    check(lambda np, x, y: np.polyfit(x, y, 2), x, y, loops=True)
    check(lambda np, x, y, w: np.polyfit(x, y, 1, w=w), x, y, 1 + y**2, loops=True)
    check(lambda np, x, y: np.polyfit(x, y, 1, cov=True)[1], x, y, tolerance=1e-5, loops=True)


KNOTS = numpy.array([0.0, 1.0, 2.5, 4.0])


def test_interpolation():
    at = numpy.array([-1.0, 0.3, 2.0, 3.9, 5.0])
    check(lambda np, x, xp, fp: np.interp(x, xp, fp), at, KNOTS, RNG.normal(size=4))
    check(lambda np, x, xp, fp: np.interp(x, xp, fp, left=7.0, right=8.0), at, KNOTS, RNG.normal(size=4))
    check(lambda np, x, xp, fp: np.interp(x, xp, fp, period=4.5), at, KNOTS[::-1], RNG.normal(size=4), loops=True)
    check(lambda np, x, xp, fp: np.interp(x, xp, fp, period=-4.5), at, KNOTS, RNG.normal(size=4), loops=True)


def test_interpolation_at_a_knot_has_the_slope_to_the_right():
    g = grad(lambda x: tnp.interp(x, KNOTS, KNOTS**2).sum())(tnp.array([1.0, 4.0]))
    numpy.testing.assert_allclose(plain(g), [3.5, 6.5])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution(mode):
    for a, v in [(V, W), (W, V), (V, V[:4]), (V[:4], V), (C, W), (C, C[:3])]:
        check(lambda np, a, v: np.convolve(a, v, mode), a, v)
        check(lambda np, a, v: np.correlate(a, v, mode), a, v)
