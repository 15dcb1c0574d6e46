"""Test helpers that know only NumPy's own array class.

``numpy.testing`` compares: it is the substitute's own if it has one, and otherwise NumPy's, with the arguments
converted, as those of ``numpy.ma.testutils`` always are.  Helpers compiled for the tests cast to ``PyArrayObject *``
without a check, so a foreign array would crash the process.  Those that only read an array's memory are given the
converted array; any other becomes a skip, which counts as not passed.
"""

import functools
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy
import pytest

TESTING = re.compile(r"numpy\.testing\b")
MASKED_TESTING = "numpy.ma.testutils"
C_HELPERS = re.compile(r"\._(multiarray_tests|umath_tests|struct_ufunc_tests|rational_tests|operand_flag_tests|simd)$")
# These take no array to compare, or must see the object itself.
_AS_IS = re.compile(r"assert_(raises|raises_regex|warns|no_warnings|no_gc_cycles|)$")
# These look at addresses, strides and flags, which the converted array shares with the foreign one.
_READERS = frozenset({"internal_overlap", "solve_may_share_memory", "array_indexing", "get_buffer_info"})


class Converter:
    """Turns the substitute's arrays into NumPy's."""

    def __init__(self, substitute: ModuleType) -> None:
        self.foreign = substitute is not numpy
        self._array = substitute.ndarray

    def is_foreign(self, value: Any) -> bool:
        """Whether `value` is an array of the substitute's own class."""
        return self.foreign and isinstance(value, self._array) and not isinstance(value, numpy.ndarray)

    def convert(self, value: Any) -> Any:
        """`value` with every array in it, in plain containers too, made NumPy's."""
        if self.is_foreign(value):
            return numpy.asarray(value)
        if type(value) in (list, tuple):
            return type(value)(map(self.convert, value))
        if type(value) is dict:
            return {key: self.convert(item) for key, item in value.items()}
        return value

    def comparing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """An ``assert_*`` function of numpy.testing that takes the substitute's arrays."""
        name = function.__name__
        if not self.foreign or not name.startswith("assert_") or _AS_IS.match(name):
            return function

        @functools.wraps(function)
        def converted(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            return function(*map(self.convert, args), **self.convert(kwargs))

        return converted

    def guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A compiled test helper that cannot crash on the substitute's arrays (ufuncs dispatch by themselves)."""
        if not self.foreign or isinstance(function, (type, numpy.ufunc)):
            return function
        return Guarded(function, self)


class Guarded:
    """A compiled helper that converts or skips; like a built-in function, and unlike one of Python's, no method."""

    def __init__(self, function: Callable[..., Any], converter: Converter) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._converter = converter

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(map(self._converter.is_foreign, (*args, *kwargs.values()))):
            name = getattr(self._function, "__name__", repr(self._function))
            if name not in _READERS:
                pytest.skip(f"npconform: C helper {name} needs a numpy.ndarray")
            args, kwargs = tuple(map(self._converter.convert, args)), self._converter.convert(kwargs)
        return self._function(*args, **kwargs)
