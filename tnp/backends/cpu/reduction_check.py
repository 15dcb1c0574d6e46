"""Is the order that is assumed here the order of this NumPy on this CPU? A few hundred values tell."""

from __future__ import annotations  # naming numpy.random would import it

from functools import cache
from typing import Any

import numpy as np

from tnp.backends.base import Group, Step
from tnp.backends.cpu.folds import Fold
from tnp.backends.cpu.reduction_order import job_of
from tnp.backends.cpu.reduction_pass import Pass
from tnp.core.primitive import Reduction

_SAMPLES: dict[str, list[tuple[int, ...]]] = {
    "R": [(7,), (100,), (1000,), (9001,)],
    "KR": [(5, 9), (4, 129), (3, 1001), (2, 9001)],
    "RKR": [(3, 4, 9), (3, 4, 1001)],
    "RK": [(50, 37), (7, 300), (3, 9001)],
    "KRK": [(3, 50, 37), (2, 7, 300)],
}
_UFUNCS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "xor": np.bitwise_xor}
_NARROWER = {"f8": "f4", "f4": "f2", "c16": "c8", "c8": "f4"}  # operands that NumPy casts buffer by buffer


@cache
def confirmed(fold: Fold, letters: str, buffered: bool) -> bool:
    """Does this NumPy, on this CPU, combine in the order that is assumed here?"""
    ufunc = _UFUNCS.get(fold.kind) or getattr(np, ("logical_" if fold.code == "b1" else "bitwise_") + fold.kind)
    loop = np.dtype(np.float16) if fold.half else fold.dtype
    source = (np.dtype(np.float32) if fold.half else np.dtype(_NARROWER[fold.code])) if buffered else loop
    axes = tuple(d for d, letter in enumerate(letters) if letter == "R")
    prim = Reduction(name=ufunc.__name__, impl=ufunc.reduce, ufunc=ufunc)
    step = Step(prim, (~0,), (loop,), loop, (("axis", axes), ("keepdims", False)))
    rng = np.random.default_rng(len(letters))
    for shape in _SAMPLES[letters]:
        with np.errstate(all="ignore"):
            sample = _sample(rng, fold, source, shape)
            want = np.asarray(ufunc.reduce(sample, axis=axes, dtype=loop))
        got = np.empty(want.shape, loop)
        group = Group([step], [sample], [(0, got)], shape)
        if Pass(group, [job_of(group, 0)], []).run(group, True, sample.size) < 0 or got.tobytes() != want.tobytes():
            return False
    return True


def _sample(rng: np.random.Generator, fold: Fold, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Values whose sum shows the order of additions."""
    if dtype.kind == "b":
        return rng.random(shape) < (0.001 if fold.kind == "or" else 0.999)
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype)
    if fold.kind == "mul":
        return (1 + 1e-3 * rng.standard_normal(shape)).astype(dtype)
    wide = 1 if fold.half or dtype.itemsize == 2 else 4
    values = rng.standard_normal(shape) * 10.0 ** rng.uniform(-wide, wide, shape)
    return (values + 1j * values[..., ::-1] if dtype.kind == "c" else values).astype(dtype)
