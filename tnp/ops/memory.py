"""Arrays with memory of the backend's pool, and copies into them that use every core."""

import itertools

import numpy as _np

from tnp import content
from tnp.core.cells import Cell, Storage
from tnp.core.dtypes import is_number
from tnp.hot import get_lazy_from, ndarray, new

THREADED = 1 << 23  # bytes that are worth waking another thread: 1 MiB is copied in 20 us, and that takes as long
CHUNK = 8 << 20  # bytes of one chunk at most: an interrupt acts between two

_NDARRAY = _np.ndarray


def pooled(shape, dtype, order="C"):
    """Uninitialised memory for an array that is worth it, or None: then NumPy's own serves as well."""
    n = 1
    for k in shape:
        n *= k
    if not is_number(dtype) or n < get_lazy_from():
        return None
    return content.backend.empty(shape, dtype, order)


def adopt(full):
    """The array that owns the memory `full`, of which nobody else knows."""
    return adopt_storage(Storage(full, None))


def adopt_storage(storage):
    x = new(ndarray)
    x._nd = storage.full
    x._cell = Cell(storage, 0)
    return x


def rows(nd):
    """`nd` cut along its longest axis into pieces (index tuples) that threads may work on; None if it is too small."""
    nbytes = nd.size * nd.itemsize
    if nbytes < THREADED or (workers := content.backend.workers()) == 1:
        return None
    axis = 0
    for i in range(nd.ndim):
        if nd.shape[i] >= 2 * workers:
            axis = i
            break
    return cuts(axis, nd.shape[axis], nbytes)


def cuts(axis, n, nbytes):
    """Index tuples that cut an axis of `n` elements evenly among the threads."""
    workers = content.backend.workers()
    pieces = max(workers, -(-nbytes // CHUNK))
    pieces = min(-(-pieces // workers) * workers, n)
    ends = [n * i // pieces for i in range(pieces + 1)]
    lead = (slice(None),) * axis
    return [(*lead, slice(a, b)) for a, b in itertools.pairwise(ends)]


def copy(dest, src):
    """``dest[...] = src`` for arrays that do not overlap and whose cast, if any, is safe."""
    chunks = rows(dest)
    if chunks is None:
        dest[...] = src
    else:
        src = _np.broadcast_to(src, dest.shape)
        content.backend.run_chunks(lambda i: _np.copyto(dest[i], src[i]), chunks)
