"""Subclasses of the array class in NumPy's hands.

Which class a result has is decided all over NumPy (`__array_wrap__`, `__array_priority__`, `__array_finalize__`,
`subok`). So NumPy is given a real array that stands for the program's: of a class, made once for each class of the
program, that answers as the program's does. What NumPy then returns says by its class what the program gets.
"""

import weakref
from typing import Any

import numpy as _np

from tnp import host
from tnp.core.native import address
from tnp.hot import OWNER, cell_of, ndarray, new, real, root
from tnp.lazy.phantom import at

_NDARRAY = _np.ndarray
_UNTOUCHED = frozenset(
    [
        "__array_finalize__",
        "__class_getitem__",
        "__del__",
        "__dict__",
        "__doc__",
        "__getattr__",
        "__getattribute__",
        "__init__",
        "__init_subclass__",
        "__module__",
        "__new__",
        "__qualname__",
        "__setattr__",
        "__slots__",
        "__weakref__",
    ]
)
_classes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


class Origin(_NDARRAY):
    """What a stand-in for a program's array is a view of: tells it from those that NumPy makes."""


class StandIn(_NDARRAY):
    """A NumPy array that stands for one of a subclass of `tnp.ndarray`."""

    _class = ndarray
    _twin = None  # the program's array; None, or a weak reference, if NumPy made this one
    _seen = ()  # the program's arrays in the same call

    def __array_finalize__(self, parent):
        if isinstance(parent, StandIn):
            self._seen = parent._seen
        finalize = type(self)._class.__array_finalize__
        if type(parent) is Origin or finalize is ndarray.__array_finalize__ or finalize is None:
            return
        x = self._twin = new(type(self)._class)
        x._nd = _NDARRAY.view(self, _NDARRAY)
        before = x._nd
        finalize(x, lent(parent) if isinstance(parent, StandIn) else host.rewrap(parent, self._seen))
        if x._nd is not before:  # the program has set its shape or dtype
            self.dtype, self.shape = x._nd.dtype, x._nd.shape
        x._nd = x._cell = x._base = None  # its memory is this array's, which holds it: that would be a cycle
        if isinstance(parent, StandIn) and parent._twin is not None:
            take_back(parent)

    def __getattr__(self, name):
        if name.startswith("_tnp"):
            raise AttributeError(name)
        return host.unwrap(getattr(twin(self), name), [])


def class_of(cls):
    """The class of the stand-ins for `cls`."""
    if cls is ndarray:
        return StandIn
    made = _classes.get(cls)
    if made is None:
        bases = tuple(class_of(b) for b in cls.__bases__ if issubclass(b, ndarray))
        body = {"_class": cls, "__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
        for owner in reversed(cls.__mro__):
            if owner in ndarray.__mro__ or any(owner in b._class.__mro__ for b in bases):
                continue
            for name, value in vars(owner).items():
                if name not in _UNTOUCHED:
                    body[name] = _forward(cls, name, value)
        made = _classes[cls] = type(cls.__name__, bases, body)
    return made


def _forward(cls, name, value):
    """What stands in the class of stand-ins for `value`, which the program's class has under this name."""
    if name == "__array_ufunc__" and value is not None:

        def array_ufunc(self, raw, how, *inputs, **kwargs):
            args, kwargs = host.rewrap(inputs, self._seen), host.rewrap(kwargs, self._seen)
            return host.unwrap(cls.__array_ufunc__(twin(self), host.ufunc_of(raw), how, *args, **kwargs), [])

        return array_ufunc
    if name == "__array_function__":

        def array_function(self, raw, types, args, kwargs):
            args, kwargs = host.rewrap(args, self._seen), host.rewrap(kwargs, self._seen)
            r = cls.__array_function__(twin(self), host.function_of(raw), host.program_types(types), args, kwargs)
            return host.unwrap(r, [])

        return array_function
    if isinstance(value, classmethod):
        return classmethod(
            lambda made, *args, **kwargs: host.unwrap(
                getattr(made._class, name)(*host.rewrap(args, ()), **host.rewrap(kwargs, ())), []
            )
        )
    if isinstance(value, staticmethod) or value is None:
        return value
    if callable(value) and hasattr(type(value), "__get__"):

        def method(self, *args, **kwargs):
            args, kwargs = host.rewrap(args, self._seen), host.rewrap(kwargs, self._seen)
            return host.unwrap(getattr(cls, name)(twin(self), *args, **kwargs), [])

        method.__name__ = name
        return method
    return property(
        lambda self: host.unwrap(getattr(twin(self), name), []),
        lambda self, new_value: setattr(twin(self), name, host.rewrap(new_value, self._seen)),
    )


# ------------------------------------------------------------------------------------------------ there and back
def stand_in(x, seen):
    """A NumPy array for the array `x` of the program, in a call in which the arrays `seen` are met."""
    if x._cell is None and x._nd is not None:
        cell_of(x)
    nd = real(x)
    if nd is None:
        raise ValueError(f"{type(x).__name__} object is not initialised: its class did not call ndarray.__new__")
    made = _NDARRAY.view(_NDARRAY.view(nd, Origin), class_of(type(x)))
    made._twin = x
    made._seen = seen
    return made


def _known(r):
    x = r._twin
    return x() if type(x) is weakref.ref else x


def twin(r):
    """The program's array for the stand-in `r`, which still is in NumPy's hands."""
    x = _known(r)
    if x is None or (x._nd is None and x._cell is None):
        x = r._twin = _furnish(r, x)
    return x


def returned(r):
    """The program's array for the stand-in `r` that NumPy returned."""
    x = _known(r)
    if x is None or (x._nd is None and x._cell is None):
        x = _furnish(r, x)
        r._seen = ()
        r._twin = weakref.ref(x)  # a strong one would be a cycle: the memory of x may be that of r
    return x


def lent(r):
    """The program's array for `r` for the length of one call: `take_back` ends it."""
    x = _known(r)
    if x is None:
        x = r._twin = new(type(r)._class)
    if x._nd is None and x._cell is None:
        x._nd = _NDARRAY.view(r, _NDARRAY)
    return x


def take_back(r):
    """After `lent`: let the memory go, unless the program's array was there before."""
    x = _known(r)
    if x is not None and x._cell is None and x._nd is not None and x._nd.base is r:
        x._nd = None


def _furnish(r, x):
    if x is None:
        x = new(type(r)._class)
    y = memory_of(r)
    x._nd, x._cell, x._place, x._base = y._nd, y._cell, y._place, y._base
    return x


def memory_of(r):
    """A base-class array on the memory of `r`, a NumPy array made from stand-ins.

    The chain of bases leads to the stand-in of the array whose memory it is, if it is one of the program's.
    """
    b = r
    while isinstance(b.base, (StandIn, Origin)):
        if b is not r and isinstance(b, StandIn) and _has_memory(b):
            break
        b = b.base
    y = new(ndarray)
    if b is not r and isinstance(b, StandIn) and _has_memory(b):
        owner = _known(b)
        cell_of(owner)
        ground = real(owner)
        y._nd = at(root(ground), address(r) - address(root(ground)), r)
        y._cell = owner._cell
        cls = r._class if isinstance(r, StandIn) else ndarray
        while type(owner._base) is cls:  # NumPy skips arrays between only while they are of the same class
            owner = owner._base
        y._base = owner
    else:
        y._nd = _NDARRAY.view(r, _NDARRAY)
        if r.base is None:
            y._base = OWNER
    return y


def _has_memory(b):
    x = _known(b)
    return x is not None and x._nd is not None and x._cell is not None


host.install_stand_ins(StandIn, stand_in, returned, memory_of)
