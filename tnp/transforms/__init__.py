"""Transformations of functions: `vmap` runs a function written for one example on many at once."""

from tnp.transforms import rules
from tnp.transforms.control import cond, fori_loop, scan, while_loop
from tnp.transforms.errors import DataDependentError, EscapedError, LoopCarriedError, VmapLoopWarning
from tnp.transforms.vmap import vectorized_map, vmap

__all__ = [
    "DataDependentError",
    "EscapedError",
    "LoopCarriedError",
    "VmapLoopWarning",
    "cond",
    "fori_loop",
    "rules",
    "scan",
    "vectorized_map",
    "vmap",
    "while_loop",
]
