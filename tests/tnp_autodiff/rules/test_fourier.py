"""Fourier transforms of one and several axes, cut and filled up, with all three factors."""

import itertools

import numpy
import pytest

from tests.tnp_autodiff.differences import check

RNG = numpy.random.default_rng(7)
A = RNG.normal(size=(3, 5))
C = A + 1j * RNG.normal(size=(3, 5))


@pytest.mark.parametrize(
    ("name", "n", "norm"),
    list(itertools.product("fft ifft rfft irfft hfft ihfft".split(), [None, 4, 6, 7], [None, "ortho", "forward"])),
)
def test_one_axis(name, n, norm):
    x = A if name in ("rfft", "ihfft") else C
    check(lambda np, x: getattr(np.fft, name)(x, n=n, norm=norm), x)
    check(lambda np, x: getattr(np.fft, name)(x, n=n, axis=0, norm=norm), x)


@pytest.mark.parametrize("name", "fft2 ifft2 fftn ifftn irfft2 irfftn fftshift ifftshift".split())
def test_several_axes(name):
    check(lambda np, x: getattr(np.fft, name)(x), C)


@pytest.mark.parametrize("name", ["rfft2", "rfftn", "fft"])
def test_of_real_arrays(name):
    check(lambda np, x: getattr(np.fft, name)(x), A)


def test_filtering():
    check(lambda np, x: np.fft.irfft(np.fft.rfft(x) * np.arange(3.0), n=5) ** 2, A)
