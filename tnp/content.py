"""What an array holds: real memory, or a result that is still to be computed by the engine of this process.

The backend and the schedule stand here. This module is also compiled by Cython.
"""

import atexit
import weakref
from typing import Any

import numpy as _np

from tnp import hot
from tnp.backends.cpu.engine import CpuBackend
from tnp.core import layout, native
from tnp.core.cells import MOVED, PENDING, READERS, SHARED, dropped
from tnp.core.config import config
from tnp.hot import ndarray
from tnp.lazy import graph, lone
from tnp.lazy import phantom as _phantom
from tnp.lazy.fusion import is_same
from tnp.lazy.lone import BELOW
from tnp.lazy.reuse import REUSED_FROM, is_sole
from tnp.lazy.schedule import Schedule, lock
from tnp.lazy.warn import before_printing

GROUP = graph.GROUP  # nodes of one kernel at most; more are run at once
BIG = 1 << 22  # bytes from which a pending result counts in the memory bound

_NDARRAY = _np.ndarray

backend = CpuBackend()
schedule = Schedule(backend)
before_printing(schedule.before_warning)


# ------------------------------------------------------------------------------------------------ settings
lone_below = light_below = BELOW  # bytes of operands; light_below is for operations that do little with them
lazy_from = 1 << 62  # elements from which operations are recorded


def is_fast():
    """Do the settings give up the last bits?"""
    return fast


def _set_light_below():
    global light_below
    light_below = lone.light_below(lone_below, backend.workers())
    lone.set_below(0 if fast else light_below)


def _configured(settings):
    global fast, limited
    fast, limited = settings.math == "fast", settings.memory_limit is not None
    backend.configure(settings)
    _set_light_below()


fast = limited = False
config.listen(_configured)


def set_lazy_from(n):
    """Elements from which operations are recorded, here and in the hot path."""
    global lazy_from, lone_below
    lazy_from = n
    lone_below = BELOW if n > 1024 else 0  # who asks for small arrays to be recorded means it
    _set_light_below()
    schedule.reuses_from = REUSED_FROM if n > 1024 else 0
    hot.set_lazy_from(n)


def get_lone_below():
    """Bytes below which what is there already is better done at once (`tnp.lazy.lone`)."""
    return lone_below


# ------------------------------------------------------------------------------------------------ state of an array
def settle(x):
    """The NumPy array of `x`, whose content may be pending or have moved to other memory."""
    c = x._cell
    if c is None:
        if x._nd is None:
            raise TypeError("ndarray() missing required argument 'shape' (pos 0)")
        return x._nd
    s = c.storage
    if s.node is None and x._nd is not None and not c.marked & MOVED and not dropped:
        c.marked &= ~PENDING
        return x._nd
    with lock:
        s = c.storage  # another thread may have written to the whole while this one waited
        if s.node is not None:
            schedule.force(s)
        if c.marked & PENDING:
            c.marked &= ~PENDING
        nd = x._nd
        if nd is None:
            p = x._place
            if p is not None:
                nd = _phantom.realise(p.nd, s.full)
            else:  # to NumPy every array is an object of its own, a view of the whole too
                nd = s.full if x._base is None or x._base is hot.OWNER else s.full.view()
            x._place = None
            x._nd = nd
        elif c.marked & MOVED:
            left = former_place(c, nd) if hot.root(nd) is not hot.root(s.full) else None
            if left is not None:  # else some object holds the memory
                _, start, whole = left
                x._nd = nd = s.full if id(nd) == whole else _phantom.at(s.full, native.address(nd) - start, nd)
        if dropped:
            schedule.finish_dropped()
    return nd


def former_place(c, nd):
    """What `renew` noted of the memory of the array `nd`, if the content of `c` has left it."""
    if c.starts is not None:
        left = c.starts.get(id(hot.root(nd)))
        if left is not None and left[0]() is hot.root(nd):  # and not another array where that one was
            return left
    return None


def release(x):
    """The NumPy array of `x`, which is about to be written: those who still have to see the old content are served."""
    nd = settle(x)
    c = x._cell
    if c is not None and c.marked & READERS:
        with lock:
            schedule.serve(c.storage)
            c.marked &= ~READERS
    return nd


def is_shared(c):
    """Can foreign code see the memory?"""
    if c.marked & SHARED:
        return True
    e = c.storage.export
    return e is not None and e() is not None


def is_own(nd):
    """Is this the whole of memory that tnp or NumPy allocated (and not a view of something foreign)?"""
    base = nd.base
    return base is None or (type(base) is _NDARRAY and base.base is None)


def look(x):
    """Shape, size, dtype and the pending or real array of `x`, without computing anything."""
    c = x._cell
    if x._nd is not None:
        return x._nd
    p = x._place
    if p is not None:
        return p.nd
    node = c.storage.node
    ph = None if node is None else _phantom.phantom(node.shape, node.dtype, node.order)
    return ph if ph is not None else settle(x)


def shape_of(x):
    """Shape of an array that may be pending."""
    node = pending_node(x)
    return native.shape(look(x)) if node is None else node.shape


def dtype_of(x):
    """Dtype of an array that may be pending."""
    node = pending_node(x)
    return native.dtype(look(x)) if node is None else node.dtype


def pending_whole(x):
    """The pending storage that is all of `x`, or None."""
    c = x._cell
    if x._nd is None and x._place is None and c is not None:
        s = c.storage
        if s.node is not None:
            return s
    return None


def pending_node(x):
    """The node that will compute all of `x`, or None. It stays as it is when another thread computes it."""
    s = pending_whole(x)
    return None if s is None else s.node


# ------------------------------------------------------------------------------------------------ the next content
def order_of(x):
    """Memory order of an array that is the whole of its storage; False if its next content cannot be pending."""
    c = x._cell
    node = pending_node(x)
    if node is not None:
        return node.order
    if c is None:
        c = hot.cell_of(x)
    if is_shared(c):
        return False
    nd = settle(x) if c.marked & (PENDING | MOVED) or x._nd is None else x._nd
    full = c.storage.full
    whole = nd is full or (
        x._base is not None and nd.dtype is full.dtype and is_same(nd, full)
    )  # a view whose base is not known stays one
    if not whole or not nd.flags.writeable:
        return False
    if nd.ndim > 1 and 1 in nd.shape and nd.strides != _np.empty(nd.shape, nd.dtype).strides:
        return False  # strides along axes of one element are kept only by writing in place
    if nd.flags.c_contiguous:
        return None
    return tuple(range(nd.ndim))[::-1] if nd.flags.f_contiguous else False


def renew(x, s):
    """The pending storage `s` is the next content of the array `x`; whoever reads the old one keeps it."""
    c = x._cell
    old = c.storage
    old.live = False
    if old.node is not None and old.uses == 0 and old.node.warns:
        dropped.append(old)
    x._nd = x._place = None
    c.marked = (c.marked & ~READERS) | PENDING
    if old.full is not None and not is_sole(old, backend):  # where views of it have to count from
        c.marked |= MOVED
        if c.starts is None:
            c.starts = {}
        was = hot.root(old.full)
        c.starts[id(was)] = weakref.ref(was), native.address(old.full), id(old.full)
    s.live = True
    s.node.version = True
    c.storage = s
    nbytes = layout.size_of(s.node.shape) * native.itemsize(s.node.dtype)
    if is_due(s, nbytes):
        try:
            force_now(s)
        except BaseException:  # the array stays as it was
            s.live = False
            old.live = True
            c.storage = old
            raise
    return x


# ------------------------------------------------------------------------------------------------ what does not wait
def is_due(s, nbytes):
    """Must what was just recorded run now: are there too many operations, or would too many bytes wait?"""
    return s.node.count > GROUP or (nbytes >= BIG and _too_much(s, nbytes))


def force_now(s):
    """Run what was just recorded; where that fails it never happened."""
    try:
        if limited:  # what was promised before must not find its room taken
            for r, _ in list(_promised):
                p = r()
                if p is not None and p is not s and p.node is not None and p.live:
                    schedule.force(p)
        schedule.force(s)
    except BaseException:
        if s.node is not None:
            s.node.warns = False  # nobody will run it for its warnings either
        raise


_promised: list[Any] = []  # weak references to big pending results, and their bytes
_waiting = _room = 0  # bytes that these have at most, and that they may have


def _too_much(s, nbytes):
    """Would the results that wait take more memory than there surely is? Then this one runs now, and may fail now."""
    global _waiting, _room
    _promised.append((weakref.ref(s), nbytes))
    _waiting += nbytes
    if _waiting <= _room and len(_promised) & 63 and not limited:
        return False
    _promised[:] = [
        (r, n) for r, n in _promised if (p := r()) is not None and p.node is not None and (p.live or p.uses or p is s)
    ]
    _waiting, _room = sum([n for _, n in _promised]), backend.room()
    return _waiting > _room


def evaluate(*arrays):
    """Finish pending work: of the given arrays, or (without any) all that could still warn. Returns the arrays.

    >>> import tnp
    >>> x = tnp.evaluate(tnp.arange(3) + 1)
    >>> x
    array([1, 2, 3])
    """
    if len(arrays) == 1:
        x = arrays[0]
        if isinstance(x, ndarray):
            settle(x)
        return x
    together = {}
    for x in arrays:
        if type(x) is ndarray and (node := pending_node(x)) is not None:
            together.setdefault(node.shape, {})[x._cell.storage] = None
    for same in together.values():
        if len(same) > 1:
            schedule.run([s for s in same if s.node is not None])
    for x in arrays:
        if isinstance(x, ndarray):
            settle(x)
    if not arrays:
        schedule.finish_dropped()
        schedule.finish_warners()
    return arrays


atexit.register(evaluate)
