"""The CPU backend: fused kernels, compiled when that pays, on all cores when there is enough to do."""

import ctypes
import os
import platform
import time
from collections.abc import Callable, Iterable
from functools import partial
from math import inf, prod
from operator import attrgetter
from typing import Any

import numpy as np

from tnp.backends import cache
from tnp.backends.base import FAST, Group, Step, is_flat
from tnp.backends.cpu import background, guard, memory, reduce, threads
from tnp.backends.cpu.assembly import Assembly, alone, does
from tnp.backends.cpu.calls import DATA, signature
from tnp.backends.cpu.compile import common_functions, compiler, is_ready
from tnp.backends.cpu.emit import Program
from tnp.backends.cpu.extremes import NAMES, positional
from tnp.backends.cpu.inner_loops import find_loop
from tnp.backends.cpu.interpret import BLOCKED_FROM, Recipe, copy, run_alone, run_apart
from tnp.backends.cpu.ir import code_of
from tnp.backends.cpu.kernel import Kernel, Ready, chunks_of
from tnp.backends.cpu.layout import CONTIGUOUS_ALIGNED, Layout, layout_of
from tnp.backends.cpu.operations import EMITTERS, emitted
from tnp.backends.cpu.plan import Plan, Unplannable
from tnp.backends.cpu.reach import SCALAR, SCRATCH, UNIT
from tnp.backends.cpu.stats import Stats
from tnp.backends.cpu.windows import InPlace, in_place
from tnp.core.config import Config
from tnp.core.forks import Lock
from tnp.core.native import address
from tnp.core.primitive import Elementwise, Primitive, Reduction, cast_p

MOST_KERNELS = 2000
COMPILE_NS = 10_000_000  # what compiling costs
LOAD_NS = 2_000_000  # what a kernel from disk costs
START_NS = 300_000_000  # the compiler's own start


class _Entry:
    """What is known of one structure of groups.

    Attributes
    ----------
    details : list
        What distinguishes it from other groups of the same primitives.
    kernels : dict
        By the outputs that lie on a leaf.
    ns : float
        NumPy's time for an element, roughly.
    spent : float
        Nanoseconds spent on it without a kernel.
    ordered : dict
        By the same: the next `spent` at which the background thread is asked for the kernel.
    used : int
        Moment of its last use.
    guarded : bool
        Its kernels compute outputs that lie on a leaf into scratch.
    emitted : bool or None
        Kernels do all its steps themselves; not known before somebody asked.
    """

    __slots__ = (
        "details",
        "emitted",
        "guarded",
        "hopeless",
        "kernels",
        "ns",
        "ordered",
        "recipe",
        "reduction",
        "spent",
        "used",
    )

    def __init__(self, details: list[Any], group: Group) -> None:
        self.details = details
        self.reduction = any(isinstance(s.prim, Reduction) for s in group.steps)
        self.kernels: dict[frozenset[int], Kernel] = {}
        self.hopeless, self.guarded, self.spent = False, False, 0.0
        self.ordered: dict[frozenset[int], float] = {}
        self.used = 0
        self.emitted: bool | None = None
        self.recipe: Recipe | None = None
        self.ns = sum(1.0 if s.prim.ufunc is None or s.prim.ufunc.__name__ in _CHEAP else 5.0 for s in group.steps)  # type: ignore


class _Order:
    """All that compiling a group needs, without its arrays."""

    def __init__(
        self,
        group: Group,
        operands: list[Any],
        layout: Layout | None,
        aliased: frozenset[int],
        fast: bool,
        guarded: bool,
    ) -> None:
        how = list(layout.classes) if layout else [SCALAR if isinstance(a, np.generic) else UNIT for a in operands]
        leaves = len(group.leaves)
        if guarded:
            how[leaves:] = [SCRATCH if o in aliased else h for o, h in enumerate(how[leaves:])]
        self.steps, self.fast = group.steps, fast
        self.aliased = _NOWHERE if guarded else aliased
        self.key = aliased
        self.leaves = [(a.dtype, h) for a, h in zip(operands[:leaves], how, strict=False)]
        self.outputs = [(i, out.dtype, h) for (i, out), h in zip(group.outputs, how[leaves:], strict=True)]
        self.dims, self.by_rows, self.lanes = 0, False, 0
        if layout:
            self.dims, self.by_rows, self.lanes = len(layout.shape), layout.by_rows, layout.lanes

    def program(self) -> Program:
        width = compiler().register_bytes
        fused = self.fast and compiler().has_fma
        plan = Plan(self.steps, self.leaves, self.outputs, self.aliased, width if self.fast else 0, fused)
        return Program(plan, self.dims, self.by_rows, width, self.lanes)


_CHEAP = {name for name, _ in EMITTERS}
_prim_of = attrgetter("prim")
_details_of = attrgetter("args", "in_dtypes", "dtype")
_NOWHERE: frozenset[int] = frozenset()


class CpuBackend:
    """See `tnp.backends.base.Backend`.

    Attributes
    ----------
    stats : Stats
    hooks : list of callable
        ``hook(name, seconds, bytes)`` after every launch.
    fast_math : bool
        Some steps may be marked `FAST`.

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
        self._entries: dict[Any, list[_Entry]] = {}
        # By identity of the loop's dtypes (kept alive here): whose loop, and what `_emission` says
        self._emissions: dict[int, tuple[Any, Any, tuple[bool, bool]]] = {}
        self._layouts: dict[Any, Layout] = {}
        self._ready: dict[Any, Ready] = {}  # by signature
        self._waiting: list[Callable[[], object]] = []  # kernels to be compiled in the background
        self._count = self._clock = 0
        self._lock = Lock()

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], order: str = "C") -> np.ndarray[Any, Any]:
        return memory.empty(shape, dtype, order)  # type: ignore[arg-type]

    def is_sole(self, nd: np.ndarray[Any, Any]) -> bool:
        return memory.is_sole(nd)

    def configure(self, settings: Config) -> None:
        cache.choose(settings.cache_dir)
        self._ready = {}  # the number of threads may be another
        if settings.math == "fast":
            self.fast_math = True  # for good: what was recorded meanwhile is marked

    def room(self) -> int:
        return memory.room()

    def workers(self) -> int:
        return threads.num_threads()

    def run_chunks(self, fn: Callable[[Any], object], chunks: Iterable[Any]) -> None:
        threads.run_chunks(fn, chunks)

    def memory_report(self) -> str:
        return str(memory.stats())

    def fusible(self, prim: Primitive, in_dtypes: tuple[Any, ...], operand: np.ndarray[Any, Any]) -> bool:
        if not isinstance(prim, Elementwise) or prim.ufunc is None:
            return True
        is_emitted, is_impossible = self._emission(prim, in_dtypes)
        if is_emitted or is_impossible:
            return is_emitted
        # NumPy's loops choose their arithmetic by strides: only where they would see what a block is
        if operand.ndim == 0:
            return True
        if prim.ufunc.__name__ in NAMES:
            return False
        if operand.dtype != in_dtypes[0]:  # NumPy casts it into a buffer
            return True
        steps = [s for n, s in zip(operand.shape, operand.strides, strict=True) if n > 1]
        if not steps:  # one element: what has one dimension is given with its stride
            return operand.ndim > 1 or operand.strides[0] == operand.itemsize
        if not operand.flags.aligned:
            return False
        inner = min(steps, key=abs) if prim.ufunc.nin == 1 else steps[-1]
        return inner == operand.itemsize

    def _emission(self, prim: Any, in_dtypes: tuple[Any, ...]) -> tuple[bool, bool]:
        """Do kernels have instructions of their own for this loop, and is there a dtype that they cannot hold?"""
        known = self._emissions.get(id(in_dtypes))
        if known is None or known[0] is not prim or known[1] is not in_dtypes:
            codes = tuple([code_of(d) for d in in_dtypes])
            name = prim.name if prim.ufunc is None else prim.ufunc.__name__
            is_impossible = None in codes
            is_emitted = not is_impossible and emitted(name, codes) is not None  # type: ignore[arg-type]
            known = prim, in_dtypes, (is_emitted, is_impossible)
            if len(self._emissions) >= MOST_KERNELS:
                self._emissions = {}
            self._emissions[id(in_dtypes)] = known
        return known[2]

    def supports(self, prim: Primitive, in_dtypes: tuple[Any, ...]) -> str | None:
        if prim is cast_p:
            return "exact"
        is_emitted, is_impossible = self._emission(prim, in_dtypes)
        if is_emitted or is_impossible or not isinstance(prim, Elementwise) or prim.ufunc is None:
            return "exact" if is_emitted else None
        return None if find_loop(prim.ufunc, in_dtypes) is None else "loop"

    def does(self, instruction: Any) -> bool:
        return alone(self, instruction) if type(instruction) is Step else does(instruction)

    def assemble(self, instructions: list[Any], arena: Any, constants: Any) -> Any:
        made = Assembly(self, arena, constants)
        for instruction in instructions:
            made.add(instruction)
        return made.finish()

    def prepare(self, group: Group) -> Ready | None:
        """How to run elementwise groups like this one on one thread, whatever compiling costs; None: no kernel can."""
        if not SUPPORTED or not prod(group.shape):
            return None
        operands, aliased = group.leaves + [out for _, out in group.outputs], _aliased(group)
        layout = self._layout(group, operands)
        if layout is None:
            return None
        walk = layout.strided if not aliased else None
        if walk is not None and all([s.prim is cast_p or self._emission(s.prim, s.in_dtypes)[0] for s in group.steps]):
            layout = walk
        entry = self._strided_entry(group, operands, layout)
        kernel = entry.kernels.get(_NOWHERE)
        if kernel is None or (kernel.blocked and aliased):
            kernel = entry.kernels.get(aliased)
        if kernel is None and not entry.hopeless:
            kernel = self._compile(entry, _Order(group, operands, layout, aliased, self.fast_math, entry.guarded))
        return None if kernel is None else Ready(kernel, layout.packed, [(0, layout.rows, 0, layout.columns)])

    def run(self, group: Group) -> int:
        key = signature(group)
        if key is not None:
            ready = self._ready.get(key)
            if ready is not None:
                ready.entry.used = self._clock
                return ready.run(self.hooks, group)
        return self._run(group, key)

    def _run(self, group: Group, key: Any) -> int:
        shape, steps, outputs = group.shape, group.steps, group.outputs
        if len(steps) == 1 and len(outputs) == 1 and self._is_apart(group, steps[0], outputs[0][1]):
            self.stats.interpreted += 1
            return run_apart(group)
        if group.watched:
            group.undone = []
            aliased = _aliased(group)
            if aliased and guard.may_flag(group):
                if len(steps) == 1 and len(outputs) == 1 and self._tells(group):
                    group.told = True
                    return run_alone(group)
                return guard.run(self, group, aliased, key)
        if len(steps) == 1:
            if len(outputs) == 1 and self._is_numpys(steps[0], outputs[0][1], shape):
                return run_alone(group)
            if any([self._reads_strides(steps[0], a, shape) for a in group.leaves]):
                self.stats.interpreted += 1
                return run_alone(group)
        if len(steps) == 1 and steps[0].prim is cast_p and len(outputs) == 1 and not self.stress and _is_copy(group):
            copy(group.leaves[~steps[0].args[0]], outputs[0][1])
            return 0
        operands = group.leaves + [out for _, out in outputs]
        # Dtypes are slow to hash and quick to compare: a group is found by its primitives, then recognised
        details: list[Any] = list(map(_details_of, steps))
        for a in operands:
            if type(a) is np.ndarray and a.shape == shape and a.flags.num & CONTIGUOUS_ALIGNED == CONTIGUOUS_ALIGNED:
                details += (a.dtype, UNIT)
            elif isinstance(a, np.generic):
                details += (a.dtype, SCALAR)
            else:
                return self._run_strided(group, operands, key)
        size = prod(shape)
        if not size:
            return self._run_strided(group, operands, key)
        details += [i for i, _ in outputs]
        if self.fast_math:
            details.append(_fast_steps(steps))
        entry = self._entry(tuple(map(_prim_of, steps)), details, group)
        kernel = entry.kernels.get(_NOWHERE)
        if kernel is None or kernel.blocked:
            kernel = self.kernel(entry, group, operands, None, size, _aliased(group))
            if kernel is None:
                return self.interpret(entry, group, size, True)
        ready = Ready(kernel, b"", chunks_of(kernel, 1, size, self.stress))
        return self.remember(key, ready, entry, group).run(self.hooks, group)

    def remember(self, key: Any, ready: Ready, entry: "_Entry", group: Group) -> Ready:
        """Run groups like this one in this way, without looking at them more closely, until the settings change."""
        if key is not None:
            if len(self._ready) >= MOST_KERNELS:
                self._ready = {}
            operands = group.leaves + [out for _, out in group.outputs]
            ready.entry, ready.kept = entry, (group.steps, [(type(a), a.dtype) for a in operands])
            self._ready[key] = ready
        return ready

    def _reads_strides(self, step: Step, a: Any, shape: tuple[int, ...]) -> bool:
        """Do NumPy's bits, or flags, come only from a loop that sees this operand as it lies?"""
        if type(a) is not np.ndarray or (a.flags.c_contiguous and a.shape == shape != (1,)):
            return False
        return not self.fusible(step.prim, step.in_dtypes, a)

    def _is_apart(self, group: Group, step: Step, out: Any) -> bool:
        """Will NumPy run this step, by a loop that might compute otherwise if it wrote to `out`, not to its own?"""
        if out.flags.c_contiguous or not isinstance(step.prim, Elementwise) or step.prim.ufunc is None:
            return False
        if self._emission(step.prim, step.in_dtypes)[0]:
            return False
        if self._is_numpys(step, out, group.shape):
            return True
        return any([self._reads_strides(step, a, group.shape) for a in group.leaves])

    def _tells(self, group: Group) -> bool:
        """Would NumPy run the only step in place, and are the flags then the step's own?"""
        (step,), ((_, out),) = group.steps, group.outputs
        if not self._is_numpys(step, out, group.shape) or not is_flat(group) or out.dtype.kind == "c":
            return False
        return all([group.leaves[~a].dtype == d for a, d in zip(step.args, step.in_dtypes, strict=True)])

    def _is_numpys(self, step: Step, out: Any, shape: tuple[int, ...]) -> bool:
        """Would a kernel do for this step alone what NumPy does, on one thread, and with more ado?"""
        prim = step.prim
        if self.stress or step.params is FAST or not self.compile_ns or not isinstance(prim, Elementwise):
            return False
        if prim.ufunc is None or out.dtype != step.dtype or step.in_dtypes[0].kind not in "biufc":
            return False
        if prim.ufunc is np.sqrt:  # a kernel takes four fifths of NumPy's time
            return False
        each = 0.5 if prim.ufunc.__name__ in _CHEAP else 4.0
        return threads.num_threads() == 1 or prod(shape) * each < threads.WORTH_NS

    def _run_strided(self, group: Group, operands: list[Any], key: Any) -> int:
        layout = self._layout(group, operands)
        if layout is None:
            return int(reduce.run(self, group, key)) if prod(group.shape) else 0
        aliased = _aliased(group)
        flags, entry = self.by_rows(group, operands, aliased, key)
        if flags is not None:
            return flags
        if entry is None:
            entry = self._strided_entry(group, operands, layout)
            kernel = self.kernel(entry, group, operands, layout, layout.rows * layout.columns, aliased)
            if kernel is not None:
                chunks = chunks_of(kernel, layout.rows, layout.columns, self.stress)
                ready = Ready(kernel, layout.packed, chunks)
                return self.remember(key, ready, entry, group).run(self.hooks, group)
        return self.interpret(entry, group, layout.rows * layout.columns, False)

    def _layout(self, group: Group, operands: list[Any]) -> Layout | None:
        """How a kernel would walk over the group; None where there is nothing to do, or a reduction."""
        key = (tuple(map(_prim_of, group.steps)), group.shape, len(group.leaves), *map(_geometry, operands))
        layout = self._layouts.get(key)
        if layout is None:
            if any(isinstance(s.prim, Reduction) for s in group.steps) or not prod(group.shape):
                return None
            flat = any(positional(s, group.leaves, group.shape) for s in group.steps)
            layout = layout_of(operands, group.shape, flat, len(group.leaves))
            if len(self._layouts) >= MOST_KERNELS:
                self._layouts = {}
            self._layouts[key] = layout
        return layout

    def by_rows(
        self, group: Group, operands: list[Any], aliased: frozenset[int], key: Any
    ) -> tuple[int | None, "_Entry | None"]:
        """Run a group by a kernel that goes from row to row itself.

        Returns the flags, None if there is no such kernel yet; and what is known of the group, None if there can be
        none.
        """
        layout = self._layout(group, operands)
        walk = layout.strided if layout is not None else None
        if walk is None:
            return None, None
        slabs = in_place(group, walk) if aliased else None
        if aliased and slabs is None:
            return None, None
        entry = self._strided_entry(group, operands, walk)
        if entry.emitted is None:
            entry.emitted = all([s.prim is cast_p or self._emission(s.prim, s.in_dtypes)[0] for s in group.steps])
        if not entry.emitted:
            return None, None
        kernel = self.kernel(entry, group, operands, walk, walk.rows * walk.columns, _NOWHERE)
        if kernel is None:
            return None, entry
        if slabs is not None and not kernel.strided:
            return None, None
        if slabs is None:
            ready = Ready(kernel, walk.packed, chunks_of(kernel, walk.rows, walk.columns, self.stress))
        else:
            ready = InPlace(kernel, walk, *slabs, self.stress)
        return self.remember(key, ready, entry, group).run(self.hooks, group), entry

    def _strided_entry(self, group: Group, operands: list[Any], layout: Layout) -> _Entry:
        details: list[Any] = [*map(_details_of, group.steps), *(a.dtype for a in operands), *layout.classes]
        details += [len(layout.shape), layout.by_rows, layout.lanes]
        details += [_fast_steps(group.steps), *(i for i, _ in group.outputs)]
        return self._entry(tuple(map(_prim_of, group.steps)), details, group)

    def held_kernels(self) -> int:
        """Compiled kernels in memory, those of reductions apart."""
        return sum(len(entry.kernels) for bucket in self._entries.values() for entry in bucket)

    def guarded_entry(self, group: Group, operands: list[Any], aliased: frozenset[int]) -> "_Entry":
        """What is known of a flat group whose blocks are stored only if they raise nothing (see `guard`)."""
        details: list[Any] = [*map(_details_of, group.steps), *((a.dtype, isinstance(a, np.generic)) for a in operands)]
        details += [*(i for i, _ in group.outputs), aliased, _fast_steps(group.steps)]
        entry = self._entry(tuple(map(_prim_of, group.steps)), details, group)
        entry.guarded = True
        return entry

    def _entry(self, prims: tuple[Primitive, ...], details: list[Any], group: Group) -> _Entry:
        """What is known of this structure."""
        self._clock = now = self._clock + 1
        for entry in self._entries.get(prims, ()):
            if entry.details == details:
                entry.used = now
                return entry
        entry = _Entry(details, group)
        entry.used = now
        with self._lock:
            self._entries[prims] = [*self._entries.get(prims, ()), entry]
            self._count += 1
            if self._count > MOST_KERNELS:
                self._forget()
        return entry

    def _forget(self) -> None:
        """Drop the eighth that was not used for longest."""
        ages = sorted(e.used for bucket in self._entries.values() for e in bucket)
        limit = ages[len(ages) // 8]
        self._entries = {p: [e for e in bucket if e.used > limit] for p, bucket in self._entries.items()}
        self._entries = {p: bucket for p, bucket in self._entries.items() if bucket}
        self._count = sum(map(len, self._entries.values()))
        self._ready = {}

    def kernel(
        self,
        entry: _Entry,
        group: Group,
        operands: list[Any],
        layout: Layout | None,
        size: int,
        aliased: frozenset[int],
    ) -> Kernel | None:
        """The group's kernel, if there is one or it pays to compile one now.

        `aliased` are the outputs that replace a leaf while the kernel reads it.
        """
        kernel = entry.kernels.get(_NOWHERE)
        if kernel is not None and not kernel.blocked:  # reads everything before it writes, wherever that is
            return kernel
        expected, spent = entry.ns * size, entry.spent
        costs = self.compile_ns * max(1.0, len(group.steps) / 20)
        if entry.hopeless or entry.reduction or not SUPPORTED:
            return None
        if not entry.kernels and not self.stress and spent + expected < min(LOAD_NS, self.compile_ns):
            return None
        kernel = entry.kernels.get(aliased)
        if kernel is not None:
            return kernel
        if self.stress or expected >= costs + (0 if is_ready() or not self.compile_ns else START_NS):
            return self._compile(entry, _Order(group, operands, layout, aliased, self.fast_math, entry.guarded))
        # Even asking the disk takes the kernel's text, which a first and perhaps only run is too short for
        if (spent or expected >= costs) and spent >= entry.ordered.get(aliased, LOAD_NS - expected):
            entry.ordered[aliased] = costs if spent < costs else inf
            order = _Order(group, operands, layout, aliased, self.fast_math, entry.guarded)
            self._waiting.append(partial(self._compile, entry, order, spent >= costs))
        return None

    def _compile(self, entry: _Entry, order: "_Order", pays: bool = True) -> Kernel | None:
        """The kernel of an order; without ``pays`` only if it is on disk."""
        try:
            program = order.program()
            kernel = entry.kernels.get(order.key)
            code = None if kernel else compiler().compile(program.key, program.text, program.names, pays)
            if code is not None:
                # no lock: whoever meets a new structure meanwhile would wait for the compiler
                made = Kernel(program, code)
                kernel = entry.kernels.setdefault(order.key, made)
                if kernel is made:
                    self.stats.kernels.append(kernel.counts)
                    self.stats.from_disk += code.from_disk
                    self.stats.compiled += not code.from_disk
            elif not pays:
                common_functions()  # nobody waits for them here; the kernel that pays would
        except (Unplannable, RuntimeError, ImportError):  # RuntimeError: LLVM's; ImportError: no llvmlite
            entry.hopeless = True
            return None
        return kernel

    def interpret(self, entry: _Entry, group: Group, size: int, flat: bool) -> int:
        if entry.reduction:
            return int(reduce.run(self, group))
        began = time.perf_counter_ns()
        if entry.recipe is None:
            entry.recipe = Recipe(group.steps)
        if flat and size >= BLOCKED_FROM:
            flags = entry.recipe.run_blocks(group, size)
        else:
            flags = entry.recipe.run(group)
        entry.spent += time.perf_counter_ns() - began
        self.stats.interpreted += 1
        while (
            self._waiting
        ):  # only now: a compiler at work holds the interpreter lock, which NumPy's calls then wait for
            background.submit(self._waiting.pop())
        return flags


def _is_copy(group: Group) -> bool:
    """Is its one step a cast to the same dtype, of memory that lies as the result will?"""
    a, out = group.leaves[~group.steps[0].args[0]], group.outputs[0][1]
    if type(a) is not np.ndarray or a.shape != out.shape or not a.dtype == group.steps[0].dtype == out.dtype:
        return False
    return bool(a.flags.c_contiguous and out.flags.c_contiguous and a.size)


def _fast_steps(steps: list[Step]) -> list[bool]:
    return [s.params is FAST for s in steps]


def _geometry(a: Any) -> tuple[Any, ...]:
    """All that the way through an operand depends on."""
    if isinstance(a, np.generic):
        return (a.itemsize,)
    return a.shape, a.strides, a.itemsize, a.flags.aligned


def _supported() -> bool:
    """Is this x86-64, and do objects keep their data where kernels look for it?"""
    array, scalar = np.zeros(1), np.float64(1.5)
    kept = ctypes.c_double.from_address(id(scalar) + DATA).value == 1.5
    return (
        platform.machine() in ("x86_64", "AMD64")
        and kept
        and ctypes.c_void_p.from_address(id(array) + DATA).value == array.ctypes.data
    )


SUPPORTED = _supported()


def _aliased(group: Group) -> frozenset[int]:
    """The outputs that are the same place as a leaf."""
    places = {address(a) for a in group.leaves if isinstance(a, np.ndarray)}
    return frozenset([o for o, (_, out) in enumerate(group.outputs) if address(out) in places])
