"""Batching rules, one file for each of NumPy's topics; importing them installs them."""

from tnp.transforms.rules import (
    composed,
    contractions,
    creation,
    elementwise,
    fallback,
    fourier,
    indexing,
    joining,
    linalg,
    movement,
    randomness,
    reductions,
    sorting,
)

__all__ = [
    "composed",
    "contractions",
    "creation",
    "elementwise",
    "fallback",
    "fourier",
    "indexing",
    "joining",
    "linalg",
    "movement",
    "randomness",
    "reductions",
    "sorting",
]
