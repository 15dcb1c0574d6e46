"""Cells and storages: what arrays that share memory have in common.

    array -> cell -> storage -> node -> storage

All arrows are strong and there is no cycle, so everything is freed as soon as the program lets go. A storage knows
its readers weakly; it learns from `Cell.__del__` that no array can name it any more.

This module is also compiled by Cython; the types stand in cells.pxd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weakref import ref

# What Cell.marked says. Zero: the arrays' own NumPy views may be read and written at once.
PENDING = 1  # the content is not computed yet
READERS = 2  # something pending still has to see the present content
MOVED = 4  # the content lives in other memory than some array's view remembers
TRACED = 8  # a transformation holds the content
IMMUTABLE = 32  # a traced scalar: in-place operators make a new one (always with TRACED)
SHARED = 16  # a raw address was handed out: foreign code may read and write at any time
UNREADABLE = PENDING | MOVED | TRACED


class Cell:
    """One block of memory as the program knows it: every array that shares the memory holds the cell.

    Attributes
    ----------
    storage : Storage
    marked : int
    starts : dict or None
        For memory that the content has left (MOVED), by identity of the root array: a weak reference to that, the
        address at which the content began, and the identity of the array of the whole.
    record : object
        What an interpreter knows of the content (TRACED).
    """

    __slots__ = ("__weakref__", "marked", "record", "starts", "storage")

    def __init__(self, storage: Storage, marked: int) -> None:
        self.storage = storage
        self.marked = marked
        self.starts: dict[int, tuple[ref[Any], int, int]] | None = None
        self.record: Any = None
        storage.live = True

    def __del__(self) -> None:
        s = self.storage
        s.live = False
        if s.node is not None and s.uses == 0 and s.node.warns:
            dropped.append(s)


class Storage:
    """Content of a cell at one time: memory, or the pending node that will fill it.

    Attributes
    ----------
    full : numpy.ndarray or None
        The whole content; None while `node` is pending. Its first element is the first of the memory.
    node : Node or None
    readers : list of weak references to storages, or None
        Pending storages whose nodes read this one.
    live : bool
        Is it the content of a cell that the program can name?
    uses : int
        Pending operands that read it (those that have gone included).
    export : weak reference or None
        To the memoryview through which foreign code sees the memory.
    """

    __slots__ = ("__weakref__", "export", "full", "live", "node", "readers", "uses")

    def __init__(self, full: Any, node: Any) -> None:
        self.full = full
        self.node = node
        self.readers: list[ref[Storage]] | None = None
        self.live = False
        self.uses = 0
        self.export: ref[Any] | None = None


class Node:
    """A primitive that has not run.

    Attributes
    ----------
    prim, params
        What to do; params is a tuple of (name, value).
    args : tuple
        Operands: `Storage` (the whole of it), `Place` (a part of one), or a NumPy scalar of the loop's dtype.
    in_dtypes, dtype
        Of the loop, and of the result.
    shape, order
        Of the result; order lists axes from the slowest to the fastest in memory, None is C order.
    count : int
        Nodes below, itself included: at least as many as there are.
    first : int
        No node below has a smaller serial.
    where : object
        The program's line and floating-point error state (tnp/lazy/warn.py), None if it cannot warn.
    serial : int
        Its turn in the program.
    version : bool
        Is it a pending write to the whole of an array? The kernel that computes it stores it.
    warns : bool
        Can it, or anything pending below it, warn?
    site : int
        The place in the program, if it may turn out not to be worth recording (tnp/lazy/lone.py), or 0.
    ran : bool
        Was it computed before, as part of another's kernel (it has warned then)?
    mark, index : int
        For whoever walks over nodes (tnp/lazy/fusion.py): which walk came here last, and where it put the node.
    """

    __slots__ = (
        "args",
        "count",
        "dtype",
        "first",
        "in_dtypes",
        "index",
        "mark",
        "order",
        "params",
        "prim",
        "ran",
        "serial",
        "shape",
        "site",
        "version",
        "warns",
        "where",
    )

    def __init__(
        self,
        prim: Any,
        params: tuple[tuple[str, Any], ...],
        args: tuple[Any, ...],
        in_dtypes: Any,
        dtype: Any,
        shape: tuple[int, ...],
        order: tuple[int, ...] | None,
        count: int,
        where: Any,
    ) -> None:
        self.prim = prim
        self.params = params
        self.args = args
        self.in_dtypes = in_dtypes
        self.dtype = dtype
        self.shape = shape
        self.order = order
        self.count = count
        self.where = where
        self.serial = 0
        self.first = 0
        self.site = 0
        self.version = False
        self.warns = False
        self.ran = False
        self.mark = 0
        self.index = 0


class Place:
    """A part of a storage.

    Attributes
    ----------
    storage : Storage
    nd : numpy.ndarray
        A view of the storage's memory; while the storage is pending, the same view of the phantom (phantom.py):
        its distance from the first byte, shape, strides and dtype.
    """

    __slots__ = ("nd", "storage")

    def __init__(self, storage: Storage, nd: Any) -> None:
        self.storage = storage
        self.nd = nd


def storage_of(operand: Any) -> Storage | None:
    """The storage that an operand of a node is, or is a part of; None for a number."""
    if type(operand) is Storage:
        return operand
    if type(operand) is Place:
        p = operand
        return p.storage
    return None


# Storages with operations that could warn, which the program let go before they were computed
dropped: list[Storage] = []
