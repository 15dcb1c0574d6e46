"""Reductions through the engine. They are finished when the call returns. This module is also compiled by Cython."""

from operator import index as _index

import numpy as _np

from tnp import bind, content, hot, operands
from tnp.content import schedule
from tnp.core import loops, native
from tnp.core.cells import Cell, storage_of
from tnp.core.elementwise import REDUCTIONS
from tnp.core.native import COMPILED
from tnp.hot import ndarray
from tnp.lazy import graph
from tnp.lazy.schedule import lock, locked
from tnp.lazy.warn import asked

# Elements of memory as it lies, below which NumPy is as fast as two threads
PLAIN_ROWS, PLAIN_SUM, PLAIN = 1 << 19, 3 << 18, 1 << 20
SHORT_ROW = 64  # elements that lie side by side; what reduces fewer at a time does NumPy itself, at any size
_traced_reduce = None


def install_tracing(reduce):
    """Take from tnp/tracing.py what runs instead where an array is traced."""
    global _traced_reduce
    _traced_reduce = reduce


def reduce(ufunc, x, axis, keepdims, dtype=None):
    """``ufunc.reduce(x, axis, keepdims=...)`` through the engine, finished; None if NumPy should do it."""
    if ufunc in REDUCTIONS and bind.traced((x,), None):
        return _traced_reduce(ufunc, x, axis, keepdims, dtype)
    return run_reduce(ufunc, x, axis, keepdims, dtype)


def run_reduce(ufunc, x, axis, keepdims, dtype):
    """`reduce`, without telling any interpreter."""
    prim = REDUCTIONS.get(ufunc)
    if prim is None or type(x) is not ndarray:
        return None
    s = content.pending_whole(x)
    if s is None and content.look(x).size < max(content.lazy_from, min(PLAIN_ROWS, content.lazy_from * 32)):
        return None
    r = operands.operand(x)
    if r is None or not loops.is_numeric(operands.ref_dtype(r)) or not operands.is_large(r):
        return None
    given = operands.ref_shape(r)
    if 0 in given:
        return None
    ndim = len(given)
    if axis is None:
        axes = tuple(range(ndim))
    else:
        try:
            axes = [_index(a) for a in (axis if type(axis) is tuple else (axis,))]
            axes = tuple(sorted([a + ndim if a < 0 else a for a in axes]))
        except (TypeError, ValueError):
            return None
        if len(set(axes)) != len(axes) or any(a < 0 or a >= ndim for a in axes):
            return None
    if s is None and _is_numpys(ufunc, content.look(x), axes):
        return None
    loop = _reduce_loop(ufunc, operands.ref_dtype(r), dtype)
    if loop is None or (not _is_straight(r) and (ndim - len(axes) > 1 or (keepdims and ndim > 1))):
        return None  # the order of the result in memory follows the operand's
    if keepdims:
        shape = tuple(1 if i in axes else n for i, n in enumerate(given))
    else:
        shape = tuple(n for i, n in enumerate(given) if i not in axes)
    with lock:
        if storage_of(r) is not x._cell.storage:
            return None  # another thread has written to the whole since we looked
        s = graph.record(prim, (("axis", axes), ("keepdims", bool(keepdims))), (r,), (loop,), loop, shape, None, None)
        s.live = True
        schedule.force(s)
        full = s.full
        if schedule.flags and loop.kind in "fc" and schedule.flags & asked():
            return None  # NumPy runs it again and warns, from the line of its own that does
    if not shape:
        return full[()]
    made = hot.new(ndarray)
    made._nd = full
    made._cell = Cell(s, 0)
    return made


def _is_numpys(ufunc, nd, axes):
    """Is memory as it lies reduced as fast by NumPy, on one thread?"""
    if content.lazy_from * 32 < PLAIN_ROWS:  # everything is to go through the engine
        return False
    if not native.is_contiguous(nd):
        return nd.size < PLAIN
    together, shape = 1, nd.shape
    for d in range(nd.ndim - 1, -1, -1):
        if d not in axes:
            break
        together *= shape[d]
    if together < SHORT_ROW or content.backend.workers() == 1:
        return True
    return nd.size < (PLAIN_ROWS if together < nd.size else PLAIN_SUM if ufunc is _np.add else PLAIN)


def _is_straight(ref):
    """Is the operand in C order, without gaps?"""
    nd = operands.ref_array(ref)
    return ref.node.order is None if nd is None else native.is_contiguous(nd)


def _reduce_loop(ufunc, dtype, wanted):
    """Dtype in which a reduction runs."""
    if ufunc in (_np.logical_and, _np.logical_or):
        return _np.dtype(bool) if dtype.char == "?" and wanted is None else None
    if wanted is not None:
        return None
    if ufunc in (_np.add, _np.multiply) and dtype.kind in "bui":
        return None if dtype.kind == "b" or dtype.itemsize < 8 else dtype
    return dtype


if not COMPILED:  # any line may let another thread run
    globals()["run_reduce"] = locked(run_reduce)
