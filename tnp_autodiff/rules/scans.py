"""Running sums and products."""

from typing import Any

import numpy as np

import tnp
from tnp_autodiff.rules.base import conj, methods, rule


def _flipped(f: Any, g: Any, axis: int) -> Any:
    return tnp.flip(f(tnp.flip(g, axis)), axis)


def _cumsum_vjp(g: Any, a: Any, axis: Any) -> Any:
    if axis is None:
        return tnp.cumsum(g[::-1])[::-1].reshape(a.shape)
    return _flipped(lambda h: tnp.cumsum(h, axis=axis), g, axis)


@rule(np.cumsum, linear=True)
def cumsum(g, out, want, a, axis=None, dtype=None, out_=None):
    return _cumsum_vjp(g, a, axis)


@rule(np.add.accumulate, linear=True)
def _add_accumulate(g, out, want, array, /, axis=0, dtype=None, out_=None):
    return _cumsum_vjp(g, array, axis)


def _recurrence(factor: Any, start: Any) -> Any:
    """``y[i] = start[i] + factor[i] * y[i - 1]`` along the first axis, in as many steps as doublings of its length."""
    step = 1
    while step < len(start):
        start, factor = (
            tnp.concatenate([start[:step], start[step:] + factor[step:] * start[:-step]]),
            tnp.concatenate([factor[:step], factor[step:] * factor[:-step]]),
        )
        step *= 2
    return start


def _cumprod_vjp(g: Any, a: Any, axis: Any) -> Any:
    """Exact at zeros too: no division."""
    if axis is None:
        return _cumprod_vjp(g, a.reshape(-1), 0).reshape(a.shape)
    if a.shape[axis] == 0:
        return g
    x, g = conj(tnp.moveaxis(a, axis, 0)), tnp.moveaxis(g, axis, 0)
    one = tnp.ones((1, *x.shape[1:]), x.dtype)
    before = tnp.concatenate([one, tnp.cumprod(x, axis=0)[:-1]])
    later = _recurrence(tnp.concatenate([one, x[:0:-1]]), g[::-1])[::-1]  # g[i] + x[i + 1] * (g[i + 1] + ...)
    return tnp.moveaxis(before * later, 0, axis)


@rule(np.cumprod, keeps="x")
def cumprod(g, out, want, a, axis=None, dtype=None, out_=None):
    return _cumprod_vjp(g, a, axis)


@rule(np.multiply.accumulate, keeps="x")
def _multiply_accumulate(g, out, want, array, /, axis=0, dtype=None, out_=None):
    return _cumprod_vjp(g, array, axis)


methods("cumsum cumprod")
