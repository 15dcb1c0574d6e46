"""The host mechanism: any NumPy function that is not native yet, on tnp arrays.

The function sees the arrays' own memory (no copy), and what it returns is wrapped: a result that is an argument
comes back as that very object, a view of an argument shares its cell. Compiled by Cython so that warnings name the
program's line: a compiled function has no frame of its own.
"""

import functools
import importlib
import operator
import types
from typing import Any

import numpy as _np

from tnp.core.cells import SHARED
from tnp.core.interpreter import DECLINED
from tnp.hot import _as_view, cell_of, ndarray, real, root, ufunc, wrap, writable

_NDARRAY = _np.ndarray
_CONTAINERS = (list, tuple)
_SCALARS = frozenset(
    {int, float, complex, bool, str, bytes, type(None), slice, type(Ellipsis), type(NotImplemented), _np.dtype}
) | frozenset(_np.sctypeDict.values()) - {_np.void}  # fmt: skip


intercept: Any = None  # may take over a call: tnp/tracing.py's, once anything was traced


def install_intercept(function):
    """From now on ``function(raw, args, kwargs)`` is asked first wherever arrays may be traced."""
    global intercept
    intercept = function


def intercepted(raw, args, kwargs):
    """What the interpreter makes of a call, or DECLINED."""
    return DECLINED if intercept is None else intercept(raw, args, kwargs)


DEPTH = 64  # NumPy's own limit of dimensions: deeper, or endless, nesting is NumPy's to refuse


StandIn = Guise = ()
_stand_in = _returned = _memory_of = _guise = None


def install_stand_ins(cls, stand_in, returned, memory_of):
    """What tnp/subclasses.py does with arrays of the program's own subclasses."""
    global StandIn, _stand_in, _returned, _memory_of
    StandIn, _stand_in, _returned, _memory_of = cls, stand_in, returned, memory_of


def install_guises(cls, guise):
    """What tnp/overrides.py does with the program's objects that take part in NumPy's protocols."""
    global Guise, _guise
    Guise, _guise = cls, guise


class Copied:
    """Among the arrays of a call: a list, tuple or dict of the program of which NumPy got a copy."""

    _nd = None

    def __init__(self, original, copy):
        self.original = original
        self.copy = copy


def unwrap(x, seen, depth=0):
    """`x` with NumPy's own objects in place of tnp's; the tnp arrays met are appended to `seen`."""
    t = type(x)
    if t in _SCALARS:
        return x
    if t is ndarray:
        seen.append(x)
        return real(x)
    if isinstance(x, ndarray):
        seen.append(x)
        return _stand_in(x, seen)
    if t is list or t is tuple:
        return _unwrap_items(x, seen, t, depth) if depth < DEPTH else x
    if t is dict:
        return _unwrap_values(x, seen, depth) if depth < DEPTH else x
    if t is ufunc or isinstance(x, Wrapped):
        return x._raw
    if x is ndarray:
        return _NDARRAY
    if x is ufunc:
        return _np.ufunc
    if t is type or _guise is None:
        return x
    return _guise(x, seen)


def _unwrap_items(items, seen, t, depth):
    for i, x in enumerate(items):
        u = type(x)
        if u in _SCALARS:
            continue
        y = unwrap(x, seen, depth + 1)
        if y is not x:
            rest = [unwrap(z, seen, depth + 1) for z in items[i + 1 :]]
            copy = t([*items[:i], y, *rest])
            seen.append(Copied(items, copy))
            return copy
    return items


def _unwrap_values(values, seen, depth):
    copy = {k: unwrap(v, seen, depth + 1) for k, v in values.items()}
    if all(map(operator.is_, copy.values(), values.values())):
        return values  # an object array holds the program's own
    seen.append(Copied(values, copy))
    return copy


def rewrap(r, seen):
    """What the program gets for the result `r` of a NumPy function that was given the arrays `seen`."""
    t = type(r)
    if t in _SCALARS:
        return r
    if t is _NDARRAY:
        base = r.base
        if base is not None and type(base) is not _NDARRAY and isinstance(base, StandIn):
            return _memory_of(r)
        if seen:
            for x in seen:
                if r is x._nd:
                    return x
            if r.dtype.hasobject and not all(type(x) is ndarray for x in seen):
                restore(r, seen)
            if base is not None:
                for x in seen:
                    if x._nd is not None and base is root(x._nd):
                        base = None
                        return _as_view(x, r)
                if type(base) is not _NDARRAY:
                    return _through(r, seen)
        return wrap(r)
    if t is tuple or t is list:
        items = [rewrap(y, seen) for y in r]
        return r if all(map(operator.is_, items, r)) else t(items)
    if t is dict:
        values = {k: rewrap(v, seen) for k, v in r.items()}
        return r if all(map(operator.is_, values.values(), r.values())) else values
    if isinstance(r, StandIn):
        return _returned(r)
    if isinstance(r, Guise):
        return r._thing
    if isinstance(r, tuple) and hasattr(r, "_fields"):
        return t(*[rewrap(y, seen) for y in r])
    if t is _np.ufunc:
        return ufunc_of(r)
    if t is type:
        return getattr(r, "_class", r) if issubclass(r, StandIn) else r
    if seen and not isinstance(r, (_np.dtype, type)):
        _held(r, seen)
    return r


def restore(r, seen):
    """The program's own objects in the object array `r`, in place of what NumPy got for them in containers."""
    if r.dtype.kind != "O" or not r.flags.writeable:
        return
    own = {id(x.copy): x.original for x in seen if type(x) is Copied}
    for x in seen:
        if isinstance(x, ndarray):
            own[id(x._nd)] = x
    for i in _np.ndindex(r.shape):
        x = r[i]
        if isinstance(x, Guise):
            r[i] = x._thing
        elif isinstance(x, StandIn):
            r[i] = _returned(x)
        elif id(x) in own:
            r[i] = own[id(x)]


def _held(r, seen):
    """NumPy's object `r` may keep the memory of the arrays it was made from: that counts as shared for ever."""
    ground = None
    if isinstance(r, _NDARRAY):
        ground = r
        while isinstance(ground.base, _NDARRAY):
            ground = ground.base
    for x in seen:
        if isinstance(x, ndarray) and (ground is None or root(real(x)) is ground):
            writable(x)  # whoever still has to see the present content is served
            cell_of(x).marked |= SHARED


def program_types(types_):
    """The program's classes for those that NumPy passes to `__array_function__`."""
    return tuple(ndarray if t is _NDARRAY else getattr(t, "_class", t) for t in types_)


watchers: list[Any] = []  # each is told every NumPy function that is called for want of a native one


def _through(r, seen):
    """An array whose memory some object of NumPy's holds for it (as_strided): does it belong to an argument?"""
    base = r.base
    while base is not None:
        for x in seen:
            if x._nd is not None and base is root(x._nd):
                y = _as_view(x, r)
                y._base = r.base
                y._cell.marked |= SHARED  # that object knows the address: the content must never move
                return y
        base = getattr(base, "base", None)
    return wrap(r)


def call(raw, args, kwargs):
    """``raw(*args, **kwargs)`` on the memory of the tnp arrays among the arguments."""
    if watchers:
        for tell in watchers:
            tell(raw)
    return run(raw, args, kwargs)


def run(raw, args, kwargs):
    """`call`, for native functions to whose work NumPy's loop on the memory belongs: nobody is told."""
    seen = []
    if args:
        args = [unwrap(x, seen) for x in args]
    if kwargs:
        if "out" in kwargs and kwargs["out"] is not None:
            _release_out(kwargs["out"])
        kwargs = {k: unwrap(v, seen) for k, v in kwargs.items()}
        r = raw(*args, **kwargs)
    else:
        r = raw(*args)
    args = kwargs = None  # their references would make the memory look shared
    return rewrap(r, seen)


def _release_out(out):
    for x in out if type(out) is tuple else (out,):
        if isinstance(x, ndarray):
            writable(x)


class Wrapped:
    """Has NumPy's object in `_raw`: what NumPy gets in its place."""


class HostFunction(Wrapped):
    """A NumPy function on tnp arrays."""

    def __init__(self, raw, name, writes, binds):
        self._raw = raw
        self._writes = writes
        self.__wrapped__ = getattr(raw, "__wrapped__", raw)
        self.__name__ = name
        self.__qualname__ = getattr(raw, "__qualname__", name)
        self.__doc__ = raw.__doc__
        self.__module__ = getattr(raw, "__module__", None)
        self._binds = binds
        self._calls = CALLS.get(name)
        self.native = None
        self.creates = False

    def __call__(self, *args, **kwargs):
        if intercept is not None:
            r = intercept(self._raw, args, kwargs)
            if r is not DECLINED:
                return r
        if self._calls is not None:
            args, kwargs = _with_callback(args, kwargs, self._calls)
        if self.native is not None and (self.creates or takes(args, self._raw)):
            try:
                r = self.native(*args, **kwargs)
            except TypeError:  # wrong arguments: NumPy says it in its own words
                r = None
            if r is not None:
                return None if r is DONE else r
        if self._writes is not None:
            return self._call_writing(args, kwargs)
        return call(self._raw, args, kwargs)

    def _call_writing(self, args, kwargs):
        for i, name in self._writes:
            x = kwargs[name] if name in kwargs else args[i] if i < len(args) else None
            if isinstance(x, ndarray):
                writable(x)
        return call(self._raw, args, kwargs)

    def __get__(self, instance, owner):
        """Python functions are descriptors, built-in ones are not: as NumPy has it."""
        if instance is None or not self._binds:
            return self
        return types.MethodType(self, instance)

    def __repr__(self):
        return repr(self._raw)

    def __reduce__(self):
        return self.__qualname__ if self.__module__ is None else (_by_name, (self.__module__, self.__name__))

    def __getattr__(self, name):
        if name in ("_raw", "__wrapped__"):
            raise AttributeError(name)
        return getattr(self._raw, name)


def _by_name(module, name):
    return host_function(getattr(importlib.import_module(module), name), name)


class _Done:
    """What a native function returns that has done its work and whose NumPy function returns None."""


DONE = _Done()
_functions: dict[Any, Any] = {}
_ufuncs: dict[Any, Any] = {}
_arm: Any = None


# Functions that write into an argument: position and name of it
WRITES = {
    "copyto": ((0, "dst"),),
    "put": ((0, "a"),),
    "place": ((0, "arr"),),
    "putmask": ((0, "a"),),
    "put_along_axis": ((0, "arr"),),
    "fill_diagonal": ((0, "a"),),
    "nan_to_num": ((0, "x"),),
}


def writes_of(raw, name):
    """Positions and names of the parameters that `raw` may write to."""
    if name in WRITES:
        return WRITES[name]
    code = getattr(getattr(raw, "_implementation", raw), "__code__", None)
    if code is None:
        return ((2, "out"),) if name == "dot" else None
    names = code.co_varnames[: code.co_argcount]
    found = [(names.index("out"), "out")] if "out" in names else []
    if "overwrite_input" in names:
        found.append((0, names[0]))
    return tuple(found) or None


# Functions that call a function of the program: position and name of the parameter
CALLS = {
    "apply_along_axis": (0, "func1d"),
    "apply_over_axes": (0, "func"),
    "fromfunction": (0, "function"),
    "mask_indices": (1, "mask_func"),
    "piecewise": (2, "funclist"),
}


def _with_callback(args, kwargs, where):
    """The arguments of a call, with the program's function translated: it is to see tnp arrays."""
    i, name = where
    if name in kwargs:
        kwargs = {**kwargs, name: callback(kwargs[name])}
    elif i < len(args):
        args = (*args[:i], callback(args[i]), *args[i + 1 :])
    return args, kwargs


def callback(f):
    """The program's function `f` (or those in a list), to be called by NumPy: it gets and returns tnp arrays."""
    if isinstance(f, (list, tuple)):
        return [callback(g) for g in f]
    if not callable(f) or isinstance(f, (HostFunction, ufunc, type)):
        return f

    @functools.wraps(f)
    def called(*args, **kwargs):
        return unwrap(f(*rewrap(args, ()), **rewrap(kwargs, ())), [])

    return called


def host_function(raw, name):
    """The `HostFunction` of a NumPy function: always the same object."""
    key = id(raw)
    f = _functions.get(key)
    if f is None:
        f = _functions[key] = HostFunction(raw, name, writes_of(raw, name), hasattr(type(raw), "__get__"))
        if _arm is not None:
            _arm(f)
    return f


def install_arm(arm):
    """`arm` lets calls of a function or ufunc take the short way of the compiled build (tnp/arrays/_quick.pyx)."""
    global _arm
    _arm = arm
    for f in (*_functions.values(), *_ufuncs.values()):
        arm(f)


def function_of(raw):
    """What the program has in place of NumPy's function `raw`."""
    return host_function(raw, raw.__name__)


def takes(args, raw):
    """Is there a tnp array among the first arguments? A native function has nothing to do with others."""
    for x in args:
        t = type(x)
        if t is ndarray:
            return True
        if t is list or t is tuple:
            for y in x:
                if type(y) is ndarray:
                    return True
    return False


def native(function, raw, name, creates=False):
    """The public function `raw` of NumPy, done by `function` where that does not return None.

    It is asked where there is a tnp array among the arguments or, if it `creates` arrays, always.
    """
    f = host_function(raw, name)
    f.native = function
    f.creates = creates
    return f


def ufunc_of(raw):
    """The tnp ufunc of a NumPy ufunc: always the same object."""
    f = _ufuncs.get(id(raw))
    if f is None:
        f = _ufuncs[id(raw)] = ufunc(raw)
        if _arm is not None:
            _arm(f)
    return f
