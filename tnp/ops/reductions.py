"""Sums, products, extremes, means: along axes, fused with what feeds them.

Each function returns None where the operation has to run through NumPy as it is.
"""

import numpy as _np

from tnp import bind
from tnp.hot import ndarray
from tnp.host import native

_ABSENT = _np._NoValue


def _reduction(ufunc):
    def function(a, axis=None, dtype=None, out=None, keepdims=_ABSENT, initial=_ABSENT, where=_ABSENT):
        if type(a) is not ndarray or out is not None or initial is not _ABSENT or where is not _ABSENT:
            return None
        return bind.reduce(ufunc, a, axis, keepdims is not _ABSENT and keepdims, dtype)

    return function


def _extreme(ufunc):
    def function(a, axis=None, out=None, keepdims=_ABSENT, initial=_ABSENT, where=_ABSENT):
        if type(a) is not ndarray or out is not None or initial is not _ABSENT or where is not _ABSENT:
            return None
        return bind.reduce(ufunc, a, axis, keepdims is not _ABSENT and keepdims)

    return function


def _logical(ufunc):
    def function(a, axis=None, out=None, keepdims=_ABSENT, *, where=_ABSENT):
        if type(a) is not ndarray or out is not None or where is not _ABSENT:
            return None
        return bind.reduce(ufunc, a, axis, keepdims is not _ABSENT and keepdims)

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


def mean(a, axis=None, dtype=None, out=None, keepdims=_ABSENT, *, where=_ABSENT):
    """`numpy.mean` as NumPy does it: the sum, divided by the count in the dtype of the sum."""
    if type(a) is not ndarray or out is not None or dtype is not None or where is not _ABSENT:
        return None
    kind = bind.look(a).dtype
    if kind.char not in "fdFD":
        return None
    total = bind.reduce(_np.add, a, axis, keepdims is not _ABSENT and keepdims)
    return None if total is None else _divide(total, _count(a, axis))


def _divide(total, count):
    if type(total) is ndarray:
        nd = total._nd
        _np.true_divide(nd, count, out=nd, casting="unsafe")
        return total
    return total.dtype.type(total / count)


mean = native(mean, _np.mean, "mean")


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_ABSENT, *, where=_ABSENT, mean=_ABSENT, correction=_ABSENT):
    """`numpy.var` as NumPy does it: mean of the squared deviations from the mean, in two passes."""
    if type(a) is not ndarray or out is not None or dtype is not None or mean is not _ABSENT:
        return None
    if where is not _ABSENT or correction is not _ABSENT or bind.look(a).dtype.char not in "fd":
        return None
    total = bind.reduce(_np.add, a, axis, True)
    if total is None:
        return None
    count = _count(a, axis)
    if count - ddof <= 0:
        return None
    centre = total._nd if type(total) is ndarray else total
    if type(total) is ndarray:
        _np.true_divide(centre, count, out=centre, casting="unsafe")
    deviation = a - total
    squares = bind.reduce(_np.add, deviation * deviation, axis, keepdims is not _ABSENT and keepdims)
    if squares is None:
        return None
    return _divide(squares, count - ddof)


var = native(var, _np.var, "var")


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_ABSENT, *, where=_ABSENT, mean=_ABSENT, correction=_ABSENT):
    """`numpy.std`: root of the variance."""
    v = var.native(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    if v is None:
        return None
    if type(v) is ndarray:
        _np.sqrt(v._nd, out=v._nd)
        return v
    return v.dtype.type(_np.sqrt(v))


std = native(std, _np.std, "std")
METHODS = {"sum": sum, "prod": prod, "max": max, "min": min, "any": any, "all": all, "mean": mean, "var": var, "std": std}
