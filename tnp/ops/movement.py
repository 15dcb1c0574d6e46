"""Other shapes, axes and orders of the same memory: views of pending arrays stay pending."""

import numpy as _np

from tnp.host import native, run
from tnp.hot import ndarray
from tnp.ops.views import look, pending_view

_NDARRAY = _np.ndarray
_ABSENT = _np._NoValue


def moved(x, raw, args, kwargs):
    """``raw(x, ...)`` as a view (or views) that stays pending, or None: NumPy has to make a copy, or `x` has memory."""
    if x._nd is not None:
        return None
    if raw in _COPYING:
        raw, args, kwargs = _COPYING[raw](look(x) if x._place is None else x._place.nd, args, kwargs)
        if raw is None:
            return None
        try:
            return pending_view(x, lambda nd: raw(nd, *args, **kwargs))
        except ValueError:  # the shape does not fit, or only a copy would have it: NumPy says which
            return None
    return pending_view(x, lambda nd: raw(nd, *args, **kwargs))


def _reshaping(nd, args, kwargs):
    """What views `nd` as ``reshape(*args, **kwargs)`` and never copies: a phantom is not there to be copied."""
    if kwargs.get("copy"):
        return None, (), {}
    return _NDARRAY.reshape, args, {**kwargs, "copy": False}


def _reshaping_function(nd, args, kwargs):
    if kwargs.get("copy") or len(args) > 2:
        return None, (), {}
    return _np.reshape, args, {**kwargs, "copy": False}


def _ravelling(nd, args, kwargs):
    order = args[0] if args else kwargs.get("order", "C")
    if len(args) > 1 or kwargs.keys() - {"order"} or type(order) is not str:
        return None, (), {}
    flags = nd.flags
    straight = {"C": flags.c_contiguous, "F": flags.f_contiguous}.get(order.upper(), flags.c_contiguous)
    return (_NDARRAY.ravel, args, kwargs) if straight else (None, (), {})


_COPYING = {
    _NDARRAY.reshape: _reshaping,
    _np.reshape: _reshaping_function,
    _NDARRAY.ravel: _ravelling,
    _np.ravel: _ravelling,
}


def _movement(name):
    raw = getattr(_np, name)

    def function(a, *args, **kwargs):
        if type(a) is not ndarray:
            return None
        if a._nd is None:
            r = moved(a, raw, args, kwargs)
            if r is not None:
                return r
        return run(raw, (a, *args), kwargs)

    return native(function, raw, name)


NAMES = """
array_split atleast_1d atleast_2d atleast_3d broadcast_to diagonal dsplit expand_dims flip fliplr flipud hsplit imag
matrix_transpose moveaxis permute_dims ravel real reshape rollaxis rot90 split squeeze swapaxes transpose unstack
vsplit
"""
for _name in NAMES.split():
    _movement(_name)


def _broadcast_arrays(*args, **kwargs):
    return None if kwargs else run(_np.broadcast_arrays, args, kwargs)


native(_broadcast_arrays, _np.broadcast_arrays, "broadcast_arrays")
