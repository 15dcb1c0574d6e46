"""What runs as one kernel: the pending operations below a storage, as far as elements correspond one to one."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tnp.backends.base import Group, Step
from tnp.core import layout, native
from tnp.core.cells import Node, Place, Storage, storage_of
from tnp.core.primitive import Reduction
from tnp.lazy.phantom import is_phantom, realise

MOST_COMPARED = 64  # leaves among which the same place is looked for

_NDARRAY = np.ndarray
_walks = 0

_Fusible = Callable[[Any, Any, Any], bool]  # `Backend.fusible`


def collect(targets: list[Storage], force: Callable[[Storage], object], fusible: _Fusible) -> list[Storage]:
    """The pending storages that one kernel computes, producers first.

    What cannot run inside it is run before, by ``force(storage)``: a producer that is read through a view (fusing is a
    property of an edge: ``t + t[::-1]``), one of another shape, and an operation whose bits depend on strides that a
    kernel cannot give it. So is the operand of a reduction whose memory may lie otherwise than that of a new array
    would: the order of NumPy's sums is that of the memory.
    """
    while True:
        order, barrier = _walk(targets, fusible)
        if barrier is None:
            return order
        force(barrier)


def first_barrier(storage: Storage, fusible: _Fusible) -> Storage | None:
    """Something that must run before the kernel of `storage` can, or None."""
    return _walk([storage], fusible)[1]


def _walk(targets: list[Storage], fusible: _Fusible) -> tuple[list[Storage], Storage | None]:
    """The order, and what must run before if there is such a thing (then the order says nothing)."""
    global _walks
    _walks += 2
    entered, left = _walks, _walks + 1
    order: list[Storage] = []
    reduced: Storage | None = None
    writes = False
    stack = [t for t in reversed(targets) if t.node is not None]
    while stack:
        s = stack[-1]
        node = s.node
        if node.mark >= entered:
            stack.pop()
            if node.mark == entered:  # all below it stand in the order
                node.mark = left
                order.append(s)
                if node.version:
                    writes = True
            continue
        node.mark = entered
        single = len(node.shape) == 1 and node.shape[0] == 1  # contiguous whatever the stride, which loops are given
        lone = len(stack) == 1 and len(targets) == 1 and not any([_pending(a) for a in node.args])
        for a in reversed(node.args):
            t = type(a)
            if t is Storage:
                b = a
                if b.node is not None:
                    if type(node.prim) is Reduction:
                        reduced = b
                    if type(b.node.prim) is Reduction or (
                        b.node.shape is not node.shape
                        and b.node.shape != node.shape
                        and type(node.prim) is not Reduction
                    ):
                        return order, b
                    if b.node.mark < entered:
                        stack.append(b)
                elif not (
                    lone or (native.is_contiguous(b.full) and not single and layout.has_shape(b.full, node.shape))
                ) and not fusible(node.prim, node.in_dtypes, b.full):
                    return _alone(s, targets)
            elif t is Place:
                p = a
                if p.storage.node is not None:
                    return order, p.storage
                nd = view(a)
                if not lone and (single or not native.is_contiguous(nd)) and not fusible(node.prim, node.in_dtypes, nd):
                    return _alone(s, targets)
    if writes and reduced is not None and len(reduced.node.shape) > 1 and not all([_in_c_order(s.node) for s in order]):
        return order, reduced
    return order, None


def _in_c_order(node: Node) -> bool:
    """Does it lie, and is all that it reads from memory, in C order?"""
    for a in node.args:
        nd = view(a) if type(a) is Place else a.full if type(a) is Storage else None
        if nd is not None and not native.is_contiguous(nd):
            steps = [abs(s) for n, s in zip(nd.shape, nd.strides, strict=True) if n > 1 and s]
            if steps != sorted(steps, reverse=True):
                return False
    return node.order is None


def _pending(a: Any) -> bool:
    s = storage_of(a)
    return s is not None and s.node is not None


def _alone(s: Storage, targets: list[Storage]) -> tuple[list[Storage], Storage | None]:
    """`s` reads a leaf that only NumPy reads right: its other operands are run first, then itself."""
    for a in s.node.args:
        p = storage_of(a)
        if p is not None and p.node is not None:
            return [], p
    return ([s], None) if s in targets and len(targets) == 1 else ([], s)


def view(place: Place) -> Any:
    """The NumPy array of a place whose storage has memory."""
    nd = place.nd
    if is_phantom(nd):
        nd = place.nd = realise(nd, place.storage.full)
    return nd


def _leaf(nd: Any, leaves: list[Any]) -> int:
    """Where the array `nd` stands among the leaves; put there unless the same place is."""
    if len(leaves) <= MOST_COMPARED:
        for i in range(len(leaves)):
            if type(leaves[i]) is _NDARRAY and is_same(leaves[i], nd):
                return i
    leaves.append(nd)
    return len(leaves) - 1


def is_same(a: Any, b: Any) -> bool:
    """Are these the very same elements?"""
    if native.address(a) != native.address(b) or a.ndim != b.ndim:
        return False
    for i in range(a.ndim):
        if a.strides[i] != b.strides[i] or a.shape[i] != b.shape[i]:
            return False
    return a.dtype is b.dtype or a.dtype == b.dtype


def build(order: list[Storage], outputs: dict[Storage, Any], place: Any = None) -> Group:
    """The `Group` of the storages `order`; writes ``outputs`` (storage -> destination), and the last one to `place`."""
    known: dict[Storage, int] = {}  # where storages stand among the leaves
    leaves: list[Any] = []
    steps: list[Step] = []
    shape: tuple[int, ...] = ()
    for s in order:
        node, args = s.node, []
        for a in node.args:
            t = type(a)
            if t is Storage:
                b = a
                if b.node is not None:
                    args.append(b.node.index)
                    continue
                i = known.get(b)
                if i is None:
                    leaves.append(b.full)
                    i = known[b] = ~(len(leaves) - 1)
                args.append(i)
            elif t is Place:
                args.append(~_leaf(view(a), leaves))
            else:
                leaves.append(a)
                args.append(~(len(leaves) - 1))
        node.index = len(steps)
        step = Step.__new__(Step)  # field by field: that is C where this is compiled
        step.prim, step.args, step.in_dtypes = node.prim, tuple(args), node.in_dtypes
        step.dtype, step.params = node.dtype, node.params
        steps.append(step)
        if type(node.prim) is not Reduction:
            shape = node.shape
    if len(order) == 1 and isinstance(order[0].node.prim, Reduction):
        shape = leaves[0].shape
    destinations = [(s.node.index, nd) for s, nd in outputs.items()]
    if place is not None:
        destinations.append((len(steps) - 1, place))
    return Group(steps, leaves, destinations, shape)
