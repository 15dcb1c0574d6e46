"""What runs as one kernel: the pending operations below a storage, as far as elements correspond one to one."""

from tnp.backends.base import Group, Step
from tnp.core.cells import Place, Storage
from tnp.core.primitive import Reduction
from tnp.lazy.phantom import is_phantom, realise


def collect(targets, force, fusible):
    """The pending storages that one kernel computes, producers first.

    What cannot run inside it is run before, by ``force(storage)``: a producer that is read through a view (fusing is a
    property of an edge: ``t + t[::-1]``), one of another shape, and an operation whose bits depend on strides that a
    kernel cannot give it.
    """
    while True:
        order, barrier = _walk(targets, fusible)
        if barrier is None:
            return order
        force(barrier)


def _walk(targets, fusible):
    order, seen = [], set()
    stack = [(t, False) for t in reversed(targets) if t.node is not None]
    while stack:
        s, done = stack.pop()
        if done:
            order.append(s)
            continue
        if s in seen:
            continue
        seen.add(s)
        stack.append((s, True))
        node = s.node
        lone = len(stack) == 1 and len(targets) == 1
        for a in reversed(node.args):
            t = type(a)
            if t is Storage:
                if a.node is not None:
                    if a.node.shape != node.shape and not isinstance(node.prim, Reduction) or isinstance(a.node.prim, Reduction):
                        return None, a
                    if a not in seen:
                        stack.append((a, False))
                elif not (a.full.flags.c_contiguous and a.full.shape == node.shape or lone) and not fusible(
                    node.prim, node.in_dtypes, a.full
                ):
                    return _alone(s, targets)
            elif t is Place:
                if a.storage.node is not None:
                    return None, a.storage
                nd = view(a)
                if not lone and not nd.flags.c_contiguous and not fusible(node.prim, node.in_dtypes, nd):
                    return _alone(s, targets)
    return order, None


def _alone(s, targets):
    """`s` reads a leaf that only NumPy reads right: its other operands are run first, then itself."""
    for a in s.node.args:
        p = a if type(a) is Storage else a.storage if type(a) is Place else None
        if p is not None and p.node is not None:
            return None, p
    return ([s], None) if s in targets and len(targets) == 1 else (None, s)


def view(place):
    """The NumPy array of a place whose storage has memory."""
    nd = place.nd
    if is_phantom(nd):
        nd = place.nd = realise(nd, place.storage.full)
    return nd


def build(order, outputs):
    """The `Group` of the storages `order`, which writes ``outputs`` (storage -> destination)."""
    index, leaves, steps = {}, [], []
    shape = ()
    for s in order:
        node, args = s.node, []
        for a in node.args:
            t = type(a)
            if t is Storage:
                i = index.get(a)
                if i is None:
                    leaves.append(a.full)
                    i = index[a] = ~(len(leaves) - 1)
                args.append(i)
            elif t is Place:
                leaves.append(view(a))
                args.append(~(len(leaves) - 1))
            else:
                leaves.append(a)
                args.append(~(len(leaves) - 1))
        index[s] = len(steps)
        steps.append(Step(node.prim, tuple(args), node.in_dtypes, node.dtype, node.params))
        if not isinstance(node.prim, Reduction):
            shape = node.shape
    if len(order) == 1 and isinstance(order[0].node.prim, Reduction):
        shape = leaves[0].shape
    return Group(steps, leaves, [(index[s], nd) for s, nd in outputs.items()], shape)
