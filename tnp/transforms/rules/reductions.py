"""Reductions and scans: along the same axes, counted with the batch axis in front."""

from typing import Any

import numpy as np

import tnp
from tnp import content
from tnp.core.elementwise import umath
from tnp.hot import ndarray
from tnp.transforms.batching import RULES, Batch, outermost
from tnp.transforms.rules.base import (
    as_array,
    axes_in,
    axis_in,
    bound,
    fallback,
    finish,
    methods,
    named,
    of_none,
    public,
    rule,
)
from tnp.transforms.rules.elementwise import UFUNC_NAMES

REDUCTIONS = """
sum prod max min amax amin any all mean var std ptp nansum nanprod nanmax nanmin nanmean nanvar nanstd median nanmedian
count_nonzero
"""
QUANTILES = "quantile percentile nanquantile nanpercentile"


def laid_out(batch: Batch, x: Any) -> Any:
    """`x` with a batch axis in front that is the slowest in memory: NumPy then adds as it does for one example."""
    low = batch.every(x)
    if low.ndim < 2 or content.pending_node(low) is not None:
        return low
    strides = content.settle(low).strides
    return outermost(low) if abs(strides[0]) < max([abs(s) for s in strides[1:]]) and low.size else low


def operand(batch: Batch, x: Any) -> Any:
    x = as_array(batch, x)
    return x if type(x) is ndarray else tnp.asarray(x)


def _reduced(batch: Batch, function: Any, a: Any, axis: Any, keepdims: Any, out: Any, given: dict[str, Any]) -> Any:
    """``function(low, axis=..., **given)``, whose result is that of all examples."""
    low = laid_out(batch, a)
    axes: tuple[int, ...] = (1,)
    if a.ndim == 0:
        axes_in(axis if axis not in (-1, 0) else None, 0)
        low = low[:, None]
    else:
        axes = axes_in(axis, a.ndim)
    for name in ("where", "mean"):
        if name in given and given[name] is not True:
            given[name] = batch.aligned(given[name], a.ndim)
            if a.ndim == 0 and np.ndim(given[name]):
                given[name] = given[name][:, None]
    if keepdims and a.ndim:
        given["keepdims"] = True
    return finish(batch, function(low, axis=axes, **given), out)


@rule(*named(REDUCTIONS))
def reduction(batch, raw, args, kwargs):
    if not batch.n and raw in (np.median, np.nanmedian):
        return of_none(batch, raw, args, kwargs)
    given = bound(raw, args, kwargs)
    a = operand(batch, given.pop("a"))
    given.pop("overwrite_input", None)
    axis, keepdims, out = given.pop("axis", None), given.pop("keepdims", False), given.pop("out", None)
    return _reduced(batch, public(raw), a, axis, keepdims, out, given)


methods("sum prod max min any all mean var std")


@rule(np.average)
def average(batch, raw, args, kwargs):
    if not batch.n:
        return of_none(batch, raw, args, kwargs)
    given = bound(raw, args, kwargs)
    a, axis, weights = operand(batch, given.pop("a")), given.pop("axis", None), given.pop("weights", None)
    if a.ndim == 0:
        return fallback(batch, raw, args, kwargs)
    low, axes = laid_out(batch, a), axes_in(axis, a.ndim)
    if weights is not None:
        weights = operand(batch, weights)
        if weights.shape != a.shape:
            if weights.shape != tuple([a.shape[i - 1] for i in axes]):
                return fallback(batch, raw, args, kwargs)  # which refuses it
            order = sorted(range(len(axes)), key=lambda i: axes[i])
            shape = [n if i + 1 in axes else 1 for i, n in enumerate(a.shape)]
            weights = tnp.broadcast_to(tnp.transpose(weights, order).reshape(shape), a.shape)
        weights = batch.every(weights)
    r = tnp.average(low, axis=axes, weights=weights, **given)
    return tuple([batch.up(y) for y in r]) if isinstance(r, tuple) else batch.up(r)


def ufunc_reduce(batch, raw, args, kwargs):
    given = dict(zip(("array", "axis", "dtype", "out", "keepdims", "initial", "where"), args, strict=False)) | kwargs
    a = operand(batch, given.pop("array"))
    axis, keepdims, out = given.pop("axis", 0), given.pop("keepdims", False), given.pop("out", None)
    given = {k: v for k, v in given.items() if v is not np._NoValue and not (k == "dtype" and v is None)}
    if a.ndim == 0 and axis == 0:
        axis = None
    return _reduced(batch, public(raw), a, axis, keepdims, out, given)


@rule(*named(QUANTILES))
def quantile(batch, raw, args, kwargs):
    if not batch.n:
        return of_none(batch, raw, args, kwargs)
    given = bound(raw, args, kwargs)
    a, q = operand(batch, given.pop("a")), given.pop("q")
    weights = given.get("weights")
    if any([batch.is_batched(x) for x in (q, weights)]):
        return fallback(batch, raw, args, kwargs)
    axis, keepdims, out = given.pop("axis", None), given.pop("keepdims", False), given.pop("out", None)
    given.pop("overwrite_input", None)
    low = batch.every(a)
    axes: Any = axes_in(axis, a.ndim)
    if a.ndim == 0:
        low, axes, keepdims = low[:, None], (1,), False
    if weights is not None:
        axes = axes[0] if len(axes) == 1 else axes
    r = public(raw)(low, q, axis=axes, keepdims=bool(keepdims), **given)
    return finish(batch, tnp.moveaxis(r, np.ndim(q), 0), out)


# ------------------------------------------------------------------------------------------------ along one axis
def flat(batch: Batch, a: Any) -> Any:
    """All elements of each example in C order: (n, size)."""
    low = batch.every(a)
    return low.reshape((batch.n, -1)) if a.size and batch.n else low.reshape((batch.n, a.size))


@rule(*named("argmax argmin nanargmax nanargmin"))
def argument(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a = operand(batch, given["a"])
    axis, keepdims = given.get("axis"), given.get("keepdims", False)
    if axis is None or a.ndim == 0:
        low = public(raw)(flat(batch, a), axis=1)
        if keepdims:
            low = low.reshape((batch.n,) + (1,) * a.ndim)
    else:
        low = public(raw)(batch.every(a), axis=axis_in(axis, a.ndim), **({"keepdims": True} if keepdims else {}))
    return finish(batch, low, given.get("out"))


@rule(*named("cumsum cumprod nancumsum nancumprod"))
def scan(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, axis, out = operand(batch, given.pop("a")), given.pop("axis", None), given.pop("out", None)
    if axis is None or a.ndim == 0:
        return finish(batch, public(raw)(flat(batch, a), axis=1, **given), out)
    return finish(batch, public(raw)(batch.every(a), axis=axis_in(axis, a.ndim), **given), out)


methods("argmax argmin cumsum cumprod")


def ufunc_accumulate(batch, raw, args, kwargs):
    given = dict(zip(("array", "axis", "dtype", "out"), args, strict=False)) | kwargs
    a, axis, out = operand(batch, given["array"]), given.get("axis", 0), given.get("out")
    dtype = {} if given.get("dtype") is None else {"dtype": given["dtype"]}
    return finish(batch, public(raw)(batch.every(a), axis=axis_in(axis, a.ndim), **dtype), out)


def ufunc_reduceat(batch, raw, args, kwargs):
    given = dict(zip(("array", "indices", "axis", "dtype", "out"), args, strict=False)) | kwargs
    if batch.is_batched(given["indices"]):
        return fallback(batch, raw, args, kwargs)
    a, axis, out = operand(batch, given["array"]), given.get("axis", 0), given.get("out")
    dtype = {} if given.get("dtype") is None else {"dtype": given["dtype"]}
    return finish(batch, public(raw)(batch.every(a), given["indices"], axis=axis_in(axis, a.ndim), **dtype), out)


def ufunc_outer(batch, raw, args, kwargs):
    a, b = (operand(batch, x) for x in args)
    return batch.call(raw.__self__, (a[(..., *(None,) * b.ndim)], b), kwargs)


for _name in UFUNC_NAMES:
    _ufunc = getattr(umath, _name)
    if _ufunc.nin == 2 and _ufunc.nout == 1:
        RULES[_ufunc.reduce] = ufunc_reduce
        RULES[_ufunc.accumulate] = ufunc_accumulate
        RULES[_ufunc.reduceat] = ufunc_reduceat
        RULES[_ufunc.outer] = ufunc_outer
