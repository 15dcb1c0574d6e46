"""Running a group without compiling it: NumPy's ufuncs, step by step, on blocks that fit the cache."""

from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from tnp.backends.base import Group, Step
from tnp.backends.cpu import memory, threads
from tnp.backends.cpu.blocks import Program, fits, loops_of
from tnp.backends.cpu.inner_loops import Loop
from tnp.core.elementwise import CHEAP
from tnp.core.native import address

BLOCK_BYTES = 1 << 16  # of each intermediate result
BLOCKED_FROM = 1 << 15  # elements
THREADED_FROM = 1 << 17
COPY_NS = 0.1  # a byte


class Flags:
    """Collects the floating-point flags that NumPy reports."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, _text: str, flag: int) -> None:
        self.seen |= flag


class Recipe:
    """The calls that compute the steps of groups of one structure."""

    def __init__(self, steps: list[Step]) -> None:
        self.calls = [(_call(s), s.args) for s in steps]
        self.last = _last_reads(steps)
        self.dtypes = [s.dtype for s in steps]
        self.loops: list[Loop] | None = None
        self.programs: dict[Any, Program] = {}  # by what is stored, and where
        self.ns = -1.0

    def run(self, group: Group) -> int:
        """Compute the outputs, all elements at once; returns the flags."""
        flags = Flags()
        values: list[Any] = [None] * len(self.calls) + group.leaves[::-1]  # leaf ~i is values[i]
        kept = [i for i, _ in group.outputs]
        with np.errstate(all="call", call=flags):
            for i, (call, args) in enumerate(self.calls):
                operands = [values[a] for a in args]
                values[i] = call(*operands, out=_pooled(operands, self.dtypes[i]))
                for a in self.last[i]:
                    if a not in kept:
                        values[a] = None
            for i, out in group.outputs:
                np.copyto(out, values[i], casting="unsafe")
        return flags.seen

    def run_blocks(self, group: Group, size: int) -> int:
        """The same for operands that all are contiguous (or scalars), block by block."""
        if self.ns < 0:
            self.ns = sum([_ns(s) for s in group.steps])
            self.loops = loops_of(group.steps)
        if self.loops is not None and fits(group, group.steps):
            read = {address(a) for a in group.leaves if isinstance(a, np.ndarray)}
            stored = tuple([(i, address(out) in read) for i, out in group.outputs])
            program = self.programs.get(stored)
            if program is None:
                program = self.programs[stored] = Program(group.steps, self.loops, stored, len(group.leaves))
            return program.run(group, size, self.ns)
        step = BLOCK_BYTES // max(d.itemsize for d in self.dtypes)
        leaves = [a.reshape(-1) if isinstance(a, np.ndarray) else a for a in group.leaves]
        outputs = [(i, out.reshape(-1)) for i, out in group.outputs]
        read = {a.ctypes.data for a in leaves if isinstance(a, np.ndarray)}
        direct = {i: o for i, o in outputs if o.dtype == self.dtypes[i] and o.ctypes.data not in read}
        copied = [(i, o) for i, o in outputs if direct.get(i) is not o]
        chunks = max(1, threads.num_threads()) if size >= THREADED_FROM else 1
        share = -(-size // (chunks * step)) * step
        found: list[int] = []

        def chunk(first: int) -> None:
            flags = Flags()
            results = [None if i in direct else np.empty(step, d) for i, d in enumerate(self.dtypes)]
            with np.errstate(all="call", call=flags):
                for start in range(first, min(first + share, size), step):
                    stop = min(start + step, size)
                    parts = [a[start:stop] if isinstance(a, np.ndarray) else a for a in reversed(leaves)]
                    values = [direct[i][start:stop] if r is None else r[: stop - start] for i, r in enumerate(results)]
                    values += parts
                    for i, (call, args) in enumerate(self.calls):
                        call(*[values[a] for a in args], out=values[i])
                    for i, out in copied:
                        np.copyto(out[start:stop], values[i], casting="unsafe")
            found.append(flags.seen)

        threads.run_chunks(chunk, range(0, size, share))
        return int(np.bitwise_or.reduce(found))


def _pooled(operands: list[Any], dtype: np.dtype[Any]) -> Any:
    """Memory of the pool for a result where NumPy would lay it out by rows; None: NumPy chooses."""
    arrays = [a for a in operands if isinstance(a, np.ndarray)]
    if arrays and all([a.flags.c_contiguous or _falling(a.strides) for a in arrays]):
        shape = arrays[0].shape if len(arrays) == 1 else np.broadcast_shapes(*[a.shape for a in arrays])
        return memory.empty(shape, dtype)
    return None


def _falling(strides: tuple[int, ...]) -> bool:
    return all([a >= b > 0 for a, b in pairwise(strides)])


def _last_reads(steps: list[Step]) -> list[list[int]]:
    """For each step, the results that no later one reads: what is given back early is there, warm, for the next."""
    readers = {a: i for i, s in enumerate(steps) for a in s.args if a >= 0}
    return [[a for a in set(s.args) if readers.get(a) == i] for i, s in enumerate(steps)]


def _ns(step: Step) -> float:
    """What NumPy's loop takes for an element in the cache, roughly."""
    name = step.prim.name
    return 0.04 * step.dtype.itemsize if name in CHEAP else 1.0 if name in ("divide", "sqrt", "reciprocal") else 4.0


def run_alone(group: Group) -> int:
    """A group of one step, straight into its destination, then copied to others; without one for its flags."""
    (step,), outs = group.steps, [out for _, out in group.outputs]
    outs.sort(key=lambda out: not (out.dtype == step.dtype and out.flags.c_contiguous))  # as NumPy's own would lie
    flags = Flags()
    with np.errstate(all="call", call=flags):
        _call(step)(*[group.leaves[~a] for a in step.args], out=outs[0] if outs else None)
        for other in outs[1:]:
            np.copyto(other, outs[0], casting="unsafe")
    return flags.seen


def run_apart(group: Group) -> int:
    """A group of one step into memory that NumPy chooses, copied to its destination unless a watched flag is raised."""
    (step,), ((_, out),) = group.steps, group.outputs
    flags = Flags()
    with np.errstate(all="call", call=flags):
        value = _call(step)(*[group.leaves[~a] for a in step.args])
    if flags.seen & group.watched:
        group.undone = [(0, out.size)]
    else:
        np.copyto(out, value, casting="unsafe")
    return flags.seen


def copy(source: Any, out: Any) -> None:
    """Contiguous elements of one dtype, by the C library: it writes without reading what was there."""
    a, b, n = source.reshape(-1), out.reshape(-1), source.size
    step = -(-n // threads.pieces(COPY_NS * source.nbytes, threads.num_threads()))
    if n * source.itemsize * COPY_NS < threads.WORTH_NS:
        step = n
    threads.run_chunks(lambda i: np.copyto(b[i : i + step], a[i : i + step]), range(0, n, step))


def evaluate(step: Step, operands: list[Any]) -> Any:
    """The value of one step."""
    return _call(step)(*operands)


def _call(step: Step) -> Callable[..., Any]:
    """``call(*operands, out=None)``."""
    if step.prim.name == "astype" and step.prim.ufunc is None:  # type: ignore[attr-defined]
        return partial(_cast, step.dtype)
    if step.prim.ufunc is None:  # type: ignore[attr-defined]
        return partial(_where, step.dtype)
    return _loop(step.prim.ufunc, step.in_dtypes)  # type: ignore[attr-defined]


@cache
def _loop(ufunc: np.ufunc, in_dtypes: tuple[np.dtype[Any], ...]) -> Callable[..., Any]:
    # by class: a signature says nothing of units and lengths
    return partial(ufunc, signature=(*map(type, in_dtypes), None), casting="unsafe")


def _cast(dtype: np.dtype[Any], x: Any, out: Any = None) -> Any:
    if out is None:
        return np.asarray(x).astype(dtype)
    np.copyto(out, x, casting="unsafe")
    return out


def _where(dtype: np.dtype[Any], condition: Any, x: Any, y: Any, out: Any = None) -> Any:
    x, y = (np.asarray(a).astype(dtype, copy=False) for a in (x, y))
    value = np.where(condition, x, y)
    if out is None:
        return value
    np.copyto(out, value, casting="unsafe")  # several times as fast as two copies, the second under a mask
    return out
