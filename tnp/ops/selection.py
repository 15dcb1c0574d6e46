"""where, clip, round, astype, copy: elementwise functions that are not plain ufuncs."""

import numpy as _np

from tnp import bind, content
from tnp.core.dtypes import named
from tnp.core.elementwise import CLIP, PRIMITIVES
from tnp.core.layout import is_in_c_order
from tnp.host import native
from tnp.hot import ndarray

_ABSENT = _np._NoValue


def _where(condition, x=_ABSENT, y=_ABSENT, /):
    return None if x is _ABSENT or y is _ABSENT else bind.select(condition, x, y)


where = native(_where, _np.where, "where")


def _clip(a, a_min=_ABSENT, a_max=_ABSENT, out=None, *, min=_ABSENT, max=_ABSENT, **kwargs):
    """`numpy.clip` with both bounds is the clip ufunc, with one a minimum or maximum."""
    if kwargs or out is not None or type(a) is not ndarray:
        return None
    if a_min is _ABSENT and a_max is _ABSENT:
        a_min, a_max = min, max
    elif a_min is _ABSENT or a_max is _ABSENT or min is not _ABSENT or max is not _ABSENT:
        return None  # NumPy's error
    low, high = (None if b is _ABSENT else b for b in (a_min, a_max))
    if low is None and high is None:
        return None
    if low is None:
        return bind.elementwise(PRIMITIVES[_np.minimum], (a, high))
    if high is None:
        return bind.elementwise(PRIMITIVES[_np.maximum], (a, low))
    return bind.elementwise(PRIMITIVES[CLIP], (a, low, high))


clip = native(_clip, _np.clip, "clip")


def _clip_method(a, min=None, max=None, out=None, **kwargs):
    return _clip(a, min, max, out, **kwargs)


def _round(a, decimals=0, out=None):
    """`numpy.round` of floats: rint, between a multiplication and a division where decimals are asked for."""
    if type(a) is not ndarray or out is not None or type(decimals) is not int:
        return None
    form = content.look(a)
    if form.dtype.char not in "fd":
        return None
    if decimals and not form.flags.f_contiguous and not is_in_c_order(form):
        return None  # then NumPy's result is in C order, however the operand lies
    form = None
    rint, multiply, divide = (PRIMITIVES[u] for u in (_np.rint, _np.multiply, _np.true_divide))
    if decimals == 0:
        return bind.elementwise(rint, (a,))
    if abs(decimals) > 22:
        return None
    factor = 10.0 ** abs(decimals)
    first, last = (multiply, divide) if decimals > 0 else (divide, multiply)
    scaled = bind.elementwise(first, (a, factor))
    if scaled is None:
        return None
    whole = bind.elementwise(rint, (scaled,))
    return None if whole is None else bind.elementwise(last, (whole, factor))


round = native(_round, _np.round, "round")
around = native(_round, _np.around, "around")


def astype(x, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """`numpy.ndarray.astype`, recorded; None if it has to run at once."""
    if type(x) is not ndarray or order != "K" or casting != "unsafe" or not copy:
        return None
    kind = named(dtype)
    return None if kind is None else bind.cast(x, kind)


def _astype(x, dtype, /, *, copy=True, device=None):
    return astype(x, dtype) if copy is True and device is None else None


def _conjugate(x):
    """`numpy.ndarray.conj`: real arrays are their own conjugates."""
    if type(x) is not ndarray:
        return None
    kind = content.look(x).dtype.kind
    if kind == "c":
        return bind.elementwise(PRIMITIVES[_np.conjugate], (x,))
    return x if kind in "biuf" else None


def _select(condlist, choicelist, default=0):
    """`numpy.select` as selections from the last choice to the first, where all are of one dtype and in C order."""
    if type(condlist) is not list or type(choicelist) is not list or len(condlist) != len(choicelist) or not condlist:
        return None
    first = next((c for c in choicelist if type(c) is ndarray), None)
    if first is None or type(default) not in (int, float):
        return None
    form = content.look(first)
    shape, dtype = form.shape, form.dtype
    if not form.flags.c_contiguous or dtype.kind not in ("f" if type(default) is float else "fi"):
        return None
    form = None
    for x in (*condlist, *choicelist):
        if type(x) is not ndarray:
            if type(x) not in (int, float) or (type(x) is float and dtype.kind != "f"):
                return None
        elif content.look(x).shape != shape or not content.look(x).flags.c_contiguous:
            return None
    for c in condlist:
        if type(c) is not ndarray or content.look(c).dtype.char != "?":
            return None
    for x in choicelist:
        if type(x) is ndarray and content.look(x).dtype != dtype:
            return None
    r = default
    for c, x in zip(condlist[::-1], choicelist[::-1], strict=True):
        if type(r) is not ndarray and type(x) is not ndarray:
            r = dtype.type(r)
        r = bind.select(c, x, r)
        if r is None:
            return None
    return r


native(_astype, _np.astype, "astype")
native(_select, _np.select, "select")
METHODS = {
    "clip": native(_clip_method, _np.ndarray.clip, "clip"),
    "round": round,
    "conj": native(_conjugate, _np.ndarray.conj, "conj"),
    "conjugate": native(_conjugate, _np.ndarray.conjugate, "conjugate"),
}
