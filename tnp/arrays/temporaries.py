"""Results that a program never named: NumPy computes large sums and products over the memory of such an operand.

The result then has the operand's memory order, which otherwise would follow both operands, and is the product with that
operand first, which shows in the last bits of complex numbers. Nothing else shows.
"""

import sys

import numpy as _np

from tnp import content, hot
from tnp.core import layout, native
from tnp.core.cells import TRACED
from tnp.core.layout import ELIDED_FROM
from tnp.hot import OWNER, ndarray, wrap

COMMUTATIVE = frozenset(["add", "mul", "and", "or", "xor"])
ELIDED = COMMUTATIVE | {"sub", "truediv", "floordiv", "lshift", "rshift"}

_MANY = 1 << 30  # every operand then looks unnamed, while references are counted
_counting: list[tuple[int, int]] | None = None
_first = _second = _MANY  # references to a first and a second operand that nothing names, as `binary` sees them
_number = _MANY  # the same for the array after a number, as `reflected` sees it
_single = _MANY  # the same for the operand of `unary`
# From 3.14 on operands on the evaluation stack are not counted; and frames of Python hold what nothing names
_uncounted = sys.version_info >= (3, 14) or not native.COMPILED


def over(op, a, b, first, second):
    """The operand over whose memory NumPy computes ``a op b``; None where it does not, or where that changes nothing.

    `first` and `second` are the references to `a` and `b` that the caller sees.
    """
    if first > _first and second > _second:  # both have names
        return None
    if _counting is not None:
        _counting.append((first, second))
        return None
    if _uncounted or not op.elided or type(a) is not ndarray:
        return None
    if type(b) is not ndarray:
        is_over = first <= _first and _lies_apart(a) and _is_number(b, a) and _is_large_and_own(op.name, a)
        return a if is_over else None
    x = a
    y = b
    if (x._base is not None and x._base is not OWNER) and (y._base is not None and y._base is not OWNER):
        return None  # views
    if (op.name != "mul" or content.dtype_of(y).kind != "c") and _lies_alike(x, y):
        return None
    if first <= _first and _fits(op.name, x, y):
        return a
    return b if second <= _second and op.commutes and _fits(op.name, y, x) else None


def _lies_alike(a, b):
    """Do both lie in memory in the same order, so that the result does whatever NumPy does?"""
    m, n = content.pending_node(a), content.pending_node(b)
    if m is not None and m.order is not None:
        return n is not None and n.order == m.order
    if n is not None and n.order is not None:
        return False
    return (m is not None or _in_c_order(a)) and (n is not None or _in_c_order(b))


def _in_c_order(x):
    nd = x._nd if x._nd is not None else content.look(x)
    return native.is_contiguous(nd) or layout.is_in_c_order(nd)


def over_unary(name, a, count):
    """Does NumPy compute ``-a``, ``+a``, ``abs(a)``, ``~a`` or a short power over the memory of `a`, visibly?"""
    if count > _single:
        return False
    if _counting is not None:
        _counting.append((count, count))
        return False
    if _uncounted or type(a) is not ndarray or not _lies_apart(a):
        return False
    return (name != "abs" or content.dtype_of(a).kind != "c") and _is_large_and_own(name, a)


def _lies_apart(a):
    """Does `a` lie otherwise than a new result, which takes its order, would? In dimensions of one element it may."""
    if 1 not in content.shape_of(a):
        return False
    node = content.pending_node(a)
    return node.order is not None if node is not None else not _in_c_order(a)


def _is_number(b, a):
    if isinstance(b, (int, float, complex)):
        b = type(b)
    elif not isinstance(b, _np.generic):
        return False
    return _np.can_cast(b, content.dtype_of(a), "safe")


def over_reflected(op, a, b, count):
    """Does NumPy compute ``number * a``, or another sum or product, over the memory of `a`, and does that show?"""
    if count > _number:
        return False
    if _counting is not None:
        _counting.append((count, count))
        return False
    if _uncounted or not op.commutes or type(a) is not ndarray:
        return False
    if not _lies_apart(a) and (op.name != "mul" or content.dtype_of(a).kind != "c"):
        return False
    return _is_number(b, a) and _is_large_and_own(op.name, a)


def _fits(name, a, b):
    """May the result of ``a op b`` take the memory of `a`?"""
    if not _is_large_and_own(name, a):
        return False
    shape = content.shape_of(b)
    alike = not shape or shape == content.shape_of(a)
    return alike and _np.can_cast(content.dtype_of(b), content.dtype_of(a), "safe")


def _is_large_and_own(name, a):
    c = a._cell
    if (a._base is not None and a._base is not OWNER) or (c is not None and c.marked & TRACED):
        return False
    dtype = content.dtype_of(a)
    if layout.size_of(content.shape_of(a)) * native.itemsize(dtype) < ELIDED_FROM:
        return False
    if dtype.kind not in ("fc" if name == "truediv" else "iufc"):
        return False
    if content.pending_whole(a) is not None:
        return True
    x = content.look(a)
    return native.is_writeable(x) and (x.base is None if c is None else x is c.storage.full)


def calibrate():
    """Count the references to operands that nothing names, in an operator's call."""
    global _counting, _first, _second, _number, _single
    former = hot.get_lazy_from()
    hot.set_lazy_from(0)
    _counting = []
    wrap(_np.zeros(2)) + wrap(_np.zeros(2))
    1j * wrap(_np.zeros(2))
    -wrap(_np.zeros(2))
    operands, number, only = _counting
    _first, _second = operands
    _number, _single, _counting = number[0], only[0], None
    hot.set_lazy_from(former)
