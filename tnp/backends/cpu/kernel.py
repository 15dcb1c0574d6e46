"""Compiled kernels and how they are launched."""

import time
from collections import ChainMap
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW, Group
from tnp.backends.cpu import threads
from tnp.backends.cpu.calls import Function, arguments, on_threads
from tnp.backends.cpu.compile import Compiled, common_functions
from tnp.backends.cpu.emit import Program
from tnp.backends.cpu.ir import size_of
from tnp.backends.cpu.plan import Node
from tnp.backends.cpu.reach import GATHERED
from tnp.backends.cpu.stats import Launches

ALIGNMENT = 64  # elements; chunks begin at multiples, where NumPy's loops begin a vector

Chunk = tuple[int, int, int, int]
Call = Callable[..., int]  # (arguments, first row, last row, first column, last column): the status it raised

# MXCSR's bits to NumPy's
_FLAGS = [
    bool(s & 4) * DIVIDE | bool(s & 8) * OVERFLOW | bool(s & 16) * UNDERFLOW | bool(s & 1) * INVALID for s in range(64)
]


class Kernel:
    """A compiled program.

    Attributes
    ----------
    slots_at : int
        Where the program for the driver stands.
    run : callable
        See `Call`.
    ns : float
        What an element takes, roughly.
    blocked : bool
        It reads in blocks: results may replace only what it was compiled for.
    strided : bool
        It goes from row to row itself.
    """

    __slots__ = ("blocked", "code", "counts", "ns", "run", "slots", "slots_at", "strided")

    def __init__(self, program: Program, code: Compiled) -> None:
        plan = program.plan
        self.code, self.blocked, self.strided = code, program.blocked, program.strided
        self.slots = program.slots(ChainMap(code.addresses, common_functions()))
        self.slots_at: int = self.slots.buffer_info()[0]
        self.run: Call = common("strided" if program.strided else "run")
        done = [n for n in plan.nodes if n.kind != "leaf"]
        moved = program.classes.count(GATHERED)
        self.ns = sum(map(_ns, done)) + 0.15 * program.operands + 1.0 * moved
        self.counts = Launches(
            "_".join(n.ufunc.__name__ if n.ufunc else n.kind for n in done),
            sum(size_of(n.code) for n in plan.nodes if n.kind == "leaf" and not n.const),
            sum(size_of(plan.nodes[i].code) for i in plan.stored),
        )


@cache
def common(name: str) -> Call:
    """A function of the driver."""
    return Function(common_functions()[name])


def _ns(node: Node) -> float:
    """Time of a node for an element, roughly."""
    if node.kind == "loop":
        return 4.0
    return 0.8 if node.ufunc in (np.divide, np.sqrt, np.reciprocal) else 0.01 * size_of(node.code)


def chunks_of(kernel: Kernel, rows: int, columns: int, stress: bool, unit: int = 0) -> list[Chunk]:
    """Pieces for the threads, of about equal size: first and last row, first and last column.

    Parameters
    ----------
    unit : int
        Rows that stay whole and together; 0: where there are few rows, they are cut.
    """
    size, ns = rows * columns, kernel.ns
    if not stress and ns * size <= threads.WORTH_NS:
        return [(0, rows, 0, columns)]
    step = ALIGNMENT if stress else max(1, -(-size // threads.pieces(ns * size, threads.num_threads())))
    if unit or (rows > 1 and (stress or rows >= 4 * threads.num_threads())):
        unit = max(1, unit)
        some = max(1, step // (columns * unit)) * unit
        return [(r, min(rows, r + some), 0, columns) for r in range(0, rows, some)]
    step = -(-step // ALIGNMENT) * ALIGNMENT
    return [(0, rows, c, min(columns, c + step)) for c in range(0, columns, step)]


def launch(hooks: list[Any], kernel: Kernel, args: bytes, chunks: list[Chunk], call: Call) -> int:
    """``call(args, *chunk)`` for each chunk, on the threads. Returns NumPy's flags."""
    counts = kernel.counts
    counts.launches += 1
    size = chunks[-1][1] * chunks[-1][3]
    counts.elements += size
    began = time.perf_counter() if hooks else 0.0
    if len(chunks) == 1:
        status = call(args, *chunks[0])
    elif type(call) is Function:
        status = on_threads(call, args, chunks)
    else:
        status, found = 0, []
        threads.run_chunks(lambda chunk: found.append(call(args, *chunk)), chunks)
        for f in found:
            status |= f
    if hooks:
        seconds = time.perf_counter() - began
        for hook in hooks:
            hook(counts.name, seconds, (counts.bytes_read + counts.bytes_written) * size)
    return _FLAGS[status]


class Ready:
    """How groups of one signature are run: the kernel and all its arguments but the addresses.

    Parameters
    ----------
    kernel : Kernel
    numbers : bytes
        Its arguments after the addresses.
    chunks : list of Chunk

    Attributes
    ----------
    entry : object
        What is known of its structure.
    kept : object
        What the signature names by its identity.
    """

    __slots__ = ("chunks", "entry", "kept", "kernel", "numbers")

    def __init__(self, kernel: Kernel, numbers: bytes, chunks: list[Chunk]) -> None:
        self.kernel, self.numbers, self.chunks = kernel, numbers, chunks
        self.entry: Any = None
        self.kept: object = None

    def arguments(self, group: Group) -> bytes:
        return arguments(self.kernel.slots_at, group.leaves + [out for _, out in group.outputs], self.numbers)

    def run(self, hooks: list[Any], group: Group) -> int:
        return launch(hooks, self.kernel, self.arguments(group), self.chunks, self.kernel.run)
