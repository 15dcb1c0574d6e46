"""`numpy.testing.overrides`: which of tnp's functions and ufuncs other classes can override."""

from typing import Any

import numpy.testing.overrides as _np_module

from tnp.host import function_of, ufunc_of, unwrap

__all__ = [
    "allows_array_function_override",
    "allows_array_ufunc_override",
    "get_overridable_numpy_array_functions",
    "get_overridable_numpy_ufuncs",
]


def get_overridable_numpy_ufuncs() -> set[Any]:
    """All ufuncs that `__array_ufunc__` can override."""
    return {ufunc_of(f) for f in _np_module.get_overridable_numpy_ufuncs()}


def allows_array_ufunc_override(func: Any) -> bool:
    """Can `__array_ufunc__` override this function?"""
    return _np_module.allows_array_ufunc_override(unwrap(func, []))


def get_overridable_numpy_array_functions() -> set[Any]:
    """All functions that `__array_function__` can override."""
    return {function_of(f) for f in _np_module.get_overridable_numpy_array_functions()}


def allows_array_function_override(func: Any) -> bool:
    """Can `__array_function__` override this function?"""
    return _np_module.allows_array_function_override(unwrap(func, []))
