"""NumPy's loop for an operation on operands of given dtypes. This module is also compiled by Cython."""

from typing import Any

from tnp.core.dtypes import NUMBERS, is_number
from tnp.core.elementwise import QUIET

WEAK = frozenset({int, float, complex})  # Python's numbers, which take the dtype of what they meet

_loops: dict[Any, Any] = {}  # by primitive: pairs of operands' dtypes and (dtypes of the loop, of the result) or None


def find_loop(prim: Any, types: Any) -> Any:
    """NumPy's loop for operands of these dtypes (or int, float, complex), or None if it is not numeric.

    The loop is the dtypes of its operands, that of its result, and whether it can warn.
    """
    known = _loops.get(prim)
    if known is None:
        known = _loops[prim] = []
    for entry in known:
        if _the_same(entry[0], types):
            return entry[1]
    types = tuple(types)
    found = None
    try:
        # No dtype is looked up in a set: hashing that of strings hashes the program's object for missing ones
        if all([t is int or t is float or t is complex or is_numeric(t) for t in types]):
            *ins, out = prim.ufunc.resolve_dtypes((*types, None))
            if all([is_number(d) for d in (*ins, out)]):
                found = (tuple(ins), out, can_warn(prim, ins, out))
    except (TypeError, ValueError):
        found = None
    if found is not None and prim.name in ("power", "float_power") and found[1].kind in "iu":
        found = None  # negative powers of integers raise, and that depends on the values
    if found is not None and prim.name in ("gcd", "lcm", "ldexp"):
        found = None if found[1].kind in "iu" else found
    if len(known) > 256:
        known.clear()
    known.append((types, found))
    return found


def can_warn(prim: Any, ins: Any, dtype: Any) -> bool:
    """Can the operation raise a floating-point flag that NumPy reports?"""
    if prim in QUIET:
        return ins[0].kind == "c"  # comparisons and magnitudes of complex numbers do
    return dtype.kind in "fcV" or prim.name in ("floor_divide", "remainder", "fmod", "astype", "reciprocal")


def _the_same(a: Any, b: Any) -> bool:
    """Are these the same objects? Equal dtypes may differ: metadata, and which object a result's dtype is."""
    if len(a) != len(b):
        return False
    for i in range(len(a)):  # noqa: SIM110, a loop of C where this is compiled
        if a[i] is not b[i]:
            return False
    return True


def is_numeric(dtype: Any) -> bool:
    """`is_number`, without a call for NumPy's own."""
    return (dtype.num in NUMBERS and dtype.isnative) or is_number(dtype)
