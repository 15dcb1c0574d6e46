"""One walk over the elements of a group: reductions of one pattern together, and elementwise outputs on the way.

The walk itself is compiled once per machine (`walks`, `folds`), the elementwise steps once per structure (`emit`).
"""

import ctypes
from array import array
from collections import ChainMap, OrderedDict
from collections.abc import Iterable
from functools import cache, partial
from struct import Struct
from typing import Any

import numpy as np

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW, Group, Step
from tnp.backends.cpu import folds, memory, threads, walks
from tnp.backends.cpu.calls import Function, on_threads
from tnp.backends.cpu.compile import Compiled, common_functions, compiler, once
from tnp.backends.cpu.emit import Program
from tnp.backends.cpu.folds import Fold
from tnp.backends.cpu.inner_loops import BLOCK
from tnp.backends.cpu.interpret import Flags
from tnp.backends.cpu.ir import size_of
from tnp.backends.cpu.layout import Layout, layout_of
from tnp.backends.cpu.plan import Plan
from tnp.backends.cpu.reach import SCRATCH, UNIT
from tnp.backends.cpu.reduction_order import ENDLESS, Job
from tnp.core.forks import Lock
from tnp.core.primitive import cast_p

MOST_KERNELS = 1000
PIECE = 1 << 16  # elements of a long row that one thread takes at a time
WIDEST_PACKED = 256  # columns; shorter rows are computed several at a time
BARE_BLOCK = 1 << 16  # elements of short rows that are folded at a time where nothing is computed first
DATA = object.__basicsize__  # where an array object keeps its data pointer, and a scalar its value
_FLAGS = ((1, INVALID), (4, DIVIDE), (8, OVERFLOW), (16, UNDERFLOW))  # MXCSR's bits and NumPy's


class Kernel:
    """The compiled elementwise steps of a pass."""

    __slots__ = ("code", "ns", "places", "program", "slots", "slots_at", "struct")

    def __init__(self, program: Program, places: list[int]) -> None:
        own: dict[str, int] = {}
        self.code: Compiled | None = None
        if program.names:
            self.code = compiler().compile(program.key, program.text, program.names)
            own = self.code.addresses
        self.program, self.places = program, places
        self.slots = program.slots(ChainMap(own, common_functions()))
        self.slots_at = self.slots.buffer_info()[0]
        self.struct = Struct(f"{1 + program.operands + program.dims * (1 + program.operands)}q")
        nodes = program.plan.nodes
        self.ns = sum(4.0 if n.kind == "loop" else 0.3 for n in nodes if n.kind != "leaf") + 0.3 * program.operands


_lock = Lock()
_kernels: OrderedDict[Any, Kernel] = OrderedDict()


def remember(known: "OrderedDict[Any, Any]", key: Any, make: Any) -> Any:
    """What is known under ``key``, made if need be; the least recently used is forgotten."""
    with _lock:
        found = known.get(key, known)
        if found is known:
            found = known[key] = make()
            if len(known) > MOST_KERNELS:
                known.popitem(last=False)
        else:
            known.move_to_end(key)
        return found


def needed(group: Group, roots: Iterable[int]) -> set[int]:
    """Steps that some steps are made from, these included."""
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        i = waiting.pop()
        if i not in found:
            found.add(i)
            waiting += [a for a in group.steps[i].args if a >= 0]
    return found


def subset(group: Group, roots: Iterable[int]) -> tuple[list[Step], dict[int, int]]:
    """Those steps alone, and their new numbers."""
    kept = sorted(needed(group, roots))
    new = {i: k for k, i in enumerate(kept)}
    steps = []
    for s in (group.steps[i] for i in kept):
        steps.append(Step(s.prim, tuple(new[a] if a >= 0 else a for a in s.args), s.in_dtypes, s.dtype, s.params))
    return steps, new


def store(value: Any, out: Any) -> None:
    """Assign, with NumPy's casts."""
    if value.dtype.kind == "c" and out.dtype.kind not in "cb":
        value = value.real  # no warning: assigning it was the program's business
    np.copyto(out, value, casting="unsafe")


class Pass:
    """Reductions that walk over the elements together, and elementwise outputs on the way.

    Made for one layout of a group's operands; of the group itself nothing is kept.
    """

    def __init__(self, group: Group, jobs: list[Job], plain: list[int]) -> None:
        self.jobs, self.plain = jobs, plain
        order = jobs[0].order
        self.lengths = [n for _, n in jobs[0].pattern]
        self.letters = jobs[0].letters
        shape = tuple(group.shape[d] for d in order)
        operands = [self._placed(a, group.shape, order) for a in group.leaves]
        operands += [group.outputs[o][1].transpose(order) for o in plain]
        falling = [int(s) for s in np.cumprod((1, *shape[:0:-1]))[::-1]]
        guide = np.lib.stride_tricks.as_strided(np.empty(1, np.uint8), shape, falling)
        layout = layout_of([*operands, guide], shape, False, len(operands))
        if layout.by_rows and layout.columns != self.lengths[-1]:
            layout = layout_of([*operands, guide], shape, True, len(operands))
        classes = layout.classes[:-1]
        key = (
            tuple((s.prim, s.args, s.in_dtypes, s.dtype) for s in group.steps),
            tuple(a.dtype for a in operands), classes, len(layout.shape), layout.by_rows,
            tuple((j.operand, j.loop) for j in jobs), tuple(group.outputs[o][0] for o in plain),
        )  # fmt: skip
        made: Kernel = remember(_kernels, key, lambda: self._compile(group, operands, classes, layout))
        self.kernel = made
        none = made.program.operands - len(operands)
        dims = made.program.dims
        numbers = layout.numbers[: len(layout.numbers) - dims]  # without the guide's strides
        self.tail = (*[0] * none, *numbers, *[0] * (none * dims))
        self.by_rows = layout.by_rows
        self.many = 1
        for reduced, n in jobs[0].pattern:
            self.many *= 1 if reduced else n
        bare = not made.program.names and not made.program.blocked  # loops of NumPy's fill scratch of a block too
        self.task = self._task(bare and not layout.shape)
        self.identities = [_identity(job.fold)[: job.fold.dtype.itemsize].view(job.fold.dtype)[0] for job in jobs]
        self.pieces: dict[int, tuple[array[int], int]] = {}  # by the size of a piece

    @staticmethod
    def _placed(leaf: Any, shape: tuple[int, ...], order: tuple[int, ...]) -> Any:
        if not isinstance(leaf, np.ndarray):
            return leaf
        return (leaf if leaf.shape == shape else np.broadcast_to(leaf, shape)).transpose(order)

    def _compile(self, group: Group, operands: list[Any], classes: tuple[str, ...], layout: Layout) -> Kernel:
        plain, leaves = [group.outputs[o] for o in self.plain], len(group.leaves)
        roots = [i for i, _ in plain] + [job.operand for job in self.jobs if job.operand >= 0]
        steps, new = subset(group, roots)
        outputs = [(new[i], out.dtype, how) for (i, out), how in zip(plain, classes[leaves:], strict=True)]
        places, wanted = [], {}
        for job in self.jobs:
            a = new.get(job.operand, job.operand)
            if a < 0 and classes[~a] == UNIT and group.leaves[~a].dtype == job.loop == job.fold.dtype:
                places.append(~a)
                continue
            if a < 0 or steps[a].dtype != job.loop:
                steps.append(Step(cast_p, (a,), (job.loop,), job.loop, (("dtype", job.loop),)))
                a = len(steps) - 1
            held = np.dtype(job.fold.dtype)  # sixteen bits are combined as float32
            if (job.operand, job.loop) not in wanted:
                wanted[job.operand, job.loop] = leaves + len(outputs)
                outputs.append((a, held, SCRATCH))
            places.append(wanted[job.operand, job.loop])
        leaf_classes = list(zip((a.dtype for a in operands[:leaves]), classes, strict=False))
        plan = Plan(steps, leaf_classes, outputs)
        program = Program(plan, len(layout.shape), layout.by_rows, compiler().register_bytes)
        return Kernel(program, places)

    def _task(self, bare: bool) -> "array[int]":
        """The table that the walks read; results are put in by each run."""
        jobs, letters, lengths = self.jobs, self.letters, self.lengths
        columns = letters[-1] == "K"
        common = common_functions()
        task = array("q", bytes(8 * (walks.HEADER + walks.FOLD_SLOTS * len(jobs))))
        for slot, name in ((walks.WORKSPACE, "workspace"), (walks.START, "start"), (walks.ROW, "row"),
                           (walks.BLOCK, "block"), (walks.FINISH, "finish")):  # fmt: skip
            task[slot] = common[name]
        task[walks.FOLDS], task[walks.PARTS] = len(jobs), jobs[0].fold.parts
        task[walks.TREES] = any(job.fold.tree for job in jobs)
        task[walks.SEGMENT], task[walks.LENGTH], task[walks.BY_ROWS] = jobs[0].segment, lengths[-1], self.by_rows
        task[walks.OUTER] = lengths[0] if letters == "RKR" else 1
        task[walks.LIMIT] = BLOCK if not bare else 4 * BLOCK if columns else ENDLESS
        if columns:
            task[walks.REDUCED], task[walks.ROWS] = lengths[-2], lengths[0] if letters == "KRK" else 1
        else:
            task[walks.ROWS] = self.many
        if not self.by_rows and lengths[-1] <= min(WIDEST_PACKED, jobs[0].segment) and letters != "RKR":
            task[walks.PACKED] = (BARE_BLOCK if bare and not columns else BLOCK) // lengths[-1]
        for j, job in enumerate(jobs):
            at, functions = walks.HEADER + walks.FOLD_SLOTS * j, _functions(job.fold).addresses
            task[at + walks.PLACE] = self.kernel.places[j]
            for slot, name in ((walks.FOLD, "fold"), (walks.JOIN, "join"), (walks.WRITE, "write"),
                               (walks.PUT, "put"), (walks.ACCUMULATE, "accumulate"), (walks.MANY, "many")):  # fmt: skip
                task[at + slot] = functions[name]
            task[at + walks.CHECK] = functions["check"] if job.fold.signs else 0
            task[at + walks.SIZE] = size_of(job.fold.code)
            task[at + walks.IDENTITY], task[at + walks.IDENTITY + 1] = _identity(job.fold).view(np.int64).tolist()
        return task

    def run(self, group: Group, stress: bool, size: int) -> int:
        """Returns the flags; -1 where NumPy must decide on the sign of a zero."""
        kernel, letters, task = self.kernel, self.letters, self.task[:]
        places = [id(a) + DATA for a in group.leaves] + [id(group.outputs[o][1]) + DATA for o in self.plain]
        args = kernel.struct.pack(kernel.slots_at, *places, *self.tail)
        buffers = [self._results(job, group) for job in self.jobs]
        for j, buffer in enumerate(buffers):
            task[walks.HEADER + walks.FOLD_SLOTS * j + walks.OUT] = _address(buffer)
        ns = (kernel.ns + 0.3 * len(self.jobs)) * size
        workers = threads.num_threads() if stress or ns > threads.WORTH_NS else 1
        at = task.buffer_info()[0]
        if letters[-1] == "K":
            for buffer, value in zip(buffers, self.identities, strict=True):
                buffer.fill(value)
            outer, width = task[walks.ROWS], self.lengths[-1]
            function = _walks().columns
            if outer == 1 and not task[walks.PACKED]:
                chunks = [(at, 0, 1, a, b) for a, b in _cuts(width, workers, ns, 64)]
            else:
                chunks = [(at, a, b, 0, width) for a, b in _cuts(outer, workers, ns, 1)]
        elif letters == "R" and not self.jobs[0].fold.strict_order and self.lengths[-1] > (64 if stress else PIECE):
            flags = self._long_row(args, task, ns, workers, 128 if stress else PIECE)
            return self._deliver(flags, task, buffers, group)
        else:
            function = _walks().rows
            chunks = [(at, a, b, 0, 0) for a, b in _cuts(self.many, workers, ns, 1)]
        return self._deliver(on_threads(function, args, chunks), task, buffers, group)

    def _long_row(self, args: bytes, task: "array[int]", ns: float, workers: int, cut: int) -> int:
        """One result: pieces of the row by the threads, then put together."""
        if cut not in self.pieces:
            length, segment = self.lengths[-1], self.jobs[0].segment
            found: list[int] = []
            for first in range(0, length, segment):
                _subtrees(first, min(segment, length - first), cut, self.jobs[0].fold.parts, found)
            self.pieces[cut] = array("q", found), len(found) // 2
        items, count = self.pieces[cut]
        values = array("q", bytes(8 * walks.VALUE_SLOTS * len(self.jobs) * count))
        task[walks.PIECES], task[walks.VALUES] = items.buffer_info()[0], values.buffer_info()[0]
        task[walks.CUT], task[walks.PIECE_COUNT] = cut, count
        at, functions = task.buffer_info()[0], _walks()
        chunks = [(at, a, b, 0, 0) for a, b in _cuts(count, workers, ns, 1)]
        return on_threads(functions.pieces, args, chunks) | functions.join(args, at, 0, 0, 0, 0)

    def _results(self, job: Job, group: Group) -> Any:
        """Where the walk writes: the destination itself if it can."""
        if job.direct:
            return group.outputs[job.output][1]
        return memory.empty((self.many,), job.fold.dtype)

    def _deliver(self, seen: int, task: "array[int]", buffers: list[Any], group: Group) -> int:
        if task[walks.AMBIGUOUS]:
            return -1
        found = _numpy_flags(seen) if seen else 0
        for job, buffer in zip(self.jobs, buffers, strict=True):
            if not job.direct:
                stored = Flags()
                with np.errstate(all="call", call=stored):
                    target = job.target(group)
                    store(buffer.reshape(target.shape), target)
                found |= stored.seen
        return found


def _address(a: Any) -> int:
    return int(ctypes.c_void_p.from_address(id(a) + DATA).value or 0)


@cache
def _identity(fold: Fold) -> Any:
    """16 bytes that begin with the identity."""
    made = np.zeros(16, np.uint8)
    if fold.kind in ("max", "min") and fold.code[0] == "f":
        value: Any = -np.inf if fold.kind == "max" else np.inf
    elif fold.code[0] in "fc":
        value = {"add": 0.0, "mul": 1.0}[fold.kind]
    else:
        value = int(fold.identity)
    dtype = np.dtype("u1") if fold.code == "b1" else fold.dtype
    made[: dtype.itemsize] = np.array(value).astype(dtype).reshape(1).view(np.uint8)
    return made


@once
def _functions(fold: Fold) -> Compiled:
    key = fold, compiler().register_bytes
    return compiler().compile(repr(key).encode(), partial(folds.module_text, *key), folds.NAMES)


class _Walks:
    """The walks as functions."""

    def __init__(self) -> None:
        self.code = compiler().compile(b"walks", walks.module_text, walks.NAMES)
        functions = [Function(self.code.addresses[n]) for n in walks.NAMES]
        self.rows, self.pieces, self.join, self.columns = functions


@once
def _walks() -> _Walks:
    return _Walks()


def _numpy_flags(status: int) -> int:
    flags = 0
    for bit, flag in _FLAGS:
        if status & bit:
            flags |= flag
    return flags


def _cuts(count: int, workers: int, ns: float, multiple: int) -> list[tuple[int, int]]:
    """0 ... count in pieces for the threads, of multiples of ``multiple``."""
    pieces = max(1, min(-(-count // multiple), threads.pieces(ns, workers)))
    step = -(-count // (pieces * multiple)) * multiple
    return [(a, min(count, a + step)) for a in range(0, count, step)]


def _subtrees(first: int, n: int, most: int, parts: int, pieces: list[int]) -> None:
    """First element and count of the subtrees of at most ``most`` elements."""
    if n <= most:
        pieces += (first, n)
        return
    left = (n * parts // 2 & -8) // parts
    _subtrees(first, left, most, parts, pieces)
    _subtrees(first + left, n - left, most, parts, pieces)
