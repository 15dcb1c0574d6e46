"""bfloat16: sums, means and contractions accumulate in float32 and round once, however small the arrays.

``@`` gives float32, as NumPy has it for want of a loop. The loops of ml_dtypes round every addition: there, the sum of
1,000 ones is 256.
"""

import numpy as _np

from tnp.core.dtypes import is_bfloat16
from tnp.host import native, unwrap
from tnp.hot import get_lazy_from, ndarray, real, wrap, writable
from tnp.reduce import reduce

_ABSENT = _np._NoValue
_SINGLE = _np.dtype(_np.float32)


def is_low(x):
    """Is `x` a tnp array of bfloat16?"""
    return type(x) is ndarray and is_bfloat16(x.dtype)


def _wide(x):
    """NumPy array of float32 with the content of `x`."""
    return real(x).astype(_SINGLE)


def _rounded(r, dtype):
    return wrap(r.astype(dtype)) if type(r) is _np.ndarray else dtype.type(r)


def _accumulated(raw):
    """`raw`, a reduction, in float32."""

    def function(a, axis=None, dtype=None, out=None, *args, **kwargs):
        kind = a.dtype
        if dtype is not None and _np.dtype(dtype) != kind:
            return None
        given = unwrap(kwargs, [])
        if out is None:
            return _rounded(raw(_wide(a), axis, None, None, *args, **given), kind)
        into = writable(out) if type(out) is ndarray else out
        into[...] = raw(_wide(a), axis, None, None, *args, **given)
        return out

    return function


_sum, mean, var, std = (_accumulated(f) for f in (_np.sum, _np.mean, _np.var, _np.std))


def total(a, axis=None, dtype=None, out=None, keepdims=_ABSENT, initial=_ABSENT, where=_ABSENT):
    """`numpy.sum`: by the engine where `a` is large."""
    plain = dtype is None and out is None and initial is _ABSENT and where is _ABSENT
    if plain and (a._nd is None or a._nd.size >= get_lazy_from()):
        r = reduce(_np.add, a, axis, keepdims is not _ABSENT and keepdims)
        if r is not None:
            return r
    return _sum(a, axis, dtype, out, keepdims, initial, where)


def contracted(raw):
    """`raw`, a contraction of two arrays, in float32."""

    def function(a, b, *args, **kwargs):
        if not is_low(a) or not is_low(b) or args or kwargs:
            return None
        return _rounded(raw(_wide(a), _wide(b)), a.dtype)

    return function


for _name in ("dot", "inner", "vdot", "tensordot"):
    native(contracted(getattr(_np, _name)), getattr(_np, _name), _name)
METHODS = {"dot": native(contracted(_np.dot), _np.ndarray.dot, "dot")}
