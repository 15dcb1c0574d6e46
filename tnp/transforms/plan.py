"""A plan: what a recorded function does at each later call."""

from typing import Any

import numpy as np

from tnp import content, hot, tracing
from tnp.backends.program import Unfit
from tnp.core import native
from tnp.hot import ndarray
from tnp.lazy import warn
from tnp.transforms.program import Part, Parts
from tnp.transforms.record import Record, Ref
from tnp.transforms.recorder import Recorder, Selected
from tnp.transforms.replay import Environment, Memory, replay
from tnp.transforms.signature import Inputs
from tnp.transforms.steps import Call
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
    results : list of (str, object)
        Leaves of the result: an input ("leaf", number), a view of one ("given"), a number ("value"), an array of its
        own ("made"), an object that a call made ("object"), anything else ("constant").
    keeps : list
        Objects that the key names by their identity.
    parts : Parts or None
        None: the calls are made one by one.
    """

    def __init__(self, record: Record, structure: Structure) -> None:
        self.record, self.structure = record, structure
        self.given: list[tuple[int, int | None, int]] = []
        self.held: list[tuple[int, Any]] = []
        self.written: list[int] = []
        self.results: list[tuple[str, Any]] = []
        self.parts: Parts | None = None
        self.keeps: list[Any] = []
        self._static: dict[int, Memory] = {}

    def compile(self, inputs: Inputs) -> None:
        """Make programs of the calls, where there is a backend that can."""
        if not all([content.settle(x).flags.aligned for _, x in inputs.arrays if isinstance(x, ndarray)]):
            return
        returned: dict[int, Ref] = {}
        values = {x.slot for kind, x in self.results if kind == "value"}
        for kind, ref in self.results:
            if kind == "made":
                returned[ref.slot] = self.record.made[ref.slot]
        try:
            parts = Parts(self.record, returned, values)
        except Unfit:
            return
        self.parts = parts
        for places, memory in ((parts.places, parts.arena), (parts.constant_places, parts.constants)):
            for n, at in places.items():
                start = native.address(memory) + at
                self._static[n] = Memory(start, self.record.slots[n].nbytes, memory)

    def fits(self, inputs: Inputs) -> bool:
        """Is memory that no name reached still apart from that of the arguments?"""
        if not self.held:
            return True
        cells = [cell for _, cell in self.held]
        return not any([isinstance(x, ndarray) and x._cell in cells for _, x in inputs.arrays])

    def run(self, inputs: Inputs) -> Any:
        """Do what the function does."""
        env = self.environment(inputs)
        if self.parts is None:
            replay(self.record.ops, env)
            return self.finish(env, inputs)
        running: list[Any] = []
        try:
            self._run_parts(self.parts, env, running)
            return self.finish(env, inputs)
        finally:
            for program in running:
                program.release()

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

    def _run_parts(self, parts: Parts, env: Environment, running: list[Any]) -> None:
        slots = env.slots
        before = dict(slots)
        for n, ref in parts.fresh:
            slots[n] = Memory.of(_empty(ref))
        slots.update(self._static)
        for part in parts.parts:
            if type(part) is Call:
                replay([part.call], env)
                continue
            blocks = [slots[n].start if n in slots else 0 for n in parts.blocks]
            flags = part.program.run(blocks)
            if flags != -2:
                running.append(part.program)
            if flags and (flags < 0 or flags & warn.asked()):
                if flags != -2:
                    part.undo.run(blocks)
                    running.append(part.undo)
                self._by_hand(part, env, before)
                return

    def _by_hand(self, part: Part, env: Environment, before: dict[int, Any]) -> None:
        """Make the calls from here on one by one: NumPy says what is to be said."""
        if part.first == 0:
            env.slots = before
        replay(self.record.ops[part.first :], env)

    def asks(self, status: int) -> bool:
        """Does the error state ask for what the only program has raised?"""
        assert self.parts is not None
        return bool(self.parts.parts[0].program.flags(status) & warn.asked())

    def undo(self, words: int) -> None:
        """Put back what the only program has changed."""
        assert self.parts is not None
        self.parts.parts[0].undo.run_at(words)

    def by_hand(self, inputs: Inputs) -> Any:
        """`run`, call by call."""
        env = self.environment(inputs)
        replay(self.record.ops, env)
        return self.finish(env, inputs)

    def finish(self, env: Environment, inputs: Inputs) -> Any:
        """The result, from the memory in which it lies."""
        made: dict[int, ndarray] = {}
        return self.structure.build(iter([self._leaf(kind, x, env, inputs, made) for kind, x in self.results]))

    def _leaf(self, kind: str, x: Any, env: Environment, inputs: Inputs, made: dict[int, ndarray]) -> Any:
        if kind == "leaf":
            return inputs.leaves[x]
        if kind == "value":
            return env.get(x)
        if kind == "made":
            return _own(x, env, made)
        if kind == "given":
            ref, k = x
            return hot._as_view(inputs.arrays[k][1], env.get(ref))
        return env.slots[x] if kind == "object" else x

    def explain(self) -> str:
        """What the plan does, as text: its calls, the programs they have become, and the memory that these use."""
        lines = [f"plan of {len(self.record.ops)} calls"]
        if self.parts is None:
            return "\n".join([*lines, "  no program: NumPy's functions are called one by one", *self._names(0, None)])
        lines[0] += f", arena of {self.parts.arena.size} bytes"
        for part in self.parts.parts:
            if type(part) is Call:
                lines.append(f"  call of {part.call.name}")
            else:
                lines += [f"  program of {part.stop - part.first} calls", *self._names(part.first, part.stop)]
                lines += [f"    {line}" for line in part.program.explain()]
        return "\n".join(lines)

    def _names(self, first: int, stop: int | None) -> list[str]:
        return ["    calls: " + ", ".join([op.name for op in self.record.ops[first:stop]])]


def _empty(ref: Ref) -> Any:
    """Memory for what a call would make, in its order."""
    nd = np.empty(ref.shape, ref.dtype)
    if nd.strides != ref.strides:
        axes = sorted(range(len(ref.shape)), key=lambda d: -ref.strides[d])
        nd = np.empty([ref.shape[d] for d in axes], ref.dtype).transpose(np.argsort(axes))
    return nd


def _own(ref: Ref, env: Environment, made: dict[int, ndarray]) -> ndarray:
    """A result on memory of its own; others may share it."""
    memory = env.slots[ref.slot]
    nd = memory.at(ref)
    owner = made.get(ref.slot)
    if owner is None:
        if nd is memory.array:
            made[ref.slot] = y = hot.wrap(nd)
            return y
        owner = made[ref.slot] = hot.wrap(memory.owner)
    return owner if owner._nd is nd else hot._as_view(owner, nd)


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
    plan.keeps = inputs.keeps
    of_slot = {slot: k for slot, _, k in plan.given}
    plan.results = [_result(x, recorder, leaves, of_slot) for x in found]
    for slot in record.slots:
        if slot.kind != "held":
            slot.cell = None  # nothing of the first call is kept
    return plan


def _result(x: Any, recorder: Recorder, leaves: list[Any], of_slot: dict[int, int]) -> tuple[str, Any]:
    for i, leaf in enumerate(leaves):
        if leaf is x and isinstance(x, (ndarray, np.generic)):
            return "leaf", i
    if not isinstance(x, ndarray):
        kept = recorder.object_slot(x)
        return ("constant", x) if kept is None else ("object", kept)
    ref = recorder.ref(x)
    slot = recorder.record.slots[ref.slot]
    ref.whole = slot.dynamic
    if ref.value:
        return "value", ref
    if slot.kind == "held":
        return "constant", x
    if slot.kind == "given":
        return "given", (ref, of_slot[ref.slot])
    return "made", ref


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
