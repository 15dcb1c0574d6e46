"""Objects of the program that take part in NumPy's protocols: they are to see tnp's functions, ufuncs and arrays.

A class of the program that defines `__array_ufunc__`, `__array_function__`, `__array__` or `__array_wrap__` is called
by NumPy itself, with NumPy's own objects. So NumPy is given a guise in its place, which forwards what NumPy asks and
translates both ways. Classes of libraries, which know the real NumPy, are left alone: whose NumPy a class means, the
globals of its methods tell.
"""

import types
import weakref
from typing import Any

import numpy as np

from tnp import host
from tnp.hot import ndarray, ufunc

PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array__", "__array_wrap__")
_OWN = frozenset(
    [
        "__class__",
        "__class_getitem__",
        "__del__",
        "__delattr__",
        "__dict__",
        "__dir__",
        "__doc__",
        "__getattr__",
        "__getattribute__",
        "__getstate__",
        "__init__",
        "__init_subclass__",
        "__module__",
        "__new__",
        "__qualname__",
        "__reduce__",
        "__reduce_ex__",
        "__repr__",
        "__setattr__",
        "__sizeof__",
        "__slots__",
        "__str__",
        "__subclasshook__",
        "__weakref__",
        "__format__",
        "__abstractmethods__",
    ]
)
# Class of the program -> its guise, or None if it needs none
_classes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


class Guise:
    """What NumPy gets in place of an object of the program."""

    _class = object
    _nd = None  # it stands among the arrays of a call

    def __init__(self, thing, seen):
        self._thing = thing
        self._seen = seen

    def __getattr__(self, name):
        return host.unwrap(getattr(self._thing, name), [])


def guise(x, seen):
    """What NumPy gets for the object `x` of the program: mostly itself."""
    made = _guise_class(type(x))
    if made is None:
        return x
    g = made(x, seen)
    seen.append(g)
    return g


def _guise_class(t):
    """The class of guises for objects of class `t`, None if they need none."""
    try:
        return _classes[t]
    except KeyError:
        made = _classes[t] = _class_of(t) if _takes_part(t) else None
        return made
    except TypeError:  # no weak references to it: not a class of the program
        return None


def _takes_part(t):
    if issubclass(t, (np.ndarray, host.Wrapped, Guise)):
        return False
    return any(_means_tnp(getattr(t, name, None)) for name in PROTOCOLS)


def _means_tnp(function):
    """Is the NumPy that this function of a class knows tnp?"""
    if isinstance(function, property):
        function = function.fget
    for v in getattr(function, "__globals__", {}).values():
        if v is ndarray or type(v) is ufunc or isinstance(v, host.HostFunction):
            return True
        if isinstance(v, types.ModuleType) and v.__dict__.get("ndarray") is ndarray:
            return True
    return False


def _class_of(t):
    body = {"_class": t, "__module__": t.__module__, "__doc__": t.__doc__}
    for name in dir(t):
        value = getattr(t, name, None)
        if name in _OWN or not (name.startswith("__") and name.endswith("__")):
            continue
        if getattr(object, name, self_less) is value:
            continue
        if name == "__array_function__":
            body[name] = _array_function
        elif name == "__array_ufunc__" and value is not None:
            body[name] = _array_ufunc
        elif callable(value):
            body[name] = _forward(t, name)
        elif not isinstance(value, property):
            body[name] = value
    # a subclass that overrides is asked before its base class: guises are related as their classes are
    bases = tuple(b for b in map(_guise_class, t.__bases__) if b is not None)
    try:
        return type(t.__name__, bases or (Guise,), body)
    except TypeError:
        return type(t.__name__, (Guise,), body)


self_less = object()


def _array_function(self, raw, types, args, kwargs):
    args, kwargs = host.rewrap(args, self._seen), host.rewrap(kwargs, self._seen)
    r = self._thing.__array_function__(host.function_of(raw), host.program_types(types), args, kwargs)
    return host.unwrap(r, [])


def _array_ufunc(self, raw, method, *inputs, **kwargs):
    args, kwargs = host.rewrap(inputs, self._seen), host.rewrap(kwargs, self._seen)
    return host.unwrap(self._thing.__array_ufunc__(host.ufunc_of(raw), method, *args, **kwargs), [])


def _forward(t, name):
    def method(self, *args, **kwargs):
        args, kwargs = host.rewrap(args, self._seen), host.rewrap(kwargs, self._seen)
        return host.unwrap(getattr(t, name)(self._thing, *args, **kwargs), self._seen)

    method.__name__ = name
    return method


host.install_guises(Guise, guise)
