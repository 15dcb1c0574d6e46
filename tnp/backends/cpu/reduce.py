"""Groups with reductions: in fused passes where the order of NumPy is known, otherwise by NumPy.

The operand of a reduction that NumPy must do (another dtype or ufunc, an order that is not known or that this NumPy
does not confirm) is computed into memory by the elementwise engine and given to ``ufunc.reduce``.
"""

import time
from collections import OrderedDict
from typing import Any

import numpy as np

from tnp.backends.base import Group, Step
from tnp.backends.cpu import memory, threads
from tnp.backends.cpu.extremes import positional
from tnp.backends.cpu.interpret import Flags, evaluate
from tnp.backends.cpu.ir import code_of
from tnp.backends.cpu.kernel import Ready
from tnp.backends.cpu.plan import Unplannable
from tnp.backends.cpu.reduction_check import confirmed
from tnp.backends.cpu.reduction_order import ENDLESS, Job, job_of, order_of
from tnp.backends.cpu.reduction_pass import Pass, needed, remember, store, subset
from tnp.backends.cpu.stats import Launches
from tnp.core.primitive import Elementwise, Reduction

COMPILE_NS = 10_000_000  # what compiling costs


class _Entry:
    """What is known of a structure of groups.

    Attributes
    ----------
    spent : float
        Nanoseconds it took so far by NumPy.
    unused : tuple of int
        Steps that no output is made from, those that others are made from left out.
    passes : dict
        By the layout of the operands.
    used : int
        As the engine's clock says.
    counts : Launches or None
        What is counted of the passes over memory, once there was one.
    """

    __slots__ = ("counts", "passes", "spent", "unused", "used")

    def __init__(self, group: Group) -> None:
        self.counts: Launches | None = None
        self.used = 0
        self.spent = 0.0
        used = needed(group, [i for i, _ in group.outputs])
        unused = [i for i, s in enumerate(group.steps) if i not in used and isinstance(s.prim, Elementwise)]
        read = {a for i in unused for a in group.steps[i].args}
        self.unused = tuple(i for i in unused if i not in read)
        self.passes: OrderedDict[Any, list[Pass] | None] = OrderedDict()  # None: not by fused passes


_entries: OrderedDict[Any, _Entry] = OrderedDict()


def run(backend: Any, group: Group, key: object = None) -> int:
    """Compute the outputs of a group with reductions; returns the flags.

    Parameters
    ----------
    backend : CpuBackend
        Computes elementwise outputs that cannot be a part of a pass.
    group : Group
    key : object
        The group's signature.
    """
    size = 1
    for n in group.shape:
        size *= n
    entry: _Entry = remember(_entries, _structure(group), lambda: _Entry(group))
    if not size or (not backend.stress and entry.spent + 2.0 * size * len(group.steps) < COMPILE_NS):
        return _timed(backend, entry, group)
    return _run(backend, entry, group, size, key)


class Known(Ready):
    """Groups of one signature, all in fused passes."""

    __slots__ = ("backend", "passes", "size")

    def __init__(self, backend: Any, passes: list[Pass], size: int) -> None:
        self.backend, self.passes, self.size = backend, passes, size

    def run(self, hooks: list[Any], group: Group) -> int:
        _count(self.backend, self.entry, group, self.size)
        flags = 0
        for one in self.passes:
            found = one.run(group, self.backend.stress, self.size)
            if found < 0:  # zeros of both signs: which one NumPy returns depends on its vectors
                return _by_numpy(group)
            flags |= found
        return flags


def _run(backend: Any, entry: _Entry, group: Group, size: int, signature: object = None) -> int:
    plain = [(i, out) for i, out in group.outputs if not isinstance(group.steps[i].prim, Reduction)]
    apart = bool(plain) and _overlaps(plain, group.leaves)  # elementwise outputs are computed after all has been read
    many = backend.stress or threads.num_threads() > 1
    key: list[Any] = [group.shape, apart, many, backend.stress]
    for a in group.leaves:
        key += (a.dtype,) if isinstance(a, np.generic) else (a.dtype, a.shape, a.strides, a.flags.num)
    for _, out in group.outputs:
        key += (out.dtype, out.strides, out.flags.num)
    passes = remember(entry.passes, tuple(key), lambda: _passes(group, apart, backend.stress, many))
    # the flags of steps that no output is made from are a part of the program's too
    flags = _elementwise(backend, group, [(i, memory.empty(group.shape, group.steps[i].dtype)) for i in entry.unused])
    if passes is None:
        return flags | _materialised(backend, group, size)
    known = Known(backend, passes, size)
    known.entry = entry
    if not entry.unused and not apart:
        backend.remember(signature, known, entry, group)
    flags |= known.run([], group)
    return flags | _elementwise(backend, group, plain) if apart else flags


def _count(backend: Any, entry: _Entry, group: Group, size: int) -> None:
    """Once for the group, although it may take several passes: memory sees the later ones in cache or not at all."""
    if entry.counts is None:
        read = sum(a.dtype.itemsize for a in group.leaves if not isinstance(a, np.generic) and a.size == size)
        written = sum(out.dtype.itemsize for _, out in group.outputs if out.size == size)
        entry.counts = Launches("_".join(s.prim.name for s in group.steps), read, written)
        backend.stats.kernels.append(entry.counts)
    entry.counts.launches += 1
    entry.counts.elements += size


def _structure(group: Group) -> Any:
    key: list[Any] = []
    for s in group.steps:
        key += (s.prim, s.args, s.in_dtypes, s.dtype)
        if isinstance(s.prim, Reduction):
            key.append(s.params)
    key += [i for i, _ in group.outputs]
    return tuple(key)


def _timed(backend: Any, entry: _Entry, group: Group) -> int:
    backend.stats.interpreted += 1
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
            store(values[i], out)
    return flags.seen


def _reduce(step: Step, operand: Any) -> Any:
    """By NumPy; bfloat16 is combined in float32 and rounded once."""
    assert isinstance(step.prim, Reduction)
    operand, dtype = np.asarray(operand), step.dtype
    if code_of(step.in_dtypes[-1]) == "bf2":
        operand, dtype = operand.astype(np.float32), np.dtype(np.float32)
    return np.asarray(step.prim.ufunc.reduce(operand, dtype=dtype, **dict(step.params))).astype(step.dtype, copy=False)


def _materialised(backend: Any, group: Group, size: int) -> int:
    """The operands are computed into memory, as NumPy would lay them out, and reduced one by one."""
    if len(group.steps) == 1:
        return _by_numpy(group)
    jobs = [(i, out) for i, out in group.outputs if isinstance(group.steps[i].prim, Reduction)]
    made: dict[int, Any] = {}
    for i, _ in jobs:
        (a,) = group.steps[i].args
        if a >= 0 and a not in made:
            order = order_of(group, a)
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
        entry: _Entry = remember(_entries, _structure(alone), lambda alone=alone: _Entry(alone))
        flags |= _run(backend, entry, alone, size)
    return flags | _elementwise(backend, group, plain)


def _elementwise(backend: Any, group: Group, outputs: list[tuple[int, Any]]) -> int:
    """Some outputs, by the elementwise engine, with the steps that they need."""
    if not outputs:
        return 0
    steps, new = subset(group, [i for i, _ in outputs])
    return int(backend.run(Group(steps, group.leaves, [(new[i], out) for i, out in outputs], group.shape)))


def _overlaps(outputs: list[tuple[int, Any]], leaves: list[Any]) -> bool:
    arrays = [a for a in leaves if isinstance(a, np.ndarray)]
    return any(np.may_share_memory(out, a) for _, out in outputs for a in arrays)


def _passes(group: Group, apart: bool, stress: bool, many: bool) -> "list[Pass] | None":
    """The passes that compute a group; None where that is not possible, or where NumPy is as fast."""
    if any(positional(s, group.leaves, group.shape) for s in group.steps):
        return None
    bare = not any(isinstance(s.prim, Elementwise) for s in group.steps)
    by_key: dict[Any, list[Job]] = {}
    plain: list[int] = []
    try:
        for o, (i, _) in enumerate(group.outputs):
            if isinstance(group.steps[i].prim, Reduction):
                job = job_of(group, o)
                if bare and not stress and not (many and job.worth_threads) and job.segment == ENDLESS:
                    return None
                if not confirmed(job.fold, job.letters, job.segment != ENDLESS):
                    return None
                by_key.setdefault(job.key, []).append(job)
            elif not apart:
                plain.append(o)
        todo = list(by_key.values())
        return [Pass(group, jobs, plain if jobs is todo[-1] else []) for jobs in todo]
    except Unplannable:
        return None
