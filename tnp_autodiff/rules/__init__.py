"""Derivative rules, one file for each of NumPy's topics; importing them installs them."""

from tnp_autodiff.rules import (
    composed,
    contractions,
    elementwise,
    fourier,
    linalg,
    movement,
    reductions,
    sampling,
    scans,
    statistics,
    writes,
)

__all__ = [
    "composed",
    "contractions",
    "elementwise",
    "fourier",
    "linalg",
    "movement",
    "reductions",
    "sampling",
    "scans",
    "statistics",
    "writes",
]
