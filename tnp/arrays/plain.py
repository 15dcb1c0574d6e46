"""The short way of small calls in the build without a compiler: what `tnp.arrays._quick` does, in one frame of Python.

Each function asks what tnp/hot.py asks and, if all is small and there, calls NumPy; otherwise it goes the long way, and
lets go of NumPy's arrays before: with one more reference their memory would look as if foreign code had it.
"""

import operator

import numpy as _np

from tnp import hot
from tnp.arrays.methods import named
from tnp.core.cells import READERS, UNREADABLE
from tnp.core.native import set_type_attribute
from tnp.hot import ndarray, ufunc

_NDARRAY = _np.ndarray
_NUMBERS = frozenset({float, int})
BUSY = UNREADABLE | READERS
_LARGE = 1 << 17  # bytes: from about there NumPy computes over memory that nothing names
_make = object.__new__


def _wrapped(r):
    if type(r) is not _NDARRAY:
        return r
    x = _make(ndarray)
    x._nd = r
    x._cell = x._place = x._base = None
    return x


def _binary(op, long_way):
    def method(self, other):
        a, c = self._nd, self._cell
        if (
            a is not None
            and (c is None or not c.marked & UNREADABLE)
            and type(self) is ndarray
            and a.nbytes < hot.lazy_from < _LARGE
        ):
            b = other
            if type(b) is ndarray:
                b, c = other._nd, other._cell
                if b is None or (c is not None and c.marked & UNREADABLE) or b.nbytes >= hot.lazy_from:
                    a = b = c = None
                    return long_way(self, other)
            elif type(b) not in _NUMBERS:
                a = b = c = None
                return long_way(self, other)
            r = op(a, b)
            if type(r) is not _NDARRAY:
                return r
            x = _make(ndarray)
            x._nd = r
            x._cell = x._place = x._base = None
            return x
        a = b = c = None
        return long_way(self, other)

    return method


def _inplace(op, long_way):
    def method(self, other):
        a, c = self._nd, self._cell
        if (
            a is not None
            and (c is None or not c.marked & BUSY)
            and type(self) is ndarray
            and a.nbytes < hot.lazy_from < _LARGE
        ):
            b = other
            if type(b) is ndarray:
                b, c = other._nd, other._cell
                if b is None or (c is not None and c.marked & UNREADABLE) or b.nbytes >= hot.lazy_from:
                    a = b = c = None
                    return long_way(self, other)
            elif type(b) not in _NUMBERS:
                a = b = c = None
                return long_way(self, other)
            op(a, b)
            return self
        a = b = c = None
        return long_way(self, other)

    return method


def _unary(op, long_way):
    def method(self):
        a, c = self._nd, self._cell
        if (
            a is not None
            and (c is None or not c.marked & UNREADABLE)
            and type(self) is ndarray
            and a.nbytes < hot.lazy_from < _LARGE
        ):
            return _wrapped(op(a))
        a = c = None
        return long_way(self)

    return method


def _names_an_element(key, a):
    if type(key) is int:
        return a.ndim == 1
    return type(key) is tuple and a.ndim == 2 == len(key) and type(key[0]) is int and type(key[1]) is int


def _getitem(long_way):
    def __getitem__(self, key):
        a, c = self._nd, self._cell
        if (
            a is not None
            and (c is None or not c.marked & UNREADABLE)
            and type(self) is ndarray
            and _names_an_element(key, a)
            and a.dtype.kind not in "VO"
        ):
            return a[key]
        a = c = None
        return long_way(self, key)

    return __getitem__


def _setitem(long_way):
    def __setitem__(self, key, value):
        a, c = self._nd, self._cell
        if (
            a is not None
            and (c is None or not c.marked & BUSY)
            and type(value) in _NUMBERS
            and _names_an_element(key, a)
            and a.nbytes < hot.lazy_from < _LARGE
        ):
            a[key] = value
        else:
            a = c = None
            long_way(self, key, value)

    return __setitem__


def _there(x):
    """NumPy's array of a small array, or a number; None if that is not for here."""
    if type(x) is ndarray:
        a, c = x._nd, x._cell
        if a is None or (c is not None and c.marked & UNREADABLE) or not a.nbytes < hot.lazy_from < _LARGE:
            return None
        return a
    return x if type(x) in _NUMBERS else None


def _call(long_way):
    def __call__(self, *args, **kwargs):
        raw = self._raw
        n = len(args)
        if n == raw.nin and n <= 2 and (not kwargs or (len(kwargs) == 1 and "out" in kwargs)):
            a = _there(args[0])
            b = _there(args[1]) if n == 2 else None
            if a is not None and (n == 1 or b is not None) and raw.nout == 1:
                if kwargs:
                    out = kwargs["out"]
                    if type(out) is ndarray and (type(a) is _NDARRAY or type(b) is _NDARRAY):
                        c, o = out._cell, out._nd
                        if o is not None and (c is None or not c.marked & BUSY) and o.nbytes < hot.lazy_from:
                            if n == 1:
                                raw(a, out=o)
                            else:
                                raw(a, b, out=o)
                            return out
                elif type(a) is _NDARRAY or type(b) is _NDARRAY:
                    return _wrapped(raw(a) if n == 1 else raw(a, b))
        a = b = c = None
        return long_way(self, *args, **kwargs)

    return __call__


BINARY = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "lt": operator.lt,
    "le": operator.le, "eq": operator.eq, "ne": operator.ne, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
INPLACE = {"iadd": operator.iadd, "isub": operator.isub, "imul": operator.imul, "itruediv": operator.itruediv}
UNARY = {"neg": operator.neg, "abs": operator.abs}


def install():
    """Put what is here in front of the class's own methods."""
    for kind, table in ((_binary, BINARY), (_inplace, INPLACE), (_unary, UNARY)):
        for short, op in table.items():
            name = f"__{short}__"
            _put(name, kind(op, ndarray.__dict__[name]))
    _put("__getitem__", _getitem(ndarray.__dict__["__getitem__"]))
    _put("__setitem__", _setitem(ndarray.__dict__["__setitem__"]))
    set_type_attribute(ufunc, "__call__", _call(ufunc.__dict__["__call__"]))


def _put(name, function):
    set_type_attribute(ndarray, name, named(function, name, getattr(_NDARRAY, name)))
