"""Quantiles, interpolation and convolution."""

from typing import Any

import numpy as np

import tnp
from tnp_autodiff.recorder import CALLS, is_tracked, record, run, unknown
from tnp_autodiff.rules.base import Substitute, composed_of, conj, into, rule, value_of
from tnp_autodiff.rules.reductions import axes_of


# ------------------------------------------------------------------------------------------------ quantiles
def _lines(a: Any, axis: Any) -> Any:
    """The elements that make one result along the first axis, the axes that stay behind it."""
    axes = axes_of(axis, a.ndim)
    rest = [i for i in range(a.ndim) if i not in axes]
    return a.transpose([*axes, *rest]).reshape(-1, *[a.shape[i] for i in rest])


def _shaped(r: Any, q: Any, a: Any, axis: Any, keepdims: bool) -> Any:
    """Results, those of each quantile along the first axis, as NumPy has them."""
    axes = axes_of(axis, a.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(a.shape) if keepdims or i not in axes)
    return r.reshape(np.shape(q) + kept)


def _ranks(q: Any, counts: Any, method: Any) -> Any:
    """For each quantile where in the order of so many elements it lies: (quantiles, *shape of the counts)."""
    found = np.zeros((q.size, *counts.shape))
    for n in np.unique(counts):
        ranks = np.quantile(np.arange(float(max(n, 1))), q.reshape(-1), method=method)
        found[:, counts == n] = ranks[:, None]
    return found


def _by_rank(a: Any, q: Any, scale: float, method: str, axis: Any, keepdims: bool, skips: bool) -> Any:
    """Quantiles as sums of two neighbours in order; NaN, which `skips` leaves out, is last in it."""
    lines = tnp.sort(_lines(a, axis), axis=0)
    values = value_of(lines)
    counts = (values == values).sum(0) if skips else np.full(values.shape[1:], len(values))
    at = value_of(q) / scale
    rank = _ranks(at, counts, method)
    low = np.clip(np.floor(rank).astype(int), 0, len(values) - 1)
    part = rank - low
    if is_tracked(q):  # the method is linear: the rank is q times the last one
        moved = (q / scale - at).reshape(-1, *[1] * counts.ndim)
        part = part + moved * (counts - 1.0)
    some = np.where(counts > 0, 1.0, 0.0)
    r = tnp.take_along_axis(lines, low, 0) * (some - some * part)
    r = r + tnp.take_along_axis(lines, np.minimum(low + 1, np.maximum(counts, 1) - 1), 0) * (some * part)
    return _shaped(r, q, a, axis, keepdims)


def _as_chosen(a: Any, q: Any, axis: Any, keepdims: bool, result: Any) -> Any:
    """Quantiles with weights: each is an element, the first that is equal to the result."""
    lines = _lines(a, axis)
    values = value_of(lines)
    wanted = value_of(result).reshape(-1, 1, *values.shape[1:])
    equal = values[None] == wanted
    r = tnp.take_along_axis(lines, equal.argmax(1), 0) * equal.any(1)
    return _shaped(r, q, a, axis, keepdims)


_QUANTILE, _CHOSEN = Substitute(_by_rank), Substitute(_as_chosen)


def _quantile(raw: Any, q: Any, scale: float, args: Any, given: dict[str, Any], skips: bool) -> Any:
    """`given` are the parameters by name, but the array and `q`."""
    a = tnp.asarray(args[0])
    out, given = given.get("out"), {k: v for k, v in given.items() if k != "out"}
    result = run(raw, (a, *args[1:]), given)
    params = {"axis": given.get("axis"), "keepdims": given.get("keepdims") is True}
    if given.get("weights") is not None:
        r = record(_CHOSEN, [a, np.asarray(value_of(q))], result, {**params, "result": result})
    else:
        params |= {"scale": scale, "method": given.get("method", "linear"), "skips": skips}
        r = record(_QUANTILE, [a, q if is_tracked(q) else np.asarray(value_of(q))], result, params)
    return r if out is None else into(out, r)


def _with_median(raw: Any, skips: bool) -> None:
    def handle(raw: Any, args: Any, kwargs: Any) -> Any:
        names = ("a", "axis", "out", "overwrite_input", "keepdims")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        given.pop("overwrite_input", None)
        return _quantile(raw, 0.5, 1.0, (given.pop("a"),), given, skips)

    CALLS[raw] = handle


def _with_quantiles(raw: Any, scale: float, skips: bool) -> None:
    def handle(raw: Any, args: Any, kwargs: Any) -> Any:
        names = ("a", "q", "axis", "out", "overwrite_input", "method", "keepdims")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        a, q = given.pop("a"), given.pop("q")
        given.pop("overwrite_input", None)
        smooth = given.get("weights") is None and given.get("method", "linear") == "linear"
        if is_tracked(q) and not smooth:
            return unknown(raw, args, kwargs)
        return _quantile(raw, q, scale, (a, q), given, skips)

    CALLS[raw] = handle


_with_median(np.median, False)
_with_median(np.nanmedian, True)
_with_quantiles(np.quantile, 1.0, False)
_with_quantiles(np.percentile, 100.0, False)
_with_quantiles(np.nanquantile, 1.0, True)
_with_quantiles(np.nanpercentile, 100.0, True)


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


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """NumPy's own preparation of knots that repeat."""
    if value_of(period) == 0:
        raise ValueError("period must be a non-zero value")
    period = abs(period)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length")
    x, xp = x % period, xp % period
    order = np.argsort(value_of(xp))
    xp, fp = xp[order], fp[order]
    xp = tnp.concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return tnp.interp(x, xp, tnp.concatenate([fp[-1:], fp, fp[:1]]))


def _interp(raw: Any, args: Any, kwargs: Any) -> Any:
    names = ("x", "xp", "fp", "left", "right", "period")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    period = given.get("period")
    if period is not None:
        return _periodic(tnp.asarray(given["x"]), tnp.asarray(given["xp"]), tnp.asarray(given["fp"]), period)
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
