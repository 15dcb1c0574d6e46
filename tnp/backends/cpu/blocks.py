"""Groups as calls of NumPy's inner loops on blocks, in C: what runs until there is a kernel, or instead of one.

Where there is no compiled module, or a step is not for it, `Recipe` in `interpret` calls ufuncs block by block.
"""

import os
from array import array
from typing import Any

import numpy as np

from tnp.backends.base import Group, Step
from tnp.backends.cpu import threads
from tnp.backends.cpu.calls import DATA
from tnp.backends.cpu.inner_loops import BLOCK, Loop, numpys_loop
from tnp.core.native import address

try:
    if os.environ.get("TNP_PURE"):
        raise ImportError("TNP_PURE is set")
    from tnp.backends.cpu._blocks import run
except ImportError:
    run: Any = None  # type: ignore[no-redef]

_WORDS = 16  # of an instruction


class Program:
    """The calls that compute groups of one structure.

    Parameters
    ----------
    steps : list of Step
    loops : list of Loop
        Of each step.
    stored : tuple of (int, bool)
        Of each output: its step, and whether it lies on a leaf.
    leaves : int
    """

    def __init__(self, steps: list[Step], loops: list[Loop], stored: tuple[tuple[int, bool], ...], leaves: int) -> None:
        given = leaves + len(stored)
        last = {i: k for k, s in enumerate(steps) for i in s.args if i >= 0}
        place: dict[int, int] = {}  # of the value of each step
        for o, (i, on_leaf) in enumerate(stored):
            if not on_leaf:
                place.setdefault(i, leaves + o)
            last[i] = len(steps)
        free: list[int] = []
        self.slots = 0
        code = array("q")
        for k, (s, loop) in enumerate(zip(steps, loops, strict=True)):
            if k not in place:
                if not free:
                    free.append(given + self.slots)
                    self.slots += 1
                place[k] = free.pop()
            arguments = [(~i if i < 0 else place[i], d.itemsize) for i, d in zip(s.args, s.in_dtypes, strict=True)]
            arguments.append((place[k], s.dtype.itemsize))
            code += _instruction(loop.function, loop.context, loop.auxdata, loop.flags, arguments)
            for i in {*s.args, k}:
                if i >= 0 and last.get(i, k) == k and place[i] >= given:
                    free.append(place[i])
        for o, (i, _) in enumerate(stored):
            if place[i] != leaves + o:
                size = steps[i].dtype.itemsize
                code += _instruction(0, 0, 0, False, [(place[i], size), (leaves + o, size)])
        self.code = code.tobytes()
        self.slot = BLOCK * max(s.dtype.itemsize for s in steps)

    def run(self, group: Group, size: int, ns: float) -> int:
        """Compute the outputs of a group of flat operands; returns the flags. An element takes about `ns`."""
        places = array("q")
        for a in group.leaves:
            places.extend((id(a) + DATA, 1) if isinstance(a, np.generic) else (address(a), 0))
        for _, out in group.outputs:
            places.extend((address(out), 0))
        pieces = threads.pieces(ns * size, threads.num_threads()) if ns * size > threads.WORTH_NS else 1
        share = -(-size // (pieces * BLOCK)) * BLOCK
        return int(run(self.code, places.tobytes(), self.slots, self.slot, BLOCK, size, share))


def _instruction(
    function: int, context: int, auxdata: int, flags: bool, arguments: list[tuple[int, int]]
) -> "array[int]":
    words = [function, context, auxdata, int(flags), len(arguments)]
    for place, size in arguments:
        words += [place, size]
    return array("q", words + [0] * (_WORDS - len(words)))


def loops_of(steps: list[Step]) -> list[Loop] | None:
    """NumPy's loop of every step; None if one has none that goes with any block, or the module is not compiled."""
    if run is None:
        return None
    loops = []
    for s in steps:
        ufunc = getattr(s.prim, "ufunc", None)
        loop = numpys_loop(ufunc, s.in_dtypes) if ufunc is not None and len(s.args) <= 4 else None
        if loop is None or loop.positional or loop.dtype != s.dtype:
            return None
        loops.append(loop)
    return loops


def fits(group: Group, steps: list[Step]) -> bool:
    """Has every operand the dtype of the loop that reads it, and every output that of its step?"""
    for s in steps:
        for i, d in zip(s.args, s.in_dtypes, strict=True):
            if (group.leaves[~i].dtype if i < 0 else steps[i].dtype) != d:
                return False
    return all([out.dtype == steps[i].dtype for i, out in group.outputs])
