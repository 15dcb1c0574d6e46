"""The CPU backend: fused kernels, compiled when that pays, on all cores when there is enough to do."""

import ctypes
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from struct import Struct
from typing import Any

import numpy as np

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW, Group
from tnp.backends.cpu import interpret, memory, threads
from tnp.backends.cpu.compile import common_functions, compiler
from tnp.backends.cpu.emit import Program
from tnp.backends.cpu.inner_loops import POSITIONAL
from tnp.backends.cpu.ir import code_of, size_of
from tnp.backends.cpu.layout import CONTIGUOUS_ALIGNED, Layout, layout_of
from tnp.backends.cpu.operations import emitted
from tnp.backends.cpu.plan import SCALAR, UNIT, Plan, Unplannable
from tnp.core.primitive import Elementwise, Primitive, Reduction

try:
    from tnp.backends.cpu import reduce
except ImportError:
    reduce = None  # type: ignore[assignment]

MOST_KERNELS = 2000
ALIGNMENT = 64  # elements; chunks begin at multiples, where NumPy's loops begin a vector
THREADED_NS = 50_000  # work that is worth waking another thread
COMPILE_NS = 10_000_000  # what compiling costs
CHUNK_NS = 20_000_000  # at most in one call, so that an interrupt acts soon
# Where an array keeps its data pointer, and a NumPy scalar its value: behind the object's header
DATA = object.__basicsize__

# MXCSR's bits to NumPy's
_FLAGS = [
    bool(s & 4) * DIVIDE | bool(s & 8) * OVERFLOW | bool(s & 16) * UNDERFLOW | bool(s & 1) * INVALID for s in range(64)
]


class Stats:
    """Counts of what the backend did."""

    def __init__(self) -> None:
        self.compiled = self.from_disk = self.launched = self.interpreted = 0
        self.bytes_read = self.bytes_written = 0
        self.distinct: set[str] = set()


class Kernel:
    """A compiled program and how to launch it."""

    __slots__ = ("bytes_read", "bytes_written", "code", "name", "ns", "program", "run", "slots", "slots_at", "struct")

    def __init__(self, program: Program) -> None:
        common, nodes = common_functions(), program.plan.nodes
        self.code = compiler().compile(program.text, program.names)
        self.program = program
        self.slots = program.slots({**common.addresses, **self.code.addresses})
        self.slots_at = self.slots.buffer_info()[0]
        self.run = _RUN_TYPE(common.addresses["run"])
        self.struct = Struct(f"{1 + program.operands + program.dims * (1 + program.operands)}q")
        self.name = "_".join(n.ufunc.__name__ if n.ufunc else n.kind for n in nodes if n.kind != "leaf")
        # per element
        self.ns = sum(4.0 if n.kind == "loop" else 0.3 for n in nodes if n.kind != "leaf") + 0.3 * program.operands
        leaves = len(program.plan.leaf_classes)
        self.bytes_read = sum(size_of(n.code) for n in nodes[:leaves] if not n.const)
        self.bytes_written = sum(size_of(nodes[i].code) for i in program.plan.stored)


class _Entry:
    """What is known of one structure of groups."""

    __slots__ = ("hopeless", "kernels", "ns", "reduction", "spent")

    def __init__(self, group: Group) -> None:
        self.reduction = any(isinstance(s.prim, Reduction) for s in group.steps)
        self.kernels: dict[frozenset[int], Kernel] = {}  # by the outputs that lie on a leaf
        self.hopeless, self.spent, self.ns = False, 0.0, 2.0 * len(group.steps)


_RUN_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, *[ctypes.c_int64] * 4)
_NOWHERE: frozenset[int] = frozenset()


class CpuBackend:
    """See `tnp.backends.base.Backend`.

    Attributes
    ----------
    stats : Stats
    hooks : list of callable
        ``hook(name, seconds, bytes)`` after every launch.
    fast_math : bool
        Speed before the last bit.

    Parameters
    ----------
    stress : bool, optional
        Compile everything at once and cut it into chunks of 64 elements, so that small arrays test the engine.
        By default the environment's TNP_STRESS says.
    """

    name = "cpu"

    def __init__(self, stress: bool | None = None) -> None:
        self.stress = os.environ.get("TNP_STRESS") == "1" if stress is None else stress
        self.stats = Stats()
        self.hooks: list[Callable[[str, float, int], None]] = []
        self.fast_math = False
        self.compile_ns = COMPILE_NS
        self._entries: OrderedDict[Any, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], order: str = "C") -> np.ndarray[Any, Any]:
        return memory.empty(shape, dtype, order)  # type: ignore[arg-type]

    def fusible(self, prim: Primitive, in_dtypes: tuple[Any, ...], operand: np.ndarray[Any, Any]) -> bool:
        if not isinstance(prim, Elementwise) or prim.ufunc is None:
            return True
        codes = [code_of(d) for d in in_dtypes]
        if None in codes:
            return False
        if emitted(prim.ufunc.__name__, tuple(codes)) is not None:  # type: ignore[arg-type]
            return True
        # NumPy's loops choose their arithmetic by strides: only where they would see what a block is
        if operand.ndim == 0:
            return True
        if prim.ufunc.__name__ in POSITIONAL:
            return False
        if operand.dtype != in_dtypes[0]:  # NumPy casts it into a buffer
            return True
        steps = [s for n, s in zip(operand.shape, operand.strides, strict=True) if n > 1]
        if not operand.flags.aligned or not steps:
            return not steps
        inner = min(steps, key=abs) if prim.ufunc.nin == 1 else steps[-1]
        return inner == operand.itemsize

    def run(self, group: Group) -> int:
        shape, leaves, outputs = group.shape, group.leaves, group.outputs
        operands = leaves + [out for _, out in outputs]
        key: list[Any] = []
        flat = True
        for a in operands:
            if type(a) is not np.ndarray:
                key += (a.dtype, SCALAR)
            elif a.shape == shape and a.flags.num & CONTIGUOUS_ALIGNED == CONTIGUOUS_ALIGNED:
                key += (a.dtype, UNIT)
            else:
                flat = False
                break
        size = 1
        for n in shape:
            size *= n
        steps: list[Any] = []
        for s in group.steps:
            steps += (s.prim, s.args, s.in_dtypes, s.dtype)
        steps += [i for i, _ in outputs]
        if not flat or not size:
            return self._run_strided(group, operands, steps, size)
        entry, kernel = self._find(tuple(steps + key), group, operands, None, size)
        if kernel is None:
            return self._interpret(entry, group)
        args = kernel.struct.pack(kernel.slots_at, *[id(a) + DATA for a in operands])
        return self._launch(kernel, args, operands, 1, size)

    def _run_strided(self, group: Group, operands: list[Any], steps: list[Any], size: int) -> int:
        if any(isinstance(s.prim, Reduction) for s in group.steps):
            return reduce.run(self, group)
        if not size:
            return 0
        plain = [a if isinstance(a, np.generic) or type(a) is np.ndarray else a.view(np.ndarray) for a in operands]
        layout = layout_of(plain, group.shape, _must_be_flat(group), len(group.leaves))
        key = (*steps, *(a.dtype for a in operands), layout.classes, len(layout.shape), layout.by_rows)
        entry, kernel = self._find(key, group, operands, layout, size)
        if kernel is None:
            return self._interpret(entry, group)
        places = [id(a) + DATA for a in operands]
        strides = [s for own in layout.strides for s in own]
        args = kernel.struct.pack(kernel.slots_at, *places, *layout.shape, *strides)
        return self._launch(kernel, args, operands, layout.rows, layout.columns)

    def _find(
        self, key: Any, group: Group, operands: list[Any], layout: Layout | None, size: int
    ) -> tuple[_Entry, Kernel | None]:
        """What is known of the structure, and its kernel if there is one or it pays to compile one now."""
        entry = self._entries.get(key)
        if entry is None:
            with self._lock:
                entry = self._entries.setdefault(key, _Entry(group))
                if len(self._entries) > MOST_KERNELS:
                    self._entries.popitem(last=False)
        else:
            self._entries.move_to_end(key)
        kernel = entry.kernels.get(_NOWHERE)
        if kernel is not None and not kernel.program.blocked:
            return entry, kernel
        if entry.hopeless or (not self.stress and entry.spent + entry.ns * size < self.compile_ns):
            return entry, None
        aliased = _aliased(group)
        kernel = entry.kernels.get(aliased)
        if kernel is None:
            with self._lock:
                try:
                    kernel = entry.kernels[aliased] = self._compile(group, operands, layout, aliased)
                except Unplannable:
                    entry.hopeless = True
        return entry, kernel

    def _compile(self, group: Group, operands: list[Any], layout: Layout | None, aliased: frozenset[int]) -> Kernel:
        leaves = len(group.leaves)
        how = layout.classes if layout else [SCALAR if isinstance(a, np.generic) else UNIT for a in operands]
        plan = Plan(
            group.steps,
            [(a.dtype, h) for a, h in zip(operands[:leaves], how, strict=False)],
            [(i, out.dtype, h) for (i, out), h in zip(group.outputs, how[leaves:], strict=True)],
            aliased,
        )
        dims, by_rows = (len(layout.shape), layout.by_rows) if layout else (0, False)
        kernel = Kernel(Program(plan, dims, by_rows, compiler().register_bytes))
        self.stats.from_disk += kernel.code.from_disk
        self.stats.compiled += not kernel.code.from_disk
        return kernel

    def _interpret(self, entry: _Entry, group: Group) -> int:
        if entry.reduction:
            return reduce.run(self, group)
        began = time.perf_counter_ns()
        flags = interpret.run_steps(group)
        entry.spent += time.perf_counter_ns() - began
        self.stats.interpreted += 1
        return flags

    def _launch(self, kernel: Kernel, args: bytes, operands: list[Any], rows: int, columns: int) -> int:
        stats, size = self.stats, rows * columns
        stats.launched += 1
        stats.distinct.add(kernel.name)
        stats.bytes_read += kernel.bytes_read * size
        stats.bytes_written += kernel.bytes_written * size
        began = time.perf_counter() if self.hooks else 0.0
        if self.stress or kernel.ns * size > THREADED_NS:
            found = [0]

            def chunk(c: tuple[int, int, int, int]) -> None:
                found.append(kernel.run(args, *c))

            threads.run_chunks(chunk, _chunks(rows, columns, kernel.ns, self.stress))
            flags = 0
            for f in found:
                flags |= f
        else:
            flags = kernel.run(args, 0, rows, 0, columns)
        if self.hooks:
            seconds = time.perf_counter() - began
            for hook in self.hooks:
                hook(kernel.name, seconds, (kernel.bytes_read + kernel.bytes_written) * size)
        return _FLAGS[flags]


def _must_be_flat(group: Group) -> bool:
    """Some NumPy loop must get the blocks that flat arrays would give it."""
    return any(s.prim.ufunc is not None and s.prim.ufunc.__name__ in POSITIONAL for s in group.steps)  # type: ignore


def _address(a: Any) -> int:
    return int(ctypes.c_void_p.from_address(id(a) + DATA).value or 0)


def _aliased(group: Group) -> frozenset[int]:
    """The outputs that are the same place as a leaf."""
    places = {_address(a) for a in group.leaves if isinstance(a, np.ndarray)}
    return frozenset(o for o, (_, out) in enumerate(group.outputs) if _address(out) in places)


def _chunks(rows: int, columns: int, ns: float, stress: bool) -> list[tuple[int, int, int, int]]:
    """Pieces of about equal size for the threads, first and last row, first and last column."""
    if stress:
        step = ALIGNMENT
    else:
        share = -(-rows * columns // threads.num_threads())
        step = max(1, min(share, int(CHUNK_NS / ns)))
    if rows > 1 and (stress or rows >= 4 * threads.num_threads()):
        some = max(1, step // columns)
        return [(r, min(rows, r + some), 0, columns) for r in range(0, rows, some)]
    step = -(-step // ALIGNMENT) * ALIGNMENT
    return [(0, rows, c, min(columns, c + step)) for c in range(0, columns, step)]
