"""Recording operations on arrays: what is checked at the call, what is recorded, and what must run at once.

Every function here returns None where the operation has to run at once, through NumPy, which then raises what there
is to raise. This module is also compiled by Cython.
"""

import numpy as _np

from tnp import content, hot, operands
from tnp.backends.base import FAST
from tnp.content import schedule
from tnp.core import layout, loops, native
from tnp.core.cells import PENDING, READERS, TRACED, Cell, Place, Storage, dropped, storage_of
from tnp.core.dtypes import is_number
from tnp.core.elementwise import cast_p, where_p
from tnp.core.loops import WEAK
from tnp.core.native import COMPILED
from tnp.hot import ndarray
from tnp.lazy import graph, lone, warn
from tnp.lazy.lone import LIGHT
from tnp.lazy.schedule import lock, locked

POOLED = 1 << 20  # bytes of a result: smaller ones the system seldom takes back from NumPy between two operations
RETAIN = 8  # a result this many times smaller than what it reads does not wait

_GENERIC = _np.generic
_FLOAT, _INT, _COMPLEX, _BOOL = float, int, complex, _np.dtype(bool)


# ------------------------------------------------------------------------------------------------ traced arrays
_traced_elementwise = _traced_select = _traced_cast = None


def install_tracing(elementwise, select, cast):
    """Take from tnp/tracing.py what runs instead where an array is traced."""
    global _traced_elementwise, _traced_select, _traced_cast
    _traced_elementwise, _traced_select, _traced_cast = elementwise, select, cast


def traced(args, target):
    """Does an interpreter want to know what happens to one of these?"""
    for x in args:
        if type(x) is ndarray:
            a = x
            if a._cell is not None:
                c = a._cell
                if c.marked & TRACED:
                    return True
    return target is not None and traced((target,), None)


# ------------------------------------------------------------------------------------------------ elementwise
def elementwise(prim, args, target=None):
    """The recorded result of an elementwise operation, a tnp array; None if it has to run at once.

    `target`, a tnp array, is the destination of an in-place operation: the result is its next content.
    """
    if traced(args, target):
        return _traced_elementwise(prim, args, target)
    return record_elementwise(prim, args, target)


def record_elementwise(prim, args, target=None):
    """`elementwise`, without telling any interpreter."""
    below = content.light_below if prim.name in LIGHT else content.lone_below
    point = point_of(args, below if target is None else 2 * below)
    site = 0 if point is None else lone.site(point)
    if site and lone.is_lone(site):
        return at_once(prim, args) if target is None else None
    refs, types = [], []
    large = False
    for x in args:
        t = type(x)
        if t is ndarray:
            x = operands.operand(x)
            if x is None:
                return at_once(prim, args) if target is None else None
            t = operands.ref_dtype(x)
            large = large or operands.is_large(x)
        elif t is _FLOAT or t is _INT or t is _COMPLEX:
            pass
        elif t is bool:
            t = _BOOL
        elif isinstance(x, _GENERIC) and is_number(x.dtype):
            t = x.dtype
        else:
            return None
        refs.append(x)
        types.append(t)
    if not large:
        return None
    loop = loops.find_loop(prim, types)
    if loop is None:
        return None
    return record(prim, (), args, refs, loop[0], loop[1], loop[2], target, point, site)


def select(c, x, y, target=None):
    """`numpy.where` of three operands, recorded; None if it has to run at once.

    `target`, a tnp array of the result's dtype, is the destination: the result is its next content.
    """
    if traced((c, x, y), target):
        return _traced_select(c, x, y, target)
    return record_select(c, x, y, target)


def record_select(c, x, y, target=None):
    """`select`, without telling any interpreter."""
    args = (c, x, y)
    point = point_of(args, content.light_below)
    if point is not None and lone.is_lone(lone.site(point)):
        return None
    refs, types = [], []
    large = False
    for a in args:
        t = type(a)
        if t is ndarray:
            a = operands.operand(a)
            if a is None:
                return None
            t = operands.ref_dtype(a)
            large = large or operands.is_large(a)
            if not loops.is_numeric(t):
                return None
        elif t is bool:
            t = _BOOL
        elif isinstance(a, _GENERIC):
            t = a.dtype
            if not is_number(t):
                return None
        elif t not in WEAK:
            return None
        refs.append(a)
        types.append(t)
    if not large or types[0] is not _BOOL:
        return None
    dtype = types[1]
    if dtype is not types[2] or dtype in WEAK or dtype.metadata is not None:
        try:
            dtype = _np.result_type(*[types[i] if types[i] not in WEAK else refs[i] for i in (1, 2)])
        except (TypeError, OverflowError):
            return None
    if dtype.byteorder not in "=|":  # native, but named
        dtype = dtype.newbyteorder("=")
    if target is not None and (dtype != content.dtype_of(target) or content.order_of(target) is False):
        return None
    return record(where_p, (), args, refs, (_BOOL, dtype, dtype), dtype, False, target, point, 0)


def cast(x, dtype):
    """A recorded conversion to another dtype, as an independent array; None if it has to run at once."""
    return _traced_cast(x, dtype) if traced((x,), None) else record_cast(x, dtype)


def record_cast(x, dtype):
    """`cast`, without telling any interpreter."""
    args = (x,)
    point = point_of(args, content.light_below)
    site = 0 if point is None else lone.site(point)
    if site and lone.is_lone(site):
        return cast_at_once(x, dtype)
    r = operands.operand(x)
    if r is None:
        return cast_at_once(x, dtype)
    if not loops.is_numeric(dtype):
        return None
    former = operands.ref_dtype(r)
    if not loops.is_numeric(former) or not operands.is_large(r) or former.kind == "c" != dtype.kind:
        return None  # dropping imaginary parts has a warning of its own
    nd = operands.ref_array(r)
    if nd is None:
        s = r
        if s.node.order is not None and not layout.copied_in_order(content.look(x)):
            return None
    elif not native.is_contiguous(nd) and not layout.copied_in_order(nd):
        return None
    return record_as(args, [r], former, dtype, None, point, site)


def record_copy(x):
    """A pending copy of `x`, whatever the habit of the place in the program; None if it has to run at once.

    Who makes it wants the present content kept, and may never read it.
    """
    r = operands.operand(x)
    if r is None or not operands.is_large(r):
        return None
    dtype = operands.ref_dtype(r)
    if not loops.is_numeric(dtype):
        return None
    nd = operands.ref_array(r)
    if nd is None:
        s = r
        if s.node.order is not None and not layout.copied_in_order(content.look(x)):
            return None
    elif not native.is_contiguous(nd) and not layout.copied_in_order(nd):
        return None
    # A copy sets no floating-point flag: it may wait where warnings are wanted at once, too
    return record(cast_p, (("dtype", dtype),), (x,), [r], (dtype,), dtype, False, None, None, 0)


def record_as(args, refs, former, dtype, target, point, site):
    warns = loops.can_warn(cast_p, (former,), dtype)
    return record(cast_p, (("dtype", dtype),), args, refs, (former,), dtype, warns, target, point, site)


# ------------------------------------------------------------------------------------------------ at once
def at_once(prim, args):
    """The result of an operation that does not wait, in memory of the pool: fresh memory costs more than computing.

    None where NumPy's own memory serves as well, or its result might lie in another order.
    """
    raws, types, shape = [], [], None
    for x in args:
        t = type(x)
        if t is ndarray:
            x = content.settle(x)
            t = native.dtype(x)
            if not x.flags.c_contiguous or (shape is not None and x.shape != shape):
                return None
            shape = x.shape
        elif t is bool:
            t = _BOOL
        elif isinstance(x, _GENERIC):
            t = x.dtype
        elif t not in WEAK:
            return None
        raws.append(x)
        types.append(t)
    loop = loops.find_loop(prim, types)
    full = None if loop is None else _pooled(shape, loop[1])
    return None if full is None else _adopted(prim.ufunc(*raws, out=full))


def cast_at_once(x, dtype):
    """`at_once` for a conversion to another dtype."""
    nd = content.settle(x)
    if not nd.flags.c_contiguous or not loops.is_numeric(nd.dtype) or not loops.is_numeric(dtype):
        return None
    if nd.dtype.kind == "c" != dtype.kind:
        return None
    full = _pooled(nd.shape, dtype)
    if full is None:
        return None
    _np.copyto(full, nd, casting="unsafe")
    return _adopted(full)


def _pooled(shape, dtype):
    n = dtype.itemsize
    for k in shape:
        n *= k
    return content.backend.empty(shape, dtype) if n >= POOLED else None


def _adopted(full):
    x = hot.new(ndarray)
    x._nd = full
    x._cell = Cell(Storage(full, None), 0)
    return x


# ------------------------------------------------------------------------------------------------ recording
def point_of(args, below):
    """Where the program is (`tnp.core.native.point`), if the habit of that place counts: all operands are there.

    They have fewer than `below` bytes. (In place, threads gain nothing while the operands fit the last cache.)
    """
    if content.fast:  # NumPy's own function is not
        return None
    for x in args:
        if type(x) is ndarray:
            a = x
            if a._nd is None or native.nbytes(a._nd) >= below:
                return None
    return native.point()


def _scalar(x, dtype):
    """A number as NumPy converts it for a loop; None if NumPy has to say what is wrong with it."""
    if type(x) is float:
        value = x
        huge = (value > 65504.0 or value < -65504.0) and value - value == 0
        if huge and dtype.char in "efF" and abs(x) > float(_np.finfo(dtype).max):
            return None  # 1e300 for float32 overflows when NumPy converts it
    try:
        return dtype.type(x)
    except (OverflowError, TypeError, ValueError):
        return None  # 300 for uint8, a complex for a float


def record(prim, params, args, refs, ins, dtype, warns, target, point, site):
    """The array that an operation gives whose operands and loop are known; None if it has to run at once."""
    shape, leaf = None, 0
    for i in range(len(refs)):
        r = refs[i]
        if type(r) is Storage:
            s = r
        elif type(r) is Place:
            p = r
            s = p.storage
        else:
            refs[i] = _scalar(r, ins[i])
            if refs[i] is None:
                return None
            continue
        nd = operands.ref_array(r)
        if shape is None:
            shape = s.node.shape if nd is None else native.shape(nd)
        elif nd is None:
            if s.node.shape is not shape:
                shape = layout.broadcast(shape, s.node.shape)
        elif not layout.has_shape(nd, shape):
            shape = layout.broadcast(shape, native.shape(nd))
        if shape is None:
            return None
        if s.node is None:
            nbytes = native.nbytes(s.full)
            if nbytes > leaf:
                leaf = nbytes
    size = layout.size_of(shape)
    nbytes = size * native.itemsize(dtype)
    if size < content.lazy_from or size == 0 or not shape or leaf > RETAIN * nbytes:
        return None
    if content.fast and not params and prim.ufunc is not None:
        params = FAST
    where = None
    if warns:
        modes = warn.error_modes()
        if modes is None:
            schedule.finish_warners()  # what the program wrote before warns before
            return None
        where = warn.here(modes, point)
    if target is None:
        order = operands.memory_order(refs, ins, shape, prim is where_p)
        if order is False:
            return None
        # Nothing in it lets another thread run; without a compiler the caller holds the lock
        return _add_to_graph(prim, params, args, tuple(refs), ins, dtype, shape, order, where, None, nbytes, site)
    with lock:
        order = content.order_of(target)
        if order is False or shape != content.shape_of(target):
            return None
        dtype = content.dtype_of(target)  # equal, but it may name the byte order, and have metadata
        return _add_to_graph(prim, params, args, tuple(refs), ins, dtype, shape, order, where, target, nbytes, site)


def _add_to_graph(prim, params, args, refs, ins, dtype, shape, order, where, target, nbytes, site):
    for i in range(len(args)):
        if type(args[i]) is ndarray:
            x = args[i]
            c = x._cell
            if storage_of(refs[i]) is not c.storage:
                return None  # another thread has written to the whole, and may have taken the memory, since we looked
            c.marked |= READERS
    s = graph.record(prim, params, refs, ins, dtype, shape, order, where)
    if site:
        s.node.site = site
    if target is not None:
        return content.renew(target, s)
    c = Cell.__new__(Cell)
    c.storage, c.marked, c.starts, c.record = s, PENDING, None, None
    s.live = True
    x = hot.new(ndarray)
    x._cell = c
    if content.is_due(s, nbytes):
        content.force_now(s)
    if dropped:
        schedule.finish_dropped()
    return x


if not COMPILED:  # any line may let another thread run
    for _name in ("record_elementwise", "record_select", "record_cast", "record_copy"):
        globals()[_name] = locked(globals()[_name])
