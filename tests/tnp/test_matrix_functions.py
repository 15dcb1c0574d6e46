"""The exponential of matrices: values against eigenvalues and known ones, derivatives against differences."""

import types

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check, plain
from tnp_autodiff import grad

RNG = numpy.random.default_rng(11)
A = RNG.normal(size=(3, 3))


def by_eigenvalues(a):
    w, v = numpy.linalg.eig(a)
    return (v * numpy.exp(w)[..., None, :]) @ numpy.linalg.inv(v)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0, 30.0])
def test_values(scale):
    for a in (A, A + 1j * RNG.normal(size=(3, 3)), RNG.normal(size=(2, 4, 5, 5))):
        want = by_eigenvalues(scale * a)
        want = want if numpy.iscomplexobj(a) else want.real
        error = numpy.abs(plain(tnp.expm(scale * a)) - want).max() / numpy.abs(want).max()
        assert error < 1e-12 * max(1, scale)


def test_each_matrix_of_a_stack_is_scaled_by_itself():
    a = numpy.stack([1e-8 * A, 20 * A, numpy.zeros((3, 3))])
    for got, alone in zip(plain(tnp.expm(a)), a, strict=True):
        numpy.testing.assert_allclose(got, plain(tnp.expm(alone)), rtol=1e-13)


def test_rotations_and_nilpotent_matrices():
    t = 1000.3
    want = [[numpy.cos(t), -numpy.sin(t)], [numpy.sin(t), numpy.cos(t)]]
    numpy.testing.assert_allclose(plain(tnp.expm([[0, -t], [t, 0]])), want, atol=1e-11)
    numpy.testing.assert_allclose(plain(tnp.expm([[0, 2], [0, 0]])), [[1, 2], [0, 1]], rtol=1e-15)
    assert tnp.expm(numpy.zeros((0, 0))).shape == (0, 0)
    assert tnp.expm(numpy.zeros((2, 0, 3, 3))).shape == (2, 0, 3, 3)


def test_dtypes_and_what_is_refused():
    a = tnp.array(A, "f4")
    assert tnp.expm(a).dtype == numpy.float32
    numpy.testing.assert_allclose(plain(tnp.expm(a)), by_eigenvalues(A).real, rtol=1e-5)
    assert numpy.isnan(plain(tnp.expm([[numpy.nan, 0], [0, 1.0]]))).any()
    with pytest.raises(numpy.linalg.LinAlgError, match="square"):
        tnp.expm(A[:2])


NUMPY = types.SimpleNamespace(expm=lambda x: plain(tnp.expm(x)))


@pytest.mark.parametrize("scale", [0.1, 1.0, 6.0])
def test_derivatives(scale):
    def f(np, x):
        return (NUMPY if np is numpy else np).expm(scale * x) / numpy.exp(scale * 2)

    check(f, A)
    check(f, A + 1j * RNG.normal(size=(3, 3)))
    check(f, RNG.normal(size=(2, 3, 3)))


def test_the_trace_of_the_derivative_of_a_symmetric_matrix():
    """The gradient of trace(exp(A)) is the transpose of exp(A)."""
    numpy.testing.assert_allclose(plain(grad(lambda a: tnp.trace(tnp.expm(a)))(A)), plain(tnp.expm(A)).T, rtol=1e-12)
