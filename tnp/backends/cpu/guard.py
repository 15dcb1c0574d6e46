"""Groups that replace what they are made from, and whose inputs must outlive a floating-point flag.

Each block of a flat group is computed into scratch and stored only when it raised nothing that the caller watches.
Where there is no such kernel, the whole group goes through fresh memory.
"""

import time
from array import array
from math import gcd, prod
from typing import Any

import numpy as np

from tnp.backends.base import Group, is_flat, part
from tnp.backends.cpu import memory
from tnp.backends.cpu.extremes import positional
from tnp.backends.cpu.inner_loops import BLOCK
from tnp.backends.cpu.kernel import Ready, chunks_of, common, launch
from tnp.backends.cpu.layout import CONTIGUOUS_ALIGNED
from tnp.backends.cpu.windows import merged, status_bits
from tnp.core.primitive import Reduction

ALIGNED = 64  # elements: slabs end at multiples
SLAB = 1 << 18  # elements: what stays in the cache, and is worth two threads
FEW = 1 << 15  # elements of a slab where NumPy makes an array for every step
_INTEGER = {"floor_divide", "remainder", "fmod", "reciprocal"}  # they raise flags without floats


def may_flag(group: Group) -> bool:
    """Does anything in it compute with floats, or divide integers?"""
    return any(s.prim.name in _INTEGER or any(d.kind in "fcV" for d in (*s.in_dtypes, s.dtype)) for s in group.steps)


def run(backend: Any, group: Group, aliased: frozenset[int], key: object) -> int:
    """Compute the outputs, of which these lie on a leaf; returns the flags and says in ``group.undone`` what is not.

    Parameters
    ----------
    backend : CpuBackend
    group : Group
    aliased : frozenset of int
    key : object
        The group's signature.
    """
    size, operands = prod(group.shape), group.leaves + [out for _, out in group.outputs]
    flat = True
    for a in operands:
        if type(a) is np.ndarray:
            flat = flat and a.shape == group.shape and a.flags.num & CONTIGUOUS_ALIGNED == CONTIGUOUS_ALIGNED
        elif not isinstance(a, np.generic):
            flat = False
    if any(isinstance(s.prim, Reduction) for s in group.steps):
        return _apart(backend, group, aliased, size)
    if not flat:
        found, entry = backend.by_rows(group, operands, aliased, key)
        if found is None:
            began = time.perf_counter_ns()
            if group.spare:
                found = _apart(backend, group, aliased, size)
            else:
                found = _by_slabs(backend, group, aliased, size, SLAB if entry is None else FEW)
            if entry is not None:
                entry.spent += time.perf_counter_ns() - began
        return int(found)
    entry = backend.guarded_entry(group, operands, aliased)
    kernel = backend.kernel(entry, group, operands, None, size, aliased)
    if kernel is None:
        return _apart(backend, group, aliased, size, entry=entry)
    ready = Guarded(kernel, b"", chunks_of(kernel, 1, size, backend.stress))
    return int(backend.remember(key, ready, entry, group).run(backend.hooks, group))


class Guarded(Ready):
    """`Ready` for flat groups whose results replace leaves."""

    __slots__ = ()

    def run(self, hooks: list[Any], group: Group) -> int:
        watched, guarded = status_bits(group.watched), common("guarded")
        undone: list[tuple[int, int]] = []

        def call(args: bytes, _row0: int, _row1: int, first: int, last: int) -> int:
            found = array("q", bytes(8 * (2 + (last - first) // BLOCK)))
            status = guarded(args, found.buffer_info()[0], watched, first, last)
            if found[0]:
                undone.extend((start, min(start + BLOCK, last)) for start in found[1 : 1 + found[0]])
            return status

        flags = launch(hooks, self.kernel, self.arguments(group), self.chunks, call)
        group.undone = merged(undone)
        return flags


def _by_slabs(backend: Any, group: Group, aliased: frozenset[int], size: int, most: int) -> int:
    """Through fresh memory that stays in the cache, some planes at a time: `most` elements, or one plane."""
    if not size or not group.shape:
        return _apart(backend, group, aliased, size)
    planes = group.shape[0]
    plane = size // planes
    unit = ALIGNED // gcd(ALIGNED, plane)
    some = unit * max(1, (ALIGNED if backend.stress else most) // (plane * unit))
    outermost = all(abs(out.strides[0]) >= max(map(abs, out.strides)) for _, out in group.outputs if out.ndim)
    flat = is_flat(group)
    if some >= planes or not outermost or flat or any(positional(s, group.leaves, group.shape) for s in group.steps):
        return _apart(backend, group, aliased, size)
    flags, undone = 0, []
    scratch: dict[int, Any] = {}
    for first in range(0, planes, some):
        start, stop = first * plane, min(planes, first + some) * plane
        slab = part(group, start, stop, False)
        slab.watched = group.watched
        flags |= _apart(backend, slab, aliased, stop - start, scratch)
        if slab.undone:
            undone.append((start, stop))
    group.undone = merged(undone)
    return flags


def _apart(
    backend: Any,
    group: Group,
    aliased: frozenset[int],
    size: int,
    scratch: dict[int, Any] | None = None,
    entry: Any = None,
) -> int:
    """Through fresh memory (kept in `scratch` for the next), copied when nothing was raised.

    With the `entry` of a flat group without a kernel, its time counts there and no other kernel is asked for.
    """
    outputs, waiting = [], []
    for o, (i, out) in enumerate(group.outputs):
        if o in aliased:
            fresh = scratch.get(o) if scratch is not None else None
            if fresh is None:
                order = sorted(range(out.ndim), key=lambda d: -abs(out.strides[d]))
                fresh = memory.empty(tuple(out.shape[d] for d in order), out.dtype).transpose(np.argsort(order))
                if scratch is not None:
                    scratch[o] = fresh
            fresh = fresh[: len(out)] if out.ndim else fresh
            outputs.append((i, fresh))
            waiting.append((out, fresh))
        else:
            outputs.append((i, out))
    apart = Group(group.steps, group.leaves, outputs, group.shape)
    if entry is None or entry.hopeless:
        flags = int(backend.run(apart))
    else:
        flags = int(backend.interpret(entry, apart, size, True))
    if group.spare:
        group.outputs = outputs
    elif flags & group.watched:
        group.undone = [(0, size)]
    else:
        for out, fresh in waiting:
            np.copyto(out, fresh)
    return flags
