"""Fourier transforms: linear, so the cotangent goes through the adjoint transform.

The adjoint of a transform is the other one, with the factor 1/n on the other side.
"""

from typing import Any

import numpy as np
from numpy import fft as raw_fft

import tnp
import tnp.fft as _fft
from tnp_autodiff.recorder import CALLS
from tnp_autodiff.rules.base import rule
from tnp_autodiff.rules.composed import rebound

fft: Any = _fft
_SWAPPED = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _fitted(g: Any, length: int, axis: int) -> Any:
    """The adjoint of cutting, or filling up with zeros, to what the transform took."""
    axis %= g.ndim
    have = g.shape[axis]
    if have > length:
        return g[(slice(None),) * axis + (slice(length),)]
    if have < length:
        return tnp.pad(g, [(0, length - have) if i == axis else (0, 0) for i in range(g.ndim)])
    return g


def _complex(raw: Any, other: Any) -> None:
    @rule(raw, linear=True)
    def transform(g, out, want, a, n=None, axis=-1, norm=None, out_=None):
        return _fitted(other(g, axis=axis, norm=_SWAPPED[norm]), a.shape[axis], axis)


_complex(raw_fft.fft, fft.ifft)
_complex(raw_fft.ifft, fft.fft)


@rule(raw_fft.rfft, linear=True)
def rfft(g, out, want, a, n=None, axis=-1, norm=None, out_=None):
    n = a.shape[axis] if n is None else n
    whole = fft.ifft(_fitted(g, n, axis), axis=axis, norm=_SWAPPED[norm])
    return _fitted(tnp.real(whole), a.shape[axis], axis)


@rule(raw_fft.irfft, linear=True)
def irfft(g, out, want, a, n=None, axis=-1, norm=None, out_=None):
    n = g.shape[axis]
    axis %= a.ndim
    half = fft.rfft(g, axis=axis, norm=_SWAPPED[norm])
    weight = np.full(half.shape[axis], 2.0)  # each stands for its mirror image too
    weight[0] = 1.0
    if n % 2 == 0:
        weight[-1] = 1.0
    return _fitted(half * weight.reshape([-1 if i == axis else 1 for i in range(a.ndim)]), a.shape[axis], axis)


for _name in "fft2 ifft2 fftn ifftn rfft2 irfft2 rfftn irfftn hfft ihfft fftshift ifftshift".split():
    CALLS[getattr(raw_fft, _name)] = lambda raw, args, kwargs: rebound(raw)(*args, **kwargs)
