"""Sums, products, extremes, means: along axes, fused with what feeds them.

Each function returns None where the operation has to run through NumPy as it is.
"""

import numpy as _np

from tnp import bind, content
from tnp.core.elementwise import PRIMITIVES
from tnp.host import native
from tnp.hot import ndarray
from tnp.lazy import warn
from tnp.ops import low_precision
from tnp.ops.views import look
from tnp.reduce import reduce as _reduce

_ABSENT = _np._NoValue
_LOGICAL = (_np.logical_or, _np.logical_and)
_INT, _UINT = _np.dtype(_np.int_), _np.dtype(_np.uint)


def reduce(ufunc, a, axis, keepdims, dtype=None):
    """The engine's `reduce`, with NumPy's dtypes for sums of narrow integers, whose order is all the same."""
    kind = look(a).dtype
    if ufunc is _np.add or ufunc is _np.multiply:
        if dtype is not None:
            dtype = _np.dtype(dtype)
            if dtype == kind:
                dtype = None
        if kind.kind in "biu" and (kind.itemsize < 8 or dtype is not None):
            if a._nd is not None:  # in memory: widening it block by block is what NumPy does well
                return None
            wide = dtype if dtype is not None else _UINT if kind.kind == "u" else _INT
            if wide.kind not in "iu" or wide.itemsize < 8 or not wide.isnative:
                return None
            a, dtype = bind.cast(a, wide), None
            if a is None:
                return None
    elif ufunc in _LOGICAL and kind.char != "?" and dtype is None and a._nd is None:
        a = bind.elementwise(PRIMITIVES[_np.not_equal], (a, 0))  # with memory, NumPy stops at the first that decides
        if a is None:
            return None
    return _reduce(ufunc, a, axis, keepdims, dtype)


def _reduction(ufunc):
    def function(a, axis=None, dtype=None, out=None, keepdims=_ABSENT, initial=_ABSENT, where=_ABSENT):
        if ufunc is _np.add and low_precision.is_low(a):
            return low_precision.total(a, axis, dtype, out, keepdims, initial, where)
        if type(a) is not ndarray or out is not None or initial is not _ABSENT or where is not _ABSENT:
            return None
        return reduce(ufunc, a, axis, keepdims is not _ABSENT and keepdims, dtype)

    return function


def _extreme(ufunc):
    def function(a, axis=None, out=None, keepdims=_ABSENT, initial=_ABSENT, where=_ABSENT):
        if type(a) is not ndarray or out is not None or initial is not _ABSENT or where is not _ABSENT:
            return None
        return _reduce(ufunc, a, axis, keepdims is not _ABSENT and keepdims)

    return function


def _logical(ufunc):
    def function(a, axis=None, out=None, keepdims=_ABSENT, *, where=_ABSENT):
        if type(a) is not ndarray or out is not None or where is not _ABSENT:
            return None
        return reduce(ufunc, a, axis, keepdims is not _ABSENT and keepdims)

    return function


sum = native(_reduction(_np.add), _np.sum, "sum")
prod = native(_reduction(_np.multiply), _np.prod, "prod")
max = native(_extreme(_np.maximum), _np.max, "max")
min = native(_extreme(_np.minimum), _np.min, "min")
any = native(_logical(_np.logical_or), _np.any, "any")
all = native(_logical(_np.logical_and), _np.all, "all")


def _count(a, axis):
    """Elements that one result is made of, of NumPy's type: the dtype of a quotient depends on it."""
    shape = a.shape
    if axis is None:
        return _np.intp(a.size)
    n = 1
    for i in axis if type(axis) is tuple else (axis,):
        n *= shape[i]
    return _np.intp(n)


def _mean(a, axis=None, dtype=None, out=None, keepdims=_ABSENT, *, where=_ABSENT):
    """`numpy.mean` as NumPy does it: the sum, divided by the count in the dtype of the sum."""
    if low_precision.is_low(a):
        return low_precision.mean(a, axis, dtype, out, keepdims, where=where)
    if type(a) is not ndarray or out is not None or dtype is not None or where is not _ABSENT:
        return None
    kind = look(a).dtype
    if kind.kind in "biu":
        if a._nd is not None or not _exact_sum(a, kind):
            return None
        a = bind.cast(a, _np.dtype(float))
    elif kind.char not in "fdFD":
        return None
    total = None if a is None else _reduce(_np.add, a, axis, keepdims is not _ABSENT and keepdims)
    return None if total is None else _divide(total, _count(a, axis))


def _exact_sum(a, kind):
    """Is every sum of these integers exact in float64, so that its order is all the same?"""
    return kind.itemsize <= 4 and look(a).size << (8 * kind.itemsize) <= 1 << 53


def _divide(total, count):
    if type(total) is ndarray:
        nd = total._nd
        _np.true_divide(nd, count, out=nd, casting="unsafe")
        return total
    return total.dtype.type(total / count)


mean = native(_mean, _np.mean, "mean")


def _var(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=_ABSENT, *, where=_ABSENT, mean=_ABSENT, correction=_ABSENT
):
    """`numpy.var` as NumPy does it: mean of the squared deviations from the mean, in two passes."""
    if low_precision.is_low(a):
        return low_precision.var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    if type(a) is not ndarray or out is not None or dtype is not None or mean is not _ABSENT:
        return None
    if where is not _ABSENT or correction is not _ABSENT or look(a).dtype.char not in "fd":
        return None
    total = _reduce(_np.add, a, axis, True)
    if total is None:
        return None
    count = _count(a, axis)
    if count - ddof <= 0:
        return None
    centre = total._nd if type(total) is ndarray else total
    if type(total) is ndarray:
        _np.true_divide(centre, count, out=centre, casting="unsafe")
    asked = warn.asked()
    content.schedule.seen = 0
    with _np.errstate(all="ignore"):  # where something is flagged, NumPy does it all again and warns in its own words
        deviation = a - total
        squares = _reduce(_np.add, deviation * deviation, axis, keepdims is not _ABSENT and keepdims)
    if squares is None or content.schedule.seen & asked:
        return None
    return _divide(squares, count - ddof)


var = native(_var, _np.var, "var")


def _std(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=_ABSENT, *, where=_ABSENT, mean=_ABSENT, correction=_ABSENT
):
    """`numpy.std`: root of the variance."""
    if low_precision.is_low(a):
        return low_precision.std(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    v = _var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    if v is None:
        return None
    if type(v) is ndarray:
        _np.sqrt(v._nd, out=v._nd)
        return v
    return v.dtype.type(_np.sqrt(v))


std = native(_std, _np.std, "std")
native(_extreme(_np.maximum), _np.amax, "amax")
native(_extreme(_np.minimum), _np.amin, "amin")


def _ptp(a, axis=None, out=None, keepdims=_ABSENT):
    if type(a) is not ndarray or out is not None or look(a).dtype.kind not in "iuf":
        return None
    high = _reduce(_np.maximum, a, axis, keepdims is not _ABSENT and keepdims)
    low = None if high is None else _reduce(_np.minimum, a, axis, keepdims is not _ABSENT and keepdims)
    if low is None:
        return None
    return high - low if type(high) is ndarray else _np.subtract(high, low)  # which does not warn of integers


def _average(a, axis=None, weights=None, returned=False, *, keepdims=_ABSENT):
    """`numpy.average` without weights is the mean; with some, the sum of products over the sum of weights."""
    if type(a) is not ndarray or returned or (type(axis) is not int and axis is not None):
        return None
    if weights is None:
        return _mean(a, axis, keepdims=keepdims)
    if type(weights) is not ndarray:
        return None
    x, w = look(a), look(weights)
    if x.dtype.char not in "fd" or w.dtype != x.dtype or w.shape != x.shape:
        return None
    keep = keepdims is not _ABSENT and keepdims
    scale = _reduce(_np.add, weights, axis, keep)
    if scale is None or ((scale._nd if type(scale) is ndarray else scale) == 0.0).any():
        return None
    asked = warn.asked()
    content.schedule.seen = 0
    with _np.errstate(all="ignore"):  # as for the variance
        total = _reduce(_np.add, a * weights, axis, keep)
    return None if total is None or content.schedule.seen & asked else total / scale


native(_ptp, _np.ptp, "ptp")
native(_average, _np.average, "average")
METHODS = {
    "sum": sum,
    "prod": prod,
    "max": max,
    "min": min,
    "any": any,
    "all": all,
    "mean": mean,
    "var": var,
    "std": std,
}
