"""Recording operations on arrays: what is checked at the call, what is recorded, and what must run at once.

Every function here returns None where the operation has to run at once, through NumPy, which then raises what there
is to raise. This module is also compiled by Cython.
"""

import atexit
import weakref
from operator import index as _index
from typing import Any

import numpy as _np

from tnp import hot
from tnp.backends.base import FAST
from tnp.backends.cpu.engine import CpuBackend
from tnp.core.cells import Cell, Place, Storage, dropped
from tnp.core.config import config
from tnp.core.dtypes import is_number
from tnp.core.elementwise import PRIMITIVES, QUIET, REDUCTIONS, cast_p, where_p
from tnp.core.native import COMPILED, address
from tnp.hot import cell_of, ndarray, new, root
from tnp.lazy import graph, lone, warn
from tnp.lazy import phantom as _phantom
from tnp.lazy.fusion import is_same
from tnp.lazy.graph import pending_readers
from tnp.lazy.lone import BELOW
from tnp.lazy.schedule import Schedule, lock
from tnp.lazy.warn import asked, before_printing

PENDING, READERS, MOVED, TRACED, SHARED = 1, 2, 4, 8, 16
RETAIN = 8  # a result this many times smaller than what it reads does not wait
GROUP = graph.GROUP  # nodes of one kernel at most; more are run at once
BIG = 1 << 22  # bytes from which a pending result counts in the memory bound

_NDARRAY = _np.ndarray
_GENERIC = _np.generic
_WEAK = frozenset({int, float, complex})
_FLOAT, _INT, _COMPLEX, _BOOL = float, int, complex, _np.dtype(bool)
LONE_BELOW = BELOW
_lazy_from = 1 << 62  # elements from which operations are recorded

backend = CpuBackend()
schedule = Schedule(backend)
before_printing(schedule.before_warning)
_loops: dict[Any, Any] = {}  # by primitive: pairs of operands' dtypes and (dtypes of the loop, of the result) or None


def is_fast():
    """Do the settings give up the last bits?"""
    return _fast


def _configured(settings):
    global _fast, _limited
    _fast, _limited = settings.math == "fast", settings.memory_limit is not None
    backend.configure(settings)


_fast = _limited = False
config.listen(_configured)


def set_lazy_from(n):
    """Elements from which operations are recorded, here and in the hot path."""
    global _lazy_from, LONE_BELOW
    _lazy_from = n
    LONE_BELOW = BELOW if n > 1024 else 0  # who asks for small arrays to be recorded means it
    hot.set_lazy_from(n)


class Operand:
    """An operand of a recorded operation: what it is for the graph, shape, memory order, dtype."""

    __slots__ = ("array", "order", "ref", "shape", "size", "type")


# ------------------------------------------------------------------------------------------------ state of an array
def settle(x):
    """The NumPy array of `x`, whose content may be pending or have moved to other memory."""
    c = x._cell
    if c is None:
        if x._nd is None:
            raise TypeError("ndarray() missing required argument 'shape' (pos 0)")
        return x._nd
    s = c.storage
    with lock:
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
            left = _left(c, nd) if root(nd) is not root(s.full) else None
            if left is not None:  # else some object holds the memory
                _, start, whole = left
                x._nd = nd = s.full if id(nd) == whole else _phantom.at(s.full, address(nd) - start, nd)
        if dropped:
            schedule.finish_dropped()
    return nd


def _left(c, nd):
    """What `renew` noted of the memory of the array `nd`, if the content of `c` has left it."""
    if c.starts is not None:
        left = c.starts.get(id(root(nd)))
        if left is not None and left[0]() is root(nd):  # and not another array where that one was
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
    s = c.storage
    if s.node is None:
        return settle(x)
    ph = _phantom.phantom(s.node.shape, s.node.dtype, s.node.order)
    return ph if ph is not None else settle(x)


def shape_of(x):
    """Shape of an array that may be pending."""
    s = pending_whole(x)
    return look(x).shape if s is None else s.node.shape


def dtype_of(x):
    """Dtype of an array that may be pending."""
    s = pending_whole(x)
    return look(x).dtype if s is None else s.node.dtype


def pending_whole(x):
    """The pending storage that is all of `x`, or None."""
    c = x._cell
    if x._nd is None and x._place is None and c is not None:
        s = c.storage
        if s.node is not None:
            return s
    return None


# ------------------------------------------------------------------------------------------------ operands
def operand(x):
    """`Operand` of an array, or None if it cannot be part of anything recorded."""
    o = Operand()
    s = pending_whole(x)
    if s is not None:
        node = s.node
        o.array, o.ref, o.shape, o.order, o.type = x, s, node.shape, node.order, node.dtype
        o.size = _size(node.shape)
        return o
    c = x._cell
    if c is not None and (c.marked & (PENDING | MOVED) or x._nd is None):
        s = c.storage
        if s.node is None:
            settle(x)
        elif x._nd is not None:  # a view from before a pending write to the whole
            nd = x._nd
            ph = _phantom.phantom(s.node.shape, s.node.dtype, s.node.order)
            left = _left(c, nd)
            if ph is None or left is None:
                settle(x)
            else:
                p = _phantom.at(ph, address(nd) - left[1], nd)
                o.array, o.ref, o.shape, o.type = x, Place(s, p), p.shape, p.dtype
                o.order, o.size = p, p.size
                return o
        else:
            p = x._place.nd
            o.array, o.ref, o.shape, o.type = x, Place(s, p), p.shape, p.dtype
            o.order, o.size = p, p.size
            return o
    nd = None  # references would make the memory look shared
    if c is None:
        c = cell_of(x)
    nd = x._nd
    if c.marked & SHARED or (c.storage.export is not None and is_shared(c)):
        return None
    s = c.storage
    o.array, o.shape, o.type, o.size = x, nd.shape, nd.dtype, nd.size
    o.ref = s if nd is s.full else Place(s, nd)
    o.order = None if nd.flags.c_contiguous else nd
    return o


def _size(shape):
    n = 1
    for k in shape:
        n *= k
    return n


def broadcast(a, b):
    """Shape of the result, or None if NumPy has to say that there is none."""
    if a is b or a == b:
        return a
    if len(a) < len(b):
        a, b = b, a
    out = list(a)
    lead = len(a) - len(b)
    for i, n in enumerate(b):
        m = a[lead + i]
        if m != n:
            if m == 1:
                out[lead + i] = n
            elif n != 1:
                return None
    return tuple(out)


def memory_order(operands, ins, shape, iterated):
    """Axes of the result from the slowest to the fastest, None for C order: NumPy's order "K".

    `ins` are the dtypes of the loop. Unless `iterated`, NumPy takes operands that lie alike and need no cast without
    its iterator, which orders axes of one element differently.
    """
    plain = True
    for x in operands:
        if type(x) is Operand:
            o = x
            if o.order is not None:
                plain = False
    if plain or all([type(x) is not Operand or _in_c_order(x) for x in operands]):
        return None
    arrays = []
    for x in operands:
        if type(x) is Operand:
            o = x
            if o.order is None or type(o.order) is tuple:
                ph = _phantom.phantom(o.shape, o.type, o.order)
                if ph is None:
                    return False
                arrays.append(ph)
            else:
                arrays.append(o.order)
    if all([_c_ordered(a) for a in arrays]):
        return None
    iterated = iterated or any([type(x) is Operand and x.type != d for x, d in zip(operands, ins, strict=True)])
    if not iterated and all([a.ndim == 0 or (a.shape == shape and a.flags.f_contiguous) for a in arrays]):
        return tuple(range(len(shape)))[::-1]
    it = _np.nditer(
        [*arrays, None],
        ["refs_ok", "zerosize_ok", "multi_index"],
        [["readonly"]] * len(arrays) + [["writeonly", "allocate"]],
        op_dtypes=[None] * len(arrays) + [_np.dtype("i1")],
    )
    made = it.operands[-1]
    order = tuple([i for _, _, i in sorted([(-made.strides[i], shape[i] == 1, i) for i in range(len(shape))])])
    return None if order == tuple(range(len(shape))) else order


def _in_c_order(o):
    """Does an operand lie in C order, gaps aside?"""
    return o.order is None or (type(o.order) is not tuple and _c_ordered(o.order))


def _c_ordered(a):
    last = None
    for n, s in zip(a.shape, a.strides, strict=True):
        if n != 1 and s != 0:
            s = abs(s)
            if last is not None and s > last:
                return False
            last = s
    return True


def find_loop(prim, types):
    """Dtypes of NumPy's loop for operands of these dtypes (or int, float, complex); None if it is not numeric."""
    known = _loops.get(prim)
    if known is None:
        known = _loops[prim] = []
    for entry in known:
        if _the_same(entry[0], types):
            return entry[1]
    found = None
    try:
        if all([t in _WEAK or is_number(t) for t in types]):
            *ins, out = prim.ufunc.resolve_dtypes((*types, None))
            if all([is_number(d) for d in (*ins, out)]):
                found = (tuple(ins), out)
    except (TypeError, ValueError):
        found = None
    if found is not None and prim.name in ("power", "float_power") and found[1].kind in "iu":
        found = None  # negative powers of integers raise, and that depends on the values
    if found is not None and prim.name in ("gcd", "lcm", "ldexp"):
        found = None if found[1].kind in "iu" else found
    if len(known) > 256:
        known.clear()
    known.append((types, found))
    return found


def _the_same(a, b):
    """Are these the same objects? Equal dtypes may differ: metadata, and which object a result's dtype is."""
    for i in range(len(a)):
        if a[i] is not b[i]:
            return False
    return len(a) == len(b)


# ------------------------------------------------------------------------------------------------ traced arrays
_traced_elementwise = _traced_select = _traced_cast = _traced_reduce = _traced_into = None


def install_tracing(elementwise, select, cast, reduce, into):
    """Take from tnp/tracing.py what runs instead where an array is traced."""
    global _traced_elementwise, _traced_select, _traced_cast, _traced_reduce, _traced_into
    _traced_elementwise, _traced_select, _traced_cast, _traced_reduce = elementwise, select, cast, reduce
    _traced_into = into


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
    place = habit(args)
    if place is None:
        return None
    operands, types = [], []
    large = False
    for x in args:
        t = type(x)
        if t is ndarray:
            o = operand(x)
            if o is None:
                return None
            operands.append(o)
            types.append(o.type)
            if o.size >= _lazy_from:
                large = True
        elif t is _FLOAT or t is _INT or t is _COMPLEX:
            operands.append(x)
            types.append(t)
        elif t is bool:
            operands.append(x)
            types.append(_BOOL)
        elif isinstance(x, _GENERIC) and is_number(x.dtype):
            operands.append(x)
            types.append(x.dtype)
        else:
            return None
    if not large:
        return None
    loop = find_loop(prim, tuple(types))
    if loop is None:
        return None
    return _placed(_finish(prim, (), operands, loop[0], loop[1], target), place)


def _placed(result, place):
    """`result`, which knows the place in the program that recorded it."""
    if place and result is not None:
        s = pending_whole(result)
        if s is not None:
            s.node.site = place
    return result


def habit(args):
    """Place in the program of an operation whose operands are all there; 0 for others; None: it should run at once."""
    for x in args:
        if type(x) is ndarray:
            a = x
            if a._nd is None or _numel(a._nd) * a._nd.itemsize >= LONE_BELOW:
                return 0
    if _fast:  # NumPy's own function is not
        return 0
    place = lone.site()
    return None if lone.is_lone(place) else place


def _numel(nd):
    n = 1
    for i in range(nd.ndim):
        n *= nd.shape[i]
    return n


def can_warn(prim, ins, dtype):
    """Can the operation raise a floating-point flag that NumPy reports?"""
    if prim in QUIET:
        return ins[0].kind == "c"  # comparisons and magnitudes of complex numbers do
    return dtype.kind in "fcV" or prim.name in ("floor_divide", "remainder", "fmod", "astype", "reciprocal")


def _finish(prim, params, operands, ins, dtype, target):
    shape, refs, leaf = None, [], 0
    for i in range(len(operands)):
        o = operands[i]
        if type(o) is Operand:
            a = o
            shape = a.shape if shape is None else broadcast(shape, a.shape)
            if shape is None:
                return None
            refs.append(a.ref)
            s = a.ref if type(a.ref) is Storage else a.ref.storage
            if s.node is None:
                full = s.full
                nbytes = _numel(full) * full.itemsize
                if nbytes > leaf:
                    leaf = nbytes
        else:
            d = ins[i]
            huge = type(o) is float and abs(o) > 65504.0 and o - o == 0
            if huge and d.char in "efF" and abs(o) > float(_np.finfo(d).max):
                return None  # 1e300 for float32 overflows when NumPy converts it
            try:
                refs.append(d.type(o))
            except (OverflowError, TypeError, ValueError):
                return None  # 300 for uint8, a complex for a float: NumPy says what it is
    size = _size(shape)
    nbytes = size * dtype.itemsize
    if size < _lazy_from or size == 0 or not shape or leaf > RETAIN * nbytes:
        return None
    where = None
    if can_warn(prim, ins, dtype):
        modes = warn.error_modes()
        if modes is None:
            schedule.finish_warners()  # what the program wrote before warns before
            return None
        where = warn.here(modes)
    if target is None:
        order = memory_order(operands, ins, shape, prim is where_p)
        if order is False:
            return None
    else:
        order = _order_of(target)
        if order is False or shape != look(target).shape:
            return None
    if _fast and not params and prim.ufunc is not None:
        params = FAST
    if COMPILED and target is None:  # nothing in it lets another thread run
        return _record(prim, params, operands, tuple(refs), ins, dtype, shape, order, where, target, nbytes)
    with lock:
        return _record(prim, params, operands, tuple(refs), ins, dtype, shape, order, where, target, nbytes)


def _record(prim, params, operands, refs, ins, dtype, shape, order, where, target, nbytes):
    for o in operands:
        if type(o) is Operand:
            a = o
            x = a.array
            x._cell.marked |= READERS
    s = graph.record(prim, params, refs, ins, dtype, shape, order, where)
    if target is not None:
        return renew(target, s)
    c = Cell.__new__(Cell)
    c.storage, c.marked, c.starts = s, PENDING, None
    s.live = True
    x = new(ndarray)
    x._cell = c
    if s.node.count > GROUP or (nbytes >= BIG and _too_much(s, nbytes)):
        _force_now(s)
    if dropped:
        schedule.finish_dropped()
    return x


def select(c, x, y, target=None):
    """`numpy.where` of three operands, recorded; None if it has to run at once.

    `target`, a tnp array of the result's dtype, is the destination: the result is its next content.
    """
    if traced((c, x, y), target):
        return _traced_select(c, x, y, target)
    return record_select(c, x, y, target)


def record_select(c, x, y, target=None):
    """`select`, without telling any interpreter."""
    place = habit((c, x, y))
    if place is None:
        return None
    operands, types, large = [], [], False
    for a in (c, x, y):
        t = type(a)
        if t is ndarray:
            o = operand(a)
            if o is None:
                return None
            large = large or o.size >= _lazy_from
            operands.append(o)
            types.append(o.type)
        elif t in _WEAK or t is bool or isinstance(a, _GENERIC):
            operands.append(a)
            types.append(t if t in _WEAK else _np.dtype(bool) if t is bool else a.dtype)
        else:
            return None
    if not large or any(t not in _WEAK and not is_number(t) for t in types):
        return None
    if types[0] != _np.dtype(bool):
        return None
    weak = [types[i] if types[i] not in _WEAK else operands[i] for i in (1, 2)]
    try:
        dtype = _np.result_type(*weak)
    except (TypeError, OverflowError):
        return None
    if target is not None and (dtype != look(target).dtype or _order_of(target) is False):
        return None
    return _finish(where_p, (), operands, (types[0], dtype, dtype), dtype, target)


def copied_in_order(nd):
    """Is NumPy's copy of `nd` in C order? Copies have a rule of their own, for axes of one element too."""
    return _np.empty_like(nd, "i1", "K").strides == _np.empty(nd.shape, "i1").strides


def cast(x, dtype):
    """A recorded conversion to another dtype, as an independent array; None if it has to run at once."""
    return _traced_cast(x, dtype) if traced((x,), None) else record_cast(x, dtype)


def record_cast(x, dtype):
    """`cast`, without telling any interpreter."""
    place = habit((x,))
    if place is None:
        return None
    o = operand(x)
    if o is None or not is_number(dtype) or not is_number(o.type):
        return None
    if o.size < _lazy_from or o.type.kind == "c" != dtype.kind:
        return None  # dropping imaginary parts has a warning of its own
    if o.order is not None and not copied_in_order(look(x)):
        return None
    return _placed(_finish(cast_p, (("dtype", dtype),), [o], (o.type,), dtype, None), place)


# ------------------------------------------------------------------------------------------------ writes to the whole
def _order_of(x):
    """Memory order of an array that is the whole of its storage; False if its next content cannot be pending."""
    c = x._cell
    s = pending_whole(x)
    if s is not None:
        return s.node.order
    if c is None:
        c = cell_of(x)
    if is_shared(c):
        return False
    nd = settle(x) if c.marked & (PENDING | MOVED) or x._nd is None else x._nd
    full = c.storage.full
    whole = nd is full or (
        x._base is not None and nd.dtype is full.dtype and is_same(nd, full)
    )  # a view whose base is not known stays one
    if not whole or not nd.flags.writeable:
        return False
    if 1 in nd.shape and nd.ndim > 1 and nd.strides != _np.empty(nd.shape, nd.dtype).strides:
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
    if old.full is not None:  # where views of it have to count from
        if c.starts is None:
            c.starts = {}
        was = root(old.full)
        c.starts[id(was)] = weakref.ref(was), address(old.full), id(old.full)
    s.live = True
    s.node.version = True
    c.storage = s
    c.marked = (c.marked & ~READERS) | PENDING | MOVED
    x._nd = x._place = None
    nbytes = _size(s.node.shape) * s.node.dtype.itemsize
    if s.node.count > GROUP or (nbytes >= BIG and _too_much(s, nbytes)):
        try:
            _force_now(s)
        except BaseException:  # the array stays as it was
            s.live = False
            old.live = True
            c.storage = old
            raise
    return x


def _force_now(s):
    """Run what was just recorded; where that fails it never happened."""
    try:
        if _limited:  # what was promised before must not find its room taken
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
    if _waiting <= _room and len(_promised) & 63 and not _limited:
        return False
    _promised[:] = [
        (r, n) for r, n in _promised if (p := r()) is not None and p.node is not None and (p.live or p.uses or p is s)
    ]
    _waiting, _room = sum([n for _, n in _promised]), backend.room()
    return _waiting > _room


def inplace(prim, a, b):
    """``a op= b`` as a pending write to the whole of `a`; None if it has to run at once."""
    if traced((a, b), None):
        return _traced_into(prim, (a, b), a)
    if type(a) is not ndarray or habit((a, b)) is None:
        return None
    s = pending_whole(a)
    type_a = s.node.dtype if s is not None else look(a).dtype
    types = (type_a, type(b) if type(b) in _WEAK else _np.dtype(bool) if type(b) is bool else getattr(b, "dtype", None))
    if types[1] is None:
        return None
    loop = find_loop(prim, types)
    if loop is None or loop[1] != type_a or _is_one(a):
        return None
    if _order_of(a) is False:
        return _into_part(prim, (a, b), a, loop[0])
    return elementwise(prim, (a, b), a)


def _is_one(x):
    """Is there one element? NumPy's loops then see no strides, and some compute in place by other steps."""
    return _size(shape_of(x)) == 1


def _into_part(prim, args, out, ins):
    """An operation on part of some memory, as one kernel into it, if an operand is pending; None: at once."""
    shape, pending = (), False
    for x in args:
        if type(x) is ndarray:
            pending = pending or pending_whole(x) is not None
            shape = broadcast(shape, shape_of(x))
            if shape is None:
                return None
    if not pending or type(out) is not ndarray or shape != shape_of(out):
        return None
    with lock:
        c = cell_of(out)  # first: a reference of our own would make the memory look shared
        nd = settle(out)
        if not nd.flags.writeable or is_shared(c) or root(nd) is not root(c.storage.full):
            return None
        if not nd.flags.c_contiguous and not backend.fusible(prim, ins, nd):
            return None  # NumPy's loop chooses its steps by the strides of what it writes, too
        if pending_readers(c.storage):  # it may be the operand; held by the running call, it would be stored as well
            return None
        value = record_elementwise(prim, args)
        if value is None:
            return None
        schedule.store(c.storage, nd, value._cell.storage)
        value = None
        if not pending_readers(c.storage):
            c.marked &= ~READERS
    return out


def into(prim, args, out):
    """A ufunc call with ``out=``, as a pending write to the whole of `out`; None if it has to run at once."""
    if traced(args, out):
        return _traced_into(prim, args, out)
    types = tuple(
        type(x) if type(x) in _WEAK else _np.dtype(bool) if type(x) is bool else getattr(x, "dtype", None) for x in args
    )
    if any([t is None for t in types]):  # not "in": a dtype equals None where float64 does
        return None
    loop = find_loop(prim, types)
    if loop is None or loop[1] != look(out).dtype or _is_one(out):
        return None
    if _order_of(out) is False:
        return _into_part(prim, args, out, loop[0])
    return elementwise(prim, args, out)


def assign(x, value):
    """``x[...] = value`` as a pending write to the whole of `x`; None if it has to run at once."""
    if type(value) is not ndarray or type(x) is not ndarray or _order_of(x) is False:
        return None
    o = operand(value)
    shape = look(x).shape
    if o is None or o.type != look(x).dtype or o.shape != shape or o.size < _lazy_from:
        return None
    return _finish(cast_p, (("dtype", o.type),), [o], (o.type,), o.type, x)


def store(x, key, value):
    """``x[key] = value``, for a pending `value`, as one kernel into the destination; None if that cannot be."""
    if type(value) is not ndarray or type(x) is not ndarray:
        return None
    v = pending_whole(value)
    if v is None or value._cell is x._cell:  # ``a[...] *= b`` ends with assigning the array to itself
        return None
    with lock:
        c = cell_of(x)  # first: a reference of our own would make the memory look shared
        nd = settle(x)
        if v.node is None:  # the kernel that gave `x` its content computed the value too
            return None
        place = nd[key]
        if type(place) is not _NDARRAY or not place.flags.writeable or place.shape != v.node.shape:
            return None
        if place.dtype != v.node.dtype or is_shared(c) or place.base is not root(nd):
            return None
        schedule.store(c.storage, place, v)
        if c.storage.readers is None:
            c.marked &= ~READERS
    return True


# ------------------------------------------------------------------------------------------------ reductions
PLAIN_REDUCTION = 1 << 20  # elements of memory as it lies, below which NumPy is as fast


def reduce(ufunc, x, axis, keepdims, dtype=None):
    """``ufunc.reduce(x, axis, keepdims=...)`` through the engine, finished; None if NumPy should do it."""
    if ufunc in REDUCTIONS and traced((x,), None):
        return _traced_reduce(ufunc, x, axis, keepdims, dtype)
    return run_reduce(ufunc, x, axis, keepdims, dtype)


def run_reduce(ufunc, x, axis, keepdims, dtype):
    """`reduce`, without telling any interpreter."""
    prim = REDUCTIONS.get(ufunc)
    if prim is None or type(x) is not ndarray:
        return None
    s = pending_whole(x)
    if s is None and look(x).size < max(_lazy_from, min(PLAIN_REDUCTION, _lazy_from * 32)):
        return None
    o = operand(x)
    if o is None or not is_number(o.type) or o.size < _lazy_from or not o.size:
        return None
    ndim = len(o.shape)
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
    loop = _reduce_loop(ufunc, o.type, dtype)
    if loop is None or (o.order is not None and (ndim - len(axes) > 1 or (keepdims and ndim > 1))):
        return None  # the order of the result in memory follows the operand's
    if keepdims:
        shape = tuple(1 if i in axes else n for i, n in enumerate(o.shape))
    else:
        shape = tuple(n for i, n in enumerate(o.shape) if i not in axes)
    with lock:
        s = graph.record(
            prim, (("axis", axes), ("keepdims", bool(keepdims))), (o.ref,), (loop,), loop, shape, None, None
        )
        s.live = True
        schedule.force(s)
        full = s.full
        if schedule.flags and loop.kind in "fc" and schedule.flags & asked():
            return None  # NumPy runs it again and warns, from the line of its own that does
    if not shape:
        return full[()]
    r = new(ndarray)
    r._nd = full
    r._cell = Cell(s, 0)
    return r


def _reduce_loop(ufunc, dtype, wanted):
    """Dtype in which a reduction runs."""
    if ufunc in (_np.logical_and, _np.logical_or):
        return _np.dtype(bool) if dtype.char == "?" and wanted is None else None
    if wanted is not None:
        return None
    if ufunc in (_np.add, _np.multiply) and dtype.kind in "bui":
        return None if dtype.kind == "b" or dtype.itemsize < 8 else dtype
    return dtype


def evaluate(*arrays):
    """Finish pending work: of the given arrays, or (without any) all that could still warn. Returns the arrays.

    >>> import tnp
    >>> x = tnp.evaluate(tnp.arange(3) + 1)
    >>> x
    array([1, 2, 3])
    """
    together = {}
    for x in arrays:
        if type(x) is ndarray and (s := pending_whole(x)) is not None:
            together.setdefault(s.node.shape, {})[s] = None
    for same in together.values():
        if len(same) > 1:
            schedule.run([s for s in same if s.node is not None])
    for x in arrays:
        if isinstance(x, ndarray):
            settle(x)
    if not arrays:
        schedule.finish_dropped()
        schedule.finish_warners()
    return arrays[0] if len(arrays) == 1 else arrays


atexit.register(evaluate)

__all__ = ["PRIMITIVES", "pending_readers", "weakref"]
