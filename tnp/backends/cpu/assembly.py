"""Programs: instructions put into the words that the machine (_machine.pyx) runs.

    KERNEL, function, arguments, rows, columns, register (-1: `columns` elements), flags count?
    LOOP, function, context, auxdata, flags count?, operands, elements, outer dimensions,
        pointers, inner steps, outer shape, outer steps (of all operands for each dimension)
    GUFUNC, function, context, auxdata, flags count?, operands, dimensions, steps; pointers, dimensions, steps
    COPY, to, from, bytes an element, dimensions; shape, steps to, steps from
    SELECT, from, mask, to, elements, bytes an element, register
    SCATTER, to, mask, from, elements, bytes an element, register

Pointers are numbers of a table. A kernel finds the addresses of its arrays in that table too.

How NumPy walks over a reduction, and which product of BLAS it chooses, is not asked but tried: what the words of one
instruction make of a few values is compared with what NumPy makes, bit for bit, once for each kind.
"""

from array import array
from math import prod
from typing import Any

import numpy as np

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW, Group, Step
from tnp.backends.cpu.compile import common_functions
from tnp.backends.cpu.inner_loops import find_gufunc, numpys_loop
from tnp.backends.program import CONSTANTS, Choose, Launch, Move, Multiply, Place, Reduce, Spread, Unfit
from tnp.core.native import address

try:
    from tnp.backends.cpu._machine import Machine
except ImportError:  # without a compiler
    Machine = None  # type: ignore[assignment,misc]

KERNEL, LOOP, GUFUNC, COPY, SELECT, SCATTER = range(1, 7)
_APART = 1 << 44
_verdicts: dict[Any, Any] = {}


class _Form:
    def __init__(self, place: Place) -> None:
        start = (1 << 46) + place.block * _APART + place.offset
        self.__array_interface__ = {
            "data": (start, False), "shape": place.shape, "typestr": place.dtype.str, "version": 3,
            "strides": place.strides,
        }  # fmt: skip


def form(place: Place) -> Any:
    """An array that lies like the place, in memory that is not there."""
    nd = np.asarray(_Form(place))
    return nd if nd.dtype == place.dtype else nd.view(place.dtype)


class Assembly:
    """A program in the making, and when it is made.

    Parameters
    ----------
    backend : CpuBackend
    arena, constants : numpy.ndarray of bytes
    """

    def __init__(self, backend: Any, arena: Any, constants: Any) -> None:
        if Machine is None:
            raise Unfit("no compiler")
        self._backend, self.arena, self._constants = backend, arena, constants
        self._start = {-1: address(arena), CONSTANTS: address(constants)}
        self._pointers: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._code: list[int] = []
        self._kernels: list[tuple[int, Any, Launch, Any]] = []
        self._keep: list[Any] = [arena, constants]
        self._registers = 0
        self._machine: Any = None
        self._instructions: list[Any] = []
        self.run_at: Any = None

    # ---------------------------------------------------------------------------------------- instructions
    def add(self, instruction: Any) -> None:
        """Append an instruction."""
        self._instructions.append(instruction)
        getattr(self, f"_{type(instruction).__name__.lower()}")(instruction)

    def _pointer(self, place: Place) -> int:
        at = (place.block, place.offset)
        if at not in self._numbers:
            self._numbers[at] = len(self._pointers)
            absolute = place.block < 0
            self._pointers.append((-1, self._start[place.block] + place.offset) if absolute else at)
        return self._numbers[at]

    def _register(self, count: int | None) -> int:
        if count is None:
            return -1
        self._registers = max(self._registers, count + 1)
        return count

    def _launch(self, launch: Launch) -> None:
        leaves: list[Any] = []
        for a in launch.leaves:
            constant = type(a) is Place and a.shape == ()
            leaves.append(a.dtype.type(0) if constant else form(a) if type(a) is Place else a)
        outputs = [(i, form(p)) for i, p in launch.outputs]
        ready = self._backend.prepare(Group(launch.steps, leaves, outputs, launch.shape))
        if ready is None or len(ready.chunks) != 1:
            raise Unfit("a group of steps")
        _, rows, _, columns = ready.chunks[0]
        if launch.register is not None and (rows != 1 or ready.numbers):
            raise Unfit("a selection")
        at = len(self._code) + 2
        self._code += [
            KERNEL,
            common_functions()["strided" if ready.kernel.strided else "run"],
            0,
            rows,
            columns,
            self._register(launch.register),
            int(not launch.quiet),
        ]
        for p in [*launch.leaves, *[p for _, p in launch.outputs]]:
            if type(p) is Place:
                self._pointer(p)
        self._kernels.append((at, ready, launch, leaves))

    def _move(self, move: Move) -> None:
        shape, to, fro = _walk(move.out, move.source)
        self._code += [COPY, self._pointer(move.out), self._pointer(move.source), move.out.dtype.itemsize, len(shape)]
        self._code += [*shape, *to, *fro]

    def _reduce(self, r: Reduce) -> None:
        self._code += self._tried(r, _reduce_candidates, _reduce_key(r))(self)

    def _multiply(self, m: Multiply) -> None:
        self._code += self._tried(m, _multiply_candidates, _multiply_key(m))(self)

    def _choose(self, c: Choose) -> None:
        self._code += [SELECT, self._pointer(c.source), self._pointer(c.mask), self._pointer(c.out)]
        self._code += [prod(c.source.shape), c.source.dtype.itemsize, self._register(c.register)]

    def _spread(self, s: Spread) -> None:
        self._code += [SCATTER, self._pointer(s.out), self._pointer(s.mask), self._pointer(s.source)]
        self._code += [prod(s.out.shape), s.out.dtype.itemsize, self._register(s.register)]

    def _tried(self, instruction: Any, candidates: Any, key: Any) -> Any:
        """The first way to do it that gives NumPy's bits."""
        chosen = verdict(instruction, candidates, key)
        if chosen is None:
            raise Unfit(str(key[:2]))
        return candidates(instruction)[chosen]

    # ---------------------------------------------------------------------------------------- the program
    def finish(self) -> "Assembly":
        """No more instructions come."""
        machine = Machine(self._pointers, self._registers)
        table, patches = machine.table(), []
        for at, ready, launch, scalars in self._kernels:
            args = array("q", [ready.kernel.slots_at])
            moving: list[tuple[int, int]] = []
            for k, p in enumerate([*launch.leaves, *[p for _, p in launch.outputs]]):
                if type(p) is not Place:
                    value = np.array(scalars[k])
                    self._keep.append(value)
                    args.append(address(value))
                elif p.shape == () and k < len(launch.leaves):
                    number = self._pointer(p)
                    block, place = self._pointers[number]
                    if block >= 0:
                        moving.append((1 + k, number))
                    args.append(place if block < 0 else 0)
                else:
                    args.append(table + 8 * self._pointer(p))
            args.frombytes(ready.numbers)
            start = args.buffer_info()[0]
            patches += [(start + 8 * k, number) for k, number in moving]
            self._code[at] = start
            self._keep += [args, ready]
        machine.load(self._code, patches, self._keep)
        self._machine = machine
        self.run_at = machine.run_at
        return self

    def explain(self) -> list[str]:
        """One line for each instruction."""
        return [_told(instruction) for instruction in self._instructions]

    def run(self, blocks: list[int]) -> int:
        status = int(self._machine.run(blocks))
        return status if status <= 0 else self.flags(status)

    def release(self) -> None:
        """What lies in the arena is not needed any more."""
        self._machine.release()

    def flags(self, status: int) -> int:
        """NumPy's bits for those of `run_at`."""
        return (
            bool(status & 4) * DIVIDE
            | bool(status & 8) * OVERFLOW
            | bool(status & 16) * UNDERFLOW
            | bool(status & 1) * INVALID
        )


def _told(instruction: Any) -> str:
    """What an instruction does."""
    if type(instruction) is Launch:
        names = [s.prim.name for s in instruction.steps]
        return f"kernel of {len(names)} over {instruction.shape}: {', '.join(names)}"
    out = instruction.out
    what = getattr(instruction, "ufunc", getattr(instruction, "raw", None))
    name = type(instruction).__name__.lower() + (f" by {what.__name__}" if what is not None else "")
    return f"{name} to {out.shape} {out.dtype}"


def _kind(p: Place) -> tuple[Any, ...]:
    return p.shape, p.strides, p.dtype


def _walk(out: Place, *others: Place) -> tuple[list[int], ...]:
    """Merged dimensions from the slowest to the fastest, and the steps of each place over them."""
    ndim = len(out.shape)
    steps = [list(out.strides)]
    for p in others:
        missing = ndim - len(p.shape)
        own = [0 if n == 1 else s for n, s in zip(p.shape, p.strides, strict=True)]
        steps.append([0] * missing + own)
    dims = [d for d in range(ndim) if out.shape[d] != 1]
    dims.sort(key=lambda d: -abs(steps[0][d]))
    return _merged([out.shape[d] for d in dims], [[s[d] for d in dims] for s in steps])


def _merged(shape: list[int], steps: list[list[int]]) -> tuple[list[int], ...]:
    kept: list[int] = []
    found: list[list[int]] = [[] for _ in steps]
    for d, n in enumerate(shape):
        if kept and all([f[-1] == s[d] * n for f, s in zip(found, steps, strict=True)]):
            kept[-1] *= n
            for f, s in zip(found, steps, strict=True):
                f[-1] = s[d]
        else:
            kept.append(n)
            for f, s in zip(found, steps, strict=True):
                f.append(s[d])
    return (kept, *found)


# ------------------------------------------------------------------------------------------------ trying
def verdict(instruction: Any, candidates: Any, key: Any) -> int | None:
    """The number of the first way that gives NumPy's bits."""
    if key not in _verdicts:
        numbers = range(len(candidates(instruction)))
        _verdicts[key] = next((i for i in numbers if _agrees(instruction, candidates, i)), None)
    found: int | None = _verdicts[key]
    return found


def does(instruction: Any) -> bool:
    """Is there a way to do this reduction or product?"""
    if Machine is None:
        return False
    if type(instruction) is Reduce:
        return verdict(instruction, _reduce_candidates, _reduce_key(instruction)) is not None
    return verdict(instruction, _multiply_candidates, _multiply_key(instruction)) is not None


def alone(backend: Any, step: Step) -> bool:
    """Does a kernel of this step give NumPy's bits for single numbers, as scalars and as arrays?"""
    key = ("alone", step.prim, step.in_dtypes, step.dtype)
    if key not in _verdicts and Machine is not None:
        _verdicts[key] = _agrees_alone(backend, step)
    return bool(_verdicts.get(key))


def _agrees_alone(backend: Any, step: Step) -> bool:
    ufunc: Any = step.prim.ufunc  # type: ignore[attr-defined]
    samples = [
        _memory(Place(0, 0, (200,), (d.itemsize,), d), seed)[0].view(d) for seed, d in enumerate(step.in_dtypes, 3)
    ]
    result = np.empty(1, step.dtype)
    leaves = [Place(k, 0, (), (), d) for k, d in enumerate(step.in_dtypes)]
    out = Place(len(leaves), 0, (), (), step.dtype)
    assembly = Assembly(backend, np.empty(8, "u1"), np.empty(8, "u1"))
    assembly.add(Launch([step], leaves, [(0, out)], (), None, True))
    assembly.finish()
    with np.errstate(all="ignore"):
        for i in range(200):
            assembly.run([*[address(s[i : i + 1]) for s in samples], address(result)])
            assembly.release()
            for want in (ufunc(*[s[i] for s in samples]), ufunc(*[s[i : i + 1] for s in samples])):
                if np.asarray(want).tobytes() != result.tobytes() and not (np.isnan(want) and np.isnan(result)).all():
                    return False
    return True


def _reduce_key(r: Reduce) -> Any:
    return "reduce", r.ufunc, _kind(r.source), r.axes, _kind(r.out)


def _multiply_key(m: Multiply) -> Any:
    return "multiply", m.raw, _kind(m.a), _kind(m.b), _kind(m.out)


def _reduce_candidates(r: Reduce) -> list[Any]:
    """Ways to reduce: what the result begins with, and in which order the axes are gone through."""
    loop = numpys_loop(r.ufunc, (r.source.dtype, r.source.dtype))
    if loop is None:
        return []
    kept = [d for d in range(len(r.source.shape)) if d not in r.axes]
    # Strides of the result over the operand's axes
    own = list(r.out.strides)
    if len(own) == len(r.source.shape):  # keepdims
        own = [own[d] for d in kept]
    to = dict(zip(kept, own, strict=True))
    over = [0 if d in r.axes else to[d] for d in range(len(r.source.shape))]
    dims = [d for d in range(len(r.source.shape)) if r.source.shape[d] != 1]
    by_size = sorted(dims, key=lambda d: -abs(r.source.strides[d]))
    orders = [by_size] if by_size == dims else [by_size, dims]
    starts: list[Any] = ["rest", "first"]
    if r.ufunc in (np.add, np.multiply):
        identity = r.source.dtype.type(0 if r.ufunc is np.add else 1)
        starts = [identity, -identity, "rest"] if r.ufunc is np.add and r.source.dtype.kind in "fc" else [identity]
    return [_reducing(r, loop, over, order, start) for start in starts for order in orders]


def _reducing(r: Reduce, loop: Any, over: list[int], order: list[int], start: Any) -> Any:
    def words(assembly: Assembly) -> list[int]:
        source, size = r.source, r.source.dtype.itemsize
        out = assembly._pointer(r.out)
        code: list[int] = []
        shape, offset = list(source.shape), 0
        if type(start) is str:  # begin with the first elements
            first = Place(source.block, source.offset, r.out.shape, (0,) * len(r.out.shape), source.dtype)
            steps = [s for d, s in enumerate(source.strides) if d not in r.axes]
            if len(r.out.shape) == len(source.shape):
                steps = [0 if d in r.axes else s for d, s in enumerate(source.strides)]
            merged, to, fro = _merged([*r.out.shape], [[*r.out.strides], steps])
            code += [COPY, out, assembly._pointer(first), size, len(merged), *merged, *to, *fro]
            if start == "rest":
                if len(r.axes) != 1:
                    return [0]
                shape[r.axes[0]] -= 1
                offset = source.strides[r.axes[0]]
        else:
            value = np.array(start)
            assembly._keep.append(value)
            at = Place(CONSTANTS, address(value) - assembly._start[CONSTANTS], (), (), source.dtype)
            merged, to = _merged([*r.out.shape], [[*r.out.strides]])
            code += [COPY, out, assembly._pointer(at), size, len(merged), *merged, *to, *([0] * len(merged))]
        if 0 in shape:
            return code
        merged, to, fro = _merged(
            [shape[d] for d in order], [[over[d] for d in order], [source.strides[d] for d in order]]
        )
        if not merged:
            merged, to, fro = [1], [0], [0]
        begin = assembly._pointer(source._replace(offset=source.offset + offset))
        n = len(merged) - 1
        code += [LOOP, loop.function, loop.context, loop.auxdata, int(loop.flags and not r.quiet), 3, merged[-1], n]
        code += [out, begin, out, to[-1], fro[-1], to[-1], *merged[:-1]]
        for d in range(n):
            code += [to[d], fro[d], to[d]]
        return code

    return words


def _multiply_candidates(m: Multiply) -> list[Any]:
    loop = find_gufunc(np.matmul, (m.a.dtype, m.b.dtype))
    if loop is None:
        return []

    def words(assembly: Assembly) -> list[int]:
        (rows, inner), a = _matrix(m.a, True)
        (_, columns), b = _matrix(m.b, False)
        out = list(m.out.strides)
        if len(m.a.shape) == 1:
            out.insert(0, m.out.dtype.itemsize)
        if len(m.b.shape) == 1:
            out.append(m.out.dtype.itemsize)
        dims = [1, rows, inner, columns]
        steps = [0, 0, 0, *a, *b, *out]
        pointers = [assembly._pointer(p) for p in (m.a, m.b, m.out)]
        head = [
            GUFUNC,
            loop.function,
            loop.context,
            loop.auxdata,
            int(loop.flags and not m.quiet),
            3,
            len(dims),
            len(steps),
        ]
        return [*head, *pointers, *dims, *steps]

    return [words]


def _matrix(p: Place, left: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """A vector as a row on the left, as a column on the right."""
    if len(p.shape) == 2:
        return (p.shape[0], p.shape[1]), (p.strides[0], p.strides[1])
    n, s, size = p.shape[0], p.strides[0], p.dtype.itemsize
    return ((1, n), (size, s)) if left else ((n, 1), (s, size))


def _agrees(instruction: Any, candidates: Any, number: int) -> bool:
    """Does this way give NumPy's bits, for some values, zeros of both signs among them?"""
    reduces = type(instruction) is Reduce
    sources = [instruction.source] if reduces else [instruction.a, instruction.b]
    if len(sources) == 2 and sources[0] == sources[1]:
        sources = sources[:1]
    samples = [0, 1, 2] if reduces else [0, 1]
    for seed in samples:
        blocks: list[Any] = []
        places = []
        for k, p in enumerate(sources):
            memory, low = _memory(p, seed + 7 * k)
            blocks.append(memory)
            places.append(p._replace(block=k, offset=low))
        memory, low = _memory(instruction.out, 99)
        blocks.append(memory)
        out = instruction.out._replace(block=len(sources), offset=low)
        if reduces:
            tried: Any = instruction._replace(source=places[0], out=out)
        else:
            tried = instruction._replace(a=places[0], b=places[-1], out=out)
        arrays = [np.ndarray(p.shape, p.dtype, blocks[k], p.offset, p.strides) for k, p in enumerate(places)]
        with np.errstate(all="ignore"):
            if reduces:
                keep = len(out.shape) == len(places[0].shape)
                want = instruction.ufunc.reduce(arrays[0], axis=instruction.axes, keepdims=keep)
            else:
                want = instruction.raw(arrays[0], arrays[-1])
        assembly = Assembly(None, np.empty(8, "u1"), np.empty(8, "u1"))
        assembly._code += candidates(tried)[number](assembly)
        if assembly._code and assembly._code[0] == 0:
            return False
        assembly.finish().run([address(b) for b in blocks])
        got = np.ndarray(out.shape, out.dtype, blocks[-1], out.offset, out.strides)
        if got.tobytes() != np.asarray(want).tobytes():
            return False
    return True


def _memory(p: Place, seed: int) -> tuple[Any, int]:
    """Memory with values in which the place lies, and where in it."""
    spans = [(n - 1) * s for n, s in zip(p.shape, p.strides, strict=True)]
    low = -sum([s for s in spans if s < 0])
    n = (low + sum([s for s in spans if s > 0])) // p.dtype.itemsize + 1
    rng = np.random.default_rng(seed)
    room = np.zeros(n * p.dtype.itemsize + 128, "u1")
    shift = -address(room) % 64
    memory = room[shift : shift + n * p.dtype.itemsize]
    values = memory.view(p.dtype)
    if p.dtype.kind in "iu":
        values[:] = rng.integers(0, 9, n)
    elif seed == 1:
        values[:] = np.copysign(0.0, rng.normal(size=n)) if p.dtype.kind == "f" else 0
    elif seed == 2:
        values[:] = -0.0
    else:
        values[:] = rng.normal(size=n) * 10.0 ** rng.integers(-3, 3, n)
    return memory, low
