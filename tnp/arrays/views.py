"""Attributes that are views or descriptions of the array's memory: base, shape, strides, flags, flat, real, imag."""

import numpy as _np

from tnp import content
from tnp.arrays import subclasses
from tnp.arrays.indexing import hot_cell
from tnp.core.interpreter import looking
from tnp.host import rewrap, unwrap
from tnp.hot import OWNER, new, owner_of, quick_view, real, writable
from tnp.ops.views import pending_view
from tnp.tracing import is_traced

_NDARRAY = _np.ndarray


def as_class(y, cls, parent):
    """The array `y` as one of the class `cls` of the program, made from `parent`."""
    z = new(cls)
    z._nd, z._cell, z._place, z._base = y._nd, y._cell, y._place, y._base
    finalize = cls.__array_finalize__
    if finalize is not None:
        finalize(z, parent)
    return z


def base_of(self):
    """Base object of a view: the array that owns the memory."""
    base = self._base
    if base is not None:
        return None if base is OWNER else base
    nd = self._nd
    if nd is None:
        if self._place is None:
            return None
        nd = real(self)
    cell = self._cell
    if cell is not None and nd is cell.storage.full:
        return None if content.is_own(nd) else nd.base
    base = nd.base
    if type(base) is not _NDARRAY:
        while isinstance(base, subclasses.StandIn) and base.base is not None:
            base = base.base
        return subclasses.twin(base) if isinstance(base, subclasses.StandIn) else base
    return owner_of(self)


def keep_owner(x):
    """Before the NumPy view of `x` is replaced by another of the same memory: `x` stays the owner if it is."""
    if x._base is None and base_of(x) is None:
        x._base = OWNER


def set_part(name):
    def setter(self, value):
        if is_traced(self) or is_traced(value):
            part = getattr(self, name)
            if part.base is not None or part is self:  # else it is NumPy's to refuse
                part[...] = value
                return
        seen = []
        setattr(writable(self), name, unwrap(value, seen))

    return setter


def view_attribute(name):
    raw = getattr(_NDARRAY, name).__get__

    def getter(self):
        r = quick_view(self, raw, ())
        if r is not None:
            return r
        if self._nd is None:
            r = pending_view(self, raw)
            if r is not None:
                return r
        hot_cell(self)
        seen = []
        if is_traced(self):  # a view looks at no value
            with looking():
                return rewrap(raw(unwrap(self, seen)), seen)
        return rewrap(raw(unwrap(self, seen)), seen)

    return getter


def _memory(x):
    """The NumPy array of `x`, for who looks at no value."""
    with looking():
        return real(x)


def set_shape(x, value):
    """``x.shape = value``: the array object itself changes."""
    nd = _memory(x)
    hot_cell(x)
    keep_owner(x)
    r = nd.view()
    r.shape = unwrap(value, [])
    x._nd, x._place = r, None


def set_dtype(x, value):
    nd = _memory(x)
    hot_cell(x)
    keep_owner(x)
    r = nd.view()
    r.dtype = unwrap(value, [])
    x._nd, x._place = r, None


def set_strides(x, value):
    nd = _memory(x)
    hot_cell(x)
    r = nd.view()
    r.strides = value
    x._nd = r
