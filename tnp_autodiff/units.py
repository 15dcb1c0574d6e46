"""What a function gives for each unit array of a shape: Jacobians, many rows or columns in one pass."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tnp
from tnp.core.interpreter import batches
from tnp.core.layout import size_of
from tnp.core.pytree import map_leaves
from tnp.transforms.errors import DataDependentError
from tnp.transforms.vmap import mapped
from tnp_autodiff.examples import for_all

AT_ONCE = 1 << 22  # elements of the units of one pass


def units(shape: tuple[int, ...], dtype: Any) -> Iterator[Any]:
    """Arrays with one element of one, each other zero."""
    for k in np.ndindex(shape):
        unit = tnp.zeros(shape, dtype)
        unit[k] = 1.0
        yield unit


def for_each_unit(f: Callable[[Any], Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """``f(unit)`` for each unit array of `shape`, in their order along a new first axis.

    Parameters
    ----------
    f : callable
        Gives a structure of arrays and None. It is called for many units at once (`tnp.vmap`), unless it is to run for
        many examples already.
    shape : tuple of int
        Of an empty one `f` gets zeros: what comes of it says shapes and dtypes.
    dtype : numpy.dtype
    """
    size = size_of(shape)
    if size == 0:
        return map_leaves(lambda x: tnp.asarray(x)[None][:0], f(tnp.zeros(shape, dtype)))
    if size > 1 and not batches.get():
        try:
            return _at_once(f, shape, size, dtype)
        except DataDependentError:  # a rule that looks at the values
            pass
    rows = [f(unit) for unit in units(shape, dtype)]
    return map_leaves(lambda *xs: tnp.stack([tnp.asarray(x) for x in xs]), *rows)


def _at_once(f: Callable[[Any], Any], shape: tuple[int, ...], size: int, dtype: Any) -> Any:
    def of(unit: Any) -> Any:
        with for_all():  # the program runs once: only cotangents or tangents differ
            return f(unit)

    most = max(AT_ONCE // size, 1)
    parts = []
    for start in range(0, size, most):
        count = min(most, size - start)
        rows = tnp.zeros((count, size), dtype)
        rows[np.arange(count), np.arange(start, start + count)] = 1.0
        parts.append(mapped(of, rows.reshape((count, *shape))))
    return parts[0] if len(parts) == 1 else map_leaves(lambda *xs: tnp.concatenate(xs), *parts)
