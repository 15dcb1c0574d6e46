"""A plan: what a recorded function does at each later call."""

from typing import Any

import numpy as np

from tnp import content, hot, tracing
from tnp.core import native
from tnp.hot import ndarray
from tnp.transforms.record import Record
from tnp.transforms.recorder import Recorder, Selected
from tnp.transforms.replay import Environment, Memory, replay
from tnp.transforms.signature import Inputs
from tnp.transforms.structure import Structure


class Plan:
    """A record, and where its memory comes from.

    Attributes
    ----------
    record : Record
    given : list of (int, int or None, int)
        Slot, its piece of the inputs' memory or None for a number, and the input array that has it.
    held : list of (int, cell)
    written : list of int
        Input arrays whose memory is written.
    structure : Structure
        Of the result.
    results : list of callable
        Each gives a leaf of the result, from the environment, the inputs, and what others have made.
    """

    def __init__(self, record: Record, structure: Structure) -> None:
        self.record, self.structure = record, structure
        self.given: list[tuple[int, int | None, int]] = []
        self.held: list[tuple[int, Any]] = []
        self.written: list[int] = []
        self.results: list[Any] = []

    def fits(self, inputs: Inputs) -> bool:
        """Is memory that no name reached still apart from that of the arguments?"""
        if not self.held:
            return True
        cells = [cell for _, cell in self.held]
        return not any([isinstance(x, ndarray) and x._cell in cells for _, x in inputs.arrays])

    def run(self, inputs: Inputs) -> Any:
        """Do what the function does."""
        env = self.environment(inputs)
        self.compute(env)
        return self.finish(env, inputs)

    def environment(self, inputs: Inputs) -> Environment:
        """The memory of the inputs as slots, ready to be written where that is going to happen."""
        arrays = inputs.arrays
        for k in self.written:
            content.release(arrays[k][1])
        env = Environment()
        for slot, piece, k in self.given:
            x = arrays[k][1]
            if piece is None:
                env.slots[slot] = Memory.of(np.array(x))
            else:
                start, stop = inputs.spans[piece]
                nd = content.settle(x)
                env.slots[slot] = Memory(start, stop - start, nd, nd)
        for slot, cell in self.held:
            env.slots[slot] = _held(cell)
        return env

    def compute(self, env: Environment) -> None:
        """Run the calls."""
        replay(self.record.ops, env)

    def finish(self, env: Environment, inputs: Inputs) -> Any:
        """The result, from the memory in which it lies."""
        made: dict[int, ndarray] = {}
        return self.structure.build(iter([get(env, inputs, made) for get in self.results]))

    def explain(self) -> str:
        """What the plan does, as text: its calls, in segments, with the memory that they use."""
        lines = [f"plan of {len(self.record.ops)} calls"]
        lines += [f"  {op.name}" for op in self.record.ops]
        return "\n".join(lines)


def _held(cell: Any) -> Memory:
    """The present content of a cell that no name reaches."""
    x = hot.new(ndarray)
    x._cell = cell
    nd = content.release(x)
    full = hot.root(nd)
    start, stop = np.lib.array_utils.byte_bounds(full) if full.size else (native.address(full), 0)
    return Memory(start, max(0, stop - start), full, full)


def make_plan(recorder: Recorder, inputs: Inputs, structure: Structure, found: list[Any], leaves: list[Any]) -> Plan:
    """The plan of what was recorded; `found` are the leaves of the result, `leaves` those that the function got."""
    record = recorder.record
    plan = Plan(record, structure)
    written = record.written()
    for slot in record.slots:
        if slot.kind == "given":
            piece, k = recorder.sources[slot.number]
            plan.given.append((slot.number, piece, k))
            if slot.number in written and piece is not None:
                plan.written += [j for j, (g, _) in enumerate(inputs.groups) if g == piece]
        elif slot.kind == "held":
            plan.held.append((slot.number, slot.cell))
    of_slot = {slot: k for slot, _, k in plan.given}
    for x in found:
        plan.results.append(_getter(x, recorder, leaves, of_slot))
    return plan


def _getter(x: Any, recorder: Recorder, leaves: list[Any], of_slot: dict[int, int]) -> Any:
    for i, leaf in enumerate(leaves):
        if leaf is x and isinstance(x, (ndarray, np.generic)):
            return lambda env, inputs, made: inputs.leaves[i]
    if not isinstance(x, ndarray):
        kept = recorder.object_slot(x)
        if kept is not None:
            return lambda env, inputs, made: env.slots[kept]
        return lambda env, inputs, made: x
    ref = recorder.ref(x)
    slot = recorder.record.slots[ref.slot]
    ref.whole = slot.dynamic
    if ref.value:
        return lambda env, inputs, made: env.get(ref)
    if slot.kind == "held":
        return lambda env, inputs, made: x
    if slot.kind == "given":
        k = of_slot[ref.slot]
        return lambda env, inputs, made: hot._as_view(inputs.arrays[k][1], env.get(ref))

    def own(env: Environment, inputs: Inputs, made: dict[int, ndarray]) -> Any:
        memory = env.slots[ref.slot]
        nd = memory.at(ref)
        owner = made.get(ref.slot)
        if owner is None:
            y = hot.wrap(nd) if nd is memory.array else None
            owner = made[ref.slot] = y if y is not None else hot.wrap(memory.owner)
            if y is not None:
                return y
        return owner if owner._nd is nd else hot._as_view(owner, nd)

    return own


def plain(x: Any, leaves: list[Any], inputs: Inputs) -> Any:
    """A leaf of the first call's result as the program gets it."""
    for i, leaf in enumerate(leaves):
        if leaf is x and isinstance(x, (ndarray, np.generic)):
            return inputs.leaves[i]
    if type(x) is Selected:
        return hot.wrap(x._nd)
    if tracing.is_value(x):
        return content.settle(x)[()]
    return x
