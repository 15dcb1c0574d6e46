"""Elements by index arrays and masks: NumPy's loops on the memory; a masked scalar is a recorded selection."""

import numpy as _np

from tnp import bind, tracing, writes
from tnp.core.dtypes import is_number
from tnp.core.elementwise import PRIMITIVES
from tnp.host import DONE, native, run
from tnp.hot import get_lazy_from, ndarray, writable
from tnp.ops import reductions
from tnp.ops.views import look

_ABSENT = _np._NoValue
_BOOL = _np.dtype(bool)


def set_mask(x, mask, value):
    """``x[mask] = value`` for one number, as a pending write to the whole of `x`; None if it has to run at once.

    Only where the write can join other pending work: alone, NumPy's loop moves less memory.
    """
    if x._nd is not None and mask._nd is not None:
        return None
    nd = look(x)
    m = look(mask)
    if m.dtype != _BOOL or m.shape != nd.shape or nd.size < get_lazy_from() or not _exact(value, nd.dtype):
        return None
    return bind.select(mask, nd.dtype.type(value), x, x)


def _exact(value, dtype):
    """Is conversion of `value` to the dtype plain: no warning, no error, no loss NumPy would have to judge?"""
    t = type(value)
    if not is_number(dtype):
        return False
    if t is float:
        return dtype.kind in "fc" and (value != value or value - value != 0 or abs(value) < 6e4)
    if t is int:
        return (dtype.kind in "fc" and abs(value) < 2048) or (dtype.kind in "iu" and 0 <= value < 128)
    if t is bool:
        return True
    return isinstance(value, _np.generic) and value.dtype == dtype


# ------------------------------------------------------------------------------------------------ functions
def _reading(name):
    raw = getattr(_np, name)

    def function(*args, **kwargs):
        return None if "out" in kwargs else run(raw, args, kwargs)

    return native(function, raw, name)


_NAMES = """
argmax argmin argwhere choose compress extract flatnonzero nonzero ravel_multi_index take take_along_axis trace
unravel_index
"""
for _name in _NAMES.split():
    _reading(_name)


def _count_nonzero(a, axis=None, *, keepdims=False):
    """Along axes pending content is counted as it is computed; all of a mask in memory counts NumPy in no time."""
    if type(a) is ndarray and a._nd is None and axis is not None:
        kind = look(a).dtype
        found = (
            a if kind.char == "?" else bind.elementwise(PRIMITIVES[_np.not_equal], (a, 0)) if is_number(kind) else None
        )
        n = None if found is None else reductions.reduce(_np.add, found, axis, keepdims)
        if n is not None:
            return n
    return run(_np.count_nonzero, (a, axis), {"keepdims": keepdims})


native(_count_nonzero, _np.count_nonzero, "count_nonzero")


def _writing(name):
    raw = getattr(_np, name)

    def function(a, *args, **kwargs):
        if not isinstance(a, ndarray):
            return None
        writable(a)
        run(raw, (a, *args), kwargs)
        return DONE

    return native(function, raw, name)


def _copyto(dst, src, casting="same_kind", where=True):
    if type(dst) is ndarray and casting == "same_kind":
        if where is True:
            if tracing.is_traced(dst) or tracing.is_traced(src):
                if type(src) is ndarray and look(src).dtype == look(dst).dtype:
                    dst[...] = src
                    return DONE
            elif writes.assign(dst, src) is not None:
                return DONE
        elif type(where) is ndarray and type(src) is not ndarray and set_mask(dst, where, src) is not None:
            return DONE
    return _plain_copyto(dst, src, casting=casting, where=where)


def _putmask(a, mask, values):
    if type(a) is ndarray and type(mask) is ndarray and set_mask(a, mask, values) is not None:
        return DONE
    return _plain_putmask(a, mask, values)


for _name in ["fill_diagonal", "place", "put", "put_along_axis"]:
    _writing(_name)
_plain_copyto, _plain_putmask = _writing("copyto").native, _writing("putmask").native
native(_copyto, _np.copyto, "copyto")
native(_putmask, _np.putmask, "putmask")
