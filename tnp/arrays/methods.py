"""Methods of the array: natively where tnp has a way of its own, otherwise NumPy's method on the same memory."""

import operator
import sys
import weakref

import numpy as _np

from tnp import content, host, hot
from tnp.arrays.exports import share
from tnp.arrays.indexing import hot_cell
from tnp.arrays.views import as_class, base_of, keep_owner
from tnp.core.cells import TRACED
from tnp.core.config import config
from tnp.core.interpreter import DECLINED, current, quietly
from tnp.host import rewrap, unwrap, watchers
from tnp.hot import cell_of, ndarray, real, writable
from tnp.ops import (
    closeness,
    creation,
    differences,
    indexing,
    joining,
    low_precision,
    movement,
    nanfunctions,
    reductions,
    scans,
    selection,
)
from tnp.tracing import is_traced

_NDARRAY = _np.ndarray


def host_method(raw, x, args, kwargs):
    """`method_call` for want of a native method."""
    if watchers:
        for tell in watchers:
            tell(raw)
    return method_call(raw, x, args, kwargs)


def method_call(raw, x, args, kwargs):
    """``x.method(...)`` through NumPy's method `raw`."""
    seen = []
    if x._cell is None:
        cell_of_large(x)
    nd = unwrap(x, seen)
    if args:
        first = OUTPUT_FROM.get(raw.__name__)
        if first is not None:
            for a in args[first:]:
                if type(a) is ndarray:
                    writable(a)
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
    return rewrap(r, seen)


def moved(x, raw, args, kwargs):
    """A movement method (transpose, reshape ...): a view of a pending array stays pending."""
    if not kwargs:
        r = hot.quick_view(x, raw, tuple(args))
        if r is not None:
            return r
    if host.intercept is not None:
        r = host.intercept(raw, (x, *args), kwargs)
        if r is not DECLINED:
            return r
    if x._nd is None and type(x) is ndarray:
        r = movement.moved(x, raw, args, kwargs)
        if r is not None:
            return r
    return method_call(raw, x, args, kwargs)


def cell_of_large(x):
    if not is_small(x._nd):
        cell_of(x)


def is_small(nd):
    return nd.size < hot.get_lazy_from()


def _configured(settings):
    content.set_lazy_from(max(settings.lazy_from, 0) if settings.lazy else 1 << 62)


config.listen(_configured)


def reading(name):
    raw = getattr(_NDARRAY, name)
    function = NATIVE.get(name)
    through = method_call if name in LOOPS else host_method
    if function is not None:
        quickly = function.native

        def method(self, *args, **kwargs):
            if host.intercept is not None:
                r = host.intercept(raw, (self, *args), kwargs)
                if r is not DECLINED:
                    return r
            if (
                self._nd is None
                or not is_small(self._nd)
                or self._nd.dtype.num >= USER
                or (self._cell is not None and self._cell.marked & TRACED)
            ):
                try:
                    r = quickly(self, *args, **kwargs)
                except TypeError:  # wrong arguments: NumPy says it in its own words
                    r = None
                if r is not None:
                    return r
            return through(raw, self, args, kwargs)

    elif name in MOVING:

        def method(self, *args, **kwargs):
            return moved(self, raw, args, kwargs)

    else:

        def method(self, *args, **kwargs):
            if host.intercept is not None:
                r = host.intercept(raw, (self, *args), kwargs)
                if r is not DECLINED:
                    return r
            return through(raw, self, args, kwargs)

    return named(method, name, raw)


def writing(name):
    raw = getattr(_NDARRAY, name)

    def method(self, *args, **kwargs):
        r = host.intercepted(raw, (self, *args), kwargs)
        if r is not DECLINED:
            return r
        writable(self)
        return method_call(raw, self, args, kwargs)

    return named(method, name, raw)


def named(method, name, raw):
    method.__name__ = name
    method.__qualname__ = f"ndarray.{name}"
    method.__doc__ = raw.__doc__
    method.__wrapped__ = raw  # whose signature inspect shows
    return method


_TOPICS = (
    closeness,
    creation,
    differences,
    indexing,
    joining,
    low_precision,
    movement,
    nanfunctions,
    reductions,
    scans,
    selection,
)
NATIVE = {name: function for topic in _TOPICS for name, function in getattr(topic, "METHODS", {}).items()}
LOOPS = frozenset(  # done by NumPy's loop on the memory, on purpose
    "argmax argmin choose compress cumprod cumsum flatten item nonzero repeat take tolist tobytes trace".split()
)
USER = 256  # dtypes of other libraries are numbered from here on: bfloat16 has sums of its own
MOVING = frozenset(["diagonal", "ravel", "squeeze", "swapaxes", "transpose"])
READING = """
all any argmax argmin argpartition argsort choose clip compress conj conjugate copy cumprod cumsum diagonal dot
dump dumps flatten getfield item max mean min nonzero prod ravel repeat round searchsorted squeeze std sum swapaxes
take to_device tobytes tofile tolist trace transpose var
""".split()
# The position from which arguments may be outputs
OUTPUT_FROM = dict.fromkeys("all any argmax argmin choose dot max min round".split(), 1)
OUTPUT_FROM.update(
    dict.fromkeys("clip compress cumprod cumsum mean prod std sum take var".split(), 2), trace=4, conj=0, conjugate=0
)
WRITING = ["byteswap", "fill", "partition", "put", "setfield", "sort"]


def astype(self, *args, **kwargs):
    """`numpy.ndarray.astype`."""
    r = host.intercepted(_NDARRAY.astype, (self, *args), kwargs)
    if r is not DECLINED:
        return r
    if (self._nd is None or not is_small(self._nd) or is_traced(self)) and len(args) == 1 and not kwargs:
        r = selection.astype(self, args[0])
        if r is not None:
            return r
    return method_call(_NDARRAY.astype, self, args, kwargs)


def view(self, *args, **kwargs):
    """`numpy.ndarray.view`: the same memory with another dtype or class."""
    if not args and not kwargs:
        r = hot.quick_view(self, _NDARRAY.view, ())
        if r is not None:
            return r
    if is_traced(self) and current() is not None:  # a view looks at no value
        with quietly():
            return view(self, *args, **kwargs)
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
            return share(self).view(*args, type=cls, **kwargs)
        cls = None
    if type(self) is ndarray or cls is None:
        y = moved(self, _NDARRAY.view, args, kwargs)
    else:
        hot_cell(self)
        y = rewrap(_NDARRAY.view(real(self), *args, **kwargs), [self])
    return y if cls is None or cls is type(y) else as_class(y, cls, self)


def resize(self, *new_shape, refcheck=True):
    """`numpy.ndarray.resize`: change shape and size of this very array."""
    nd = writable(self)
    cell = self._cell
    refcheck = operator.index(refcheck)
    if not new_shape or (len(new_shape) == 1 and new_shape[0] is None):
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
        if base_of(self) is not None:
            raise ValueError("cannot resize this array: it does not own its data")
        if refcheck and weakref.getweakrefcount(self):
            _refuse_resize(weakly=True)
        if refcheck and (sys.getrefcount(self) > RESIZE_COUNT or (cell is not None and _holders(cell) > CELL_COUNT)):
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


RESIZE_COUNT = CELL_COUNT = 0


def _references(self):
    """References to an array as `resize` sees them."""
    return sys.getrefcount(self)


def calibrate_resize(count):
    """Take `count`, of an array with one name, and find the same for a cell that one array holds."""
    global RESIZE_COUNT, CELL_COUNT
    x = ndarray(1)
    cell = cell_of(x)
    RESIZE_COUNT, CELL_COUNT = count, _holders(cell)


def _refuse_resize(weakly=False):
    """NumPy's own error for an array that something else refers to."""
    held = _np.zeros(2)
    others = [weakref.ref(held)] if weakly else [held, held]
    held.resize(3)
    others.clear()


def _holders(cell):
    """References to a cell as `resize` sees them: arrays, and its own."""
    return sys.getrefcount(cell)


def setflags(self, write=None, align=None, uic=None):
    """`numpy.ndarray.setflags`."""
    nd = content.settle(self)
    hot_cell(self)
    keep_owner(self)
    if nd is self._cell.storage.full:  # the storage keeps its own object
        if write:
            nd.setflags(write=True)
        self._nd = nd = nd.view()
    nd.setflags(write=write, align=align, uic=uic)
