"""`numpy.testing` on tnp arrays."""

import importlib
from typing import Any

import numpy.testing as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())


def __getattr__(name: str) -> Any:
    if name == "overrides":
        return importlib.import_module("tnp.testing.overrides")
    return getattr(_np_module, name)
