"""How a NumPy module becomes a tnp module: every public name, on tnp arrays."""

import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from tnp.arrays.flags import flatiter
from tnp.arrays.iterators import broadcast, nditer
from tnp.arrays.methods import calibrate_resize
from tnp.core.interpreter import DECLINED, recorded
from tnp.host import call, host_function, intercepted, rewrap, ufunc_of, unwrap
from tnp.hot import ndarray, ufunc, wrap
from tnp.ops import contractions  # noqa: F401 - makes einsum native

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type(np.sum))
# What functions of numpy.ma are objects of before NumPy 2.4, where their makers became functions
_MADE = ("_frommethod", "_convert2ma", "_fromnxfunction")


class IndexingProxy:
    """`numpy.r_`, `c_`, `mgrid`, `ogrid`: objects that are indexed to make arrays."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self.__doc__ = raw.__doc__

    def __getitem__(self, key: Any) -> Any:
        r = intercepted(type(self._raw).__getitem__, (self._raw, key), {})
        if r is not DECLINED:
            return r
        seen: list[Any] = []
        return rewrap(self._raw[unwrap(key, seen)], seen)

    def __len__(self) -> int:
        return len(self._raw)


def _proxy_class(raw: Any, wrapped: Iterable[str] = ()) -> type:
    """A subclass of NumPy's class whose construction and results are on tnp arrays."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        seen: list[Any] = []
        args = tuple(unwrap(a, seen) for a in args)
        kwargs = {k: unwrap(v, seen) for k, v in kwargs.items()}
        self = raw.__new__(cls) if raw.__new__ is object.__new__ else raw.__new__(cls, *args, **kwargs)
        if raw.__init__ is not object.__init__:
            raw.__init__(self, *args, **kwargs)
        return self

    body: dict[str, Any] = {"__new__": __new__, "__init__": lambda self, *a, **k: None, "__doc__": raw.__doc__}
    for name in wrapped:
        body[name] = _method(getattr(raw, name))
    return type(raw.__name__, (raw,), body)


def _method(raw: Any) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        r = recorded(raw, (self, *args), kwargs)
        return call(raw, (self, *args), kwargs) if r is DECLINED else r

    method.__name__, method.__doc__ = raw.__name__, raw.__doc__
    return method


CLASSES: dict[Any, Any] = {
    np.ndarray: ndarray,
    np.ufunc: ufunc,
    np.flatiter: flatiter,
    np.vectorize: _proxy_class(np.vectorize, ["__call__"]),
    np.ndenumerate: _proxy_class(np.ndenumerate),
    np.broadcast: broadcast,
    np.nditer: nditer,
}


def _calibrate() -> None:
    """How many references an array has that one variable alone holds, in a method called on it."""
    x = wrap(np.zeros(2))
    calibrate_resize(x._references())


_calibrate()


def convert(value: Any, name: str) -> Any:
    """What tnp offers for the NumPy object `value` of this public name."""
    if isinstance(value, np.ufunc):
        return ufunc_of(value)
    if isinstance(value, type):
        return CLASSES.get(value, value)
    if isinstance(value, _FUNCTIONS) or type(value).__name__.startswith(_MADE):
        return host_function(value, name)
    if name in ("r_", "c_", "mgrid", "ogrid"):
        return IndexingProxy(value)
    return value


def public(module: types.ModuleType) -> list[str]:
    """Public names of a NumPy module: documented ones, and what it holds besides modules.

    Only what is there already: asking for the others would import NumPy's lazy submodules.
    """
    held = vars(module)
    names = dict.fromkeys(n for n in getattr(module, "__all__", ()) if n in held)
    names.update(dict.fromkeys(n for n in held if not n.startswith("_")))
    return [n for n in names if not isinstance(held[n], types.ModuleType)]


def mirror(module: types.ModuleType, into: dict[str, Any]) -> None:
    """Fill the globals `into` with the public names of `module`; names that stand there already stay."""
    for name in public(module):
        if name not in into:
            into[name] = convert(getattr(module, name), name)
    if hasattr(module, "__all__"):
        into["__all__"] = list(module.__all__)
