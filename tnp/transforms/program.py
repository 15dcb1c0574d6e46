"""A record as parts: programs of the backend, and between them calls of NumPy's functions."""

from math import prod
from typing import Any

import numpy as np

from tnp.backends.program import ARENA, CONSTANTS, Choose, Launch, Move, Multiply, Place, Program, Reduce, Spread, Unfit
from tnp.content import backend
from tnp.core.elementwise import cast_p
from tnp.transforms.grouping import Grouped, grouped, written
from tnp.transforms.lower import Lowering, overlap
from tnp.transforms.record import Made, Record, Ref, Slot
from tnp.transforms.steps import Call, Constant, Fold, Product, Scatter, Select

ALIGNED = 64
_BYTE = np.dtype("u1")


class Part:
    """Some calls of a record that run as one program.

    Attributes
    ----------
    program : Program
    undo : Program
        Puts memory that the program has changed back to what it was.
    first, stop : int
        Calls.
    """

    __slots__ = ("first", "program", "stop", "undo")

    def __init__(self, program: Program, undo: Program, first: int, stop: int) -> None:
        self.program, self.undo, self.first, self.stop = program, undo, first, stop


class Parts:
    """All parts of a plan, and where its slots lie.

    Parameters
    ----------
    record : Record
    returned : dict of int to Ref
        Slots that become arrays of the program's, and what of them was made.
    values : set of int
        Slots that become numbers of the program's.

    Attributes
    ----------
    parts : list of Part or Call
    blocks : dict of int to int
        Number of the block of each slot whose memory comes from elsewhere.
    places : dict of int to int
        Where in the arena other slots begin.
    fresh : list of (int, Ref)
        Slots for which memory is allocated at every call.
    arena, constants : numpy.ndarray
    constant_places : dict of int to int
        The same among the constants.
    """

    def __init__(self, record: Record, returned: dict[int, Ref], values: set[int]) -> None:
        self._values = values
        lowered = self._lower(record, returned)
        items = grouped(lowered.steps)
        self.record, self._items = record, items
        called = {x.op for x in items if type(x) is Call}
        self._sizes = {n: ref.shape[0] * ref.dtype.itemsize for n, ref in lowered.sizes.items()}
        self.blocks: dict[int, int] = {}
        self.fresh: list[tuple[int, Ref]] = []
        made = _made_by(record, called)
        for slot in record.slots:
            n = slot.number
            if slot.kind in ("given", "held") or n in made:
                self.blocks[n] = len(self.blocks)
            elif n in returned:
                self.blocks[n] = len(self.blocks)
                self.fresh.append((n, returned[n]))
        self._find_uses(returned)
        self._constants: list[Any] = []
        self._constant_places: dict[int, int] = {}
        self._known: dict[bytes, int] = {}
        self._constant_bytes = 0
        self._prune()
        self._place_constants()
        self._allocate()
        self._assemble()

    def _lower(self, record: Record, returned: dict[int, Ref]) -> Lowering:
        """Selections that somebody else than the program looks at are NumPy's."""
        slots = len(record.slots)
        lowered = Lowering(record, backend)
        seen = set(returned)
        for step in lowered.steps:
            if type(step) is Call:
                seen.update([r.slot for r in step.reads])
        if seen & set(lowered.sizes):
            del record.slots[slots:]
            lowered = Lowering(record, backend, selects=False)
        return lowered

    # ---------------------------------------------------------------------------------------- who reads what
    def _find_uses(self, returned: dict[int, Ref]) -> None:
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._writes: dict[int, int] = {}
        for i, item in enumerate(self._items):
            reads = list(item.reads)
            writes = written(item)
            for ref in reads:
                self._last[ref.slot] = i
                self._first.setdefault(ref.slot, i)
            for ref in writes:
                self._first.setdefault(ref.slot, i)
                self._writes[ref.slot] = self._writes.get(ref.slot, 0) + 1
                if type(item) is Call:
                    self._last[ref.slot] = i

    def _prune(self) -> None:
        kept, values = [], self._values
        for i, item in enumerate(self._items):
            if type(item) is Grouped:

                def is_read(out: Ref, i: int = i) -> bool:
                    return out.slot in self.blocks or out.slot in values or self._last.get(out.slot, -1) > i

                if not item.prune(is_read) and item.outputs == []:
                    item.outputs = [(len(item.steps) - 1, self._nowhere(item))]
            kept.append(item)
        self._items = kept

    def _nowhere(self, group: Grouped) -> Ref:
        """Memory for a result that nobody reads: the steps may still raise something."""
        step = group.steps[-1]
        form = np.empty(group.shape, step.dtype)
        slot = Slot("made", len(self.record.slots), 0, form.nbytes, None)
        self.record.slots.append(slot)
        return Ref(slot.number, 0, form, False, True)

    def _place_constants(self) -> None:
        touched = {r.slot for x in self._items if type(x) is Call for r in x.reads} | self._values | set(self.blocks)
        for item in self._items:
            if type(item) is not Constant or item.value is None or item.out.slot in touched:
                continue
            if self._writes.get(item.out.slot, 0) == 1:
                self._constant_places[item.out.slot] = self._constant(item.value)

    def _constant(self, value: Any) -> int:
        text = value.tobytes("A")
        if text in self._known:
            return self._known[text]
        at = self._known[text] = self._constant_bytes
        data = np.frombuffer(text, "u1")
        self._constants.append((at, data))
        self._constant_bytes = -(-(at + max(data.size, 1)) // ALIGNED) * ALIGNED
        return at

    def _allocate(self) -> None:
        """Places in the arena; memory that nobody reads any more is used again."""
        self.places: dict[int, int] = {}
        free: list[tuple[int, int]] = []  # bytes, start
        size = 0
        ending: dict[int, list[int]] = {}
        for n, i in self._last.items():
            ending.setdefault(i, []).append(n)
        calls = any([type(x) is Call for x in self._items])
        for i, item in enumerate(self._items):
            for ref in written(item):
                n = ref.slot
                if n in self.places or n in self.blocks or n in self._constant_places:
                    continue
                nbytes = self._bytes_of(n)
                nbytes = -(-max(nbytes, ref.dtype.itemsize, 1) // ALIGNED) * ALIGNED
                fitting = next((k for k, (b, _) in enumerate(free) if b == nbytes), None)
                if fitting is None or calls:
                    self.places[n] = size
                    size += nbytes
                else:
                    self.places[n] = free.pop(fitting)[1]
            for n in ending.get(i, ()):
                if n in self.places and n not in self._values:
                    nbytes = self._bytes_of(n)
                    free.append((-(-max(nbytes, 1) // ALIGNED) * ALIGNED, self.places[n]))
        self._kept_from = size
        for run in self._runs():  # room for what a program changes, as it was before
            if type(run) is list:
                size += sum([-(-self._bytes_of(n) // ALIGNED) * ALIGNED for n in self._changed(run)])
        self._packed_first = size
        size += max([_packed_bytes(item) for item in self._items], default=0)
        if size > backend.room():
            raise Unfit("memory for all that is computed")
        self.arena = _aligned(size)

    def _bytes_of(self, n: int) -> int:
        return self._sizes.get(n, self.record.slots[n].nbytes)

    def _runs(self) -> list[Any]:
        """Calls, and between them lists of what is one program's."""
        runs: list[Any] = [[]]
        for item in self._items:
            if type(item) is Call:
                runs += [item, []]
            else:
                runs[-1].append(item)
        return runs

    def _changed(self, items: list[Any]) -> list[int]:
        """The slots that were there before, and are written."""
        begun: set[int] = set()
        changed: dict[int, None] = {}
        fresh = {n for n, _ in self.fresh}
        for item in items:
            for ref in written(item):
                n = ref.slot
                if type(item) is Constant or (ref.whole and n not in changed):
                    begun.add(n)
                is_older = self.record.slots[n].kind != "made" or (n in self.blocks and n not in fresh)
                if is_older or n not in begun:
                    changed[n] = None
        return list(changed)

    # ---------------------------------------------------------------------------------------- instructions
    def _start(self, n: int) -> tuple[int, int]:
        """Where a slot begins."""
        if n in self.blocks:
            return self.blocks[n], 0
        if n in self._constant_places:
            return CONSTANTS, self._constant_places[n]
        return ARENA, self.places[n]

    def _place(self, ref: Ref) -> Place:
        block, start = self._start(ref.slot)
        return Place(block, start + ref.offset, ref.shape, ref.strides, ref.dtype)

    def _assemble(self) -> None:
        for item in self._items:  # before the constants' memory is allocated
            if type(item) is Constant and item.value is not None and item.out.slot not in self._constant_places:
                item.value = self._constant(item.value), item.value
            elif type(item) is Grouped and self._is_move(item) and type(item.leaves[0]) is not Ref:
                item.leaves = [(self._constant(np.array(item.leaves[0])), item.leaves[0])]
        constants = _aligned(self._constant_bytes)
        for at, data in self._constants:
            constants[at : at + data.size] = data
        self.parts: list[Any] = []
        for run in self._runs():
            if type(run) is list:
                self._part(run, constants)
            else:
                self.parts.append(run)
        self.constants = constants
        self.constant_places = self._constant_places
        self._items = []

    def _part(self, items: list[Any], constants: Any) -> None:
        instructions = [x for item in items for x in self._instructions(item)]
        if not instructions:
            return
        ops = [k for item in items for k in ((item.first, item.last) if type(item) is Grouped else (item.op,))]
        before, after = [], []
        for n in self._changed(items):
            nbytes = self._bytes_of(n)
            there = Place(*(self._start(n)), (nbytes,), (1,), _BYTE)
            apart = Place(ARENA, self._kept_from, (nbytes,), (1,), _BYTE)
            self._kept_from += -(-nbytes // ALIGNED) * ALIGNED
            before.append(Move(there, apart))
            after.append(Move(apart, there))
        program = backend.assemble(before + instructions, self.arena, constants)
        undo = backend.assemble(after, self.arena, constants)
        self.parts.append(Part(program, undo, min(ops), max(ops) + 1))

    def _leaf(self, ref: Ref, group: Grouped, moves: list[Any]) -> Place:
        """Where a kernel finds an operand; a few scattered elements that it reads many times are put together first."""
        place = self._place(ref)
        if not _scatters(ref, group.shape):
            return place
        nbytes, strides = ref.dtype.itemsize, []
        for n, s in zip(reversed(ref.shape), reversed(ref.strides), strict=True):
            strides.append(nbytes if s and n > 1 else 0)
            nbytes *= n if s and n > 1 else 1
        kept = [d for d, s in enumerate(reversed(strides)) if s]
        strides.reverse()
        apart = Place(ARENA, self._packed_from, ref.shape, tuple(strides), ref.dtype)
        self._packed_from += -(-nbytes // ALIGNED) * ALIGNED
        shape = tuple([ref.shape[d] for d in kept])
        source = place._replace(shape=shape, strides=tuple([ref.strides[d] for d in kept]))
        moves.append(Move(source, apart._replace(shape=shape, strides=tuple([strides[d] for d in kept]))))
        return apart

    def _is_move(self, group: Grouped) -> bool:
        """Does it only copy, as it lies?"""
        if (
            len(group.steps) != 1
            or group.steps[0].prim is not cast_p
            or len(group.outputs) != 1
            or group.count is not None
        ):
            return False
        leaf, out = group.leaves[0], group.outputs[0][1]
        dtype = leaf[1].dtype if type(leaf) is tuple else leaf.dtype
        return bool(dtype == out.dtype) and (type(leaf) is not Ref or not overlap(leaf, out))

    def _instructions(self, item: Any) -> list[Any]:
        t = type(item)
        if t is Grouped:
            if self._is_move(item):
                leaf, out = item.leaves[0], item.outputs[0][1]
                if type(leaf) is tuple:
                    return [Move(Place(CONSTANTS, leaf[0], (), (), out.dtype), self._place(out))]
                return [Move(self._place(leaf), self._place(out))]
            moves: list[Any] = []
            self._packed_from = self._packed_first  # that of others is of no use any more
            leaves = [self._leaf(a, item, moves) if type(a) is Ref else a for a in item.leaves]
            outputs = [(i, self._place(out)) for i, out in item.outputs]
            return [*moves, Launch(item.steps, leaves, outputs, item.shape, item.count, item.quiet)]
        if t is Fold:
            return [Reduce(item.ufunc, self._place(item.arg), item.axes, self._place(item.out), item.quiet)]
        if t is Product:
            return [Multiply(item.raw, self._place(item.a), self._place(item.b), self._place(item.out), item.quiet)]
        if t is Select:
            return [Choose(self._place(item.arg), self._place(item.mask), self._place(item.out), item.count)]
        if t is Scatter:
            return [Spread(self._place(item.arg), self._place(item.mask), self._place(item.out), item.count)]
        if item.value is None or item.out.slot in self._constant_places:
            return []
        at, value = item.value
        return [Move(Place(CONSTANTS, at, value.shape, value.strides, value.dtype), self._place(item.out))]


def _scatters(ref: Ref, shape: tuple[int, ...]) -> bool:
    """Are there few elements, not side by side, that are read many times?"""
    distinct, inner = 1, None
    for n, s in zip(ref.shape, ref.strides, strict=True):
        if n > 1 and s:
            distinct, inner = distinct * n, s
    return inner is not None and inner != ref.dtype.itemsize and 4 * distinct <= prod(shape)


def _packed_bytes(item: Any) -> int:
    """Room for such elements."""
    if type(item) is not Grouped:
        return 0
    refs = [a for a in item.reads if _scatters(a, item.shape)]
    return sum([-(-prod(a.shape) * a.dtype.itemsize // ALIGNED) * ALIGNED for a in refs])


def _made_by(record: Record, calls: set[int]) -> set[int]:
    """Slots that calls of NumPy's functions make."""
    found: set[int] = set()

    def look(x: Any) -> None:
        if type(x) is Made:
            found.add(x.slot)
        elif type(x) is tuple:
            for y in x:
                look(y)

    for i in calls:
        look(record.ops[i].result)
    return found


def _aligned(nbytes: int) -> Any:
    """Zeroed memory that begins at a cache line."""
    room = np.zeros(nbytes + 2 * ALIGNED, "u1")
    shift = -room.__array_interface__["data"][0] % ALIGNED
    return room[shift : shift + nbytes + ALIGNED]
