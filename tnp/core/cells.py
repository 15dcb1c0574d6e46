"""Cells and storages: what arrays that share memory have in common.

    array -> cell -> storage -> node -> storage

All arrows are strong and there is no cycle, so everything is freed as soon as the program lets go. A storage knows
its readers weakly; it learns from `Cell.__del__` that no array can name it any more.

This module is also compiled by Cython; the types stand in cells.pxd.
"""

# What Cell.marked says. Zero: the arrays' own NumPy views may be read and written at once.
PENDING = 1  # the content is not computed yet
READERS = 2  # something pending still has to see the present content
MOVED = 4  # the content lives in other memory than some array's view remembers
TRACED = 8  # a transformation holds the content
SHARED = 16  # a raw address was handed out: foreign code may read and write at any time
UNREADABLE = PENDING | MOVED | TRACED


class Cell:
    """One block of memory as the program knows it: every array that shares the memory holds the cell."""

    __slots__ = ("__weakref__", "marked", "storage")

    def __init__(self, storage, marked):
        self.storage = storage
        self.marked = marked
        storage.live = True

    def __del__(self):
        self.storage.live = False


class Storage:
    """Content of a cell at one time: memory, or the pending node that will fill it.

    Attributes
    ----------
    full : numpy.ndarray or None
        The whole content; None while `node` is pending. The memory starts at its first element.
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

    def __init__(self, full, node):
        self.full = full
        self.node = node
        self.readers = None
        self.live = False
        self.uses = 0
        self.export = None


class Node:
    """A primitive that has not run.

    Attributes
    ----------
    prim, params
        What to do.
    args : tuple
        Operands: `Storage` (the whole of it), `Place` (a part of one), or a NumPy scalar of the loop's dtype.
    in_dtypes, dtype
        Of the loop.
    shape, strides
        Of the result; strides None is C order.
    count : int
        Nodes below, itself included, repetitions counted.
    where : object
        What warnings need: floating-point error state and the program's line (tnp/lazy/warn.py).
    """

    __slots__ = ("args", "count", "dtype", "in_dtypes", "params", "prim", "ran", "shape", "strides", "where")

    def __init__(self, prim, params, args, in_dtypes, dtype, shape, strides, count, where):
        self.prim = prim
        self.params = params
        self.args = args
        self.in_dtypes = in_dtypes
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.count = count
        self.where = where
        self.ran = False


class Place:
    """A strided part of a storage: byte offset from its first byte, and what an array of it looks like."""

    __slots__ = ("dtype", "offset", "shape", "storage", "strides")

    def __init__(self, storage, offset, shape, strides, dtype):
        self.storage = storage
        self.offset = offset
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
