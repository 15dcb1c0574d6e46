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
from tnp.core import layout, native
from tnp.core.cells import Cell, Place, Storage, dropped
from tnp.core.config import config
from tnp.core.dtypes import is_number
from tnp.core.elementwise import PRIMITIVES, QUIET, REDUCTIONS, cast_p, where_p
from tnp.core.native import COMPILED, address
from tnp.hot import ndarray
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
    lone.set_below(0 if _fast else LONE_BELOW)
    backend.configure(settings)


_fast = _limited = False
config.listen(_configured)


def set_lazy_from(n):
    """Elements from which operations are recorded, here and in the hot path."""
    global _lazy_from, LONE_BELOW
    _lazy_from = n
    LONE_BELOW = BELOW if n > 1024 else 0  # who asks for small arrays to be recorded means it
    lone.set_below(0 if _fast else LONE_BELOW)
    hot.set_lazy_from(n)


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
            left = _left(c, nd) if hot.root(nd) is not hot.root(s.full) else None
            if left is not None:  # else some object holds the memory
                _, start, whole = left
                x._nd = nd = s.full if id(nd) == whole else _phantom.at(s.full, address(nd) - start, nd)
        if dropped:
            schedule.finish_dropped()
    return nd


def _left(c, nd):
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
    s = c.storage
    if s.node is None:
        return settle(x)
    ph = _phantom.phantom(s.node.shape, s.node.dtype, s.node.order)
    return ph if ph is not None else settle(x)


def shape_of(x):
    """Shape of an array that may be pending."""
    s = pending_whole(x)
    return native.shape(look(x)) if s is None else s.node.shape


def dtype_of(x):
    """Dtype of an array that may be pending."""
    s = pending_whole(x)
    return native.dtype(look(x)) if s is None else s.node.dtype


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
    """What the graph reads where `x` is an operand, a `Storage` or a `Place`; None if that cannot be recorded."""
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
                return _place(s, _phantom.at(ph, address(nd) - left[1], nd))
        else:
            p = x._place
            return s if p is None else _place(s, p.nd)
    nd = None  # references would make the memory look shared
    if c is None:
        c = hot.cell_of(x)
    s = c.storage
    if c.marked & SHARED or (s.export is not None and is_shared(c)):
        return None
    nd = x._nd
    return s if nd is s.full else _place(s, nd)


def _place(s, nd):
    p = Place.__new__(Place)
    p.storage, p.nd = s, nd
    return p


def _array(ref):
    """The array of an operand, a view of the phantom if it is pending; None for all of what is pending."""
    if type(ref) is Storage:
        s = ref
        return s.full
    p = ref
    return p.nd


def _dtype(ref):
    nd = _array(ref)
    if nd is None:
        s = ref
        return s.node.dtype
    return native.dtype(nd)


def _shape(ref):
    nd = _array(ref)
    if nd is None:
        s = ref
        return s.node.shape
    return native.shape(nd)


def _is_large(ref):
    """Has the operand as many elements as it takes to be recorded?"""
    nd = _array(ref)
    if nd is None:
        s = ref
        return layout.size_of(s.node.shape) >= _lazy_from
    return native.size(nd) >= _lazy_from


def _is_ref(x):
    return type(x) is Storage or type(x) is Place


def memory_order(refs, ins, shape, iterated):
    """Axes of the result from the slowest to the fastest, None for C order: NumPy's order "K". False: NumPy has to run.

    `ins` are the dtypes of the loop. Unless `iterated`, NumPy takes operands that lie alike and need no cast without
    its iterator, which orders axes of one element differently.
    """
    plain = True
    for r in refs:
        if _is_ref(r):
            nd = _array(r)
            if nd is None:
                s = r
                plain = s.node.order is None
            else:
                plain = native.is_contiguous(nd) or layout.is_in_c_order(nd)
            if not plain:
                break
    if plain:
        return None
    axes = _common_axes(refs, shape)
    return _order_by_numpy(refs, ins, shape, iterated) if axes is None else axes


def _common_axes(refs, shape):
    """The order of axes that all operands have, if there is no doubt about it; else None."""
    axes = None
    for r in refs:
        if not _is_ref(r):
            continue
        nd = _array(r)
        if nd is None:
            s = r
            if axes is None:
                axes = s.node.order
            if axes is None or s.node.order != axes or s.node.shape != shape or 1 in shape:
                return None
        else:
            if not layout.has_shape(nd, shape):
                return None
            if axes is None:
                axes = layout.axes_by_stride(nd)
            if not layout.lies_along(nd, axes):
                return None
    return axes


def _order_by_numpy(refs, ins, shape, iterated):
    """`memory_order` as NumPy finds it."""
    arrays = []
    for i, r in enumerate(refs):
        if not _is_ref(r):
            continue
        iterated = iterated or _dtype(r) != ins[i]
        a = _array(r)
        if a is None:
            a = _phantom.phantom(r.node.shape, r.node.dtype, r.node.order)
            if a is None:
                return False
        arrays.append(a)
    if all([layout.is_in_c_order(a) for a in arrays]):
        return None
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


def find_loop(prim, types):
    """NumPy's loop for operands of these dtypes (or int, float, complex), or None if it is not numeric.

    The loop is the dtypes of its operands, that of its result, and whether it can warn.
    """
    known = _loops.get(prim)
    if known is None:
        known = _loops[prim] = []
    for entry in known:
        if _the_same(entry[0], types):
            return entry[1]
    types = tuple(types)
    found = None
    try:
        if all([t in _WEAK or is_number(t) for t in types]):
            *ins, out = prim.ufunc.resolve_dtypes((*types, None))
            if all([is_number(d) for d in (*ins, out)]):
                found = (tuple(ins), out, can_warn(prim, ins, out))
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


def can_warn(prim, ins, dtype):
    """Can the operation raise a floating-point flag that NumPy reports?"""
    if prim in QUIET:
        return ins[0].kind == "c"  # comparisons and magnitudes of complex numbers do
    return dtype.kind in "fcV" or prim.name in ("floor_divide", "remainder", "fmod", "astype", "reciprocal")


def _the_same(a, b):
    """Are these the same objects? Equal dtypes may differ: metadata, and which object a result's dtype is."""
    if len(a) != len(b):
        return False
    for i in range(len(a)):  # noqa: SIM110, a loop of C where this is compiled
        if a[i] is not b[i]:
            return False
    return True


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
    point = point_of(args)
    site = 0 if point is None else lone.site(point)
    if site and lone.is_lone(site):
        return None
    refs, types = [], []
    large = False
    for x in args:
        t = type(x)
        if t is ndarray:
            x = operand(x)
            if x is None:
                return None
            t = _dtype(x)
            large = large or _is_large(x)
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
    loop = find_loop(prim, types)
    if loop is None:
        return None
    return _finish(prim, (), args, refs, loop[0], loop[1], loop[2], target, point, site)


def point_of(args):
    """Where the program is (`tnp.core.native.point`), if the habit of that place counts: all operands are there."""
    if _fast:  # NumPy's own function is not
        return None
    for x in args:
        if type(x) is ndarray:
            a = x
            if a._nd is None or native.nbytes(a._nd) >= LONE_BELOW:
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


def _finish(prim, params, args, refs, ins, dtype, warns, target, point, site):
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
        nd = _array(r)
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
    if size < _lazy_from or size == 0 or not shape or leaf > RETAIN * nbytes:
        return None
    where = None
    if warns:
        modes = warn.error_modes()
        if modes is None:
            schedule.finish_warners()  # what the program wrote before warns before
            return None
        where = warn.here(modes, point)
    if target is None:
        order = memory_order(refs, ins, shape, prim is where_p)
        if order is False:
            return None
    else:
        order = _order_of(target)
        if order is False or shape != shape_of(target):
            return None
    if _fast and not params and prim.ufunc is not None:
        params = FAST
    if COMPILED and target is None:  # nothing in it lets another thread run
        return _record(prim, params, args, tuple(refs), ins, dtype, shape, order, where, target, nbytes, site)
    with lock:
        return _record(prim, params, args, tuple(refs), ins, dtype, shape, order, where, target, nbytes, site)


def _record(prim, params, args, refs, ins, dtype, shape, order, where, target, nbytes, site):
    for o in args:
        if type(o) is ndarray:
            x = o
            c = x._cell
            c.marked |= READERS
    s = graph.record(prim, params, refs, ins, dtype, shape, order, where)
    if site:
        s.node.site = site
    if target is not None:
        return renew(target, s)
    c = Cell.__new__(Cell)
    c.storage, c.marked, c.starts = s, PENDING, None
    s.live = True
    x = hot.new(ndarray)
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
    args = (c, x, y)
    point = point_of(args)
    if point is not None and lone.is_lone(lone.site(point)):
        return None
    refs, types = [], []
    large = False
    for a in args:
        t = type(a)
        if t is ndarray:
            a = operand(a)
            if a is None:
                return None
            t = _dtype(a)
            large = large or _is_large(a)
            if not _is_number(t):
                return None
        elif t is bool:
            t = _BOOL
        elif isinstance(a, _GENERIC):
            t = a.dtype
            if not is_number(t):
                return None
        elif t not in _WEAK:
            return None
        refs.append(a)
        types.append(t)
    if not large or types[0] is not _BOOL:
        return None
    dtype = types[1]
    if dtype is not types[2] or dtype in _WEAK or dtype.metadata is not None:
        try:
            dtype = _np.result_type(*[types[i] if types[i] not in _WEAK else refs[i] for i in (1, 2)])
        except (TypeError, OverflowError):
            return None
    if target is not None and (dtype != dtype_of(target) or _order_of(target) is False):
        return None
    return _finish(where_p, (), args, refs, (_BOOL, dtype, dtype), dtype, False, target, point, 0)


def cast(x, dtype):
    """A recorded conversion to another dtype, as an independent array; None if it has to run at once."""
    return _traced_cast(x, dtype) if traced((x,), None) else record_cast(x, dtype)


def record_cast(x, dtype):
    """`cast`, without telling any interpreter."""
    args = (x,)
    point = point_of(args)
    site = 0 if point is None else lone.site(point)
    if site and lone.is_lone(site):
        return None
    r = operand(x)
    if r is None or not _is_number(dtype):
        return None
    former = _dtype(r)
    if not _is_number(former) or not _is_large(r) or former.kind == "c" != dtype.kind:
        return None  # dropping imaginary parts has a warning of its own
    nd = _array(r)
    if nd is None:
        s = r
        if s.node.order is not None and not layout.copied_in_order(look(x)):
            return None
    elif not native.is_contiguous(nd) and not layout.copied_in_order(nd):
        return None
    return _finish_cast(args, [r], former, dtype, None, point, site)


def _finish_cast(args, refs, former, dtype, target, point, site):
    warns = can_warn(cast_p, (former,), dtype)
    return _finish(cast_p, (("dtype", dtype),), args, refs, (former,), dtype, warns, target, point, site)


def _is_number(dtype):
    """`is_number`, remembered."""
    if dtype in _numbers:
        return True
    if not is_number(dtype):
        return False
    _numbers.add(dtype)
    return True


_numbers: set[Any] = set()


# ------------------------------------------------------------------------------------------------ writes to the whole
def _order_of(x):
    """Memory order of an array that is the whole of its storage; False if its next content cannot be pending."""
    c = x._cell
    s = pending_whole(x)
    if s is not None:
        return s.node.order
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
    if old.full is not None:  # where views of it have to count from
        if c.starts is None:
            c.starts = {}
        was = hot.root(old.full)
        c.starts[id(was)] = weakref.ref(was), address(old.full), id(old.full)
    s.live = True
    s.node.version = True
    c.storage = s
    c.marked = (c.marked & ~READERS) | PENDING | MOVED
    x._nd = x._place = None
    nbytes = layout.size_of(s.node.shape) * native.itemsize(s.node.dtype)
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
    if type(a) is not ndarray:
        return None
    types = [dtype_of(a), _type_of(b)]
    if types[1] is None:
        return None
    loop = find_loop(prim, types)
    if loop is None or loop[1] != types[0] or _is_one(a):
        return None
    if _order_of(a) is False:
        return _into_part(prim, (a, b), a, loop[0])
    return elementwise(prim, (a, b), a)


def _type_of(x):
    """Dtype of an operand, or int, float, complex; None for what is no operand."""
    t = type(x)
    if t is ndarray:
        return dtype_of(x)
    return t if t in _WEAK else _BOOL if t is bool else getattr(x, "dtype", None)


def _is_one(x):
    """Is there one element? NumPy's loops then see no strides, and some compute in place by other steps."""
    return layout.size_of(shape_of(x)) == 1


def _into_part(prim, args, out, ins):
    """An operation on part of some memory, as one kernel into it, if an operand is pending; None: at once."""
    shape, pending = (), False
    for x in args:
        if type(x) is ndarray:
            pending = pending or pending_whole(x) is not None
            shape = layout.broadcast(shape, shape_of(x))
            if shape is None:
                return None
    if not pending or type(out) is not ndarray or shape != shape_of(out):
        return None
    with lock:
        c = hot.cell_of(out)  # first: a reference of our own would make the memory look shared
        nd = settle(out)
        if not nd.flags.writeable or is_shared(c) or hot.root(nd) is not hot.root(c.storage.full):
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
    types = [_type_of(x) for x in args]
    if any([t is None for t in types]):  # not "in": a dtype equals None where float64 does
        return None
    loop = find_loop(prim, types)
    if loop is None or loop[1] != dtype_of(out) or _is_one(out):
        return None
    if _order_of(out) is False:
        return _into_part(prim, args, out, loop[0])
    return elementwise(prim, args, out)


def assign(x, value):
    """``x[...] = value`` as a pending write to the whole of `x`; None if it has to run at once."""
    if type(value) is not ndarray or type(x) is not ndarray or _order_of(x) is False:
        return None
    r = operand(value)
    if r is None or _shape(r) != shape_of(x) or _dtype(r) != dtype_of(x) or not _is_large(r):
        return None
    dtype = _dtype(r)
    return _finish_cast((value,), [r], dtype, dtype, x, None, 0)


def store(x, key, value):
    """``x[key] = value``, for a pending `value`, as one kernel into the destination; None if that cannot be."""
    if type(value) is not ndarray or type(x) is not ndarray:
        return None
    v = pending_whole(value)
    if v is None or value._cell is x._cell:  # ``a[...] *= b`` ends with assigning the array to itself
        return None
    with lock:
        c = hot.cell_of(x)  # first: a reference of our own would make the memory look shared
        nd = settle(x)
        if v.node is None:  # the kernel that gave `x` its content computed the value too
            return None
        place = nd[key]
        if type(place) is not _NDARRAY or not place.flags.writeable or place.shape != v.node.shape:
            return None
        if place.dtype != v.node.dtype or is_shared(c) or place.base is not hot.root(nd):
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
    r = operand(x)
    if r is None or not _is_number(_dtype(r)) or not _is_large(r):
        return None
    given = _shape(r)
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
    loop = _reduce_loop(ufunc, _dtype(r), dtype)
    if loop is None or (not _is_straight(r) and (ndim - len(axes) > 1 or (keepdims and ndim > 1))):
        return None  # the order of the result in memory follows the operand's
    if keepdims:
        shape = tuple(1 if i in axes else n for i, n in enumerate(given))
    else:
        shape = tuple(n for i, n in enumerate(given) if i not in axes)
    with lock:
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


def _is_straight(ref):
    """Is the operand in C order, without gaps?"""
    nd = _array(ref)
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
