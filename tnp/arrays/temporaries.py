"""Results that a program never named: NumPy computes large sums and products over the memory of such an operand.

The result then has the operand's memory order, which otherwise would follow both operands, and is the product with that
operand first, which shows in the last bits of complex numbers. Nothing else shows.
"""

import sys

import numpy as _np

from tnp import bind, hot
from tnp.core.cells import TRACED
from tnp.hot import OWNER, ndarray, wrap

LEAST = 256 * 1024  # bytes from which NumPy does so
COMMUTATIVE = frozenset(["add", "mul", "and", "or", "xor"])
ELIDED = COMMUTATIVE | {"sub", "truediv", "floordiv", "lshift", "rshift"}

_counting: list[tuple[int, int]] | None = None
_counts = (0, 0)  # references to a first and a second operand that nothing names, as `binary` sees them
_count = 0  # the same for the array after a number, as `reflected` sees it
_borrows = sys.version_info >= (3, 14)  # operands on the evaluation stack are not counted there


def alike(a, b):
    """Do both lie in memory in the same order, so that the result does whatever NumPy does?"""
    if _counting is not None:
        return False
    if _borrows or type(b) is not ndarray or type(a) is not ndarray:
        return True
    x, y = _order(a), _order(b)
    return (x is None and y is None) or (type(x) is tuple and type(y) is tuple and x == y)


def _order(x):
    c = x._cell
    if x._nd is None and x._place is None and c is not None and c.storage.node is not None:
        return c.storage.node.order
    nd = x._nd if x._nd is not None else bind.look(x)
    return None if nd.flags.c_contiguous else nd


def is_complex(x):
    """Is this an array of complex numbers, and can it be told whether anything names it?"""
    return not _borrows and type(x) is ndarray and bind.dtype_of(x).kind == "c"


def is_over(a, count):
    """Does NumPy compute ``number * a`` over the memory of `a`, an array of complex numbers?"""
    if _counting is not None:
        _counting.append((count, count))
        return False
    return is_complex(a) and count <= _count and _is_large_and_own("mul", a)


def over(op, a, b, counts):
    """The operand over whose memory NumPy computes ``a op b``, or None.

    `counts` are the references to `a` and `b` that the caller sees.
    """
    if _counting is not None:
        _counting.append(counts)
        return None
    if op.name not in ELIDED:
        return None
    if counts[0] <= _counts[0] and _fits(op, a, b):
        return a
    return b if counts[1] <= _counts[1] and op.name in COMMUTATIVE and _fits(op, b, a) else None


def _fits(op, a, b):
    """May the result of ``a op b`` take the memory of `a`?"""
    if type(a) is not ndarray or type(b) is not ndarray or not _is_large_and_own(op.name, a):
        return False
    x, y = bind.look(a), bind.look(b)
    return (y.ndim == 0 or y.shape == x.shape) and _np.can_cast(y.dtype, x.dtype, "safe")


def _is_large_and_own(name, a):
    c = a._cell
    if (a._base is not None and a._base is not OWNER) or (c is not None and c.marked & TRACED):
        return False
    x = bind.look(a)
    if x.nbytes < LEAST or x.dtype.kind not in ("fc" if name == "truediv" else "iufc") or not x.flags.writeable:
        return False
    return x.base is None if c is None else bind.pending_whole(a) is not None or x is c.storage.full


def calibrate():
    """Count the references to operands that nothing names, in an operator's call."""
    global _counting, _counts, _count
    former = hot.get_lazy_from()
    hot.set_lazy_from(0)
    _counting = []
    wrap(_np.zeros(2)) + wrap(_np.zeros(2))
    1j * wrap(_np.zeros(2))
    _counts, _count, _counting = _counting[0], _counting[1][0], None
    hot.set_lazy_from(former)
