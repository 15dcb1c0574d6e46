"""`numpy.nditer`, `nested_iters` and `broadcast` over tnp arrays: what they hand out are tnp arrays."""

import numpy as _np

from tnp.arrays.flags import flatiter
from tnp.host import Wrapped, rewrap, unwrap
from tnp.hot import ndarray, writable


class nditer(Wrapped):
    """`numpy.nditer` over tnp arrays."""

    __hash__ = None  # type: ignore[assignment]  # as NumPy's
    __doc__ = _np.nditer.__doc__

    def __init__(self, op, *args, **kwargs):
        flags = kwargs.get("op_flags", args[1] if len(args) > 1 else None)
        for x in op if isinstance(op, (list, tuple)) else (op,):
            if isinstance(x, ndarray) and "write" in repr(flags):
                writable(x)
        seen = []
        args, kwargs = unwrap(args, []), unwrap(kwargs, [])
        self._keep(_np.nditer(unwrap(op, seen), *args, **kwargs), seen)

    def _keep(self, raw, seen):
        object.__setattr__(self, "_raw", raw)
        object.__setattr__(self, "_seen", seen)
        rewrap(raw, seen)  # it holds their memory
        return self

    def __getattr__(self, name):
        if name in ("_raw", "_seen"):
            raise AttributeError(name)
        value = getattr(self._raw, name)
        if name in ("copy", "__copy__"):
            return lambda: _iterator(value(), self._seen)
        return _ours(name, value, self._seen)

    def __setattr__(self, name, value):
        setattr(self._raw, name, unwrap(value, []))

    def __delattr__(self, name):
        delattr(self._raw, name)

    def __iter__(self):
        return self

    def __next__(self):
        return rewrap(next(self._raw), ())  # views whose base is the iterator

    def __getitem__(self, key):
        return rewrap(self._raw[key], ())

    def __setitem__(self, key, value):
        self._raw[key] = unwrap(value, [])

    def __delitem__(self, key):
        del self._raw[key]

    def __len__(self):
        return len(self._raw)

    def __enter__(self):
        self._raw.__enter__()
        return self

    def __exit__(self, *error):
        return self._raw.__exit__(*error)

    def __copy__(self):
        return _iterator(self._raw.copy(), self._seen)

    def __reduce__(self):
        return self._raw.__reduce__()


def _ours(name, value, seen):
    if name == "operands":
        mine = {id(x._nd): x for x in seen}
        return tuple(mine[id(x)] if id(x) in mine else rewrap(x, ()) for x in value)
    return rewrap(value, ()) if name in ("value", "itviews") else value


def _iterator(raw, seen):
    return nditer.__new__(nditer)._keep(raw, seen)


def nested_iters(op, axes, *args, **kwargs):
    """Create nditers for use in nested loops (`numpy.nested_iters`)."""
    seen = []
    op, args, kwargs = unwrap(op, seen), unwrap(args, []), unwrap(kwargs, [])
    return tuple(_iterator(it, seen) for it in _np.nested_iters(op, axes, *args, **kwargs))


class broadcast(Wrapped):
    """`numpy.broadcast` of tnp arrays."""

    __doc__ = _np.broadcast.__doc__

    def __init__(self, *args, **kwargs):
        seen = []
        self._raw = _np.broadcast(*unwrap(args, seen), **unwrap(kwargs, seen))
        self._seen = seen
        rewrap(self._raw, seen)  # it holds their memory
        for inner in args:
            if isinstance(inner, broadcast):  # whose arrays it iterates over too
                seen += inner._seen

    iters = property(lambda self: tuple(flatiter(rewrap(it.base, self._seen)) for it in self._raw.iters))
    index = property(lambda self: self._raw.index)
    nd = property(lambda self: self._raw.nd)
    ndim = property(lambda self: self._raw.ndim)
    numiter = property(lambda self: self._raw.numiter)
    shape = property(lambda self: self._raw.shape)
    size = property(lambda self: self._raw.size)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._raw)

    def reset(self, /):
        """Start the iteration again (`numpy.broadcast.reset`)."""
        self._raw.reset()
