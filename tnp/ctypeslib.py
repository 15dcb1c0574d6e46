"""`numpy.ctypeslib` on tnp arrays."""

from typing import Any

import numpy.ctypeslib as _np_module

from tnp.arrays.exports import share
from tnp.host import rewrap, unwrap
from tnp.hot import ndarray
from tnp.namespace import mirror

_pointers: dict[Any, Any] = {}


def ndpointer(dtype: Any = None, ndim: Any = None, shape: Any = None, flags: Any = None) -> Any:
    """The class of array arguments of a C function (`numpy.ctypeslib.ndpointer`); it takes tnp arrays."""
    raw = _np_module.ndpointer(unwrap(dtype, []), ndim, unwrap(shape, []), unwrap(flags, []))
    if raw not in _pointers:
        _pointers[raw] = type(raw.__name__, (raw,), {"from_param": classmethod(_from_param), "_raw_class": raw})
        if hasattr(raw, "contents"):
            _pointers[raw].contents = property(lambda self: rewrap(raw.contents.__get__(self), []))
    return _pointers[raw]


def _from_param(cls: Any, x: Any) -> Any:
    return cls._raw_class.from_param.__func__(cls, share(x) if isinstance(x, ndarray) else x)


mirror(_np_module, globals())
