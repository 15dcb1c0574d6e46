"""Views of arrays whose content is pending: made by NumPy's own functions on a phantom (tnp/lazy/phantom.py)."""

import numpy as _np

from tnp import content
from tnp.core.cells import Place
from tnp.hot import OWNER, cell_of, get_lazy_from, ndarray, new

_NDARRAY = _np.ndarray


def look(x):
    """`content.look`, for a caller that keeps the result while it records: the memory must not look shared then."""
    if x._cell is None and x._nd.size >= get_lazy_from():
        cell_of(x)
    return content.look(x)


def pending_view(x, make):
    """What ``make(nd)`` is for the pending array `x`: a view, or a list or tuple of views, that stays pending.

    None where it is none. `make` gets a phantom, which it may not write; what is not a view of it is thrown away.
    """
    if x._nd is not None or type(x) is not ndarray:
        return None
    s = x._cell.storage
    if s.node is None:
        return None
    nd = x._place.nd if x._place is not None else content.look(x)
    if x._nd is not None:  # too large for a phantom
        return None
    r = make(nd)
    t = type(r)
    if t is _NDARRAY:
        return _view(x, s, nd, r)
    if t is list or t is tuple:
        views = []
        for y in r:
            v = _view(x, s, nd, y)
            if v is None:
                return None
            views.append(v)
        return t(views)
    return None


def _view(x, s, nd, r):
    if r is nd:
        return x
    if type(r) is not _NDARRAY or r.base is not nd.base:
        return None
    y = new(ndarray)
    y._cell = x._cell
    whole = x._place is None and r.shape == nd.shape and r.strides == nd.strides and r.dtype is nd.dtype
    if not whole or not r.flags.writeable:
        y._place = Place(s, r)
    y._base = x if x._base is None or x._base is OWNER else x._base
    return y
