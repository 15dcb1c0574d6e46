"""``ufunc.reduce``, ``accumulate`` and ``outer``. Each takes NumPy's ufunc first; None where NumPy should do it."""

import numpy as _np

from tnp import bind
from tnp.core.elementwise import PRIMITIVES, REDUCTIONS
from tnp.hot import get_lazy_from, ndarray
from tnp.ops import low_precision, reductions, scans
from tnp.ops.views import look

_ABSENT = _np._NoValue


def _reduce(raw, array, /, axis=0, dtype=None, out=None, keepdims=False, initial=_ABSENT, where=True):
    if raw is _np.add and low_precision.is_low(array):
        given = _ABSENT if where is True else where
        return low_precision.total(array, axis, dtype, out, keepdims, initial, given)
    if (
        raw not in REDUCTIONS
        or type(array) is not ndarray
        or out is not None
        or initial is not _ABSENT
        or where is not True
    ):
        return None
    return reductions.reduce(raw, array, axis, keepdims, dtype)


def _accumulate(raw, array, /, axis=0, dtype=None, out=None):
    if out is not None or (raw is not _np.add and raw is not _np.multiply):
        return None
    return scans.scanned(raw, array, axis, dtype)


def _outer(raw, A, B, /):
    prim = PRIMITIVES.get(raw)
    if prim is None or raw.nin != 2 or type(A) is not ndarray or type(B) is not ndarray:
        return None
    first, second = look(A), look(B)
    if first.size < get_lazy_from() and second.size < get_lazy_from():
        return None
    if first.ndim + second.ndim > 64:
        return None  # NumPy's error
    return bind.elementwise(prim, (A[(..., *(None,) * second.ndim)], B))


METHODS = {"reduce": _reduce, "accumulate": _accumulate, "outer": _outer}
