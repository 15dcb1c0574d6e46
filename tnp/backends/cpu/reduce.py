"""Reductions in NumPy's order, fused with the elementwise steps that feed them.

NumPy adds in the order in which the operand lies in memory, so first of all each operand is laid out as NumPy would
have laid it out: its axes in the order of falling strides, neighbours that are both kept or both reduced merged. What
remains is a short pattern, outermost first:

    R, KR, RKR    results are folds of whole rows (pairwise for floats), outer rows one after the other
    RK, KRK       rows are added to rows

Any other pattern, dtype or ufunc is NumPy's: the operand is computed into memory and given to ``ufunc.reduce``. So is
every order that a NumPy build does not confirm on a few hundred values.
"""

import ctypes
import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from struct import Struct
from typing import Any

import numpy as np

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW, Group, Step
from tnp.backends.cpu import folds, memory, threads, walks
from tnp.backends.cpu.compile import Compiled, common_functions, compiler
from tnp.backends.cpu.emit import Program
from tnp.backends.cpu.folds import Fold, fold_of
from tnp.backends.cpu.inner_loops import BLOCK, POSITIONAL
from tnp.backends.cpu.interpret import Flags, evaluate
from tnp.backends.cpu.ir import code_of, size_of
from tnp.backends.cpu.layout import Layout, layout_of
from tnp.backends.cpu.plan import SCRATCH, UNIT, Plan, Unplannable
from tnp.core.primitive import Elementwise, Reduction, cast_p

MOST_KERNELS = 1000
COMPILE_NS = 10_000_000  # what compiling costs
THREADED_NS = 50_000  # work that is worth waking another thread
CHUNK_NS = 20_000_000  # at most in one call, so that an interrupt acts soon
PIECE = 1 << 16  # elements of a long row that one thread takes at a time
WIDEST_PACKED = 256  # columns; shorter rows are computed several at a time
ENDLESS = 1 << 60
DATA = object.__basicsize__  # where an array object keeps its data pointer, and a scalar its value

_FLAGS = ((1, INVALID), (4, DIVIDE), (8, OVERFLOW), (16, UNDERFLOW))  # MXCSR's bits and NumPy's


class _Job:
    """One reduction of a group.

    Attributes
    ----------
    output : int
        Which of the group's outputs it is.
    fold : Fold
    operand : int
        Step or leaf (as `Step.args`).
    loop : dtype
        What the operand is cast to.
    order : tuple of int
        The operand's axes, outermost in memory first.
    pattern : tuple of (bool, int)
        Reduced or kept, and length, outermost first.
    segment : int
        Elements that NumPy would add up at a time.
    index, axes : tuple
        ``out[index].transpose(axes)`` has the kept axes in `order`.
    direct : bool
        That view is where the walk can write.
    """

    __slots__ = ("axes", "direct", "fold", "index", "loop", "operand", "order", "output", "pattern", "segment")

    def __init__(self, output: int, fold: Fold, operand: int, loop: Any, order: tuple[int, ...]) -> None:
        self.output, self.fold, self.operand, self.loop, self.order = output, fold, operand, loop, order
        self.pattern: tuple[tuple[bool, int], ...] = ()
        self.segment = ENDLESS
        self.index: tuple[Any, ...] = ()
        self.axes: list[int] = []
        self.direct = False

    @property
    def key(self) -> Any:
        """Jobs of one key are done in one pass."""
        return self.order, self.pattern, self.segment, self.fold.parts, self.fold.strict_order

    @property
    def letters(self) -> str:
        return "".join("KR"[reduced] for reduced, _ in self.pattern)

    @property
    def worth_threads(self) -> bool:
        """Several threads reduce memory as it lies faster than NumPy does."""
        size = 1
        for _, n in self.pattern:
            size *= n
        quits = self.fold.kind in ("and", "or")  # NumPy's any and all stop as soon as they know
        return size >= 1 << 18 and self.pattern[-1] >= (True, 64) and not quits

    def target(self, group: Group) -> Any:
        return group.outputs[self.output][1][self.index].transpose(self.axes)


class _Kernel:
    """The compiled elementwise steps of a pass."""

    __slots__ = ("code", "ns", "places", "program", "slots", "slots_at", "struct")

    def __init__(self, program: Program, places: list[int]) -> None:
        common = common_functions()
        own: dict[str, int] = {}
        self.code: Compiled | None = None
        if program.names:
            self.code = compiler().compile(program.text, program.names)
            own = self.code.addresses
        self.program, self.places = program, places
        self.slots = program.slots({**common.addresses, **own})
        self.slots_at = self.slots.buffer_info()[0]
        self.struct = Struct(f"{1 + program.operands + program.dims * (1 + program.operands)}q")
        nodes = program.plan.nodes
        self.ns = sum(4.0 if n.kind == "loop" else 0.3 for n in nodes if n.kind != "leaf") + 0.3 * program.operands


class _Entry:
    """What is known of a structure of groups: time spent on it by NumPy, and passes by the layout of its operands."""

    __slots__ = ("passes", "spent")

    def __init__(self) -> None:
        self.spent = 0.0
        self.passes: OrderedDict[Any, list[_Pass] | None] = OrderedDict()  # None: not by fused passes


_entries: OrderedDict[Any, _Entry] = OrderedDict()
_kernels: OrderedDict[Any, _Kernel] = OrderedDict()
_lock = threading.RLock()


def run(backend: Any, group: Group) -> int:
    """Compute the outputs of a group with reductions; returns the flags.

    Parameters
    ----------
    backend : CpuBackend
        Computes elementwise outputs that cannot be a part of a pass.
    group : Group
    """
    size = 1
    for n in group.shape:
        size *= n
    entry: _Entry = _remember(_entries, _structure(group), _Entry)
    if not size or (not backend.stress and entry.spent + 2.0 * size * len(group.steps) < COMPILE_NS):
        return _timed(entry, group)
    return _run(backend, entry, group, size)


def _run(backend: Any, entry: _Entry, group: Group, size: int) -> int:
    plain = [(i, out) for i, out in group.outputs if not isinstance(group.steps[i].prim, Reduction)]
    apart = bool(plain) and _overlaps(plain, group.leaves)  # elementwise outputs are computed after all has been read
    many = backend.stress or threads.num_threads() > 1
    key: list[Any] = [group.shape, apart, many, backend.stress]
    for a in group.leaves:
        key += (a.dtype,) if isinstance(a, np.generic) else (a.dtype, a.shape, a.strides, a.flags.num)
    for _, out in group.outputs:
        key += (out.dtype, out.strides, out.flags.num)
    passes = _remember(entry.passes, tuple(key), lambda: _passes(group, apart, backend.stress, many))
    flags = _unused(backend, group) if len(group.steps) > len(group.outputs) else 0
    if passes is None:
        return flags | _materialised(backend, group, size)
    for one in passes:
        found = one.run(group, backend.stress, size)
        if found < 0:  # zeros of both signs: which one NumPy returns depends on its vectors
            return _by_numpy(group)
        flags |= found
    return flags | _elementwise(backend, group, plain) if apart else flags


def _structure(group: Group) -> Any:
    key: list[Any] = []
    for s in group.steps:
        key += (s.prim, s.args, s.in_dtypes, s.dtype)
        if isinstance(s.prim, Reduction):
            key.append(s.params)
    key += [i for i, _ in group.outputs]
    return tuple(key)


def _remember(known: "OrderedDict[Any, Any]", key: Any, make: Any) -> Any:
    with _lock:
        found = known.get(key, known)
        if found is known:
            found = known[key] = make()
            if len(known) > MOST_KERNELS:
                known.popitem(last=False)
        else:
            known.move_to_end(key)
        return found


# By NumPy ------------------------------------------------------------------------------------------------------------


def _timed(entry: _Entry, group: Group) -> int:
    began = time.perf_counter_ns()
    flags = _by_numpy(group)
    entry.spent += time.perf_counter_ns() - began
    return flags


def _by_numpy(group: Group) -> int:
    """The whole group by NumPy, step by step."""
    flags = Flags()
    with np.errstate(all="call", call=flags):
        values: list[Any] = []
        for step in group.steps:
            operands = [values[a] if a >= 0 else group.leaves[~a] for a in step.args]
            values.append(_reduce(step, operands[0]) if isinstance(step.prim, Reduction) else evaluate(step, operands))
        for i, out in group.outputs:
            _store(values[i], out)
    return flags.seen


def _reduce(step: Step, operand: Any) -> Any:
    """By NumPy; bfloat16 is combined in float32 and rounded once."""
    assert isinstance(step.prim, Reduction)
    operand, dtype = np.asarray(operand), step.dtype
    if code_of(step.in_dtypes[-1]) == "bf2":
        operand, dtype = operand.astype(np.float32), np.dtype(np.float32)
    return np.asarray(step.prim.ufunc.reduce(operand, dtype=dtype, **dict(step.params))).astype(step.dtype, copy=False)


def _store(value: Any, out: Any) -> None:
    if value.dtype.kind == "c" and out.dtype.kind not in "cb":
        value = value.real  # no warning: assigning it was the program's business
    np.copyto(out, value, casting="unsafe")


def _materialised(backend: Any, group: Group, size: int) -> int:
    """The operands are computed into memory, as NumPy would lay them out, and reduced one by one."""
    if len(group.steps) == 1:
        return _by_numpy(group)
    jobs = [(i, out) for i, out in group.outputs if isinstance(group.steps[i].prim, Reduction)]
    made: dict[int, Any] = {}
    for i, _ in jobs:
        (a,) = group.steps[i].args
        if a >= 0 and a not in made:
            order = _order(group, a)
            block = memory.empty(tuple(group.shape[d] for d in order), group.steps[a].dtype)
            made[a] = block.transpose(np.argsort(order))
    plain = [(i, out) for i, out in group.outputs if not isinstance(group.steps[i].prim, Reduction)]
    flags = 0
    operands = {a: made[a] if a >= 0 else group.leaves[~a] for i, _ in jobs for a in group.steps[i].args}
    if _overlaps(plain, group.leaves):  # leaves that are reduced as they are must be read first
        flags |= _elementwise(backend, group, list(made.items()))
        made = {}
    else:
        flags |= _elementwise(backend, group, plain + list(made.items()))
        plain = []
    for i, out in jobs:
        step, operand = group.steps[i], operands[group.steps[i].args[0]]
        alone = Group(
            [Step(step.prim, (~0,), step.in_dtypes, step.dtype, step.params)], [operand], [(0, out)], operand.shape
        )
        entry: _Entry = _remember(_entries, _structure(alone), _Entry)
        flags |= _run(backend, entry, alone, size)
    return flags | _elementwise(backend, group, plain)


def _elementwise(backend: Any, group: Group, outputs: list[tuple[int, Any]]) -> int:
    """Some outputs, by the elementwise engine, with the steps that they need."""
    if not outputs:
        return 0
    steps, new = _subset(group, [i for i, _ in outputs])
    return int(backend.run(Group(steps, group.leaves, [(new[i], out) for i, out in outputs], group.shape)))


def _needed(group: Group, roots: Iterable[int]) -> set[int]:
    """Steps that some steps are made from, these included."""
    needed: set[int] = set()
    waiting = list(roots)
    while waiting:
        i = waiting.pop()
        if i not in needed:
            needed.add(i)
            waiting += [a for a in group.steps[i].args if a >= 0]
    return needed


def _subset(group: Group, roots: Iterable[int]) -> tuple[list[Step], dict[int, int]]:
    """Those steps alone, and their new numbers."""
    kept = sorted(_needed(group, roots))
    new = {i: k for k, i in enumerate(kept)}
    steps = []
    for s in (group.steps[i] for i in kept):
        steps.append(Step(s.prim, tuple(new[a] if a >= 0 else a for a in s.args), s.in_dtypes, s.dtype, s.params))
    return steps, new


def _unused(backend: Any, group: Group) -> int:
    """Flags of the steps that no output is made from: these too were a part of the program."""
    used = _needed(group, [i for i, _ in group.outputs])
    unused = [i for i, s in enumerate(group.steps) if i not in used and isinstance(s.prim, Elementwise)]
    if not unused:
        return 0
    read = {a for i in unused for a in group.steps[i].args}
    last = [i for i in unused if i not in read]
    return _elementwise(backend, group, [(i, memory.empty(group.shape, group.steps[i].dtype)) for i in last])


def _overlaps(outputs: list[tuple[int, Any]], leaves: list[Any]) -> bool:
    arrays = [a for a in leaves if isinstance(a, np.ndarray)]
    return any(np.may_share_memory(out, a) for _, out in outputs for a in arrays)


# Layout --------------------------------------------------------------------------------------------------------------


def _order(group: Group, operand: int) -> tuple[int, ...]:
    """Axes of an operand as it would lie in memory under NumPy, outermost first."""
    natural = tuple(range(len(group.shape)))
    if len(natural) < 2:
        return natural
    if operand < 0:
        strides = group.leaves[~operand].strides
    elif all(_falling(a) for a in group.leaves):
        return natural
    else:  # NumPy itself says it, on a corner of the operands
        corner = [
            a[tuple(slice(0, 2) for _ in range(a.ndim))] if isinstance(a, np.ndarray) else a for a in group.leaves
        ]
        values: list[Any] = []
        with np.errstate(all="ignore"):
            for step in group.steps[: operand + 1]:
                if isinstance(step.prim, Reduction):
                    values.append(None)
                    continue
                values.append(evaluate(step, [values[a] if a >= 0 else corner[~a] for a in step.args]))
        strides = values[operand].strides
    return tuple(sorted(natural, key=lambda d: -abs(strides[d])))


def _falling(a: Any) -> bool:
    if not isinstance(a, np.ndarray):
        return True
    steps = [s for n, s in zip(a.shape, a.strides, strict=True) if n > 1]
    return all(s > 0 for s in steps) and all(s >= t for s, t in pairwise(steps))


def _job(group: Group, output: int) -> _Job:
    """How a reduction is done. Raises Unplannable where NumPy must do it."""
    i, out = group.outputs[output]
    step = group.steps[i]
    assert isinstance(step.prim, Reduction)
    params, (operand,), loop = dict(step.params), step.args, step.in_dtypes[-1]
    code = code_of(loop)
    fold = fold_of(step.prim.ufunc.__name__, code) if code else None
    if fold is None or not set(params) <= {"axis", "keepdims"}:
        raise Unplannable(step.prim.name)
    source = group.steps[operand].dtype if operand >= 0 else group.leaves[~operand].dtype
    order = _order(group, operand)
    job = _Job(output, fold, operand, loop, order)
    axis = params.get("axis")
    axes = set(range(len(group.shape)) if axis is None else (axis,) if isinstance(axis, int) else axis)
    pattern: list[tuple[bool, int]] = []
    for d in order:
        if group.shape[d] != 1:
            if pattern and pattern[-1][0] == (d in axes):
                pattern[-1] = pattern[-1][0], pattern[-1][1] * group.shape[d]
            else:
                pattern.append((d in axes, group.shape[d]))
    job.pattern = tuple(pattern)
    letters = job.letters
    if letters not in ("R", "KR", "RKR", "RK", "KRK"):
        raise Unplannable(letters)
    if letters[-1] == "K" and fold.signs:
        raise Unplannable("signs of zeros")
    if fold.tree and source != loop and code != "bf2":
        if letters == "RKR":
            raise Unplannable("buffered in pieces of rows")
        job.segment = np.getbufsize()
    if operand < 0:
        leaf = group.leaves[~operand].transpose(order)
        if leaf.shape != tuple(group.shape[d] for d in order) or not leaf.flags.c_contiguous or not leaf.flags.aligned:
            raise Unplannable("a view")
    keep = bool(params.get("keepdims"))
    job.index = (*(0 if keep and d in axes else slice(None) for d in range(out.ndim)), ...)
    kept = sorted(set(range(len(group.shape))) - axes)
    job.axes = [kept.index(d) for d in order if d not in axes]
    target = job.target(group)
    job.direct = target.dtype == fold.dtype and target.flags.c_contiguous and target.flags.aligned
    return job


# Fused ---------------------------------------------------------------------------------------------------------------


def _passes(group: Group, apart: bool, stress: bool, many: bool) -> "list[_Pass] | None":
    """The passes that compute a group; None where that is not possible, or where NumPy is as fast."""
    if any(isinstance(s.prim, Elementwise) and s.prim.ufunc is not None and s.prim.ufunc.__name__ in POSITIONAL
           for s in group.steps):  # fmt: skip
        return None
    bare = not any(isinstance(s.prim, Elementwise) for s in group.steps)
    by_key: dict[Any, list[_Job]] = {}
    plain: list[int] = []
    try:
        for o, (i, _) in enumerate(group.outputs):
            if isinstance(group.steps[i].prim, Reduction):
                job = _job(group, o)
                if bare and not stress and not (many and job.worth_threads) and job.segment == ENDLESS:
                    return None
                if not _confirmed(job.fold, job.letters, job.segment != ENDLESS):
                    return None
                by_key.setdefault(job.key, []).append(job)
            elif not apart:
                plain.append(o)
        todo = list(by_key.values())
        return [_Pass(group, jobs, plain if jobs is todo[-1] else []) for jobs in todo]
    except Unplannable:
        return None


class _Pass:
    """Reductions that walk over the elements together, and elementwise outputs on the way.

    Made for one layout of a group's operands; of the group itself nothing is kept.
    """

    def __init__(self, group: Group, jobs: list[_Job], plain: list[int]) -> None:
        self.jobs, self.plain = jobs, plain
        order = jobs[0].order
        self.lengths = [n for _, n in jobs[0].pattern]
        self.letters = jobs[0].letters
        shape = tuple(group.shape[d] for d in order)
        operands = [self._placed(a, group.shape, order) for a in group.leaves]
        operands += [group.outputs[o][1].transpose(order) for o in plain]
        strides = np.cumprod((1, *shape[:0:-1]))[::-1]
        guide = np.lib.stride_tricks.as_strided(np.empty(1, np.uint8), shape, [int(s) for s in strides])
        layout = layout_of([*operands, guide], shape, False, len(operands))
        if layout.by_rows and layout.columns != self.lengths[-1]:
            layout = layout_of([*operands, guide], shape, True, len(operands))
        classes = layout.classes[:-1]
        key = (
            tuple((s.prim, s.args, s.in_dtypes, s.dtype) for s in group.steps),
            tuple(a.dtype for a in operands), classes, len(layout.shape), layout.by_rows,
            tuple((j.operand, j.loop) for j in jobs), tuple(group.outputs[o][0] for o in plain),
        )  # fmt: skip
        made: _Kernel = _remember(_kernels, key, lambda: self._compile(group, operands, classes, layout))
        self.kernel = made
        none = made.program.operands - len(operands)
        strides = [s for own in layout.strides[:-1] for s in own] + [0] * (none * made.program.dims)
        self.tail = (*[0] * none, *layout.shape, *strides)
        self.by_rows = layout.by_rows
        self.many = 1
        for reduced, n in jobs[0].pattern:
            self.many *= 1 if reduced else n
        self.task = self._task(bare=not made.program.names and not layout.shape)
        self.identities = [_identity(job.fold)[: job.fold.dtype.itemsize].view(job.fold.dtype)[0] for job in jobs]
        self.pieces: dict[int, tuple[array[int], int]] = {}  # by the size of a piece

    @staticmethod
    def _placed(leaf: Any, shape: tuple[int, ...], order: tuple[int, ...]) -> Any:
        if not isinstance(leaf, np.ndarray):
            return leaf
        return (leaf if leaf.shape == shape else np.broadcast_to(leaf, shape)).transpose(order)

    def _compile(self, group: Group, operands: list[Any], classes: tuple[str, ...], layout: Layout) -> _Kernel:
        plain, leaves = [group.outputs[o] for o in self.plain], len(group.leaves)
        roots = [i for i, _ in plain] + [job.operand for job in self.jobs if job.operand >= 0]
        steps, new = _subset(group, roots)
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
        return _Kernel(program, places)

    def _task(self, bare: bool) -> "array[int]":
        """The table that the walks read; results are put in by each run."""
        jobs, letters, lengths = self.jobs, self.letters, self.lengths
        columns = letters[-1] == "K"
        common = common_functions().addresses
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
            packed = not self.by_rows and lengths[-1] <= WIDEST_PACKED
            task[walks.PACKED] = BLOCK // lengths[-1] if packed else 0
        else:
            task[walks.ROWS] = self.many
        for j, job in enumerate(jobs):
            at, functions = walks.HEADER + walks.FOLD_SLOTS * j, _functions(job.fold).addresses
            task[at + walks.PLACE] = self.kernel.places[j]
            for slot, name in ((walks.FOLD, "fold"), (walks.JOIN, "join"), (walks.WRITE, "write"),
                               (walks.PUT, "put"), (walks.ACCUMULATE, "accumulate")):  # fmt: skip
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
        workers = threads.num_threads() if stress or ns > THREADED_NS else 1
        at = task.buffer_info()[0]
        if letters[-1] == "K":
            for buffer, value in zip(buffers, self.identities, strict=True):
                buffer.fill(value)
            outer, width = task[walks.ROWS], self.lengths[-1]
            function = _walks().columns
            if outer == 1 and not task[walks.PACKED]:
                chunks = [(0, 1, a, b) for a, b in _cuts(width, workers, ns, 64)]
            else:
                chunks = [(a, b, 0, width) for a, b in _cuts(outer, workers, ns, 1)]
        elif letters == "R" and not self.jobs[0].fold.strict_order and self.lengths[-1] > (64 if stress else PIECE):
            flags = self._long_row(args, task, ns, workers, 128 if stress else PIECE)
            return self._deliver(flags, task, buffers, group)
        else:
            function = _walks().rows
            chunks = [(a, b, 0, 0) for a, b in _cuts(self.many, workers, ns, 1)]
        flags = [0]
        if workers == 1 or len(chunks) == 1:
            for c in chunks:
                flags.append(function(args, at, *c))
        else:
            threads.run_chunks(lambda c: flags.append(function(args, at, *c)), chunks)
        return self._deliver(flags, task, buffers, group)

    def _long_row(self, args: bytes, task: "array[int]", ns: float, workers: int, cut: int) -> list[int]:
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
        at, function = task.buffer_info()[0], _walks().pieces
        flags = [0]
        chunks = _cuts(count, workers, ns, 1)
        if workers == 1:
            for c in chunks:
                flags.append(function(args, at, *c, 0, 0))
        else:
            threads.run_chunks(lambda c: flags.append(function(args, at, *c, 0, 0)), chunks)
        flags.append(_walks().join(args, at, 0, 0, 0, 0))
        return flags

    def _results(self, job: _Job, group: Group) -> Any:
        """Where the walk writes: the destination itself if it can."""
        if job.direct:
            return group.outputs[job.output][1]
        return memory.empty((self.many,), job.fold.dtype)

    def _deliver(self, flags: list[int], task: "array[int]", buffers: list[Any], group: Group) -> int:
        if task[walks.AMBIGUOUS]:
            return -1
        seen = 0
        for f in flags:
            seen |= f
        found = _numpy_flags(seen) if seen else 0
        for job, buffer in zip(self.jobs, buffers, strict=True):
            if not job.direct:
                stored = Flags()
                with np.errstate(all="call", call=stored):
                    target = job.target(group)
                    _store(buffer.reshape(target.shape), target)
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


@cache
def _functions(fold: Fold) -> Compiled:
    return compiler().compile(folds.module_text(fold, compiler().register_bytes), folds.NAMES)


class _Walks:
    """The walks as functions."""

    def __init__(self) -> None:
        self.code = compiler().compile(walks.module_text(), walks.NAMES)
        type_ = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, *[ctypes.c_int64] * 4)
        self.rows, self.pieces, self.join, self.columns = (type_(self.code.addresses[n]) for n in walks.NAMES)


@cache
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
    pieces = max(1, min(-(-count // multiple), max(workers if workers == 1 else 2 * workers, int(ns / CHUNK_NS))))
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


# Verification --------------------------------------------------------------------------------------------------------


_SAMPLES = {
    "R": [(7,), (100,), (1000,), (9001,)],
    "KR": [(5, 9), (4, 129), (3, 1001), (2, 9001)],
    "RKR": [(3, 4, 9), (3, 4, 1001)],
    "RK": [(50, 37), (7, 300), (3, 9001)],
    "KRK": [(3, 50, 37), (2, 7, 300)],
}
_UFUNCS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "xor": np.bitwise_xor}
_NARROWER = {"f8": "f4", "f4": "f2", "c16": "c8", "c8": "f4"}  # operands that NumPy casts buffer by buffer


@cache
def _confirmed(fold: Fold, letters: str, buffered: bool) -> bool:
    """Does this NumPy, on this CPU, combine in the order that is assumed here?"""
    ufunc = _UFUNCS.get(fold.kind) or getattr(np, ("logical_" if fold.code == "b1" else "bitwise_") + fold.kind)
    loop = np.dtype(np.float16) if fold.half else fold.dtype
    source = (np.dtype(np.float32) if fold.half else np.dtype(_NARROWER[fold.code])) if buffered else loop
    axes = tuple(d for d, letter in enumerate(letters) if letter == "R")
    prim = Reduction(name=ufunc.__name__, impl=ufunc.reduce, ufunc=ufunc)
    step = Step(prim, (~0,), (loop,), loop, (("axis", axes), ("keepdims", False)))
    rng = np.random.default_rng(len(letters))
    for shape in _SAMPLES[letters]:
        sample = _sample(rng, fold, source, shape)
        with np.errstate(all="ignore"):
            want = np.asarray(ufunc.reduce(sample, axis=axes, dtype=loop))
        got = np.empty(want.shape, loop)
        group = Group([step], [sample], [(0, got)], shape)
        if _Pass(group, [_job(group, 0)], []).run(group, True, sample.size) < 0 or got.tobytes() != want.tobytes():
            return False
    return True


def _sample(rng: np.random.Generator, fold: Fold, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Values whose sum shows the order of additions."""
    if dtype.kind == "b":
        return rng.random(shape) < (0.001 if fold.kind == "or" else 0.999)
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype)
    if fold.kind == "mul":
        return (1 + 1e-3 * rng.standard_normal(shape)).astype(dtype)
    wide = 1 if fold.half or dtype.itemsize == 2 else 4
    values = rng.standard_normal(shape) * 10.0 ** rng.uniform(-wide, wide, shape)
    return (values + 1j * values[..., ::-1] if dtype.kind == "c" else values).astype(dtype)
