"""Every operation on every dtype it has, on hostile values, against NumPy: bits and floating-point flags."""

import ml_dtypes
import numpy as np
import pytest

from tnp.backends.base import Group, Step
from tnp.backends.cpu import driver
from tnp.backends.cpu.emit import Program
from tnp.backends.cpu.operations import EMITTERS
from tnp.backends.cpu.plan import Plan
from tnp.backends.cpu.reach import GATHERED, UNIT

from .groups import DTYPES, cast_step, check, hostile, laid_out, numpy_result, primitive, same_bits, step, where_step

UFUNCS = {
    f.__name__: f
    for f in vars(np).values()
    if isinstance(f, np.ufunc) and f.nout == 1 and f.signature is None and "numpy" in type(f).__module__
}
SIZES = (1, 3, 63, 65, 1025)


def signatures(ufunc):
    """The operand dtypes of the loops that kernels can hold."""
    found = {}
    for types in ufunc.types:
        if set(types) <= set("?bBhHiIlLqQefdFD->"):
            found[tuple(np.dtype(c) for c in types.split("->")[0])] = types
    return found


def operands_of(ufunc, dtypes, size):
    values = [hostile(d, size, seed) for seed, d in enumerate(dtypes)]
    if ufunc is np.power and dtypes[0].kind in "iu":
        values[1] = values[1] & 3  # negative exponents raise
    return values


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_ufunc(engine, name):
    ufunc = UFUNCS[name]
    for dtypes, types in signatures(ufunc).items():
        one = step(ufunc, tuple(~i for i in range(len(dtypes))), dtypes)
        for size in SIZES:
            out = np.empty(size, one.dtype)
            check(engine, Group([one], operands_of(ufunc, dtypes, size), [(0, out)], (size,)), f"{types} of {size}")
        for how in ("strided", "negative", "unaligned"):
            values = [laid_out(x, how) for x in operands_of(ufunc, dtypes, 70)]
            if all(engine.fusible(one.prim, dtypes, x) for x in values):
                out = laid_out(np.zeros(70, one.dtype), "strided")
                check(engine, Group([one], values, [(0, out)], (70,)), f"{types} {how}")
        for scalar in range(len(dtypes) if len(dtypes) > 1 else 0):
            for pick in (0, 5, 11):
                values = operands_of(ufunc, dtypes, 70)
                values[scalar] = values[scalar][pick]
                check(engine, Group([one], values, [(0, np.empty(70, one.dtype))], (70,)), f"{types} scalar {scalar}")


def test_every_emitter_is_some_ufunc():
    assert {name for name, _ in EMITTERS} <= set(UFUNCS)


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_casts(engine, source):
    for target in DTYPES:
        for size in SIZES:
            values = hostile(source, size)
            if source.kind in "fc" and target == np.uint32:
                real = values.real.astype(float)  # outside its range NumPy's answer depends on the element's place
                values = np.where((real >= 0) & (real < 2.0**32), values, 0).astype(source)
            out = np.empty(size, target)
            check(
                engine, Group([cast_step(~0, source, target)], [values], [(0, out)], (size,)), f"{source} to {target}"
            )


@pytest.mark.parametrize("target", ["f", "d", "l", "?", "D"])
def test_casts_among_sixteen_bit_steps(engine, target):
    """Vectors are as wide as for the sixteen bits."""
    half = np.dtype("e")
    steps = [
        where_step((~0, ~1, ~2), half), where_step((~0, ~2, ~1), half), where_step((~0, 0, 1), half),
        cast_step(2, half, target), cast_step(~3, target, half), where_step((~0, 2, 4), half),
    ]  # fmt: skip
    for size in SIZES:
        leaves = [hostile(np.dtype(bool), size), hostile(half, size, 1), hostile(half, size, 2)]
        leaves.append(hostile(np.dtype(target), size, 3))
        outputs = [(3, np.empty(size, target)), (5, np.empty(size, half))]
        check(engine, Group(steps, leaves, outputs, (size,)), target)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_where(engine, dtype):
    for size in SIZES:
        condition, x, y = hostile(np.dtype(bool), size), hostile(dtype, size, 1), hostile(dtype, size, 2)
        out = np.empty(size, dtype)
        check(engine, Group([where_step((~0, ~1, ~2), dtype)], [condition, x, y], [(0, out)], (size,)), str(dtype))
        check(engine, Group([where_step((~0, ~1, ~2), dtype)], [condition, x, y[0]], [(0, out)], (size,)), str(dtype))


def test_operands_and_results_are_cast(engine):
    """Like np.add(int8, int8, dtype=float64) stored into float32: casts before the loop and on storing."""
    for source in DTYPES:
        for target in DTYPES:
            if source.kind == "c" or np.uint32 in (source, target):
                continue
            values = [hostile(source, 70, 1), hostile(source, 70, 2)]
            out = np.empty(70, target)
            with np.errstate(all="ignore"):
                group = Group([step(np.multiply, (~0, ~1), ("d", "d"))], values, [(0, out)], (70,))
                (expected,), _ = numpy_result(group)
                engine.run(group)
            assert same_bits(out, expected).all(), (source, target)


BFLOAT = np.dtype(ml_dtypes.bfloat16)
ALL_BFLOATS = np.arange(1 << 16, dtype=np.uint16).view(BFLOAT)


def canonical(values):
    """Bits, every NaN the same."""
    nan = np.isnan(values) if values.dtype.kind in "fcV" else np.zeros(values.shape, bool)
    return np.where(nan, 0x7FC0, values.view(f"u{values.itemsize}"))


@pytest.mark.parametrize(
    "name", ["add", "multiply", "divide", "sqrt", "negative", "maximum", "floor", "sign", "less", "nextafter"]
)
def test_bfloat16_is_float32_rounded_at_each_operation(engine, name):
    ufunc = UFUNCS[name]
    dtypes = ufunc.resolve_dtypes((BFLOAT,) * ufunc.nin + (None,))
    values = [np.random.default_rng(k).permutation(ALL_BFLOATS) for k in range(ufunc.nin)]
    out = np.empty(1 << 16, dtypes[-1])
    one = Step(primitive(ufunc), tuple(~k for k in range(ufunc.nin)), dtypes[:-1], dtypes[-1])
    engine.run(Group([one], values, [(0, out)], out.shape))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(canonical(out), canonical(ufunc(*values)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_casts_of_bfloat16(engine, dtype):
    with np.errstate(all="ignore"):
        for values, target in ((ALL_BFLOATS, dtype), (hostile(dtype, 5000), BFLOAT)):
            if target.kind == "c" or values.dtype.kind == "c":
                continue
            out = np.empty(values.shape, target)
            engine.run(Group([cast_step(~0, values.dtype, target)], [values], [(0, out)], values.shape))
            np.testing.assert_array_equal(canonical(out), canonical(values.astype(target)))


def test_blocks_of_scratch_share_no_set_of_the_first_cache():
    dtypes = (np.dtype("f8"),) * 2
    steps = [step(np.sin, (~k,), dtypes[:1]) for k in range(16)]
    steps += [step(np.add, (k - 1 if k > 16 else 0, k - 15), dtypes) for k in range(16, 31)]
    plan = Plan(steps, [(dtypes[0], GATHERED)] * 16, [(30, dtypes[0], UNIT)], frozenset())
    program = Program(plan, 1, False, 32)
    words = program.slots(dict.fromkeys(["seg0", "seg1", "gather", "scatter"], 1))
    operands = words[driver.HEADER :][: program.operands * driver.OPERAND_SLOTS]
    places = list(operands[driver.OWN : 16 * driver.OPERAND_SLOTS : driver.OPERAND_SLOTS])
    places += words[driver.HEADER + len(operands) :][: len(program.slot_bytes)]
    assert len(places) == 32
    assert len({place % 4096 for place in places}) == 32
    assert {place % 64 for place in places} == {0}
