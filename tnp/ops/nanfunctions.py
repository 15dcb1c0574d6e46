"""Reductions that pass over NaNs, composed as NumPy composes them."""

import numpy as _np

from tnp import bind, content
from tnp.host import native, ufunc_of
from tnp.hot import ndarray
from tnp.lazy import warn
from tnp.ops import reductions
from tnp.ops.closeness import large
from tnp.ops.views import look
from tnp.reduce import reduce

_ABSENT = _np._NoValue
_isnan, _logical_not = ufunc_of(_np.isnan), ufunc_of(_np.logical_not)
_INTP = _np.dtype(_np.intp)


def _kept(keepdims):
    return keepdims is not _ABSENT and keepdims


def _without_nan(a, value):
    """`a` with `value` for NaN, and where the NaNs are, both recorded; None if NumPy should do it."""
    if type(a) is not ndarray or not large(a):
        return None
    dtype = look(a).dtype
    if dtype.char not in "fd":
        return None
    mask = _isnan(a)
    filled = bind.select(mask, dtype.type(value), a)
    return None if filled is None else (filled, mask)


def _total(value, ufunc):
    def function(a, axis=None, dtype=None, out=None, keepdims=_ABSENT, initial=_ABSENT, where=_ABSENT):
        if dtype is not None or out is not None or initial is not _ABSENT or where is not _ABSENT:
            return None
        found = _without_nan(a, value)
        return None if found is None else reduce(ufunc, found[0], axis, _kept(keepdims))

    return function


def _present(mask, axis, keepdims):
    """How many elements are no NaN."""
    count = bind.cast(_logical_not(mask), _INTP)
    return None if count is None else reduce(_np.add, count, axis, keepdims)


def _divided(total, count):
    """``total / count`` in the dtype of `total`, in its memory."""
    with _np.errstate(invalid="ignore", divide="ignore"):
        if type(total) is ndarray:
            _np.divide(total._nd, count._nd, out=total._nd, casting="unsafe")
            return total
        return total.dtype.type(total / count)


def _nd(x):
    return x._nd if type(x) is ndarray else x


def _nanmean(a, axis=None, dtype=None, out=None, keepdims=_ABSENT, *, where=_ABSENT):
    if dtype is not None or out is not None or where is not _ABSENT:
        return None
    found = _without_nan(a, 0)
    if found is None:
        return None
    filled, mask = found
    count = _present(mask, axis, _kept(keepdims))
    if count is None or (_nd(count) == 0).any():  # which NumPy warns of
        return None
    total = reduce(_np.add, filled, axis, _kept(keepdims))
    return None if total is None else _divided(total, count)


def nanvar(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=_ABSENT, *, where=_ABSENT, mean=_ABSENT, correction=_ABSENT
):
    """`numpy.nanvar`: mean of the squared deviations, where there are no NaNs."""
    if dtype is not None or out is not None or where is not _ABSENT or mean is not _ABSENT or correction is not _ABSENT:
        return None
    found = _without_nan(a, 0) if type(ddof) in (int, float) else None
    if found is None:
        return None
    filled, mask = found
    zero = look(filled).dtype.type(0)
    count = _present(mask, axis, True)
    if count is None or (_nd(count) - ddof <= 0).any():
        return None
    total = reduce(_np.add, filled, axis, True)
    if total is None:
        return None
    average = _divided(total, count)
    asked = warn.asked()
    content.schedule.seen = 0
    with _np.errstate(all="ignore"):  # what sets a flag is left to NumPy, which warns of it
        deviation = bind.select(mask, zero, filled - average)
        squares = None if deviation is None else reduce(_np.add, deviation * deviation, axis, _kept(keepdims))
    if squares is None or content.schedule.seen & asked:
        return None
    dof = _nd(count) - ddof
    if type(squares) is not ndarray:
        return squares.dtype.type(squares / dof[(0,) * dof.ndim] if type(dof) is _np.ndarray else squares / dof)
    if dof.ndim > squares._nd.ndim:
        dof = dof.squeeze(axis)
    with _np.errstate(invalid="ignore", divide="ignore"):
        _np.divide(squares._nd, dof, out=squares._nd, casting="unsafe")
    return squares


def _nanstd(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=_ABSENT, *, where=_ABSENT, mean=_ABSENT, correction=_ABSENT
):
    v = nanvar(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    if v is None:
        return None
    if type(v) is ndarray:
        _np.sqrt(v._nd, out=v._nd)
        return v
    return v.dtype.type(_np.sqrt(v))


def _extreme(ufunc, worst, plain):
    """nanmax, nanmin of what is pending; in memory, one pass of fmax is NumPy's.

    Which of two zeros or NaNs fmax keeps depends on its loop: such results are left to NumPy, too.
    """

    def function(a, axis=None, out=None, keepdims=_ABSENT, initial=_ABSENT, where=_ABSENT):
        if (
            out is not None
            or initial is not _ABSENT
            or where is not _ABSENT
            or type(a) is not ndarray
            or a._nd is not None
        ):
            return None
        if look(a).dtype.kind in "biu":
            return plain.native(a, axis, None, keepdims)
        found = _without_nan(a, worst)
        r = None if found is None else reduce(ufunc, found[0], axis, _kept(keepdims))
        if r is None:
            return None
        nd = _nd(r)
        return None if (nd == 0).any() or _np.isinf(nd).any() else r

    return function


native(_total(0, _np.add), _np.nansum, "nansum")
native(_total(1, _np.multiply), _np.nanprod, "nanprod")
native(_nanmean, _np.nanmean, "nanmean")
native(nanvar, _np.nanvar, "nanvar")
native(_nanstd, _np.nanstd, "nanstd")
native(_extreme(_np.maximum, -_np.inf, reductions.max), _np.nanmax, "nanmax")
native(_extreme(_np.minimum, _np.inf, reductions.min), _np.nanmin, "nanmin")
