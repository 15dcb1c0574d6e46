"""`numpy.polynomial` on tnp arrays."""

import importlib
from typing import Any

import numpy.polynomial as _np_module

from tnp.namespace import mirror

_SUBMODULES = frozenset("polynomial chebyshev hermite hermite_e laguerre legendre polyutils".split())
mirror(_np_module, globals())


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"tnp.polynomial.{name}")
    return getattr(_np_module, name)
