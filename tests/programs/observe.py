"""What a program can see of a value, as plain data that compares with ``==``.

NaN is one value here: its sign and payload depend on the instruction that made it, in NumPy too.
"""

from typing import Any

import numpy


class Seen:
    """One observation: `key` decides equality, `shown` is what a report prints."""

    __slots__ = ("key", "shown")

    def __init__(self, key: Any, shown: Any) -> None:
        self.key, self.shown = key, shown

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seen) and self.key == other.key

    def __hash__(self) -> int:
        raise TypeError("observations are compared, not hashed")

    def __repr__(self) -> str:
        return f"{self.key[:-1]!r} {self.shown!r}" if isinstance(self.key, tuple) else repr(self.key)


def observe(value: Any, of: str = "") -> Any:
    """Everything of `value` that a program can see: type, dtype, shape, strides, flags, bits.

    `of` names the module under test: NumPy's own array in a run under another module is a difference. Without it,
    whose class a value has does not matter.
    """
    if isinstance(value, numpy.generic):
        return Seen(("scalar", type(value).__name__, str(value.dtype), _bits(numpy.asarray(value))), value)
    if is_array(value):
        return _observe_array(value, of)
    if isinstance(value, tuple | list):
        return (type(value).__name__, *(observe(item, of) for item in value))
    if isinstance(value, dict):
        return ("dict", *((key, observe(item, of)) for key, item in value.items()))
    if isinstance(value, BaseException):
        text = str(value).replace("tnp.ndarray", "numpy.ndarray")  # the class has its own name, if imported as tnp
        return ("exception", type(value).__name__, [base.__name__ for base in type(value).__mro__], text)
    if isinstance(value, memoryview):
        return ("memoryview", value.format, value.shape, value.strides, value.readonly, value.tobytes())
    if isinstance(value, type):
        return ("type", value.__name__, _owner(value, of))
    return (type(value).__name__, _owner(type(value), of), repr(value))


def _owner(cls: type, of: str) -> str:
    """Whose class it is, where both modules have one of that name."""
    if not of or cls.__name__ not in ("ndarray", "ufunc"):
        return ""
    return "NumPy's" if of != "numpy" and cls is getattr(numpy, cls.__name__) else "the module's"


def is_array(value: Any) -> bool:
    """Is it NumPy's array or the array of the module under test?"""
    return type(value).__name__ == "ndarray" and hasattr(type(value), "__array_interface__")


def _observe_array(value: Any, of: str) -> Seen:
    flags = value.flags
    seen = (
        "array",
        _owner(type(value), of),
        str(value.dtype),
        str(value.dtype.byteorder),
        tuple(map(type, value.shape)) and value.shape,
        value.strides,
        (flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned, flags.owndata),
        value.size,
    )
    content = _content(value)
    return Seen((*seen, _bits(content)), content)


def _content(value: Any) -> "numpy.ndarray[Any, Any]":
    """The elements; by way of bytes, because an array that foreign code has seen could run at once from then on."""
    if value.dtype.hasobject or not value.dtype.itemsize:
        return numpy.array(value, copy=True, order="C")
    return numpy.frombuffer(value.tobytes(), value.dtype, value.size).reshape(value.shape)


def _bits(content: "numpy.ndarray[Any, Any]") -> Any:
    """The bytes of the elements in C order, NaN and padding made equal."""
    dtype = content.dtype
    if dtype.names is not None:
        return tuple(_bits(numpy.array(content[name], order="C")) for name in dtype.names)
    if dtype.kind == "O":
        return repr(content.tolist())
    if dtype.kind in "fc" and numpy.isnan(content).any():
        content = content.copy()
        if dtype.kind == "c":
            content.real[numpy.isnan(content.real)] = numpy.nan
            content.imag[numpy.isnan(content.imag)] = numpy.nan
        else:
            content[numpy.isnan(content)] = numpy.nan
    if dtype.char in "gG":  # ten bytes of sixteen count
        content = numpy.frombuffer(content.tobytes(), "u1").reshape(-1, 16)[:, :10]
    return content.tobytes()
