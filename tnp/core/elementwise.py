"""The elementwise primitives: NumPy's numeric ufuncs, by the ufunc.

Each is recorded and fused; which of them a backend computes itself and which through NumPy's inner loop is the
backend's affair.
"""

from typing import Any

import numpy as np
from numpy._core import umath as _umath

from tnp.core.primitive import Elementwise, Reduction, cast_p, where_p

umath: Any = _umath  # has clip as a ufunc, which numpy itself has not
CLIP = umath.clip

# Operations that never set a floating-point flag that NumPy reports
_QUIET = """
less less_equal equal not_equal greater greater_equal logical_and logical_or logical_xor logical_not bitwise_and
bitwise_or bitwise_xor invert left_shift right_shift isnan isinf isfinite signbit copysign negative positive absolute
fabs rint floor ceil trunc conjugate sign maximum minimum fmax fmin bitwise_count gcd lcm clip
""".split()

_LOUD = """
add subtract multiply true_divide floor_divide remainder fmod power float_power sqrt square reciprocal cbrt exp exp2
expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh hypot
logaddexp logaddexp2 degrees radians deg2rad rad2deg heaviside nextafter spacing ldexp
""".split()


def _primitive(name: str) -> Elementwise:
    ufunc = getattr(umath, name)
    return Elementwise(name=ufunc.__name__, impl=ufunc, ufunc=ufunc)


PRIMITIVES: dict[np.ufunc, Elementwise] = {p.ufunc: p for p in map(_primitive, _QUIET + _LOUD) if p.ufunc is not None}
QUIET = frozenset(PRIMITIVES[getattr(umath, n)] for n in _QUIET) | {where_p}

# Inside a kernel, or on a block in the cache, these cost less than storing what they give in memory
CHEAP = frozenset(
    "add subtract multiply negative positive absolute square maximum minimum sign conjugate astype where "
    "less less_equal greater greater_equal equal not_equal logical_and logical_or logical_not isfinite isnan isinf "
    "bitwise_and bitwise_or bitwise_xor invert floor ceil trunc rint".split()
)

# ufunc.reduce, by the ufunc
REDUCTIONS: dict[np.ufunc, Reduction] = {
    u: Reduction(name=u.__name__, impl=u.reduce, ufunc=u)
    for u in (np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or)
}

__all__ = ["CHEAP", "CLIP", "PRIMITIVES", "QUIET", "REDUCTIONS", "cast_p", "where_p"]
