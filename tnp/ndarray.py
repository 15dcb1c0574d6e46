"""The array's Python side: what operators do when the direct path does not apply, methods, attributes, protocols.

Importing this module installs all of it into the class of tnp/hot.py.
"""

import operator
import sys
import types

import numpy as _np

from tnp import bind, hot
from tnp.core import native
from tnp.core.config import config
from tnp.hot import OWNER, _as_view, cell_of, ndarray, new, real, root, ufunc, wrap, writable
from tnp.host import call, rewrap, run, ufunc_of, unwrap, watchers
from tnp.ops import closeness, creation, differences, indexing, joining, movement, nanfunctions, reductions, scans
from tnp.ops import selection, ufunc_methods
from tnp.ops.views import pending_view

_NDARRAY = _np.ndarray

OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "lshift": operator.lshift, "rshift": operator.rshift,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "matmul": operator.matmul, "pow": operator.pow,
    "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne, "gt": operator.gt,
    "ge": operator.ge, "neg": operator.neg, "pos": operator.pos, "abs": operator.abs, "invert": operator.invert,
}  # fmt: skip


UFUNCS = {
    "add": _np.add, "sub": _np.subtract, "mul": _np.multiply, "truediv": _np.true_divide, "floordiv": _np.floor_divide,
    "mod": _np.remainder, "lshift": _np.left_shift, "rshift": _np.right_shift, "and": _np.bitwise_and,
    "or": _np.bitwise_or, "xor": _np.bitwise_xor, "pow": _np.power, "lt": _np.less, "le": _np.less_equal,
    "eq": _np.equal, "ne": _np.not_equal, "gt": _np.greater, "ge": _np.greater_equal, "neg": _np.negative,
    "pos": _np.positive, "abs": _np.absolute, "invert": _np.invert,
}  # fmt: skip


class Operator:
    """An operator: its name, NumPy's methods for it."""

    def __init__(self, name):
        self.name = name
        self.plain = getattr(_NDARRAY, f"__{name}__")
        self.reflected = getattr(_NDARRAY, f"__r{name}__", None)
        self.inplace = getattr(_NDARRAY, f"__i{name}__", None)
        self.prim = bind.PRIMITIVES.get(UFUNCS.get(name))


# ------------------------------------------------------------------------------------------------ slow operators
def binary(op, a, b):
    """``a op b`` where `a` is a tnp array: recorded, or NumPy's method decides what it can take."""
    if op.prim is not None:
        r = bind.elementwise(op.prim, (a, b))
        if r is not None:
            return r
    seen = [a]
    return rewrap(op.plain(real(a), unwrap(b, seen)), seen)


def reflected(op, a, b):
    """``b op a`` where `a` is a tnp array, and `b` did not know what to do."""
    if op.prim is not None:
        r = bind.elementwise(op.prim, (b, a))
        if r is not None:
            return r
    seen = [a]
    return rewrap(op.reflected(real(a), unwrap(b, seen)), seen)


def inplace(op, a, b):
    """``a op= b``."""
    if op.prim is not None:
        r = bind.inplace(op.prim, a, b)
        if r is not None:
            return r
    seen = [a]
    other = unwrap(b, seen)
    nd = writable(a)
    r = op.inplace(nd, other)
    return a if r is nd else rewrap(r, seen)


def unary(op, a):
    if op.prim is not None:
        r = bind.elementwise(op.prim, (a,))
        if r is not None:
            return r
    return wrap(op.plain(real(a)))


def power(a, b):
    """``a ** b``: NumPy's shortcuts for the Python numbers 2, -1 and 0.5."""
    t = type(b)
    op = hot_operators["pow"]
    if (t is int and (b == 2 or b == -1)) or (t is float and b == 0.5):
        kind = bind.look(a).dtype.kind
        ufunc_ = _np.square if b == 2 and t is int else _np.reciprocal if b == -1 else _np.sqrt
        if kind in "fc" or (ufunc_ is _np.square and kind in "iu"):
            r = bind.elementwise(bind.PRIMITIVES[ufunc_], (a,))
            if r is not None:
                return r
            seen = [a]
            return rewrap(op.plain(real(a), b), seen)
    return binary(op, a, b)


# ------------------------------------------------------------------------------------------------ slow indexing
def getitem(x, key):
    if x._nd is None and basic(key):
        r = pending_view(x, lambda nd: nd[key])
        if r is not None:
            return r
    nd = real(x)
    seen = [x]
    key = unwrap(key, seen)
    hot_cell(x)
    r = nd[key]
    if type(r) is _NDARRAY:
        base = r.base
        if base is not None and base is root(nd):
            base = nd = None
            return adopt_class(x, _as_view(x, r))
        return adopt_class(x, wrap(r))
    return r


def basic(key):
    """Is `key` basic indexing, whose result is a view?"""
    for k in key if type(key) is tuple else (key,):
        if not (k is None or k is Ellipsis or type(k) is int or type(k) is slice):
            return False
    return True


def hot_cell(x):
    """Decide now, before NumPy holds references, whether the memory of `x` is its own."""
    if x._cell is None and x._nd is not None:
        cell_of(x)


def setitem(x, key, value):
    if type(value) is ndarray:
        if key is Ellipsis or (type(key) is slice and key == _ALL):
            if bind.assign(x, value) is not None:
                return
        if value._nd is None and basic(key) and bind.store(x, key, value) is not None:
            return
    elif type(key) is ndarray and type(x) is ndarray and indexing.set_mask(x, key, value) is not None:
        return
    seen = []
    key = unwrap(key, seen)
    value = unwrap(value, seen)
    writable(x)[key] = value


_ALL = slice(None)


def adopt_class(x, y):
    """`y`, made from `x`, is of the class of `x` where the program has subclassed ndarray."""
    if type(x) is ndarray or type(y) is not ndarray:
        return y
    return as_class(y, type(x), x)


def as_class(y, cls, parent):
    z = new(cls)
    z._nd, z._cell, z._place, z._base = y._nd, y._cell, y._place, y._base
    finalize = getattr(z, "__array_finalize__", None)
    if finalize is not None:
        finalize(parent)
    return z


# ------------------------------------------------------------------------------------------------ construction
def construct(x, shape, dtype, buffer, offset, strides, order):
    seen = []
    nd = _NDARRAY(
        unwrap(shape, seen), unwrap(dtype, seen), export_buffer(buffer), offset, unwrap(strides, seen), order
    )
    if isinstance(buffer, ndarray):
        hot_cell(buffer)
        nd = nd[...] if nd.ndim else nd
        x._nd = nd
        x._cell = cell_of(buffer)
        x._cell.marked |= 16
    else:
        x._nd = nd


def export_buffer(buffer):
    return real(buffer) if isinstance(buffer, ndarray) else buffer


# ------------------------------------------------------------------------------------------------ methods
# What the hot path asks by name, because it happens rarely
def _iterate(x):
    nd = real(x)
    if nd.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    if nd.ndim == 1:
        return iter(nd) if nd.dtype.kind != "O" else (x[i] for i in range(len(nd)))
    return (x[i] for i in range(len(nd)))


def _text(x, which):
    if type(x) is not ndarray:
        return which(real(x)).replace("array(", f"{type(x).__name__}(", 1)
    return which(real(x))


def _set_shape(x, value):
    """``x.shape = value``: the array object itself changes."""
    nd = real(x)
    hot_cell(x)
    keep_owner(x)
    r = nd.view()
    r.shape = unwrap(value, [])
    x._nd, x._place = r, None


def _set_dtype(x, value):
    nd = real(x)
    hot_cell(x)
    keep_owner(x)
    r = nd.view()
    r.dtype = unwrap(value, [])
    x._nd, x._place = r, None


def _divmod(x, other):
    seen = [x]
    return rewrap(_NDARRAY.__divmod__(real(x), unwrap(other, seen)), seen)


def _rdivmod(x, other):
    seen = [x]
    return rewrap(_NDARRAY.__rdivmod__(real(x), unwrap(other, seen)), seen)


RARE = {
    "__new__": construct,
    "__iter__": _iterate,
    "__contains__": lambda x, value: unwrap(value, []) in real(x),
    "__repr__": lambda x: _text(x, repr),
    "__str__": lambda x: str(real(x)),
    "__divmod__": _divmod,
    "__rdivmod__": _rdivmod,
    "shape": lambda x: bind.look(x).shape,
    "dtype": lambda x: bind.look(x).dtype,
    "ndim": lambda x: bind.look(x).ndim,
    "size": lambda x: bind.look(x).size,
    "set shape": _set_shape,
    "set dtype": _set_dtype,
    "T": lambda x: moved(x, _NDARRAY.transpose, (), {}),
    "reshape": lambda x, *args, **kwargs: moved(x, _NDARRAY.reshape, args, kwargs),
}


def rare(name, x, args, kwargs=None):
    return RARE[name](x, *args, **kwargs) if kwargs else RARE[name](x, *args)


def call_ufunc(raw, args, kwargs):
    """A ufunc call that is not small, or has keywords."""
    prim = bind.PRIMITIVES.get(raw)
    if prim is not None and len(args) == raw.nin:
        if not kwargs:
            r = bind.elementwise(prim, args)
            if r is not None:
                return r
        elif len(kwargs) == 1 and "out" in kwargs:
            out = kwargs["out"]
            if type(out) is tuple and len(out) == 1:
                out = out[0]
            if type(out) is ndarray:
                r = bind.into(prim, args, out)
                if r is not None:
                    return r
    elif prim is not None and len(args) == raw.nin + 1 and not kwargs and type(args[-1]) is ndarray:
        r = bind.into(prim, args[:-1], args[-1])
        if r is not None:
            return r
    if len(args) > raw.nin:
        for x in args[raw.nin :]:
            if isinstance(x, ndarray):
                writable(x)
    return run(raw, args, kwargs) if prim is not None else call(raw, args, kwargs)


hot_operators = {name: Operator(name) for name in OPERATORS}
hot.install_operators(hot_operators)
hot.install(
    {
        "binary": binary, "reflected": reflected, "inplace": inplace, "unary": unary, "power": power,
        "getitem": getitem, "setitem": setitem, "call": call_ufunc, "settle": bind.settle, "release": bind.release,
        "method": rare,
    }
)  # fmt: skip


def host_method(raw, x, args, kwargs):
    """`method_call` for want of a native method."""
    if watchers:
        for tell in watchers:
            tell(raw)
    return method_call(raw, x, args, kwargs)


def method_call(raw, x, args, kwargs):
    """``x.method(...)`` through NumPy's method `raw`."""
    seen = [x]
    if x._cell is None:
        cell_of_large(x)
    nd = real(x)
    if args:
        args = [unwrap(a, seen) for a in args]
    if kwargs:
        out = kwargs.get("out")
        if out is not None:
            for o in out if type(out) is tuple else (out,):
                if isinstance(o, ndarray):
                    writable(o)
        kwargs = {k: unwrap(v, seen) for k, v in kwargs.items()}
    r = raw(nd, *args, **kwargs)
    nd = args = kwargs = None
    return adopt_class(x, rewrap(r, seen))


def moved(x, raw, args, kwargs):
    """A movement method (transpose, reshape ...): a view of a pending array stays pending."""
    if x._nd is None and type(x) is ndarray:
        r = movement.moved(x, raw, args, kwargs)
        if r is not None:
            return r
    return method_call(raw, x, args, kwargs)


def cell_of_large(x):
    if not hot_is_small(x._nd):
        cell_of(x)


def hot_is_small(nd):
    return nd.size < hot.get_lazy_from()


def _configured(settings):
    bind.set_lazy_from(max(settings.lazy_from, 0) if settings.lazy else 1 << 62)


config.listen(_configured)


def _reading(name):
    raw = getattr(_NDARRAY, name)
    function = NATIVE.get(name)
    if function is not None:
        quickly = function.native

        def method(self, *args, **kwargs):
            if self._nd is None or not hot_is_small(self._nd):
                try:
                    r = quickly(self, *args, **kwargs)
                except TypeError:  # wrong arguments: NumPy says it in its own words
                    r = None
                if r is not None:
                    return r
            return host_method(raw, self, args, kwargs)

    elif name in MOVING:

        def method(self, *args, **kwargs):
            return moved(self, raw, args, kwargs)

    else:
        through = method_call if name in LOOPS else host_method

        def method(self, *args, **kwargs):
            return through(raw, self, args, kwargs)

    return _named(method, name, raw)


def _writing(name):
    raw = getattr(_NDARRAY, name)

    def method(self, *args, **kwargs):
        writable(self)
        return method_call(raw, self, args, kwargs)

    return _named(method, name, raw)


def _named(method, name, raw):
    method.__name__ = name
    method.__qualname__ = f"ndarray.{name}"
    method.__doc__ = raw.__doc__
    method.__wrapped__ = raw  # whose signature inspect shows
    return method


NATIVE = {
    name: function
    for topic in (closeness, creation, differences, indexing, joining, movement, nanfunctions, reductions, scans, selection)
    for name, function in getattr(topic, "METHODS", {}).items()
}
LOOPS = frozenset(  # done by NumPy's loop on the memory, on purpose
    "argmax argmin choose compress cumprod cumsum flatten item nonzero repeat take tolist tobytes trace".split()
)
MOVING = frozenset("diagonal ravel squeeze swapaxes transpose".split())
READING = """
all any argmax argmin argpartition argsort choose clip compress conj conjugate copy cumprod cumsum diagonal dot
dump dumps flatten getfield item max mean min nonzero prod ravel repeat round searchsorted squeeze std sum swapaxes
take to_device tobytes tofile tolist trace transpose var
""".split()
WRITING = "byteswap fill partition put setfield sort".split()


def astype(self, *args, **kwargs):
    """`numpy.ndarray.astype`."""
    if self._nd is None or not hot_is_small(self._nd):
        if args and not (len(args) > 1 or kwargs):
            r = selection.astype(self, args[0])
            if r is not None:
                return r
    return method_call(_NDARRAY.astype, self, args, kwargs)


def view(self, *args, **kwargs):
    """`numpy.ndarray.view`: the same memory with another dtype or class."""
    cls = kwargs.pop("type", None)
    args = list(args)
    if args and isinstance(args[0], type) and issubclass(args[0], (ndarray, _NDARRAY)):
        cls = args.pop(0)
    elif len(args) > 1:
        cls = args.pop(1)
    if cls is not None and not (isinstance(cls, type) and issubclass(cls, ndarray)):
        if not (isinstance(cls, type) and issubclass(cls, _NDARRAY)):
            raise TypeError("Type must be a sub-type of ndarray type")
        if cls is not _NDARRAY:  # a NumPy subclass (matrix, MaskedArray, recarray): NumPy's own object
            return exported(self).view(*args, type=cls, **kwargs)
        cls = None
    y = moved(self, _NDARRAY.view, args, kwargs)
    if type(y) is not ndarray:
        y = as_class(y, ndarray, self) if cls is None else y
    if cls is not None and cls is not ndarray:
        return as_class(y, cls, self)
    return y


def resize(self, *new_shape, refcheck=True):
    """`numpy.ndarray.resize`: change shape and size of this very array."""
    nd = writable(self)
    cell = self._cell
    if not new_shape or new_shape == (None,):
        return
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    shape = (shape,) if isinstance(shape, (int, _np.integer)) else tuple(operator.index(n) for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError("all elements of the new shape must be non-negative")
    size = 1
    for n in shape:
        size *= n
    if not (nd.flags.c_contiguous or nd.flags.f_contiguous):
        raise ValueError("resize only works on single-segment arrays")
    if size != nd.size:
        if _base(self) is not None:
            raise ValueError("cannot resize this array: it does not own its data")
        if refcheck and (sys.getrefcount(self) > RESIZE_COUNT or (cell is not None and not _only_name(cell))):
            _refuse_resize()
    if size == nd.size and size:
        if shape != nd.shape:
            keep_owner(self)
            hot_cell(self)
            order = "C" if nd.flags.c_contiguous else "F"
            self._nd = nd.ravel(order=order).reshape(shape, order=order)
        return
    fresh = nd.copy(order="F" if nd.flags.f_contiguous and not nd.flags.c_contiguous else "C")
    fresh.resize(shape, refcheck=False)
    self._nd, self._cell, self._place, self._base = fresh, None, None, None


RESIZE_COUNT = 0


def _references(self):
    """References to an array as `resize` sees them."""
    return sys.getrefcount(self)


def calibrate_resize(count):
    global RESIZE_COUNT
    RESIZE_COUNT = count


def _refuse_resize():
    """NumPy's own error for an array that something else refers to."""
    held = _np.zeros(2)
    others = [held, held]
    held.resize(3)
    others.clear()


def _only_name(cell):
    """Does one array alone hold the cell? (Its attribute, the caller's variable and two arguments refer to it.)"""
    return sys.getrefcount(cell) <= 4


def setflags(self, write=None, align=None, uic=None):
    """`numpy.ndarray.setflags`."""
    nd = real(self)
    hot_cell(self)
    keep_owner(self)
    if nd is self._cell.storage.full:  # the storage keeps its own object
        self._nd = nd = nd.view()
        if write and not nd.flags.writeable:
            nd = self._cell.storage.full
    nd.setflags(write=write, align=align, uic=uic)


def to_numpy(self):
    """The array as a `numpy.ndarray` that shares its memory.

    >>> import tnp
    >>> type(tnp.arange(3).to_numpy()).__module__
    'numpy'
    """
    return exported(self)


def exported(x):
    """A NumPy array for foreign code: pending work is done, and the memory counts as shared while it lives."""
    nd = writable(x)
    if x._cell is not None:
        x._cell.marked |= 16
    return nd.view()


# ------------------------------------------------------------------------------------------------ protocols
def __array__(self, dtype=None, copy=None):
    nd = exported(self)
    if dtype is None and not copy:
        return nd
    return _np.array(nd, dtype=unwrap(dtype, []), copy=copy)


def __array_ufunc__(self, raw, method, *inputs, **kwargs):
    seen = []
    args = [unwrap(x, seen) for x in inputs]
    if "out" in kwargs:
        for x in kwargs["out"]:
            if isinstance(x, ndarray):
                writable(x)
    if method == "at" and isinstance(inputs[0], ndarray):
        writable(inputs[0])
    kwargs = {k: unwrap(v, seen) for k, v in kwargs.items()}
    return rewrap(getattr(raw, method)(*args, **kwargs), seen)


def __array_function__(self, func, types, args, kwargs):
    from tnp.host import host_function

    return host_function(func, func.__name__)(*args, **kwargs)


def __array_wrap__(self, array, context=None, return_scalar=False):
    if return_scalar and array.ndim == 0:
        return array[()]
    y = array if isinstance(array, ndarray) else wrap(array)
    return as_class(y, type(self), self) if type(self) is not ndarray else y


def __reduce__(self):
    return _rebuild, (type(self), real(self).copy() if real(self).base is not None else real(self))


def __reduce_ex__(self, protocol):
    return self.__reduce__()


def _rebuild(cls, nd):
    return wrap(nd) if cls is ndarray else as_class(wrap(nd), cls, None)


def __setstate__(self, state):
    nd = _NDARRAY.__new__(_NDARRAY, (0,), "b")
    nd.__setstate__(state)
    self._nd, self._cell, self._place = nd, None, None


def __copy__(self):
    return adopt_class(self, wrap(real(self).__copy__()))


def __deepcopy__(self, memo):
    import copy

    nd = real(self)
    if nd.dtype.hasobject:
        fresh = nd.copy(order="K")
        flat = fresh.ravel(order="K")
        for i in range(flat.size):
            flat[i] = copy.deepcopy(flat[i], memo)
        return adopt_class(self, wrap(fresh))
    return adopt_class(self, wrap(nd.__deepcopy__(memo)))


def __array_namespace__(self, *, api_version=None):
    real(self).__array_namespace__(api_version=api_version)
    return sys.modules["tnp"]


def __dlpack__(self, **kwargs):
    return exported(self).__dlpack__(**kwargs)


def __dlpack_device__(self):
    return (1, 0)


def __arrow_array__(self, type=None):
    """pyarrow's protocol: an Arrow array of this one."""
    import pyarrow

    return pyarrow.array(exported(self), type=type)


def __sizeof__(self):
    nd = self._nd
    return nd.__sizeof__() if nd is not None else real(self).__sizeof__()


def __format__(self, spec):
    return real(self).__format__(spec)


def __array_export__(self):
    nd = exported(self)
    if nd.dtype.kind == "V" and nd.dtype.names is not None:
        try:  # not every record has a PEP 3118 format: NumPy then asks for the array interface
            _np.asarray(memoryview(nd))
        except (RuntimeError, ValueError, TypeError) as error:
            raise BufferError(str(error)) from None
    return nd


METHODS = (
    astype, view, resize, setflags, to_numpy, __array__, __array_ufunc__, __array_function__, __array_wrap__, __reduce__,
    __reduce_ex__, __setstate__, __copy__, __deepcopy__, __array_namespace__, __dlpack__, __dlpack_device__,
    _references, __arrow_array__, __sizeof__, __format__, __array_export__,
)  # fmt: skip


# ------------------------------------------------------------------------------------------------ attributes
def _base(self):
    """Base object of a view: the array that owns the memory."""
    base = self._base
    if base is not None:
        return None if base is OWNER else base
    nd = self._nd
    if nd is None:
        if self._place is None:
            return None
        nd = real(self)
    cell = self._cell
    if cell is not None and nd is cell.storage.full:
        return None if bind.is_own(nd) else nd.base
    base = nd.base
    if type(base) is not _NDARRAY:
        return base
    cell = cell_of(self)
    owner = new(ndarray)
    owner._nd, owner._cell = cell.storage.full, cell
    self._base = owner
    return owner


class flagsobj:
    """`numpy.ndarray.flags` of a tnp array."""

    __hash__ = None
    _names = {
        "C": "c_contiguous", "CONTIGUOUS": "c_contiguous", "C_CONTIGUOUS": "c_contiguous", "F": "f_contiguous",
        "FORTRAN": "f_contiguous", "F_CONTIGUOUS": "f_contiguous", "W": "writeable", "WRITEABLE": "writeable",
        "A": "aligned", "ALIGNED": "aligned", "X": "writebackifcopy", "WRITEBACKIFCOPY": "writebackifcopy",
        "O": "owndata", "OWNDATA": "owndata", "FNC": "fnc", "FORC": "forc", "B": "behaved", "BEHAVED": "behaved",
        "CA": "carray", "CARRAY": "carray", "FA": "farray", "FARRAY": "farray",
    }  # fmt: skip

    def __init__(self, array):
        object.__setattr__(self, "_array", array)

    def __getattr__(self, name):
        if name == "owndata":
            return _base(self._array) is None
        return getattr(real(self._array).flags, name)

    def __setattr__(self, name, value):
        if name == "writeable":
            setflags(self._array, write=value)
        else:
            setattr(real(self._array).flags, name, value)

    def __getitem__(self, name):
        return getattr(self, self._names[name]) if name in self._names else real(self._array).flags[name]

    def __setitem__(self, name, value):
        if name in ("W", "WRITEABLE"):
            setflags(self._array, write=value)
        else:
            real(self._array).flags[name] = value

    def __eq__(self, other):
        return isinstance(other, flagsobj) and repr(self) == repr(other)

    def __repr__(self):
        text = repr(real(self._array).flags)
        return text.replace("OWNDATA : False", f"OWNDATA : {self.owndata}").replace(
            "OWNDATA : True", f"OWNDATA : {self.owndata}"
        )


def keep_owner(x):
    """Before the NumPy view of `x` is replaced by another of the same memory: `x` stays the owner if it is."""
    if x._base is None and _base(x) is None:
        x._base = OWNER


def _set_part(name):
    def setter(self, value):
        seen = []
        setattr(writable(self), name, unwrap(value, seen))

    return setter


def _view_attribute(name):
    raw = getattr(_NDARRAY, name).__get__

    def getter(self):
        if self._nd is None:
            r = pending_view(self, raw)
            if r is not None:
                return r
        seen = [self]
        hot_cell(self)
        return adopt_class(self, rewrap(getattr(real(self), name), seen))

    return getter


class flatiter:
    """`numpy.flatiter` over a tnp array: reads and writes go through the array."""

    __hash__ = None

    def __init__(self, array):
        self.base = array
        self._it = real(array).flat

    coords = property(lambda self: self._it.coords)
    index = property(lambda self: self._it.index)

    def copy(self):
        return wrap(real(self.base).flatten())

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._it)

    def __len__(self):
        return real(self.base).size

    def __getitem__(self, key):
        return rewrap(real(self.base).flat[unwrap(key, [])], [])

    def __setitem__(self, key, value):
        writable(self.base).flat[unwrap(key, [])] = unwrap(value, [])

    def __array__(self, dtype=None, copy=None):
        return _np.asarray(real(self.base).flat, dtype=dtype)


def _compare(op):
    def method(self, other):
        return wrap(op(_np.asarray(self), unwrap(other, [])))

    return method


for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(flatiter, f"__{_name}__", _compare(OPERATORS[_name]))


def _interface(self):
    nd = exported(self)
    if nd.dtype.kind == "V" and nd.dtype.names is not None:
        raise AttributeError("__array_interface__")  # it cannot say padding: NumPy then asks __array__
    return nd.__array_interface__


ATTRIBUTES = {
    "base": property(_base),
    "flat": property(flatiter, lambda self, value: writable(self).flat.__setitem__(Ellipsis, unwrap(value, []))),
    "real": property(_view_attribute("real"), _set_part("real")),
    "imag": property(_view_attribute("imag"), _set_part("imag")),
    "mT": property(_view_attribute("mT")),
    "strides": property(lambda self: real(self).strides, lambda self, value: _set_strides(self, value)),
    "flags": property(flagsobj, lambda self, value: None),
    "data": property(lambda self: exported(self).data),
    "ctypes": property(lambda self: exported(self).ctypes),
    "itemsize": property(lambda self: self.dtype.itemsize),
    "nbytes": property(lambda self: self.size * self.dtype.itemsize),
    "device": property(lambda self: "cpu"),
    "__array_interface__": property(_interface),
    "__array_finalize__": lambda self, parent, /: None,
    "__class_getitem__": classmethod(types.GenericAlias),
}


def _set_strides(x, value):
    nd = real(x)
    hot_cell(x)
    r = nd.view()
    r.strides = value
    x._nd = r


for _name in READING:
    native.set_type_attribute(ndarray, _name, _reading(_name))
for _name in WRITING:
    native.set_type_attribute(ndarray, _name, _writing(_name))
for _f in METHODS:
    native.set_type_attribute(ndarray, _f.__name__, _f)
for _name, _value in ATTRIBUTES.items():
    native.set_type_attribute(ndarray, _name, _value)
native.install_buffer(ndarray)
native.refuse_concat(ndarray)


# ------------------------------------------------------------------------------------------------ ufunc's other parts
def _ufunc_method(name):
    raw = getattr(_np.ufunc, name)
    native_method = ufunc_methods.METHODS.get(name)

    def method(self, *args, **kwargs):
        if native_method is not None:
            try:
                r = native_method(self._raw, *args, **kwargs)
            except TypeError:  # wrong arguments: NumPy says it in its own words
                r = None
            if r is not None:
                return r
        return run(getattr(self._raw, name), args, kwargs)

    return _named(method, name, raw)


def _ufunc_at(self, a, /, *args):
    if isinstance(a, ndarray):
        writable(a)
    return call(self._raw.at, (a, *args), {})


for _name in ("reduce", "accumulate", "outer", "reduceat", "resolve_dtypes", "_resolve_dtypes_and_context",
              "_get_strided_loop"):  # fmt: skip
    native.set_type_attribute(ufunc, _name, _ufunc_method(_name))
native.set_type_attribute(ufunc, "at", _ufunc_at)
for _name in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature", "__doc__",
              "__qualname__", "__signature__", "__text_signature__"):  # fmt: skip
    native.set_type_attribute(ufunc, _name, property(lambda self, _n=_name: getattr(self._raw, _n)))
native.set_type_attribute(ufunc, "__reduce__", lambda self: (_ufunc_by_name, (self._raw.__name__,)))


def _ufunc_by_name(name):
    return ufunc_of(getattr(_np, name, None) or getattr(_np._core.umath, name))
