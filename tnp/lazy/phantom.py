"""Views of memory that is not there yet: NumPy makes them, on address space that only reads as zeros.

So a slice, transpose or reshape of a pending array has NumPy's own rules and errors, and forces nothing.
"""

import ctypes
import mmap
from typing import Any

import numpy as np

from tnp.core import native

_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # new in Python 3.14
_space: Any = None
_region: mmap.mmap | None = None
_start = 0


def _reserve() -> None:
    """Address space without memory behind it: as much as the system gives, up to 1 GiB (it counts against RLIMIT_AS).

    A larger array is computed before it is viewed.
    """
    global _space, _start, _region
    size = 1 << 30
    while _space is None:
        try:
            _region = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE, prot=mmap.PROT_READ)
            # Nobody writes there; but views must tell NumPy's read-only ones (diagonal) from the others
            start = native.address(np.frombuffer(_region, np.uint8))
            writable: Any = (ctypes.c_uint8 * size).from_address(start)
            _space = np.frombuffer(writable, np.uint8)
        except (OSError, ValueError):
            size >>= 1
            if size < 1 << 26:
                raise
    _start = native.address(_space)


def phantom(shape: tuple[int, ...], dtype: Any, order: tuple[int, ...] | None) -> Any:
    """An array that looks as the storage will, or None if it is too large for the reserved address space."""
    if _space is None:
        _reserve()
    try:
        if order is None:
            return np.ndarray(shape, dtype, _space)
        return np.ndarray([shape[i] for i in order], dtype, _space).transpose(np.argsort(order))
    except TypeError:  # buffer is too small
        return None


def is_phantom(nd: Any) -> bool:
    """Does this NumPy array view the reserved address space?"""
    return _space is not None and nd.base is _space


def realise(nd: Any, full: Any) -> Any:
    """The view of `full` that `nd` is of the phantom."""
    return at(full, native.address(nd) - _start, nd)


def at(full: Any, offset: int, like: Any) -> Any:
    """A view of the memory of `full`, `offset` bytes from its start, that looks like the array `like`."""
    base = full.base if type(full.base) is np.ndarray else full
    if not base.flags.c_contiguous:
        base = base.transpose(np.argsort([-s for s in base.strides], kind="stable"))
    nd = np.ndarray(like.shape, like.dtype, base, offset + native.address(full) - native.address(base), like.strides)
    if not like.flags.writeable:
        nd.flags.writeable = False
    return nd
