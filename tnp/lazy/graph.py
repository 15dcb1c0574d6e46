"""Recording: a primitive that has not run is a node.

The storage that it will fill knows it, and is known to what it reads.

Readers are weak references in a list on the storage they read. Those that have gone are swept when the list has
doubled, so recording stays O(1).
"""

import weakref
from typing import Any

from tnp.core import native
from tnp.core.cells import Node, Storage, storage_of

GROUP = 400  # nodes of one kernel at most; more are run at once

_sweep_at = 32
_serial = 0
# Weak references to pending storages that can warn, in the program's order
warners: list[weakref.ref[Storage]] = []


def record(
    prim: Any,
    params: tuple[tuple[str, Any], ...],
    args: tuple[Any, ...],
    in_dtypes: tuple[Any, ...],
    dtype: Any,
    shape: tuple[int, ...],
    order: tuple[int, ...] | None,
    where: Any,
) -> Storage:
    """A storage that ``prim(*args)`` will fill.

    Parameters
    ----------
    args : tuple of Storage, Place, or NumPy scalar
        A `Place` is a part of a storage (or the whole of it, differently strided).
    order : tuple of int or None
        Axes from the slowest to the fastest in memory; None is C order.
    where : object
        What warnings need (tnp/lazy/warn.py), or None if the operation cannot warn.
    """
    global _serial
    _serial += 1
    count = 1
    first = _serial
    warns = where is not None
    for a in args:
        s = storage_of(a)
        if s is not None and s.node is not None:
            count += s.node.count
            if s.node.first < first:
                first = s.node.first
            if s.node.warns:
                warns = True
    # What is used twice is counted twice; but there are no more nodes below than were recorded since the first
    count = min(count, _serial - first + 1)
    node = Node.__new__(Node)  # filled field by field: that is C where this is compiled
    node.prim, node.params, node.args, node.in_dtypes = prim, params, args, in_dtypes
    node.dtype, node.shape, node.order, node.count, node.where = dtype, shape, order, count, where
    node.serial, node.first, node.warns = _serial, first, warns
    node.site, node.version, node.ran, node.mark = 0, False, False, 0
    out = Storage.__new__(Storage)
    out.full, out.node, out.readers, out.export = None, node, None, None
    out.live, out.uses = False, 0
    me = native.weak(out)
    if where is not None:
        warners.append(me)
        n = len(warners)
        if n >= 256 and n & (n - 1) == 0:
            warners[:] = [r for r in warners if (s := r()) is not None and s.node is not None]
    _enlist(me, args)
    return out


def _enlist(me: Any, args: tuple[Any, ...]) -> None:
    """Have the storages among `args` know their reader."""
    for a in args:
        s = storage_of(a)
        if s is not None:
            s.uses += 1
            readers = s.readers
            if readers is None:
                s.readers = [me]
            else:
                readers.append(me)
                n = len(readers)
                if n >= _sweep_at and n & (n - 1) == 0:
                    s.readers = [r for r in readers if r() is not None]


def reread(
    storage: Storage, prim: Any, params: tuple[tuple[str, Any], ...], args: tuple[Any, ...], in_dtypes: tuple[Any, ...]
) -> None:
    """Have the pending `storage`, which was computed and not kept, be ``prim(*args)`` of what is there instead."""
    old = storage.node
    node = Node(prim, params, args, in_dtypes, old.dtype, old.shape, old.order, 1, None)
    node.serial, node.version, node.ran = old.serial, old.version, True
    storage.node = node
    _enlist(weakref.ref(storage), args)


def earlier_warners(serial: int) -> list[Storage]:
    """Pending storages that can warn and were recorded before `serial`, in order."""
    warners[:] = [r for r in warners if (s := r()) is not None and s.node is not None and not s.node.ran]
    return [s for r in warners if (s := r()) is not None and s.node.serial < serial]


def _reads(node: Node, storage: Storage) -> bool:
    """Is it an operand still? (It may have been given a copy.)"""
    return storage in [storage_of(a) for a in node.args]


def pending_readers(storage: Storage) -> list[Storage]:
    """Pending storages that read `storage`."""
    if not storage.readers:
        return []
    found = [s for r in storage.readers if (s := r()) is not None and s.node is not None and _reads(s.node, storage)]
    storage.readers = [weakref.ref(s) for s in found] if found else None
    return found
