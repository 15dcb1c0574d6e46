"""Memory in foreign hands: operations on it run at once, for as long as a foreign view of it lives.

All NumPy arrays that foreign code gets for one storage are views of one `Export`. NumPy's views of views, memoryviews
and DLPack capsules keep it alive, so a weak reference to it (`Storage.export`) tells whether there is any.
"""

import weakref

import numpy as _np

from tnp import content, tracing
from tnp.core.cells import SHARED
from tnp.core.native import address
from tnp.hot import cell_of, root, writable

_NDARRAY = _np.ndarray


class Export:
    """The memory of one storage, as NumPy takes it: the base of every array that foreign code gets."""

    __slots__ = ("__array_interface__", "__weakref__", "_owner")

    def __init__(self, owner):
        self._owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": (owner.nbytes,),
            "typestr": "|u1",
            "data": (address(owner), not owner.flags.writeable),
        }


class Lease:
    """An `Export` that also keeps the program's array, as NumPy's own views do."""

    __slots__ = ("__array_interface__", "_array", "_export")

    def __init__(self, export, array):
        self._export = export
        self._array = array
        self.__array_interface__ = export.__array_interface__


def _served(x):
    """The NumPy array of `x`, which foreign code may write to from now on."""
    if not tracing.is_traced(x):
        return writable(x)
    tracing.export(x)
    return content.release(x)


def exported(x, keep=False):
    """A NumPy array on the memory of `x` for foreign code; pending work is done first.

    It keeps the memory, and the array itself if `keep`.
    """
    _served(x)
    c = x._cell
    if c is None:
        c = cell_of(x)  # before anything here refers to the memory
    nd = x._nd
    if c.marked & SHARED or not nd.size or nd.dtype.hasobject:
        c.marked |= SHARED
        return nd.view()
    s = c.storage
    export = s.export() if s.export is not None else None
    if export is None:
        owner = root(s.full)
        if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
            c.marked |= SHARED
            return nd.view()
        export = Export(owner)
        s.export = weakref.ref(export)
    memory = _np.asarray(Lease(export, x) if keep else export)
    r = _NDARRAY(nd.shape, nd.dtype, memory, address(nd) - address(export._owner), nd.strides)
    if not nd.flags.writeable:
        r.flags.writeable = False
    return r


def share(x):
    """Foreign code keeps the address of the memory of `x`: it counts as shared for ever. Returns the NumPy array."""
    nd = _served(x)
    cell_of(x).marked |= SHARED
    return nd
