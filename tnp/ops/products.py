"""Products of matrices in memory of the pool: NumPy's own the system takes back, and hands out again page by page."""

import numpy as _np

from tnp.core.layout import size_of
from tnp.hot import ndarray, real
from tnp.ops.memory import adopt, pooled

_DTYPES = frozenset("fdFD")  # what BLAS multiplies


def product(a, b):
    """``a @ b`` of two large matrices; None where NumPy should see to all of it."""
    if type(a) is not ndarray or type(b) is not ndarray:
        return None
    dtype, shape, other = a.dtype, a.shape, b.shape
    if dtype.char not in _DTYPES or dtype != b.dtype or not dtype.isnative or len(shape) != 2 or len(other) != 2:
        return None
    if shape[1] != other[0] or not size_of(shape):
        return None
    out = pooled((shape[0], other[1]), dtype)
    if out is None:
        return None
    _np.matmul(real(a), real(b), out=out)
    return adopt(out)
