"""Fourier transforms: along the same axes, counted with the batch axis in front."""

import numpy as np

from tnp.transforms.rules.base import axes_in, axis_in, bound, finish, public, rule
from tnp.transforms.rules.reductions import operand

ALONG_ONE = "fft ifft rfft irfft hfft ihfft"
ALONG_MANY = "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn"


@rule(*[getattr(np.fft, n) for n in ALONG_ONE.split()])
def along_one(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, axis, out = operand(batch, given.pop("a")), given.pop("axis", -1), given.pop("out", None)
    return finish(batch, public(raw)(batch.every(a), axis=axis_in(axis, a.ndim), **given), out)


@rule(*[getattr(np.fft, n) for n in ALONG_MANY.split()])
def along_many(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, out = operand(batch, given.pop("a")), given.pop("out", None)
    axes = given.pop("axes", (-2, -1) if raw.__name__.endswith("2") else None)
    s = given.get("s")
    if axes is None:
        axes = tuple(range(a.ndim)) if s is None else tuple(range(a.ndim - len(s), a.ndim))
    return finish(batch, public(raw)(batch.every(a), axes=axes_in(axes, a.ndim), **given), out)


@rule(np.fft.fftshift, np.fft.ifftshift)
def shift(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    x, axes = operand(batch, given["x"]), given.get("axes")
    return batch.up(public(raw)(batch.every(x), axes=axes_in(axes, x.ndim)))
