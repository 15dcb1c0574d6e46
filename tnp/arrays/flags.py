"""`ndarray.flags` and `ndarray.flat`: they act through the array, so that its memory may be pending or move."""

import operator

import numpy as _np

from tnp.arrays.exports import share
from tnp.arrays.methods import setflags
from tnp.arrays.views import base_of
from tnp.host import rewrap, unwrap
from tnp.hot import real, wrap, writable


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


class flatiter:
    """`numpy.flatiter` over a tnp array: reads and writes go through the array."""

    __hash__ = None  # type: ignore[assignment]  # as NumPy's

    def __init__(self, array):
        self.base = array
        self._iterator = None  # NumPy's, from the first step on
        if real(array).dtype.kind == "V":  # its elements are windows on the memory
            share(array)

    @property
    def coords(self):
        return _started(self).coords

    @property
    def index(self):
        return _started(self).index

    def copy(self, /):
        return wrap(real(self.base).flatten())

    def __iter__(self):
        return self

    def __next__(self):
        return next(_started(self))

    def __len__(self):
        return real(self.base).size

    def __getitem__(self, key):
        return rewrap(real(self.base).flat[unwrap(key, [])], ())

    def __setitem__(self, key, value):
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
