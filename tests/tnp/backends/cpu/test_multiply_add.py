"""math="fast": products inside sums. math="numpy": the kernels' text as it always was."""

import re

import numpy as np
import pytest

from tnp.backends.base import FAST, OVERFLOW, Group, Step
from tnp.backends.cpu.compile import compiler
from tnp.backends.cpu.emit import Program
from tnp.backends.cpu.engine import CpuBackend
from tnp.backends.cpu.multiply_add import products
from tnp.backends.cpu.plan import Plan
from tnp.backends.cpu.reach import UNIT
from tnp.core.elementwise import PRIMITIVES

needs_fma = pytest.mark.skipif(not compiler().has_fma, reason="the processor does not multiply and add in one step")


def step(ufunc, args, dtype="d", params=FAST):
    dtype = np.dtype(dtype)
    return Step(PRIMITIVES[ufunc], args, (dtype,) * ufunc.nin, dtype, params)


def chain(dtype="d", params=FAST):
    """(a*b + c) * (a - c*b) - a*a"""
    return [
        step(np.multiply, (~0, ~1), dtype, params),
        step(np.add, (0, ~2), dtype, params),
        step(np.multiply, (~2, ~1), dtype, params),
        step(np.subtract, (~0, 2), dtype, params),
        step(np.multiply, (1, 3), dtype, params),
        step(np.square, (~0,), dtype, params),
        step(np.subtract, (4, ~1), dtype, params),
        step(np.subtract, (6, 5), dtype, params),
    ]


def text(steps, leaves=3, fused=True, dtype="d", stored=None):
    outputs = [(i, np.dtype(dtype), UNIT) for i in (stored or [len(steps) - 1])]
    plan = Plan(steps, [(np.dtype(dtype), UNIT)] * leaves, outputs, frozenset(), 32 if fused else 0, fused)
    return Program(plan, 0, False, 32).text()


def count(text, name):
    return len(re.findall(rf"= call .*constrained\.{name}\.", text))


def test_each_product_with_one_reader_goes_into_its_sum():
    found = text(chain())
    assert count(found, "fma") == 4
    assert count(found, "fmul") == count(found, "fadd") == count(found, "fsub") == 0


def test_numpy_math_has_the_same_text_whether_fast_is_on_or_not():
    plain = text(chain(params=()), fused=False)
    assert text(chain(params=()), fused=True) == plain
    assert "fma" not in plain
    assert (count(plain, "fmul"), count(plain, "fadd"), count(plain, "fsub")) == (4, 1, 3)


@pytest.mark.parametrize(
    ("steps", "stored"),
    [
        ([step(np.multiply, (~0, ~1)), step(np.add, (0, 0))], None),  # two readers
        ([step(np.multiply, (~0, ~1)), step(np.add, (0, ~2)), step(np.sqrt, (0,))], [1, 2]),
        ([step(np.multiply, (~0, ~1)), step(np.add, (0, ~2))], [0, 1]),  # its value is wanted
        ([step(np.multiply, (~0, ~1), "d", ()), step(np.add, (0, ~2))], None),  # made under math="numpy"
        ([step(np.multiply, (~0, ~1)), step(np.add, (0, ~2), "d", ())], None),
        ([step(np.square, (~0,)), step(np.square, (~1,)), step(np.subtract, (0, 1))], None),  # 0 where both are equal
        ([step(np.multiply, (~0, ~1)), step(np.multiply, (~0, ~2)), step(np.add, (0, 1))], None),
    ],
)
def test_other_products_are_rounded(steps, stored):
    assert count(text(steps, stored=stored), "fma") == 0


def test_one_of_two_squares_that_are_added():
    steps = [step(np.square, (~0,)), step(np.multiply, (~1, ~1)), step(np.add, (0, 1))]
    assert count(text(steps), "fma") == 1


@pytest.mark.parametrize("dtype", ["l", "D", "e"])
def test_other_dtypes_have_none(dtype):
    assert products([step(np.multiply, (~0, ~1), dtype), step(np.add, (0, ~2), dtype)], {1}) == {}


def test_float32_products_in_float64_sums_are_rounded_to_float32():
    assert products([step(np.multiply, (~0, ~1), "f"), step(np.add, (0, ~2), "d")], {1}) == {}


def engine():
    e = CpuBackend(stress=False)
    e.compile_ns, e.fast_math = 0.0, True
    return e


@needs_fma
@pytest.mark.parametrize("dtype", "df")
@pytest.mark.parametrize("sign", ["a*b+c", "c+a*b", "a*b-c", "c-a*b"])
def test_values_are_those_of_one_rounding(sign, dtype):
    rng = np.random.default_rng(3)
    a, b, c = (rng.normal(size=1003).astype(dtype) for _ in range(3))
    ufunc, args = (np.add if "+" in sign else np.subtract), ((0, ~2) if sign.startswith("a") else (~2, 0))
    out = np.empty(1003, dtype)
    engine().run(Group([step(np.multiply, (~0, ~1), dtype), step(ufunc, args, dtype)], [a, b, c], [(1, out)], (1003,)))
    wide = eval(sign, {n: x.astype(np.longdouble) for n, x in (("a", a), ("b", b), ("c", c))})
    twice = eval(sign)
    eps = np.finfo(dtype).eps
    assert (abs(out - wide) <= eps / 2 * abs(wide) * (1 + 1e-3) + np.finfo("g").eps * abs(a * b)).all()
    assert (abs(out - twice) <= eps * (abs(a * b) + abs(twice))).all()  # what tnp.config promises
    assert (out != twice).any()


@needs_fma
def test_flags_are_raised_and_watched_blocks_are_left():
    a = np.full(200, 1e200)
    out = np.empty(200)
    steps = [step(np.multiply, (~0, ~0)), step(np.add, (0, ~0))]
    assert engine().run(Group(steps, [a], [(1, out)], (200,))) & OVERFLOW
    group = Group(steps, [a], [(1, a)], (200,), watched=OVERFLOW)
    assert engine().run(group) & OVERFLOW
    assert group.undone == [(0, 200)]
    assert (a == 1e200).all()


@needs_fma
@pytest.mark.parametrize("reverse", [False, True])
def test_on_strided_memory_too(reverse):
    rng = np.random.default_rng(4)
    a, b, c = (rng.normal(size=(30, 40)).T for _ in range(3))
    if reverse:
        a = a[::-1]
    out, want = np.empty((40, 30)), ((a * b + c) * (a - c * b) - b) - a * a
    e = engine()
    e.run(Group(chain(), [a, b, c], [(7, out)], (40, 30)))
    np.testing.assert_allclose(out, want, rtol=0, atol=1e-14)
    assert (out != want).any()
