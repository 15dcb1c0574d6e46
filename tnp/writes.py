"""Writes to arrays as pending operations: ``a op= b``, ``out=``, ``x[...] = y``, ``x[key] = y``.

A write to the whole of some memory gives its array the next content; one to a part is a kernel into it. Every function
here returns None where the write has to happen at once. This module is also compiled by Cython.
"""

import numpy as _np

from tnp import bind, content, hot, operands
from tnp.content import backend, schedule
from tnp.core import layout, loops
from tnp.core.cells import READERS
from tnp.core.loops import WEAK
from tnp.hot import ndarray
from tnp.lazy.graph import pending_readers
from tnp.lazy.schedule import lock

_NDARRAY = _np.ndarray
_GENERIC = _np.generic
_BOOL = _np.dtype(bool)
_traced_into = None


def install_tracing(into):
    """Take from tnp/tracing.py what runs instead where an array is traced."""
    global _traced_into
    _traced_into = into


def inplace(prim, a, b):
    """``a op= b`` as a pending write to the whole of `a`; None if it has to run at once."""
    if bind.traced((a, b), None):
        return _traced_into(prim, (a, b), a)
    if type(a) is not ndarray:
        return None
    types = [content.dtype_of(a), _type_of(b)]
    if types[1] is None:
        return None
    loop = loops.find_loop(prim, types)
    if loop is None or loop[1] != types[0] or _is_one(a):
        return None
    if content.order_of(a) is False:
        return _into_part(prim, (a, b), a, loop[0])
    return bind.elementwise(prim, (a, b), a)


def into(prim, args, out):
    """A ufunc call with ``out=``, as a pending write to the whole of `out`; None if it has to run at once."""
    if bind.traced(args, out):
        return _traced_into(prim, args, out)
    types = [_type_of(x) for x in args]
    if any([t is None for t in types]):  # not "in": a dtype equals None where float64 does
        return None
    loop = loops.find_loop(prim, types)
    if loop is None or loop[1] != content.dtype_of(out) or _is_one(out):
        return None
    if content.order_of(out) is False:
        return _into_part(prim, args, out, loop[0])
    return bind.elementwise(prim, args, out)


def _into_part(prim, args, out, ins):
    """An operation on part of some memory, as one kernel into it, if an operand is pending; None: at once."""
    shape, pending = (), False
    for x in args:
        if type(x) is ndarray:
            pending = pending or content.pending_whole(x) is not None
            shape = layout.broadcast(shape, content.shape_of(x))
            if shape is None:
                return None
    if not pending or type(out) is not ndarray or shape != content.shape_of(out):
        return None
    with lock:
        c = hot.cell_of(out)  # first: a reference of our own would make the memory look shared
        nd = content.settle(out)
        if not nd.flags.writeable or content.is_shared(c) or hot.root(nd) is not hot.root(c.storage.full):
            return None
        if not nd.flags.c_contiguous and not backend.fusible(prim, ins, nd):
            return None  # NumPy's loop chooses its steps by the strides of what it writes, too
        if pending_readers(c.storage):  # it may be the operand; held by the running call, it would be stored as well
            return None
        value = bind.record_elementwise(prim, args)
        if value is None:
            return None
        schedule.store(c.storage, nd, value._cell.storage)
        value = None
        if not pending_readers(c.storage):
            c.marked &= ~READERS
    return out


def _type_of(x):
    """Dtype of an operand, or int, float, complex; None for what is no operand."""
    t = type(x)
    if t is ndarray:
        return content.dtype_of(x)
    if t in WEAK:
        return t
    if t is bool:
        return _BOOL
    return x.dtype if isinstance(x, _GENERIC) else None  # others' attribute may be anything


def _is_one(x):
    """Is there one element? NumPy's loops then see no strides, and some compute in place by other steps."""
    return layout.size_of(content.shape_of(x)) == 1


def assign(x, value):
    """``x[...] = value`` as a pending write to the whole of `x`; None if it has to run at once."""
    if type(value) is not ndarray or type(x) is not ndarray or content.order_of(x) is False:
        return None
    r = operands.operand(value)
    if r is None or operands.ref_shape(r) != content.shape_of(x):
        return None
    dtype = operands.ref_dtype(r)
    if not loops.is_numeric(dtype) or dtype != content.dtype_of(x) or not operands.is_large(r):
        return None
    return bind.record_as((value,), [r], dtype, dtype, x, None, 0)


def store(x, key, value):
    """``x[key] = value``, for a pending `value`, as one kernel into the destination; None if that cannot be."""
    if type(value) is not ndarray or type(x) is not ndarray:
        return None
    v = content.pending_whole(value)
    if v is None or value._cell is x._cell:  # ``a[...] *= b`` ends with assigning the array to itself
        return None
    with lock:
        c = hot.cell_of(x)  # first: a reference of our own would make the memory look shared
        nd = content.settle(x)
        if v.node is None or content.pending_whole(value) is not v:  # the kernel of `x` or another thread came first
            return None
        place = nd[key]
        if type(place) is not _NDARRAY or not place.flags.writeable or place.shape != v.node.shape:
            return None
        if place.dtype != v.node.dtype or content.is_shared(c) or place.base is not hot.root(nd):
            return None
        schedule.store(c.storage, place, v)
        if c.storage.readers is None:
            c.marked &= ~READERS
    return True
