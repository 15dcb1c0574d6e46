"""What the compiled module `_native` does, and how it is done without a compiler.

The second half is what compiled modules read from Python's and NumPy's structures in C (native.pxd): they cimport this
module and write ``native.size(nd)``.
"""

import os
import sys
import weakref
from types import CodeType, FrameType
from typing import Any

import numpy as np

__all__ = [
    "COMPILED",
    "address",
    "dtype",
    "install_buffer",
    "install_new",
    "is_contiguous",
    "is_finite",
    "is_inexact",
    "is_writeable",
    "itemsize",
    "nbytes",
    "point",
    "references",
    "refuse_concat",
    "set_metaclass",
    "set_type_attribute",
    "set_type_name",
    "shape",
    "size",
    "spare_collector",
    "strides",
    "value",
    "weak",
]

try:
    if os.environ.get("TNP_PURE"):
        raise ImportError("TNP_PURE is set")
    from tnp.core._native import (
        address,
        install_buffer,
        install_new,
        point,
        refuse_concat,
        set_metaclass,
        set_type_attribute,
        set_type_name,
    )

    COMPILED = True
except ImportError:
    COMPILED = False

    def set_type_name(cls: type, name: str) -> None:
        cls.__module__, cls.__qualname__ = name.rsplit(".", 1)
        cls.__name__ = cls.__qualname__

    def set_type_attribute(cls: type, name: str, value: object) -> None:
        if name not in ("__dict__", "__qualname__", "__text_signature__"):  # which Python keeps for classes
            setattr(cls, name, value)

    def install_buffer(cls: Any) -> None:
        def __buffer__(self: Any, flags: int) -> memoryview:
            return memoryview(self.__array_export__())

        cls.__buffer__ = __buffer__  # Python 3.12 and newer look for it (PEP 688)

    def install_new(cls: type, construct: Any) -> None:
        """Not needed: the Python class asks for the same function by name."""

    def refuse_concat(cls: type) -> None:
        """Only C can: operator.concat adds here."""

    def set_metaclass(cls: type, meta: type) -> None:
        """Only C can: without a compiler, ufuncs of other libraries are not instances of `tnp.ufunc`."""

    def address(array: Any) -> int:
        return array.__array_interface__["data"][0]

    def point() -> tuple[CodeType, int, dict[str, Any]] | None:
        """Where the program is: code, instruction and globals of the innermost frame that is not tnp's, or None."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            name = frame.f_globals.get("__name__") or ""
            if name != "tnp" and not name.startswith("tnp."):
                return frame.f_code, frame.f_lasti, frame.f_globals
            frame = frame.f_back
        return None


weak = weakref.ref
references = sys.getrefcount


def spare_collector(x: Any) -> None:
    """Keep Python's collector from going through `x` again and again; for what is in no cycle."""


def value(var: Any) -> Any:
    """What a context variable has."""
    return var.get()


def dtype(nd: Any) -> Any:
    return nd.dtype


def shape(nd: Any) -> tuple[int, ...]:
    found: tuple[int, ...] = nd.shape
    return found


def strides(nd: Any) -> tuple[int, ...]:
    found: tuple[int, ...] = nd.strides
    return found


def size(nd: Any) -> int:
    found: int = nd.size
    return found


def is_finite(nd: Any) -> bool:
    """Is every element a finite number?"""
    return bool(np.isfinite(nd).all())


def is_inexact(dtype: Any) -> bool:
    """Is it one of NumPy's floating or complex dtypes?"""
    return dtype.kind in "fc"


def itemsize(dtype: Any) -> int:
    """Bytes of an element of this dtype."""
    found: int = dtype.itemsize
    return found


def nbytes(nd: Any) -> int:
    found: int = nd.nbytes
    return found


def is_contiguous(nd: Any) -> bool:
    """Does it lie in C order, without gaps?"""
    found: bool = nd.flags.c_contiguous
    return found


def is_writeable(nd: Any) -> bool:
    found: bool = nd.flags.writeable
    return found
