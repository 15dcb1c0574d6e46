"""Comparisons of whole arrays: isclose, allclose, array_equal, nan_to_num; composed as NumPy composes them."""

import math as _math

import numpy as _np

from tnp import bind
from tnp.core.dtypes import is_number
from tnp.core.layout import copied_in_order
from tnp.host import native, ufunc_of
from tnp.hot import get_lazy_from, ndarray
from tnp.ops.views import look

_WEAK = (int, float, complex)
_isfinite, _isnan, _less_equal = ufunc_of(_np.isfinite), ufunc_of(_np.isnan), ufunc_of(_np.less_equal)


def large(*arrays):
    """Is one of these a large array of numbers, and each of the others an array of numbers or a Python number?"""
    found = False
    for x in arrays:
        if type(x) is ndarray:
            nd = look(x)
            if not is_number(nd.dtype):
                return False
            found = found or nd.size >= get_lazy_from()
        elif type(x) not in _WEAK:
            return False
    return found


def close(a, b, rtol, atol, equal_nan):
    """The elements that are close, recorded; None if NumPy should say it."""
    if type(rtol) not in (int, float) or type(atol) not in (int, float) or not large(a, b):
        return None
    if not (_math.isfinite(rtol) and _math.isfinite(atol)):
        return None
    x, y = a, b
    if type(y) is ndarray:
        kind = look(y).dtype
        wide = _np.result_type(kind, 1.0)
        if wide != kind:
            y = y.astype(wide)
    elif type(y) is int:
        y = float(y)
    with _np.errstate(invalid="ignore"):
        r = _less_equal(abs(x - y), atol + rtol * abs(y)) & _isfinite(y) | (x == y)
        if equal_nan:
            r |= _isnan(x) & _isnan(y)
    return r


def _isclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    r = close(a, b, rtol, atol, equal_nan)
    return None if r is None else r[()]


def _allclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    r = close(a, b, rtol, atol, equal_nan)
    return None if r is None else bool(r.all())


def _array_equal(a1, a2, equal_nan=False):
    if type(a1) is ndarray and type(a2) is ndarray and not equal_nan and large(a1, a2):
        if look(a1).shape != look(a2).shape:
            return False
        return bool((a1 == a2).all())
    return None


def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """`numpy.nan_to_num` of a copy: three selections."""
    if type(x) is not ndarray or copy is not True or not large(x):
        return None
    dtype = look(x).dtype
    if dtype.char not in "fd" or not copied_in_order(look(x)):
        return None
    limits = _np.finfo(dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    if not all(isinstance(v, (int, float, dtype.type)) for v in (nan, high, low)):
        return None
    nan, high, low = dtype.type(nan), dtype.type(high), dtype.type(low)
    r = x
    for where, value in ((_isnan(x), nan), (x == dtype.type("inf"), high), (x == dtype.type("-inf"), low)):
        r = bind.select(where, value, r)
        if r is None:
            return None
    return r


native(_isclose, _np.isclose, "isclose")
native(_allclose, _np.allclose, "allclose")
native(_array_equal, _np.array_equal, "array_equal")
native(_nan_to_num, _np.nan_to_num, "nan_to_num")
