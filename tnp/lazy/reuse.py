"""Results that take the memory of an operand which nobody will read again, as in-place operations do in NumPy.

Fresh memory would have to be found and brought into the cache, and what it replaces would be pushed out.
"""

from sys import getrefcount
from typing import Any

import numpy as np

from tnp.backends.base import Backend
from tnp.core.cells import Storage
from tnp.core.layout import size_of
from tnp.core.primitive import Reduction
from tnp.lazy.graph import pending_readers

REUSED_FROM = 1 << 20  # bytes; below, fresh memory is what was just let go, and in the cache
_FIT = 0x1 | 0x100 | 0x400  # flags: C order, aligned, writeable


def spare(order: list[Storage], kept: list[Storage], backend: Backend, least: int) -> Any:
    """Memory of an operand that the last of the storages `order` may overwrite in the kernel of them all; or None.

    Parameters
    ----------
    order : list of Storage
        What the kernel computes, producers first; the last is what is wanted.
    kept : list of Storage
        Which of them get memory.
    backend : Backend
    least : int
        Bytes of a result for which it is worth looking.
    """
    node = order[-1].node
    if size_of(node.shape) * node.dtype.itemsize < least:
        return None
    if node.order is not None or 1 in node.shape or isinstance(node.prim, Reduction):
        return None
    for s in order:
        for a in s.node.args:
            if type(a) is Storage and a.node is None and not a.live and _fits(a, node, backend):
                return a.full if _is_last(a, order, kept) else None
    return None


def _fits(operand: Storage, node: Any, backend: Backend) -> bool:
    """Is it memory like the result's, to which nothing else refers?"""
    a = operand.full
    if type(a) is not np.ndarray or a.shape != node.shape or a.flags.num & _FIT != _FIT:
        return False
    if a.dtype is not node.dtype and (a.dtype != node.dtype or a.dtype.char != node.dtype.char or a.dtype.metadata):
        return False
    a = None
    return is_sole(operand, backend)


def is_sole(storage: Storage, backend: Backend) -> bool:
    """Is the storage, whose content is there, all that refers to its memory?"""
    return _references(storage) <= _alone and backend.is_sole(storage.full)


def _references(operand: Storage) -> int:
    return getrefcount(operand.full)


_alone = _references(Storage(np.empty(2), None))


def _is_last(operand: Storage, order: list[Storage], kept: list[Storage]) -> bool:
    """Does this kernel alone read the operand, and is all that is made of it stored by it, or needed by nobody?"""
    inside = set(order)
    if any([u not in inside for u in pending_readers(operand)]):
        return False
    return all([s in kept or not (s.live or any([u not in inside for u in pending_readers(s)])) for s in order[:-1]])
