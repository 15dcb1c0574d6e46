"""`ndarray.flags` and `ndarray.flat`: they act through the array, so that its memory may be pending or move."""

import operator

import numpy as _np

from tnp import content
from tnp.arrays.exports import share
from tnp.arrays.methods import setflags
from tnp.arrays.views import _memory, base_of
from tnp.host import rewrap, unwrap
from tnp.hot import ndarray, real, wrap, writable
from tnp.tracing import is_traced


class flagsobj:
    """`numpy.ndarray.flags` of a tnp array."""

    __hash__ = None  # type: ignore[assignment]  # as NumPy's
    _names = {  # noqa: RUF012
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
            return base_of(self._array) is None
        return getattr(_memory(self._array).flags, name)

    def __setattr__(self, name, value):
        if name == "writeable":
            setflags(self._array, write=value)
        else:
            setattr(_memory(self._array).flags, name, value)

    def __getitem__(self, name):
        return getattr(self, self._names[name]) if name in self._names else _memory(self._array).flags[name]

    def __setitem__(self, name, value):
        if name in ("W", "WRITEABLE"):
            setflags(self._array, write=value)
        else:
            content.settle(self._array).flags[name] = value

    def __eq__(self, other):
        return isinstance(other, flagsobj) and repr(self) == repr(other)

    def __repr__(self):
        text = repr(_memory(self._array).flags)
        return text.replace("OWNDATA : False", f"OWNDATA : {self.owndata}").replace(
            "OWNDATA : True", f"OWNDATA : {self.owndata}"
        )


class flatiter:
    """`numpy.flatiter` over a tnp array: reads and writes go through the array."""

    __hash__ = None  # type: ignore[assignment]  # as NumPy's

    def __init__(self, array):
        self.base = array
        self._iterator = None  # NumPy's, from the first step on
        if array.dtype.kind == "V":  # its elements are windows on the memory
            share(array)

    @property
    def coords(self):
        return _started(self).coords

    @property
    def index(self):
        return _started(self).index

    def copy(self, /):
        return self.base.flatten() if is_traced(self.base) else wrap(real(self.base).flatten())

    def __iter__(self):
        return self

    def __next__(self):
        return next(_started(self))

    def __len__(self):
        return self.base.size

    def __getitem__(self, key):
        if is_traced(self.base):
            r = self.base.reshape(-1)[key]
            return r.copy() if isinstance(r, ndarray) and r._cell is self.base._cell else r
        return rewrap(real(self.base).flat[unwrap(key, [])], ())

    def __setitem__(self, key, value):
        if is_traced(self.base) or is_traced(value):
            base = self.base
            at = _np.arange(base.size)[unwrap(key, [])]
            if _np.ndim(value):  # its elements in turn, as often as it takes
                n = max(_np.size(value), 1)
                value = wrap(_np.asarray(value)) if not isinstance(value, ndarray) else value
                value = value.reshape(-1)[_np.arange(at.size) % n].reshape(at.shape)
            base[_np.unravel_index(at, base.shape)] = value
            return
        writable(self.base).flat[unwrap(key, [])] = unwrap(value, [])

    def __delitem__(self, key):
        raise TypeError("Cannot delete iterator elements")

    def __array__(self, /, dtype=None, copy=None):
        return _np.asarray(real(self.base).flat, dtype=dtype)

    def __lt__(self, other):
        return _compared(operator.lt, self, other)

    def __le__(self, other):
        return _compared(operator.le, self, other)

    def __eq__(self, other):
        return _compared(operator.eq, self, other)

    def __ne__(self, other):
        return _compared(operator.ne, self, other)

    def __gt__(self, other):
        return _compared(operator.gt, self, other)

    def __ge__(self, other):
        return _compared(operator.ge, self, other)


def _started(it):
    """NumPy's iterator behind `it`: made when the first step is asked for, which most programs never do."""
    if it._iterator is None:
        it._iterator = real(it.base).flat
    return it._iterator


def _compared(operation, it, other):
    return wrap(operation(_np.asarray(it), unwrap(other, [])))
