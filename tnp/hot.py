"""What runs at every call: the array class, its operators, ufunc calls, indexing.

Small arrays whose content is there and that nothing pending concerns go straight to NumPy; everything else goes to
the functions that tnp/ndarray.py installs (`install`). This module is also compiled by Cython: the types stand in
hot.pxd, `import cython` is not wanted (it costs 26 ms), so nothing here looks unlike Python.
"""

from sys import getrefcount
from types import FunctionType

import numpy as _np

from tnp.core import native
from tnp.core.cells import Cell, Storage
from tnp.core.layout import ELIDED_FROM

BUSY = 15  # PENDING | READERS | MOVED | TRACED: a write must look first
UNREADABLE = 13  # PENDING | MOVED | TRACED
TRACED = 8
SHARED = 16

_NDARRAY = _np.ndarray
_FLOAT64 = _np.float64
_VOID = _np.void


class _Sentinel:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


SLOW = _Sentinel("SLOW")
OWNER = _Sentinel("OWNER")  # the base of an array that owns its memory although its NumPy view is one
globals()["OWNER"] = OWNER  # Python code wants it too; compiled, the name above is a C variable

# Arrays with fewer elements run at once. Zero sends everything through `bind` (an interpreter is active).
lazy_from = 1 << 62


def set_lazy_from(n):
    """Elements from which operations are recorded instead of run."""
    global lazy_from
    lazy_from = n


def get_lazy_from():
    return lazy_from


def _uninstalled(*args):
    raise RuntimeError("tnp.hot is used before tnp.ndarray has installed its functions")


slow_binary = slow_reflected = slow_inplace = slow_unary = slow_power = slow_getitem = slow_setitem = _uninstalled
slow_call = settle = release = slow_method = tell_read = tell_write = _uninstalled


def install(table):
    """Take the slow paths from `table` (name -> function)."""
    global slow_binary, slow_reflected, slow_inplace, slow_unary, slow_power, slow_getitem, slow_setitem
    global slow_call, settle, release, slow_method
    slow_binary, slow_reflected = table["binary"], table["reflected"]
    slow_inplace, slow_unary, slow_power = table["inplace"], table["unary"], table["power"]
    slow_getitem, slow_setitem = table["getitem"], table["setitem"]
    slow_call, settle, release, slow_method = table["call"], table["settle"], table["release"], table["method"]


def install_tracing(read, write):
    """Take from tnp/tracing.py what is told of reads and writes of traced arrays."""
    global tell_read, tell_write
    tell_read, tell_write = read, write


# ------------------------------------------------------------------------------------------------ the fast questions
def is_small(nd):
    return native.size(nd) < lazy_from and native.nbytes(nd) < ELIDED_FROM


def ready(x):
    """May an operation read `x` at once, and is it small enough that it should?"""
    if x._nd is None or type(x) is not ndarray:
        return False
    c = x._cell
    if c is not None and c.marked & UNREADABLE:
        return False
    return is_small(x._nd)


def quick(x, other):
    """The NumPy operand that stands for `other` in a direct operation with `x`, or SLOW."""
    if not ready(x):
        return SLOW
    t = type(other)
    if t is ndarray:
        return other._nd if ready(other) else SLOW
    if t is float or t is int or t is _FLOAT64 or t is bool or t is complex:
        return other
    return SLOW


def quick_inplace(x, other):
    c = x._cell
    if c is not None and c.marked & BUSY:
        return SLOW
    return quick(x, other)


def real(x):
    """The NumPy array of `x`, for reading: pending work is finished first."""
    c = x._cell
    if x._nd is not None and (c is None or not c.marked & UNREADABLE):
        return x._nd
    if c is not None and c.marked & TRACED:
        tell_read(x)
    return settle(x)


def writable(x):
    """The NumPy array of `x`, for writing: whoever still has to see the old content is served first."""
    c = x._cell
    if c is None or (x._nd is not None and not c.marked & BUSY):
        return x._nd
    if c.marked & TRACED:
        tell_write(x)
    return release(x)


def wrap(r):
    """`r` as a tnp array if it is a NumPy array that nobody else holds, or a tuple of such; others pass through."""
    if type(r) is not _NDARRAY:
        return r if type(r) is not tuple else tuple([wrap(y) for y in r])
    x = new(ndarray)
    x._nd = r
    return x


def new(cls):
    return ndarray.__new__(cls) if cls is not ndarray else ndarray.__new__(ndarray)


def root(nd):
    """The array that holds the memory of `nd`: bases of views collapse to it."""
    base = nd.base
    return base if type(base) is _NDARRAY else nd


def cell_of(x):
    """The cell of `x`, made when a second name or a pending reader needs it.

    From now on memory that foreign code sees is exported through `Storage.export`; before, reference counts tell.
    """
    c = x._cell
    if c is None:
        nd = x._nd
        base = nd.base
        if base is None:
            exclusive = getrefcount(nd) <= ALONE
            full = nd
        elif type(base) is _NDARRAY:
            exclusive = getrefcount(nd) <= ALONE and sole_owner(base)
            full = base
        else:
            exclusive = False
            full = nd
        nd = base = None
        c = Cell(Storage(full, None), 0 if exclusive else SHARED)
        x._cell = c
    return c


def sole_owner(base):
    return getrefcount(base) <= ALONE_BASE and base.base is None


def view_of(x, r):
    """A view `r` of the NumPy array of `x`, as a tnp array that shares the cell of `x`."""
    y = new(ndarray)
    y._nd = r
    y._cell = x._cell
    y._base = base_for(x)
    return y


def base_for(x):
    """The base of views of `x`, which has a cell: bases that are arrays collapse to the one that holds the memory."""
    if x._base is not None:
        return x._base if isinstance(x._base, ndarray) else x
    nd = x._nd
    if nd is None or nd is x._cell.storage.full or type(nd.base) is not _NDARRAY:
        return x
    return owner_of(x)


def owner_of(x):
    """The array that holds the memory of which `x` is a view, where no array of the program's does."""
    owner = new(ndarray)
    owner._cell = cell_of(x)
    owner._nd = owner._cell.storage.full
    x._base = owner
    return owner


def _as_view(x, r):
    """A view `r` of the memory of `x`, made by NumPy, as a tnp array."""
    if x._cell is None:
        cell_of_viewed(x)
    return view_of(x, r)


def quick_view(x, raw, args):
    """What NumPy's method `raw` gives for an `x` whose content is there: a view, a copy, or `x` itself; else None."""
    if type(x) is not ndarray or x._nd is None:
        return None
    c = x._cell
    if c is not None and c.marked & UNREADABLE:
        return None
    r = raw(x._nd, *args)
    if type(r) is not _NDARRAY:
        return None
    if r is x._nd:
        return x
    if r.base is None:
        return wrap(r)
    if r.base is not root(x._nd):
        return None
    if c is None:
        cell_of_viewed(x)
    return view_of(x, r)


def strides_of(x):
    return x._nd.strides if x._nd is not None else slow_method("strides", x, ())


def nbytes_of(x):
    """Bytes that the elements take."""
    return x._nd.nbytes if x._nd is not None else x.size * x.dtype.itemsize


def itemsize_of(x):
    """Bytes of one element."""
    return x.dtype.itemsize if x._nd is None else x._nd.itemsize


def plain_key(key):
    """Is `key` free of tnp arrays, so that NumPy may see it as it is?"""
    t = type(key)
    if t is int or t is slice:
        return True
    if t is tuple:
        for k in key:
            t = type(k)
            if not (t is int or t is slice or k is None or k is Ellipsis):
                return False
        return True
    return key is None or key is Ellipsis


class ndarray:
    """NumPy's ndarray: N-dimensional array of one dtype, whose operations are recorded, fused and run when read.

    Parameters
    ----------
    shape, dtype, buffer, offset, strides, order
        As `numpy.ndarray`.

    >>> import tnp
    >>> tnp.ndarray((2,), float, tnp.array([1.0, 2.0, 3.0]), offset=8)
    array([2., 3.])
    """

    __slots__ = ("__weakref__", "_base", "_cell", "_nd", "_place")
    __array_priority__ = 1000.0
    __hash__ = None

    def __init__(self, *args, **kwargs):
        # Only the program's calls come here, not `new`
        if self._nd is None and self._cell is None:
            raise TypeError("ndarray() missing required argument 'shape' (pos 1)")

    def __add__(self, other):
        o = quick(self, other)
        return wrap(self._nd + o) if o is not SLOW else slow_binary(ADD, self, other)

    def __radd__(self, other):
        o = quick(self, other)
        return wrap(o + self._nd) if o is not SLOW else slow_reflected(ADD, self, other)

    def __iadd__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(ADD, self, other)
        a = self._nd
        a += o
        return self

    def __sub__(self, other):
        o = quick(self, other)
        return wrap(self._nd - o) if o is not SLOW else slow_binary(SUB, self, other)

    def __rsub__(self, other):
        o = quick(self, other)
        return wrap(o - self._nd) if o is not SLOW else slow_reflected(SUB, self, other)

    def __isub__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(SUB, self, other)
        a = self._nd
        a -= o
        return self

    def __mul__(self, other):
        o = quick(self, other)
        return wrap(self._nd * o) if o is not SLOW else slow_binary(MUL, self, other)

    def __rmul__(self, other):
        o = quick(self, other)
        return wrap(o * self._nd) if o is not SLOW else slow_reflected(MUL, self, other)

    def __imul__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(MUL, self, other)
        a = self._nd
        a *= o
        return self

    def __truediv__(self, other):
        o = quick(self, other)
        return wrap(self._nd / o) if o is not SLOW else slow_binary(TRUEDIV, self, other)

    def __rtruediv__(self, other):
        o = quick(self, other)
        return wrap(o / self._nd) if o is not SLOW else slow_reflected(TRUEDIV, self, other)

    def __itruediv__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(TRUEDIV, self, other)
        a = self._nd
        a /= o
        return self

    def __floordiv__(self, other):
        o = quick(self, other)
        return wrap(self._nd // o) if o is not SLOW else slow_binary(FLOORDIV, self, other)

    def __rfloordiv__(self, other):
        o = quick(self, other)
        return wrap(o // self._nd) if o is not SLOW else slow_reflected(FLOORDIV, self, other)

    def __ifloordiv__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(FLOORDIV, self, other)
        a = self._nd
        a //= o
        return self

    def __mod__(self, other):
        o = quick(self, other)
        return wrap(self._nd % o) if o is not SLOW else slow_binary(MOD, self, other)

    def __rmod__(self, other):
        o = quick(self, other)
        return wrap(o % self._nd) if o is not SLOW else slow_reflected(MOD, self, other)

    def __imod__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(MOD, self, other)
        a = self._nd
        a %= o
        return self

    def __lshift__(self, other):
        o = quick(self, other)
        return wrap(self._nd << o) if o is not SLOW else slow_binary(LSHIFT, self, other)

    def __rlshift__(self, other):
        o = quick(self, other)
        return wrap(o << self._nd) if o is not SLOW else slow_reflected(LSHIFT, self, other)

    def __ilshift__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(LSHIFT, self, other)
        a = self._nd
        a <<= o
        return self

    def __rshift__(self, other):
        o = quick(self, other)
        return wrap(self._nd >> o) if o is not SLOW else slow_binary(RSHIFT, self, other)

    def __rrshift__(self, other):
        o = quick(self, other)
        return wrap(o >> self._nd) if o is not SLOW else slow_reflected(RSHIFT, self, other)

    def __irshift__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(RSHIFT, self, other)
        a = self._nd
        a >>= o
        return self

    def __and__(self, other):
        o = quick(self, other)
        return wrap(self._nd & o) if o is not SLOW else slow_binary(AND, self, other)

    def __rand__(self, other):
        o = quick(self, other)
        return wrap(o & self._nd) if o is not SLOW else slow_reflected(AND, self, other)

    def __iand__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(AND, self, other)
        a = self._nd
        a &= o
        return self

    def __or__(self, other):
        o = quick(self, other)
        return wrap(self._nd | o) if o is not SLOW else slow_binary(OR, self, other)

    def __ror__(self, other):
        o = quick(self, other)
        return wrap(o | self._nd) if o is not SLOW else slow_reflected(OR, self, other)

    def __ior__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(OR, self, other)
        a = self._nd
        a |= o
        return self

    def __xor__(self, other):
        o = quick(self, other)
        return wrap(self._nd ^ o) if o is not SLOW else slow_binary(XOR, self, other)

    def __rxor__(self, other):
        o = quick(self, other)
        return wrap(o ^ self._nd) if o is not SLOW else slow_reflected(XOR, self, other)

    def __ixor__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(XOR, self, other)
        a = self._nd
        a ^= o
        return self

    def __matmul__(self, other):
        o = quick(self, other)
        return wrap(self._nd @ o) if o is not SLOW else slow_binary(MATMUL, self, other)

    def __rmatmul__(self, other):
        o = quick(self, other)
        return wrap(o @ self._nd) if o is not SLOW else slow_reflected(MATMUL, self, other)

    def __imatmul__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(MATMUL, self, other)
        a = self._nd
        a @= o
        return self

    def __lt__(self, other):
        o = quick(self, other)
        return wrap(self._nd < o) if o is not SLOW else slow_binary(LT, self, other)

    def __le__(self, other):
        o = quick(self, other)
        return wrap(self._nd <= o) if o is not SLOW else slow_binary(LE, self, other)

    def __eq__(self, other):
        o = quick(self, other)
        return wrap(self._nd == o) if o is not SLOW else slow_binary(EQ, self, other)

    def __ne__(self, other):
        o = quick(self, other)
        return wrap(self._nd != o) if o is not SLOW else slow_binary(NE, self, other)

    def __gt__(self, other):
        o = quick(self, other)
        return wrap(self._nd > o) if o is not SLOW else slow_binary(GT, self, other)

    def __ge__(self, other):
        o = quick(self, other)
        return wrap(self._nd >= o) if o is not SLOW else slow_binary(GE, self, other)

    def __divmod__(self, other):
        return slow_method("__divmod__", self, (other,))

    def __rdivmod__(self, other):
        return slow_method("__rdivmod__", self, (other,))

    def __pow__(self, other, modulo=None):
        if modulo is not None:
            return NotImplemented
        o = quick(self, other)
        return wrap(self._nd**o) if o is not SLOW else slow_power(self, other)

    def __rpow__(self, other, modulo=None):
        if modulo is not None:
            return NotImplemented
        o = quick(self, other)
        return wrap(o**self._nd) if o is not SLOW else slow_reflected(POW, self, other)

    def __ipow__(self, other):
        o = quick_inplace(self, other)
        if o is SLOW:
            return slow_inplace(POW, self, other)
        a = self._nd
        a **= o
        return self

    def __neg__(self):
        return wrap(-self._nd) if ready(self) else slow_unary(NEG, self)

    def __pos__(self):
        return wrap(+self._nd) if ready(self) else slow_unary(POS, self)

    def __abs__(self):
        return wrap(abs(self._nd)) if ready(self) else slow_unary(ABS, self)

    def __invert__(self):
        return wrap(~self._nd) if ready(self) else slow_unary(INVERT, self)

    # -------------------------------------------------------------------------------------------- indexing
    def __getitem__(self, key):
        if self._nd is not None and plain_key(key) and type(self) is ndarray:
            c = self._cell
            if c is None or not c.marked & UNREADABLE:
                nd = self._nd
                r = nd[key]
                if type(r) is not _NDARRAY:
                    if type(r) is _VOID:  # which is a window on the memory
                        nd = None
                        slow_method("share", self, ())
                    return r
                nd = None
                if c is None:
                    cell_of_viewed(self)
                return view_of(self, r)
        return slow_getitem(self, key)

    def __setitem__(self, key, value):
        c = self._cell
        if (c is None or not c.marked & BUSY) and self._nd is not None and plain_key(key):
            t = type(value)
            if t is ndarray:
                if ready(value) and not self._nd.dtype.hasobject:  # an object array keeps the array itself
                    self._nd[key] = value._nd
                    return
            elif (t is float or t is int or t is _FLOAT64 or t is bool or t is complex) and is_small(self._nd):
                self._nd[key] = value
                return
        slow_setitem(self, key, value)

    def __delitem__(self, key):
        raise ValueError("cannot delete array elements")

    def __len__(self):
        nd = self._nd if self._nd is not None else real(self)
        return len(nd)

    def __iter__(self):
        return slow_method("__iter__", self, ())

    def __contains__(self, value):
        return slow_method("__contains__", self, (value,))

    # -------------------------------------------------------------------------------------------- conversions
    def __bool__(self):
        return bool(real(self))

    def __int__(self):
        return int(real(self))

    def __float__(self):
        return float(real(self))

    def __complex__(self, /):
        return complex(real(self))

    def __index__(self):
        return real(self).__index__()

    def __repr__(self):
        return slow_method("__repr__", self, ())

    def __str__(self):
        return slow_method("__str__", self, ())

    # -------------------------------------------------------------------------------------------- attributes
    @property
    def shape(self):
        """Tuple of array dimensions."""
        nd = self._nd
        return nd.shape if nd is not None else slow_method("shape", self, ())

    @shape.setter
    def shape(self, value):
        slow_method("set shape", self, (value,))

    @shape.deleter
    def shape(self):
        raise AttributeError("Cannot delete array shape")

    @property
    def dtype(self):
        """Data type of the array's elements."""
        nd = self._nd
        return nd.dtype if nd is not None else slow_method("dtype", self, ())

    @dtype.setter
    def dtype(self, value):
        slow_method("set dtype", self, (value,))

    @dtype.deleter
    def dtype(self):
        raise AttributeError("Cannot delete array dtype")

    @property
    def ndim(self):
        """Number of array dimensions."""
        nd = self._nd
        return nd.ndim if nd is not None else slow_method("ndim", self, ())

    @property
    def size(self):
        """Number of elements in the array."""
        nd = self._nd
        return nd.size if nd is not None else slow_method("size", self, ())

    @property
    def T(self):
        """View of the transposed array."""
        if self._nd is not None and type(self) is ndarray:
            c = self._cell
            if c is None or not c.marked & UNREADABLE:
                r = self._nd.T
                if c is None:
                    cell_of_viewed(self)
                return view_of(self, r)
        return slow_method("T", self, ())

    def reshape(self, /, *args, **kwargs):
        """The same data with a new shape: a view where that is possible (`numpy.ndarray.reshape`)."""
        if self._nd is not None and not kwargs and type(self) is ndarray:
            c = self._cell
            if c is None or not c.marked & UNREADABLE:
                r = self._nd.reshape(*args)
                if r.base is not root(self._nd):
                    return wrap(r)
                if c is None:
                    cell_of_viewed(self)
                return view_of(self, r)
        return slow_method("reshape", self, args, kwargs)


def cell_of_viewed(x):
    """`cell_of`, for an `x` of which a view was just made: its memory has one reference more."""
    nd = x._nd
    base = nd.base
    if base is None:
        exclusive = getrefcount(nd) <= ALONE + 1
        full = nd
    elif type(base) is _NDARRAY:
        exclusive = getrefcount(nd) <= ALONE and getrefcount(base) <= ALONE_BASE + 1 and base.base is None
        full = base
    else:
        exclusive = False
        full = nd
    x._cell = Cell(Storage(full, None), 0 if exclusive else SHARED)


class ufunc:
    """NumPy's ufunc, on tnp arrays. Attributes and methods are those of `numpy.ufunc`."""

    __slots__ = ("__weakref__", "_raw")

    def __init__(self, raw):
        self._raw = raw

    def __getattr__(self, name):
        """What NumPy's ufunc has and this class does not (its name, for one)."""
        return getattr(self._raw, name)

    def __call__(self, *args, **kwargs):
        if not kwargs:
            n = len(args)
            if n == 1:
                x = args[0]
                if type(x) is ndarray and ready(x):
                    return wrap(self._raw(x._nd))
            elif n == 2 and self._raw.nin == 2:
                x, y = args
                if type(x) is ndarray:
                    o = quick(x, y)
                    if o is not SLOW:
                        return wrap(self._raw(x._nd, o))
                elif type(y) is ndarray:
                    o = quick(y, x)
                    if o is not SLOW:
                        return wrap(self._raw(o, y._nd))
        return slow_call(self._raw, args, kwargs)

    def __repr__(self):
        return repr(self._raw)


def _plain_new(cls, *args, **kwargs):
    self = object.__new__(cls)
    self._nd = self._cell = self._place = self._base = None
    if args or kwargs:
        slow_method("__new__", self, args, kwargs)
    return self


if type(wrap) is FunctionType:  # compiled, tnp/core/native.py does it
    ndarray.__new__ = _plain_new


def _calibrate():
    """Reference counts of an array that one tnp array alone holds, as `cell_of` sees them."""
    global ALONE, ALONE_BASE
    x = wrap(_np.zeros(3))
    ALONE = probe(x)
    x = wrap(_np.zeros(3)[1:])
    ALONE_BASE = probe_base(x)


def probe(x):
    nd = x._nd
    base = nd.base
    return getrefcount(nd) if base is None else 0


def probe_base(x):
    nd = x._nd
    base = nd.base
    return probe_count(base)


def probe_count(base):
    return getrefcount(base)


ALONE = ALONE_BASE = 0
ADD = SUB = MUL = TRUEDIV = FLOORDIV = MOD = LSHIFT = RSHIFT = AND = OR = XOR = MATMUL = POW = None
LT = LE = EQ = NE = GT = GE = NEG = POS = ABS = INVERT = None


def install_operators(table):
    """Primitives behind the operators, by name; the slow paths get them."""
    global ADD, SUB, MUL, TRUEDIV, FLOORDIV, MOD, LSHIFT, RSHIFT, AND, OR, XOR, MATMUL, POW
    global LT, LE, EQ, NE, GT, GE, NEG, POS, ABS, INVERT
    ADD, SUB, MUL, TRUEDIV, FLOORDIV, MOD = (table[n] for n in ("add", "sub", "mul", "truediv", "floordiv", "mod"))
    LSHIFT, RSHIFT, AND, OR, XOR = (table[n] for n in ("lshift", "rshift", "and", "or", "xor"))
    MATMUL, POW = table["matmul"], table["pow"]
    LT, LE, EQ, NE, GT, GE = (table[n] for n in ("lt", "le", "eq", "ne", "gt", "ge"))
    NEG, POS, ABS, INVERT = (table[n] for n in ("neg", "pos", "abs", "invert"))


_calibrate()
