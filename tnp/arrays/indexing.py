"""Indexing where the direct path does not apply: computed keys, pending arrays, subclasses."""

import numpy as _np

from tnp import content, host, tracing, writes
from tnp.arrays.exports import share
from tnp.core.interpreter import DECLINED, quietly, recorded
from tnp.host import restore, rewrap, unwrap
from tnp.hot import _as_view, cell_of, ndarray, real, root, wrap, writable
from tnp.ops import indexing
from tnp.ops.views import pending_view

_NDARRAY = _np.ndarray
_ALL = slice(None)


def getitem(x, key):
    if x._nd is None and basic(key):
        r = pending_view(x, lambda nd: nd[key])
        if r is not None:
            return r
    seen = []
    if tracing.is_traced(x) and type(x) is ndarray and basic(key):
        nd = content.settle(x)  # a view looks at no value
        r = nd[key]
        if type(r) is not _NDARRAY:
            if not isinstance(r, _np.void):
                return tracing.element(x, key, r)
            r = host.intercepted(_NDARRAY.__getitem__, (x, key), {})
            if r is not DECLINED:
                return r
    else:
        r = host.intercepted(_NDARRAY.__getitem__, (x, key), {})
        if r is not DECLINED:
            return r
        real(x)
        hot_cell(x)
        nd = unwrap(x, seen)
    r = _NDARRAY.__getitem__(nd, unwrap(key, seen))
    if type(r) is _NDARRAY:
        base = r.base
        if base is not None and base is root(nd):
            base = nd = None
            return _as_view(x, r)
        return wrap(r)
    if isinstance(r, _np.void):
        base = nd = None
        share(x)
    return rewrap(r, seen) if isinstance(r, _NDARRAY) else r


def basic(key):
    """Is `key` basic indexing, whose result is a view?"""
    for k in key if type(key) is tuple else (key,):
        if not (k is None or k is Ellipsis or type(k) is int or type(k) is slice):
            return False
    return True


def hot_cell(x):
    """Decide now, before NumPy holds references, whether the memory of `x` is its own."""
    if x._cell is None and x._nd is not None:
        cell_of(x)


def setitem(x, key, value):
    if host.intercept is not None and host.intercept(_NDARRAY.__setitem__, (x, key, value), {}) is not DECLINED:
        return
    if tracing.is_value(x):
        raise TypeError(f"'numpy.{x.dtype}' object does not support item assignment")
    if tracing.is_traced(x) or tracing.is_traced(value):
        tracing.write(x, key, value)
        with quietly():
            _store(x, key, value)
    else:
        _store(x, key, value)


def _store(x, key, value):
    if recorded(_NDARRAY.__setitem__, (x, key, value), {}) is not DECLINED:
        return
    if type(value) is ndarray:
        if (key is Ellipsis or (type(key) is slice and key == _ALL)) and writes.assign(x, value) is not None:
            return
        if value._nd is None and basic(key) and writes.store(x, key, value) is not None:
            return
    elif type(key) is ndarray and type(x) is ndarray and indexing.set_mask(x, key, value) is not None:
        return
    seen = []
    key = unwrap(key, seen)
    nd = writable(x)
    if nd.dtype.kind != "O":
        nd[key] = unwrap(value, seen)
    elif _one_element(nd, key):
        nd[key] = value  # the object itself becomes the element
    else:
        seen = []
        nd[key] = unwrap(value, seen)
        if seen and not all(type(y) is ndarray for y in seen):
            restore(nd[key], seen)


def _one_element(nd, key):
    """Does `key` name one element of `nd`, and not a view or a selection?"""
    keys = key if type(key) is tuple else (key,)
    return len(keys) == nd.ndim > 0 and all(isinstance(k, (int, _np.integer)) and k is not True for k in keys)
