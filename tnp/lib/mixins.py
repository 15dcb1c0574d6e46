"""`numpy.lib.mixins`: the mixin whose operators call tnp's ufuncs, which the class's `__array_ufunc__` gets to see."""

import operator
from typing import Any

import numpy as _np

from tnp.host import ufunc_of

__all__ = ["NDArrayOperatorsMixin"]

_BINARY = {
    "add": _np.add, "sub": _np.subtract, "mul": _np.multiply, "matmul": _np.matmul, "truediv": _np.true_divide,
    "floordiv": _np.floor_divide, "mod": _np.remainder, "divmod": _np.divmod, "pow": _np.power,
    "lshift": _np.left_shift, "rshift": _np.right_shift, "and": _np.bitwise_and, "xor": _np.bitwise_xor,
    "or": _np.bitwise_or,
}  # fmt: skip
_COMPARISONS = {
    "lt": _np.less, "le": _np.less_equal, "eq": _np.equal, "ne": _np.not_equal, "gt": _np.greater,
    "ge": _np.greater_equal,
}  # fmt: skip
_UNARY = {"neg": _np.negative, "pos": _np.positive, "abs": _np.absolute, "invert": _np.invert}


def _refuses(other: Any) -> bool:
    """Does the other operand say that ufuncs are not for it?"""
    return getattr(other, "__array_ufunc__", operator) is None


def _named(method: Any, name: str) -> Any:
    method.__name__ = f"__{name}__"
    method.__qualname__ = f"NDArrayOperatorsMixin.__{name}__"
    return method


def _binary(function: Any, name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if _refuses(other) else function(self, other)

    return _named(method, name)


def _reflected(function: Any, name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if _refuses(other) else function(other, self)

    return _named(method, name)


def _inplace(function: Any, name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        return function(self, other, out=(self,))

    return _named(method, name)


def _unary(function: Any, name: str) -> Any:
    def method(self: Any) -> Any:
        return function(self)

    return _named(method, name)


class NDArrayOperatorsMixin:
    """Defines all operators through `__array_ufunc__`, as `numpy.lib.mixins.NDArrayOperatorsMixin` does."""

    __slots__ = ()
    __array_priority__ = 0


_raw: Any
for _name, _raw in _COMPARISONS.items():
    setattr(NDArrayOperatorsMixin, f"__{_name}__", _binary(ufunc_of(_raw), _name))
for _name, _raw in _BINARY.items():
    setattr(NDArrayOperatorsMixin, f"__{_name}__", _binary(ufunc_of(_raw), _name))
    setattr(NDArrayOperatorsMixin, f"__r{_name}__", _reflected(ufunc_of(_raw), f"r{_name}"))
    if _name != "divmod":
        setattr(NDArrayOperatorsMixin, f"__i{_name}__", _inplace(ufunc_of(_raw), f"i{_name}"))
for _name, _raw in _UNARY.items():
    setattr(NDArrayOperatorsMixin, f"__{_name}__", _unary(ufunc_of(_raw), _name))
NDArrayOperatorsMixin.__hash__ = None  # type: ignore[method-assign, assignment]
NDArrayOperatorsMixin.__module__ = "numpy.lib.mixins"
