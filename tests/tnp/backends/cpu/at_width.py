"""``python -m tests.tnp.backends.cpu.at_width BYTES [CPU ...]``: every operation as for registers of so many bytes.

Each is run here and compared with NumPy (LLVM splits vectors that this machine has no registers for), then compiled,
not run, for each of the processors. For `test_widths`, which runs this in a process that it can end: LLVM has been seen
to hang and to abort on wide vectors. What is being compiled is printed first, so that the last line names the culprit.
"""

import sys
from collections.abc import Callable

import numpy as np
from llvmlite import binding as llvm

from tnp.backends.base import Group, Step
from tnp.backends.cpu import driver, exponential, helpers, walks
from tnp.backends.cpu.compile import common_functions, compiler
from tnp.backends.cpu.engine import CpuBackend
from tnp.backends.cpu.operations import EMITTERS
from tnp.core.primitive import Reduction

from .groups import DTYPES, cast_step, check, compiling, hostile, step, where_step
from .test_emit import UFUNCS, operands_of, signatures

SIZE = 133  # several vectors and a remainder
NAMES = sorted({name for name, _ in EMITTERS} | {"exp", "maximum", "minimum", "fmax", "fmin"})
FOLDED = ("add", "multiply", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")
texts: dict[str, str] = {}  # everything that was compiled: its name


def record(width: int) -> None:
    """Have the compiler take the registers to be of that width, and remember what it is given."""
    one = compiler()
    common_functions()  # the same for all
    one.register_bytes = width
    real = one.compile

    def compile_(
        key: bytes, text: Callable[[], str], names: tuple[str, ...], build: bool = True, **known: object
    ) -> object:
        texts.setdefault(text(), current)
        return real(key, text, names, build, **known)

    one.compile = compile_


def say(what: str) -> None:
    global current
    current = what
    print(what, flush=True)


current = ""


def run_elementwise(engine: CpuBackend) -> None:
    for name in NAMES:
        for dtypes, types in signatures(UFUNCS[name]).items():
            say(f"{name} {types}")
            one = step(UFUNCS[name], tuple(~i for i in range(len(dtypes))), dtypes)
            out = np.empty(SIZE, one.dtype)
            check(engine, Group([one], operands_of(UFUNCS[name], dtypes, SIZE), [(0, out)], (SIZE,)), types)
    for dtype in DTYPES:
        say(f"where {dtype}")
        leaves = [hostile(np.dtype(bool), SIZE), hostile(dtype, SIZE, 1), hostile(dtype, SIZE, 2)]
        out = np.empty(SIZE, dtype)
        check(engine, Group([where_step((~0, ~1, ~2), dtype)], leaves, [(0, out)], (SIZE,)), str(dtype))
        targets = [t for t in DTYPES if t != np.uint32]  # beyond its range NumPy's answer depends on the place
        say(f"casts from {dtype}")
        for target in targets:
            steps, out = [cast_step(~0, dtype, target)], np.empty(SIZE, target)
            check(engine, Group(steps, [hostile(dtype, SIZE)], [(0, out)], (SIZE,)), f"{dtype} to {target}")


def run_rows(engine: CpuBackend) -> None:
    """Sums of narrow windows and all casts of them: vectors of four elements, and of eight where there are halves."""
    for source in DTYPES:
        say(f"rows of {source}")
        halves = source == np.float16
        n = 9 if halves else 5
        whole = hostile(source, 6 * (n + 1)).reshape(6, n + 1)
        steps = [step(np.logical_or if source.kind == "b" else np.add, (~0, ~1), (source, source))]
        steps += [cast_step(0, source, t) for t in DTYPES if t != np.uint32 and (halves or t != np.float16)]
        outputs = [(i, np.empty((5, n + 2), s.dtype)[:, 1:-1]) for i, s in enumerate(steps)]
        check(engine, Group(steps, [whole[:-1, :-1], whole[1:, 1:]], outputs, (5, n)), str(source))


def run_reductions(engine: CpuBackend) -> None:
    """Of a sum of two arrays, whole, along rows and along columns."""
    for name in FOLDED:
        ufunc = getattr(np, name)
        for dtype in DTYPES:
            if dtype.kind not in ("b" if "bit" in name else "") + ("iu" if "bit" in name else "iufc"):
                continue
            if dtype.kind == "c" and name not in ("add", "multiply"):
                continue
            say(f"{name}.reduce {dtype}")
            plus = np.logical_or if dtype.kind == "b" else np.add
            x = (np.arange(40 * 33) % 23 - (0 if dtype.kind in "bu" else 11)).reshape(40, 33).astype(dtype)
            leaves = [x, x[::-1].copy()]
            for axis in ((0,), (1,), (0, 1)):
                prim = Reduction(name=name, impl=ufunc.reduce, ufunc=ufunc)
                params = (("axis", axis), ("keepdims", False))
                steps = [step(plus, (~0, ~1), (dtype, dtype)), Step(prim, (0,), (dtype,), dtype, params)]
                with np.errstate(all="ignore"):
                    expected = np.asarray(ufunc.reduce(plus(*leaves), axis=axis, dtype=dtype))
                    out = np.empty(expected.shape, dtype)
                    engine.run(Group(steps, leaves, [(1, out)], x.shape))
                assert out.tobytes() == expected.tobytes(), f"{name} of {dtype} over {axis}"


def compile_for(cpu: str) -> None:
    """Machine code of everything for another processor."""
    say(f"for {cpu}")
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machine = target.create_target_machine(cpu=cpu, features="", opt=2, jit=True, reloc="pic")
    common = {helpers.core_text() + driver.core_text(): "the common functions", walks.module_text(): "the walks"}
    common |= {helpers.mover_text(name): name for name in helpers.MOVERS}
    common |= {driver.walk_text(name): name for name in ("strided", "replacing", "guarded")}
    for text, what in (common | {exponential.module_text(): "exp"} | texts).items():
        say(f"{what} for {cpu}")
        module = llvm.parse_assembly(f'target triple = "{llvm.get_process_triple()}"\n{text}')
        assert machine.emit_object(module), what


def main() -> None:
    record(int(sys.argv[1]))
    engine = compiling(stress=True)
    run_elementwise(engine)
    run_rows(engine)
    run_reductions(engine)
    assert len(texts) > 300
    for cpu in sys.argv[2:]:
        compile_for(cpu)
    print("done", flush=True)


if __name__ == "__main__":
    main()
