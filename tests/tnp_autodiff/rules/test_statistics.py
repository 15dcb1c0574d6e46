"""Quantiles by every method, interpolation inside, outside and at the knots, convolution in every mode."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check, plain
from tnp_autodiff import grad

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


KNOTS = numpy.array([0.0, 1.0, 2.5, 4.0])


def test_interpolation():
    at = numpy.array([-1.0, 0.3, 2.0, 3.9, 5.0])
    check(lambda np, x, xp, fp: np.interp(x, xp, fp), at, KNOTS, RNG.normal(size=4))
    check(lambda np, x, xp, fp: np.interp(x, xp, fp, left=7.0, right=8.0), at, KNOTS, RNG.normal(size=4))


def test_interpolation_at_a_knot_has_the_slope_to_the_right():
    g = grad(lambda x: tnp.interp(x, KNOTS, KNOTS**2).sum())(tnp.array([1.0, 4.0]))
    numpy.testing.assert_allclose(plain(g), [3.5, 6.5])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution(mode):
    for a, v in [(V, W), (W, V), (V, V[:4]), (V[:4], V), (C, W), (C, C[:3])]:
        check(lambda np, a, v: np.convolve(a, v, mode), a, v)
        check(lambda np, a, v: np.correlate(a, v, mode), a, v)
