"""Which dtypes are numbers to the engine: NumPy's, and bfloat16 of ml_dtypes.

A dtype's letter does not say it: those of ml_dtypes have letters of NumPy's own (``L`` is also an eight-bit float).
"""

from typing import Any

import numpy as np

NUMBERS = {np.dtype(letter).num for letter in "?bBhHiIlLqQefdFD"}  # by `numpy.dtype.num`
_USER = 256  # dtypes of other libraries are numbered from here on, as they come
_bfloat16: "np.dtype[Any] | None" = None


def bfloat16() -> Any:
    """The scalar type of bfloat16, `ml_dtypes.bfloat16`."""
    import ml_dtypes  # only programs that ask for it pay for the import

    learn(np.dtype(ml_dtypes.bfloat16))
    return ml_dtypes.bfloat16


def learn(dtype: "np.dtype[Any]") -> bool:
    """Is it bfloat16? Then it is a number from now on."""
    global _bfloat16
    if dtype.num < _USER or dtype.type.__name__ != "bfloat16":
        return False
    _bfloat16 = dtype
    NUMBERS.add(dtype.num)
    return True


def is_number(dtype: "np.dtype[Any]") -> bool:
    """Can the engine compute with it? (Not with another byte order.)"""
    return dtype.isnative and (dtype.num in NUMBERS or learn(dtype))


_ABSTRACT = frozenset(t for t in np.sctypeDict.values() for t in t.__mro__[1:] if issubclass(t, np.generic))


def named(dtype: Any) -> "np.dtype[Any] | None":
    """The dtype that the program calls so, or None where NumPy has to judge: it is none, or brings a warning."""
    if type(dtype) is str:
        if dtype[:1] == "a":
            return None
    elif type(dtype) is type and dtype in _ABSTRACT:
        return None
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError):
        return None


def is_bfloat16(dtype: "np.dtype[Any]") -> bool:
    return dtype.num >= _USER and (dtype is _bfloat16 or learn(dtype))
