"""Quantiles, interpolation and convolution."""

from typing import Any

import numpy as np

import tnp
from tnp_autodiff.recorder import CALLS, is_tracked, record, run, unknown
from tnp_autodiff.rules.base import Substitute, composed_of, conj, into, rule, value_of
from tnp_autodiff.rules.reductions import axes_of


# ------------------------------------------------------------------------------------------------ quantiles
def _by_rank(a: Any, rank: Any, axis: Any, keepdims: bool) -> Any:
    """Quantiles as sums of two neighbours in order; `rank` says where between them, for each quantile."""
    axes = axes_of(axis, a.ndim)
    rest = [i for i in range(a.ndim) if i not in axes]
    lines = a.transpose([*axes, *rest]).reshape(-1, *[a.shape[i] for i in rest])
    lines = tnp.sort(lines, axis=0)
    low = np.clip(np.floor(rank).astype(int), 0, len(lines) - 1)
    part = (rank - low).reshape(rank.shape + (1,) * len(rest))
    r = lines[low] * (1.0 - part) + lines[np.minimum(low + 1, len(lines) - 1)] * part
    kept = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    return r.reshape(rank.shape + kept) if keepdims else r


_QUANTILE = Substitute(_by_rank)


def _quantile(raw: Any, q: Any, args: Any, kwargs: Any) -> Any:
    """`q` in [0, 1]; args are those of `raw` after the array."""
    a = tnp.asarray(args[0])
    axis = kwargs.get("axis")
    out, kwargs = kwargs.get("out"), {k: v for k, v in kwargs.items() if k != "out"}
    result = run(raw, (a, *args[1:]), kwargs)
    length = int(np.prod([a.shape[i] for i in axes_of(axis, a.ndim)], dtype=int))
    method = kwargs.get("method", "linear")
    rank = np.asarray(np.quantile(np.arange(float(length)), q, method=method))
    r = record(_QUANTILE, [a], result, {"rank": rank, "axis": axis, "keepdims": kwargs.get("keepdims", False)})
    return r if out is None else into(out, r)


@composed_of(np.median)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return _quantile(np.median, 0.5, (a,), {"axis": axis, "out": out, "keepdims": keepdims})


def _with_quantiles(raw: Any, scale: float) -> None:
    def handle(raw: Any, args: Any, kwargs: Any) -> Any:
        names = ("a", "q", "axis", "out", "overwrite_input", "method", "keepdims")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        a, q = given.pop("a"), given.pop("q")
        given.pop("overwrite_input", None)
        if is_tracked(q) or given.get("weights") is not None:
            return unknown(raw, args, kwargs)
        return _quantile(raw, value_of(q) / scale, (a, q), given)

    CALLS[raw] = handle


_with_quantiles(np.quantile, 1.0)
_with_quantiles(np.percentile, 100.0)


# ------------------------------------------------------------------------------------------------ interpolation
def _interpolated(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    at, knots = value_of(x), value_of(xp)
    i = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    x0, x1, y0, y1 = xp[i], xp[i + 1], fp[i], fp[i + 1]
    r = y0 + (x - x0) * ((y1 - y0) / (x1 - x0))
    r = tnp.where(at < knots[0], fp[0] if left is None else left, r)
    r = tnp.where(at > knots[-1], fp[-1] if right is None else right, r)
    return tnp.where(at == knots[-1], fp[-1] + (x - xp[-1]) * ((fp[-1] - fp[-2]) / (xp[-1] - xp[-2])), r)


_INTERP = Substitute(_interpolated)


def _interp(raw: Any, args: Any, kwargs: Any) -> Any:
    names = ("x", "xp", "fp", "left", "right", "period")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if given.get("period") is not None:
        return unknown(raw, args, kwargs)
    operands = [tnp.asarray(given[n]) for n in names[:3]]
    params = {"left": given.get("left"), "right": given.get("right")}
    return record(_INTERP, operands, run(raw, operands, params), params)


CALLS[np.interp] = _interp


# ------------------------------------------------------------------------------------------------ convolution
@rule(np.convolve, operands=2, keeps="y|x")
def convolve(g, out, want, a, v, mode="full"):
    short, long = sorted([a.size, v.size])
    start = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}[mode]
    g = tnp.pad(g, (start, short + long - 1 - start - g.size))
    return (
        tnp.correlate(g, v, "valid") if want[0] else None,
        tnp.correlate(g, a, "valid") if want[1] else None,
    )


def _correlated(a: Any, v: Any, mode: str) -> Any:
    if v.size > a.size:  # NumPy then exchanges them, and turns the result round
        return conj(_correlated(v, a, mode))[::-1]
    return tnp.convolve(a, conj(v)[::-1], mode)


_CORRELATE = Substitute(_correlated)


@composed_of(np.correlate)
def correlate(a, v, mode="valid"):
    a, v = tnp.asarray(a), tnp.asarray(v)
    result = run(np.correlate, (a, v, mode), {})
    return record(_CORRELATE, [a, v], result, {"mode": mode})
