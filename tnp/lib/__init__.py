"""`numpy.lib` on tnp arrays."""

import importlib
from typing import Any

import numpy.lib as _np_lib

from tnp.namespace import mirror

_SUBMODULES = frozenset(
    ["array_utils", "format", "introspect", "mixins", "npyio", "recfunctions", "scimath", "stride_tricks"]
)
mirror(_np_lib, globals())


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"tnp.lib.{name}")
    return getattr(_np_lib, name)
