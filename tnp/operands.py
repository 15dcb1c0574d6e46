"""Operands of recorded operations: what the graph reads, and the memory order of the result that follows from them.

An operand is a `Storage` (all of some memory), a `Place` (a view of some) or a number. This module is also compiled
by Cython.
"""

import numpy as _np

from tnp import content, hot
from tnp.core import layout, native
from tnp.core.cells import MOVED, PENDING, SHARED, Place, Storage
from tnp.lazy import phantom as _phantom


def operand(x):
    """What the graph reads where `x` is an operand, a `Storage` or a `Place`; None if that cannot be recorded."""
    c = x._cell
    if c is not None and (c.marked & (PENDING | MOVED) or x._nd is None):
        s = c.storage
        if s.node is None:
            content.settle(x)
        elif x._nd is not None:  # a view from before a pending write to the whole
            nd = x._nd
            ph = _phantom.phantom(s.node.shape, s.node.dtype, s.node.order)
            left = content.former_place(c, nd)
            if ph is None or left is None:
                content.settle(x)
            else:
                return _place(s, _phantom.at(ph, native.address(nd) - left[1], nd))
        else:
            p = x._place
            return s if p is None else _place(s, p.nd)
    nd = None  # references would make the memory content.look shared
    if c is None:
        c = hot.cell_of(x)
    s = c.storage
    if c.marked & SHARED or (s.export is not None and content.is_shared(c)):
        return None
    nd = x._nd
    return s if nd is s.full else _place(s, nd)


def _place(s, nd):
    p = Place.__new__(Place)
    p.storage, p.nd = s, nd
    return p


def ref_array(ref):
    """The array of an operand, a view of the phantom if it is pending; None for all of what is pending."""
    if type(ref) is Storage:
        s = ref
        return s.full
    p = ref
    return p.nd


def ref_dtype(ref):
    nd = ref_array(ref)
    if nd is None:
        s = ref
        return s.node.dtype
    return native.dtype(nd)


def ref_shape(ref):
    nd = ref_array(ref)
    if nd is None:
        s = ref
        return s.node.shape
    return native.shape(nd)


def is_large(ref):
    """Has the operand as many elements as it takes to be recorded?"""
    nd = ref_array(ref)
    if nd is None:
        s = ref
        return layout.size_of(s.node.shape) >= content.lazy_from
    return native.size(nd) >= content.lazy_from


def is_ref(x):
    return type(x) is Storage or type(x) is Place


# ------------------------------------------------------------------------------------------------ order of the result
def memory_order(refs, ins, shape, iterated):
    """Axes of the result from the slowest to the fastest, None for C order: NumPy's order "K". False: NumPy has to run.

    `ins` are the dtypes of the loop. Unless `iterated`, NumPy takes operands that lie alike, aligned, and need no cast
    without its iterator, which orders axes of one element differently; single elements are cast before.
    """
    plain = True
    for r in refs:
        if is_ref(r):
            nd = ref_array(r)
            if nd is None:
                s = r
                plain = s.node.order is None
            else:
                plain = native.is_contiguous(nd) or layout.is_in_c_order(nd)
            if not plain:
                break
    if plain:
        return None
    axes = _common_axes(refs, shape)
    return _order_by_numpy(refs, ins, shape, iterated) if axes is None else axes


def _common_axes(refs, shape):
    """The order of axes that all operands have, if there is no doubt about it; else None."""
    axes = None
    for r in refs:
        if not is_ref(r):
            continue
        nd = ref_array(r)
        if nd is None:
            s = r
            if axes is None:
                axes = s.node.order
            if axes is None or s.node.order != axes or s.node.shape != shape or 1 in shape:
                return None
        else:
            if not layout.has_shape(nd, shape):
                return None
            if axes is None:
                axes = layout.axes_by_stride(nd)
            if not layout.lies_along(nd, axes):
                return None
    return axes


def _order_by_numpy(refs, ins, shape, iterated):
    """`memory_order` as NumPy finds it."""
    arrays = []
    for i, r in enumerate(refs):
        if not is_ref(r):
            continue
        a = ref_array(r)
        if a is None:
            a = _phantom.phantom(r.node.shape, r.node.dtype, r.node.order)
            if a is None:
                return False
        elif not a.flags.aligned and a.ndim:
            iterated = True
        iterated = iterated or (ref_dtype(r) != ins[i] and a.ndim > 0)
        arrays.append(a)
    if all([layout.is_in_c_order(a) for a in arrays]):
        return None
    if not iterated and all([a.ndim == 0 or (a.shape == shape and a.flags.f_contiguous) for a in arrays]):
        return tuple(range(len(shape)))[::-1]
    it = _np.nditer(
        [*arrays, None],
        ["refs_ok", "zerosize_ok", "multi_index"],
        [["readonly"]] * len(arrays) + [["writeonly", "allocate"]],
        op_dtypes=[None] * len(arrays) + [_np.dtype("i1")],
    )
    made = it.operands[-1]
    order = tuple([i for _, _, i in sorted([(-made.strides[i], shape[i] == 1, i) for i in range(len(shape))])])
    return None if order == tuple(range(len(shape))) else order
