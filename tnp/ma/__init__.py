"""`numpy.ma`: NumPy's own masked arrays, which take tnp arrays as data."""

import importlib
from typing import Any

import numpy.ma as _np_ma

from tnp.namespace import mirror

mirror(_np_ma, globals())


def __getattr__(name: str) -> Any:
    if name == "mrecords":
        return importlib.import_module("tnp.ma.mrecords")
    return getattr(_np_ma, name)
