"""The other parts of a ufunc: methods, attributes, its class."""

import numpy as _np

from tnp import content, host, tracing
from tnp.arrays.methods import named
from tnp.core import native
from tnp.core.interpreter import DECLINED
from tnp.host import run, ufunc_of
from tnp.hot import ndarray, ufunc, writable
from tnp.ops import ufunc_methods

_module = type.__dict__["__module__"].__get__


class _UfuncType(type):
    """NumPy's own ufuncs, of NumPy's private modules or of other libraries, are ufuncs too."""

    __module__ = property(_module)  # of its class: a text here, its own module, would hide that

    def __instancecheck__(cls, x):
        return type(x) is cls or isinstance(x, _np.ufunc)

    def __subclasscheck__(cls, other):
        return other is _np.ufunc or type.__subclasscheck__(cls, other)


native.set_metaclass(ufunc, _UfuncType)


def _ufunc_method(name):
    raw = getattr(_np.ufunc, name)

    native_method = ufunc_methods.METHODS.get(name)

    def method(self, *args, **kwargs):
        if host.intercept is not None:
            r = host.intercept(getattr(self._raw, name), args, kwargs)
            if r is not DECLINED:
                return r
        if native_method is not None:
            try:
                r = native_method(self._raw, *args, **kwargs)
            except TypeError:  # wrong arguments: NumPy says it in its own words
                r = None
            if r is not None:
                return r
        return run(getattr(self._raw, name), args, kwargs)

    return named(method, name, raw)


def _ufunc_at(self, a, /, *args):
    if host.intercept is not None and host.intercept(self._raw.at, (a, *args), {}) is not DECLINED:
        return None
    if self._raw is _np.add and len(args) == 2 and (tracing.is_traced(a) or tracing.is_traced(args[1])):
        tracing.write_add(a, *args)
        content.release(a)
    elif isinstance(a, ndarray):
        writable(a)
    return run(self._raw.at, (a, *args), {})


for _name in ("reduce", "accumulate", "outer", "reduceat", "resolve_dtypes", "_resolve_dtypes_and_context",
              "_get_strided_loop"):  # fmt: skip
    native.set_type_attribute(ufunc, _name, _ufunc_method(_name))
native.set_type_attribute(ufunc, "at", _ufunc_at)


def _of_raw(name):
    """NumPy's attribute `name`."""
    return property(lambda self: getattr(self._raw, name))


def _set_doc(self, text):
    self._raw.__doc__ = text


def _delete_doc(self):
    del self._raw.__doc__


native.set_type_attribute(ufunc, "__doc__", property(lambda self: self._raw.__doc__, _set_doc, _delete_doc))
native.set_type_attribute(ufunc, "__dict__", property(lambda self: self._raw.__dict__))
native.set_type_attribute(ufunc, "__module__", property(lambda self: self._raw.__module__))
for _name in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature",
              "__qualname__", "__signature__", "__text_signature__"):  # fmt: skip
    native.set_type_attribute(ufunc, _name, _of_raw(_name))
native.set_type_attribute(ufunc, "__reduce__", lambda self: (_ufunc_by_name, (self._raw.__name__,)))


def _ufunc_by_name(name):
    return ufunc_of(getattr(_np, name, None) or getattr(_np._core.umath, name))
