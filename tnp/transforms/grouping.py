"""Neighbouring elementwise steps as groups, each to become one kernel.

A step joins the open group if it has its shape, and if running element by element changes nothing: what it reads is
either what a step of the group gives, at the very same place, or memory that the group does not write; what it writes
the group has not read, except at the very same place.
"""

from typing import Any

from tnp.backends.base import Step
from tnp.core.elementwise import cast_p
from tnp.transforms.lower import overlap
from tnp.transforms.record import Ref
from tnp.transforms.steps import Call, Elementwise

MOST = 100  # steps of one group
BACK = 8  # items that a step may go back


class Grouped:
    """A group of steps.

    Attributes
    ----------
    steps : list of tnp.backends.base.Step
    leaves : list of Ref or numpy.generic
    outputs : list of (int, Ref)
        In the order of writing; `prune` takes out those that nobody reads.
    shape : tuple of int
    count : int or None
    first, last : int
        The calls that it does.
    quiet : bool
        The error state ignores what it raises.
    """

    __slots__ = ("_leaf_of", "count", "first", "last", "leaves", "outputs", "quiet", "shape", "steps")

    def __init__(self, step: Elementwise) -> None:
        self.shape, self.count, self.first = step.out.shape, step.count, step.op
        self.steps: list[Step] = []
        self.leaves: list[Any] = []
        self.outputs: list[tuple[int, Ref]] = []
        self._leaf_of: dict[Any, int] = {}
        self.last, self.quiet = step.op, step.quiet

    def takes(self, step: Elementwise) -> bool:
        """May the step join?"""
        if step.out.shape != self.shape or step.count != self.count or step.quiet is not self.quiet:
            return False
        if len(self.steps) >= MOST:
            return False
        for a in step.reads:
            for _, out in self.outputs:
                if out.slot == a.slot and not out.same(a) and overlap(out, a):
                    return False
        for _, out in self.outputs:
            if out.slot == step.out.slot and not out.same(step.out) and overlap(out, step.out):
                return False
        for leaf in self.leaves:
            if type(leaf) is Ref and not leaf.same(step.out) and overlap(leaf, step.out):
                return False
        return True

    def add(self, step: Elementwise) -> None:
        """Append a step."""
        args = tuple([self._argument(a) for a in step.args])
        self.last = step.op
        dtype = step.out.dtype
        if step.prim is cast_p and step.in_dtypes[0] == dtype and args[0] >= 0:
            value = args[0]  # a name for what is known
        else:
            params = (("dtype", step.dtype),) if step.prim is cast_p else ()
            self.steps.append(Step(step.prim, args, step.in_dtypes, step.dtype, params))
            value = len(self.steps) - 1
            if step.dtype != dtype:
                self.steps.append(Step(cast_p, (value,), (step.dtype,), dtype, (("dtype", dtype),)))
                value += 1
        self.outputs = [(i, out) for i, out in self.outputs if not out.same(step.out)]
        self.outputs.append((value, step.out))

    def _argument(self, a: Any) -> int:
        if type(a) is Ref:
            for i, out in self.outputs:
                if out.same(a):
                    return i
            key: Any = (a.slot, a.offset, a.shape, a.strides, a.dtype)
        else:
            key = (type(a), a.tobytes())
        if key not in self._leaf_of:
            self._leaf_of[key] = len(self.leaves)
            self.leaves.append(a)
        return ~self._leaf_of[key]

    @property
    def reads(self) -> list[Ref]:
        return [a for a in self.leaves if type(a) is Ref]

    def prune(self, is_read: Any) -> bool:
        """Leave out results that nobody reads; False if nothing is left. What can warn stays, as a dead step."""
        self.outputs = [(i, out) for i, out in self.outputs if is_read(out)]
        return bool(self.outputs)


def grouped(steps: list[Any]) -> list[Any]:
    """The steps with groups in place of elementwise ones.

    A step may go back to an earlier group, past others that it has nothing to do with.
    """
    found: list[Any] = []
    used: list[tuple[set[int], set[int]]] = []  # slots that each reads, and writes
    for step in steps:
        reads = {r.slot for r in step.reads}
        writes = {r.slot for r in written(step)}
        if type(step) is Elementwise:
            at = _group_for(step, reads, found, used)
            if at is None:
                found.append(Grouped(step))
                used.append((set(), set()))
                at = len(found) - 1
            found[at].add(step)
            used[at][0].update(reads)
            used[at][1].update(writes)
        else:
            found.append(step)
            used.append((reads, writes))
    return found


def _group_for(
    step: Elementwise, reads: set[int], found: list[Any], used: list[tuple[set[int], set[int]]]
) -> int | None:
    """The number of the group that the step joins."""
    out = step.out.slot
    for at in range(len(found) - 1, max(-1, len(found) - 1 - BACK), -1):
        item = found[at]
        if type(item) is Grouped and item.takes(step):
            return at
        if type(item) is Call or out in used[at][0] or out in used[at][1] or reads & used[at][1]:
            return None
    return None


def written(item: Any) -> list[Ref]:
    """What a step writes."""
    if type(item) is Grouped:
        return [out for _, out in item.outputs]
    if type(item) is Call:
        return list(item.call.writes)
    return [item.out]
