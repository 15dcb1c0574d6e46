"""Reductions: max and min share a tie evenly; the standard deviation has derivative 0 where it is 0."""

from typing import Any

import numpy as np

import tnp
from tnp.core.interpreter import recorder
from tnp_autodiff.rules.base import composed_of, conj, constant, methods, rule, value_of
from tnp_autodiff.tracks import as_dtype

_ABSENT = np._NoValue


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes as a tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(i % ndim for i in (axis if isinstance(axis, tuple) else (axis,))) if ndim else ()


def expanded(g: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """A result, with or without the reduced axes, with axes of length one in their place."""
    axes = axes_of(axis, len(shape))
    return g.reshape(tuple(1 if i in axes else n for i, n in enumerate(shape)))


def _spread(g: Any, x: Any, axis: Any, where: Any) -> Any:
    g = tnp.broadcast_to(expanded(g, x.shape, axis), x.shape)
    return g if where is True else tnp.where(where, g, tnp.zeros((), g.dtype))


def _count(x: Any, axis: Any, where: Any) -> Any:
    """Elements that make one result."""
    axes = axes_of(axis, x.ndim)
    if where is True:
        return float(np.prod([x.shape[i] for i in axes], dtype=float))
    mask = np.broadcast_to(value_of(where), x.shape)
    return tnp.asarray(np.count_nonzero(mask, axis=axes, keepdims=True).astype(float))


def _sum_jvp(ts: Any, out: Any, a: Any, axis: Any = None, **params: Any) -> Any:
    params.pop("initial", None)
    return as_dtype(tnp.sum(ts[0], axis=axis, **params), out.dtype)


@rule(np.sum, jvp=_sum_jvp)
def sum_(g, out, want, a, axis=None, dtype=None, out_=None, keepdims=False, initial=0, where=True):
    return _spread(g, a, axis, where)


def _add_reduce_jvp(ts: Any, out: Any, array: Any, axis: Any = 0, **params: Any) -> Any:
    return _sum_jvp(ts, out, array, axis, **params)


@rule(np.add.reduce, jvp=_add_reduce_jvp)
def _add_reduce(g, out, want, array, /, axis=0, dtype=None, out_=None, keepdims=False, initial=0, where=True):
    return _spread(g, array, axis, where)


@rule(np.mean)
def mean(g, out, want, a, axis=None, dtype=None, out_=None, keepdims=False, where=True):
    return _spread(g.reshape(expanded(g, a.shape, axis).shape) / _count(a, axis, where), a, axis, where)


def _others(x: Any, axis: Any) -> Any:
    """For each element the product of the others along the axes, at zeros too, to any order."""
    axes = axes_of(axis, x.ndim)
    rest = [i for i in range(x.ndim) if i not in axes]
    order = [*axes, *rest]
    lines = x.transpose(order)
    shape = lines.shape
    lines = lines.reshape(-1, *shape[len(axes) :])
    one = tnp.ones((1, *lines.shape[1:]), lines.dtype)
    before = tnp.concatenate([one, tnp.cumprod(lines, axis=0)[:-1]])
    after = tnp.concatenate([tnp.cumprod(lines[::-1], axis=0)[-2::-1], one]) if len(lines) > 1 else one
    return (before * after).reshape(shape).transpose(np.argsort(order))


def _product(g: Any, out: Any, x: Any, axis: Any, initial: Any, where: Any) -> Any:
    if x.size == 0:
        return tnp.zeros(x.shape, x.dtype)
    masked = x if where is True else tnp.where(where, x, tnp.ones((), x.dtype))
    if recorder() is None and value_of(masked).all():
        others = expanded(out, x.shape, axis) / masked
    else:
        others = _others(masked, axis) * (1.0 if initial is _ABSENT else initial)
    return _spread(g, x, axis, where) * conj(others)


@rule(np.prod, keeps="xo")
def prod(g, out, want, a, axis=None, dtype=None, out_=None, keepdims=False, initial=_ABSENT, where=True):
    return _product(g, out, a, axis, initial, where)


@rule(np.multiply.reduce, keeps="xo")
def _multiply_reduce(
    g, out, want, array, /, axis=0, dtype=None, out_=None, keepdims=False, initial=_ABSENT, where=True
):
    return _product(g, out, array, axis, initial, where)


def _share(out: Any, a: Any, axis: Any, where: Any) -> Any:
    """How much each element has of the extreme."""
    o = expanded(out, a.shape, axis)
    wins = (a == o) | (tnp.isnan(a) & tnp.isnan(o))
    if where is not True:
        wins = wins & where
    wins = tnp.where(wins, 1.0, 0.0).astype(out.dtype)
    number = tnp.sum(wins, axis=axes_of(axis, a.ndim), keepdims=True)
    return wins / tnp.where(number == 0, 1.0, number)


def _extreme_jvp(
    ts: Any, out: Any, a: Any, axis: Any = None, out_: Any = None, keepdims: Any = False, **params: Any
) -> Any:
    share = _share(out, a, axis, params.get("where", True))
    return tnp.sum(ts[0] * share, axis=axes_of(axis, a.ndim), keepdims=keepdims is True)


@rule(np.max, np.amax, np.min, np.amin, keeps="xo", jvp=_extreme_jvp)
def extreme(g, out, want, a, axis=None, out_=None, keepdims=False, initial=_ABSENT, where=True):
    return _spread(g, a, axis, True) * _share(out, a, axis, where)


def _extreme_reduce_jvp(
    ts: Any, out: Any, array: Any, axis: Any = 0, dtype: Any = None, *rest: Any, **params: Any
) -> Any:
    return _extreme_jvp(ts, out, array, axis, *rest, **params)


@rule(np.maximum.reduce, np.minimum.reduce, np.fmax.reduce, np.fmin.reduce, keeps="xo", jvp=_extreme_reduce_jvp)
def _extreme_reduce(g, out, want, array, /, axis=0, dtype=None, out_=None, keepdims=False, initial=_ABSENT, where=True):
    return _spread(g, array, axis, True) * _share(out, array, axis, where)


def _deviation(a: Any, axis: Any, where: Any) -> Any:
    count = _count(a, axis, where)
    kept = a if where is True else tnp.where(where, a, tnp.zeros((), a.dtype))
    centred = a - tnp.sum(kept, axis=axes_of(axis, a.ndim), keepdims=True) / count
    return centred if where is True else tnp.where(where, centred, tnp.zeros((), a.dtype))


@rule(np.var, keeps="x")
def var(g, out, want, a, axis=None, dtype=None, out_=None, ddof=0, keepdims=False, *, where=True, correction=_ABSENT):
    freedom = _count(a, axis, where) - (ddof if correction is _ABSENT else correction)
    return (expanded(g, a.shape, axis) * 2.0 / freedom) * _deviation(a, axis, where)


@rule(np.std, keeps="xo")
def std(g, out, want, a, axis=None, dtype=None, out_=None, ddof=0, keepdims=False, *, where=True, correction=_ABSENT):
    freedom = _count(a, axis, where) - (ddof if correction is _ABSENT else correction)
    o = expanded(out, a.shape, axis)
    factor = tnp.where(o == 0, 0.0, 1.0 / (tnp.where(o == 0, 1.0, o) * freedom))
    return (expanded(g, a.shape, axis) * factor) * _deviation(a, axis, where)


@composed_of(np.ptp)
def ptp(a, axis=None, out=None, keepdims=False):
    r = tnp.max(a, axis=axis, keepdims=keepdims) - tnp.min(a, axis=axis, keepdims=keepdims)
    if out is None:
        return r
    out[...] = r
    return out


@rule(np.trace)
def trace(g, out, want, a, offset=0, axis1=0, axis2=1, dtype=None, out_=None):
    one = np.eye(a.shape[axis1], a.shape[axis2], offset)
    g = tnp.expand_dims(g, (-2, -1)) * one
    return tnp.moveaxis(g, (-2, -1), (axis1, axis2))


constant(
    np.any, np.all, np.argmax, np.argmin, np.argsort, np.argpartition, np.count_nonzero, np.nonzero, np.flatnonzero,
    np.argwhere, np.searchsorted, np.digitize, np.lexsort, np.nanargmax, np.nanargmin, np.histogram_bin_edges,
)  # fmt: skip
methods("sum prod mean var std max min trace any all argmax argmin argsort argpartition nonzero searchsorted")
