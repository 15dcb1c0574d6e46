"""NumPy's functions that NumPy itself writes in Python, with tnp's functions under the names of NumPy's.

So interpreters are told of what they do, step by step, and their values are NumPy's.
"""

import functools
import types
from typing import Any

import numpy as np
from numpy._core._multiarray_umath import _array_converter

import tnp
from tnp import host
from tnp.namespace import CLASSES

_DISPATCHED = type(np.sum)
_PLAIN = frozenset({"normalize_axis_tuple", "normalize_axis_index", "set_module", "array_function_dispatch"})


class _Module:
    """A module of NumPy's as its rebound functions see it."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _bound(getattr(self._module, name))


def _bound(value: Any) -> Any:
    """What stands for an object of NumPy's in rebound code."""
    if isinstance(value, np.ufunc):
        return host.ufunc_of(value)
    if isinstance(value, _DISPATCHED):
        return host.function_of(value)
    if value is _array_converter:
        return _ArrayConverter
    if value is np.broadcast:  # of the shapes alone
        return lambda *arrays: np.broadcast(*[np.broadcast_to(0, np.shape(x)) for x in arrays])
    if isinstance(value, type):
        return CLASSES.get(value, value)
    if isinstance(value, types.ModuleType):
        return _Module(value) if value.__name__.startswith("numpy") else value
    name = getattr(value, "__name__", "")
    known = getattr(np, name, None) if isinstance(value, (types.BuiltinFunctionType, types.FunctionType)) else None
    if known is not None and value in (known, getattr(known, "_implementation", None)):
        return host.function_of(known)
    if isinstance(value, types.FunctionType) and value.__module__.startswith("numpy") and name not in _PLAIN:
        return functools.wraps(value)(lambda *args, **kwargs: rebound(value)(*args, **kwargs))
    return value


class _ArrayConverter:
    """NumPy's `_array_converter`, which is written in C, as its functions in Python use it."""

    def __init__(self, *arrays: Any) -> None:
        self._arrays = tuple(tnp.asarray(x) for x in arrays)
        self.scalar_input = tuple(not hasattr(x, "ndim") for x in arrays)

    def __getitem__(self, i: int) -> Any:
        return self._arrays[i]

    def as_arrays(self, subok: bool = True, pyscalars: str = "convert") -> tuple[Any, ...]:
        return self._arrays

    def wrap(self, x: Any, /, to_scalar: bool | None = None) -> Any:
        return x

    def result_type(self, *extra: Any, ensure_inexact: bool = False) -> Any:
        kinds = [x.dtype for x in self._arrays]
        return np.result_type(*kinds, *extra, *([1.0] if ensure_inexact else []))


_globals: dict[int, dict[str, Any]] = {}


@functools.cache
def rebound(raw: Any) -> Any:
    """The Python function behind `raw`, with tnp's functions for NumPy's."""
    function = getattr(raw, "_implementation", raw)
    own = function.__globals__
    if id(own) not in _globals:
        _globals[id(own)] = {name: _bound(value) for name, value in own.items()}
    made = types.FunctionType(
        function.__code__, _globals[id(own)], function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made
