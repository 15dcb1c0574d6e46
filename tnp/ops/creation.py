"""New arrays: NumPy's own functions; large uninitialised or constant ones have memory of the backend's pool."""

import numpy as _np

from tnp import bind, content, hot
from tnp.core.dtypes import is_number, named
from tnp.host import native, run
from tnp.hot import ndarray, wrap
from tnp.ops.memory import adopt, pooled, rows
from tnp.ops.views import look

_ABSENT = _np._NoValue
_PLAIN = frozenset({int, float, complex, bool})


def _creation(name):
    raw = getattr(_np, name)

    def function(*args, **kwargs):
        return None if "like" in kwargs else run(raw, args, kwargs)

    return native(function, raw, name, creates=True)


_NAMES = """
arange array asanyarray asarray ascontiguousarray asfortranarray copy diag diagflat eye frombuffer fromfunction
fromiter fromstring geomspace identity indices linspace logspace meshgrid tri tril triu vander zeros zeros_like
"""
for _name in _NAMES.split():
    _creation(_name)


def _shape(shape):
    """A tuple of sizes, or None if NumPy has to look at it."""
    if type(shape) is int:
        shape = (shape,)
    if type(shape) is not tuple:
        return None
    for n in shape:
        if type(n) is not int or n < 0:
            return None
    return shape


def _numeric(dtype):
    """A dtype from what the program calls one, or None if it is not one of numbers."""
    kind = named(dtype)
    return kind if kind is not None and is_number(kind) else None


def _memory(shape, dtype, order):
    """Memory of the pool for a large array, or None: NumPy makes the array."""
    shape = _shape(shape)
    if shape is None or order not in ("C", "F") or (dtype := _numeric(dtype)) is None:
        return None
    return pooled(shape, dtype, order)


def _empty(shape, dtype=float, order="C", *, device=None, like=None):
    if like is not None:
        return None
    full = _memory(shape, dtype, order) if device is None else None
    if full is None:
        return run(_np.empty, (shape, dtype, order), {"device": device})
    return adopt(full)


def _filled(full, value):
    """The array of memory `full` with every element `value`, which is of its dtype."""
    chunks = rows(full)
    if chunks is None:
        full.fill(value)
    else:
        content.backend.run_chunks(lambda i: full[i].fill(value), chunks)
    return adopt(full)


def _ones(shape, dtype=None, order="C", *, device=None, like=None):
    if like is not None:
        return None
    full = _memory(shape, dtype, order) if device is None else None
    if full is None:
        return run(_np.ones, (shape, dtype, order), {"device": device})
    return _filled(full, full.dtype.type(1))


def _full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    if like is not None:
        return None
    if device is None and (type(fill_value) in _PLAIN or isinstance(fill_value, _np.generic)):
        kind = _np.asarray(fill_value).dtype if dtype is None else dtype
        full = _memory(shape, kind, order)
        if full is not None:
            one = _np.empty((), full.dtype)
            _np.copyto(one, fill_value, casting="unsafe")
            return _filled(full, one[()])
    return run(_np.full, (shape, fill_value, dtype, order), {"device": device})


native(_empty, _np.empty, "empty", creates=True)
native(_ones, _np.ones, "ones", creates=True)
native(_full, _np.full, "full", creates=True)


# ------------------------------------------------------------------------------------------------ like another array
def _like(a, dtype, order, subok, shape):
    """Memory of the pool for an array like `a`, or None: NumPy makes the array."""
    if type(a) is not ndarray:
        return None
    nd = look(a)
    if order == "K" or order == "A":
        if not nd.flags.c_contiguous:
            return None
        order = "C"
    return _memory(nd.shape if shape is None else shape, nd.dtype if dtype is None else dtype, order)


def _of_pending(raw, a, args, kwargs):
    """``raw(a, ...)``, which asks only for the form of `a`: pending content need not be computed."""
    if type(a) is ndarray and a._nd is None:
        return wrap(raw(look(a), *args, **kwargs))
    return run(raw, (a, *args), kwargs)


def _empty_like(prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None):
    full = _like(prototype, dtype, order, subok, shape) if device is None else None
    if full is None:
        return _of_pending(_np.empty_like, prototype, (dtype, order, subok, shape), {"device": device})
    return adopt(full)


def _ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    full = _like(a, dtype, order, subok, shape) if device is None else None
    if full is None:
        return _of_pending(_np.ones_like, a, (dtype, order, subok, shape), {"device": device})
    return _filled(full, full.dtype.type(1))


def _zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _of_pending(_np.zeros_like, a, (dtype, order, subok, shape), {"device": device})


def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    if device is None and (type(fill_value) in _PLAIN or isinstance(fill_value, _np.generic)):
        full = _like(a, dtype, order, subok, shape)
        if full is not None:
            one = _np.empty((), full.dtype)
            _np.copyto(one, fill_value, casting="unsafe")
            return _filled(full, one[()])
    if isinstance(fill_value, ndarray):
        return run(_np.full_like, (a, fill_value, dtype, order, subok, shape), {"device": device})
    return _of_pending(_np.full_like, a, (fill_value, dtype, order, subok, shape), {"device": device})


native(_empty_like, _np.empty_like, "empty_like")
native(_ones_like, _np.ones_like, "ones_like")
native(_zeros_like, _np.zeros_like, "zeros_like")
native(_full_like, _np.full_like, "full_like")


# ------------------------------------------------------------------------------------------------ copies
def copied(x, order):
    """An independent copy of `x`, recorded; None if it has to be made at once. `order` is "C" or "K"."""
    if x._nd is not None and x._nd.size < hot.get_lazy_from():
        return None
    nd = look(x)
    if order == "C" and not nd.flags.c_contiguous:
        return None
    return bind.cast(x, nd.dtype)


def _copy_function(a, order="K", subok=False):
    if type(a) is ndarray and order in ("C", "K") and not subok:
        r = copied(a, order)
        if r is not None:
            return r
    return run(_np.copy, (a, order, subok), {})


def _copy_method(a, order="C"):
    return copied(a, order) if type(a) is ndarray and order in ("C", "K") else None


def _array(object, dtype=None, *args, **kwargs):  # `object` may be anything
    if "like" in kwargs:
        return None
    if type(object) is ndarray and not args and not kwargs:
        if dtype is None:
            r = copied(object, "K")
        else:
            kind = _numeric(dtype)
            r = None if kind is None else bind.cast(object, kind)
        if r is not None:
            return r
    return run(_np.array, (object, dtype, *args) if dtype is not None or args else (object,), kwargs)


def _asking(raw, order):
    """asarray and its kin: the very array where it is as asked, otherwise a copy."""

    def function(a, dtype=None, *args, **kwargs):
        if "like" in kwargs:
            return None
        if type(a) is ndarray and not args and not kwargs:
            nd = look(a)
            fits = order is None or (nd.flags.c_contiguous and nd.ndim > 0)
            if fits:
                if dtype is None:
                    return a
                kind = _numeric(dtype)
                if kind is nd.dtype:
                    return a
                r = None if kind is None or kind == nd.dtype else bind.cast(a, kind)  # equal only: a view has it
                if r is not None:
                    return r
        return run(raw, (a, dtype, *args) if dtype is not None or args else (a,), kwargs)

    return function


native(_copy_function, _np.copy, "copy")
native(_array, _np.array, "array", creates=True)
native(_asking(_np.asarray, None), _np.asarray, "asarray", creates=True)
native(_asking(_np.asanyarray, None), _np.asanyarray, "asanyarray", creates=True)
native(_asking(_np.ascontiguousarray, "C"), _np.ascontiguousarray, "ascontiguousarray", creates=True)
METHODS = {"copy": native(_copy_method, _np.ndarray.copy, "copy")}
