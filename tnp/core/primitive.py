"""What a primitive is. The primitives themselves stand in tnp/ops, one file per NumPy topic.

A family is a frozen dataclass with required keyword fields: a rule that is forgotten fails at import.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True, eq=False)
class Primitive:
    """The least the graph must know of an operation: what it is called and what it does to NumPy arrays.

    Parameters
    ----------
    name : str
        NumPy's name of the operation; reports and errors show it.
    impl : callable
        ``impl(*operands, **params)`` on NumPy arrays: the meaning, and the reference backend's kernel.
    """

    name: str
    impl: Callable[..., Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Elementwise(Primitive):
    """One result element from the corresponding elements of the operands.

    Parameters
    ----------
    ufunc : numpy.ufunc or None
        Resolves dtypes, owns the inner loop, and is the oracle. None: `cast_p` and `where_p`, which backends know
        by name.
    """

    ufunc: np.ufunc | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Reduction(Primitive):
    """``ufunc.reduce`` along axes, in NumPy's order of operations."""

    ufunc: np.ufunc


def _cast(x: Any, *, dtype: np.dtype[Any]) -> Any:
    return np.asarray(x).astype(dtype, copy=True)


cast_p = Elementwise(name="astype", impl=_cast, ufunc=None)
where_p = Elementwise(name="where", impl=np.where, ufunc=None)
