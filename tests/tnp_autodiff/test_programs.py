"""Random in-place programs: gradient and tangent are those of a complex step through the same program under NumPy.

Every operation is analytic, so the imaginary part that a step of 1e-40 leaves is the derivative, exact to rounding.
"""

import types
from unittest import mock

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import GradientTape, grad, jvp, recompute_grad, saved

COMPLEX = types.SimpleNamespace(**{name: getattr(numpy, name) for name in dir(numpy) if not name.startswith("__")})
COMPLEX.zeros = lambda shape: numpy.zeros(shape, complex)
COMPLEX.ones = lambda shape: numpy.ones(shape, complex)

FLAT, GRID = ["a", "b", "x"], ["g", "h"]
HALVES = ["[:3]", "[3:]", "[::2]", "[1::2]", "[2:5]", "[::-1][:3]", "[4:1:-1]"]


@st.composite
def statement(draw):
    a, b = draw(st.sampled_from(FLAT[:2])), draw(st.sampled_from(FLAT))
    g, h = draw(st.sampled_from(GRID)), draw(st.sampled_from(GRID))
    i, j = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    r, s = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    p, q = draw(st.sampled_from(HALVES)), draw(st.sampled_from(HALVES))
    k = draw(st.lists(st.integers(-6, 5), min_size=3, max_size=3))
    m = draw(st.lists(st.booleans(), min_size=6, max_size=6))
    return draw(
        st.sampled_from(
            [
                f"{a} = np.sin({b}) * {a} + 0.5",
                f"{a} = {b} * {a}",
                f"{a} += {b}",
                f"{a} *= {b}",
                f"{a} -= np.cos({b}) * {a}",
                f"{a} /= {b} * {b} + 2.0",
                f"{a}[...] = {b}",
                f"{a}{p} = {b}{q} * 1.0",  # a plain overlap with other steps NumPy gets wrong
                f"{a}{p} += {b}{q}",
                f"{a}{p} *= 0.5",
                f"{a}[1:] = {a}[:-1]",
                f"{a}[:-1] = {a}[1:] * {b}[1:]",
                f"{a}[{i}], {a}[{j}] = {a}[{j}], {a}[{i}]",
                f"{a}[{i}] = {b}[{j}] * {a}[{j}]",
                f"{a}[{i}] = 1.5",
                f"{a}[{k}] = {b}[:3]",
                f"{a}[{k}] += {b}{q}",
                f"{a} = {a}[[0, 1, 1, 2, 3, {i}]]",
                f"{a}[np.array({m})] = {b}[{i}]",
                f"{a}[np.array({m})] *= {b}[{i}]",
                f"np.add.at({a}, {k}, {b}{q} * 0.5)",
                f"np.subtract.at({a}, {k}, {b}[{j}])",
                f"np.multiply({b}, {a}, out={a})",
                f"np.multiply({b}{q}, 0.7, out={a}{p})",
                f"for i in range(1, 6): {a}[i] = np.sin({a}[i - 1]) + {b}[i]",
                f"v = {a}[::-1]; v[:3] = {b}{q} * 1.0; v *= {b}",
                f"v = {a}{p}; {a}[{i}] = v[0] * 2.0; v += {b}{q}",
                f"t = {b} * {b}; {a} *= t; t[...] = 0.0",
                f"s = {a}[{i}]; t = s; s += {b}[{j}]; s *= 0.5; {a}[{j}] = s * t",
                f"s = np.sum({a}); t = s; s *= 0.3; {b if b != 'x' else 'a'}[{i}] += s - t * 0.2",
                f"{g}[{r}] = {a}[1:5]",
                f"{g}[{r}], {g}[{s}] = {g}[{s}], {g}[{r}]",
                f"{g}[:, {r}] += {a}{p}",
                f"{g} = {g} + {h} * {b}[:4]",
                f"{g}.T[1:3] *= np.sin({a}{p})",
                f"{g}.reshape(-1)[::2] = {a}",
                f"{g}[1:] = {g}[:-1] * {h}[1:]",
                f"{a}{p} = np.sum({g}, axis=1)",
                f"{a}[:4] = np.cumsum({g}[{r}])",
                f"{g} = np.matmul({g}, {h}.T)[:, :1] * {h}",
                f"{a} = np.concatenate([{a}{p}, {b}{q}])",
                f"{g} = {g}.T.reshape(3, 4)",
                f"{g} = np.einsum('ij,ij->ij', {g}, {h})",
                f"{g}[{r}, 1:] = {g}.copy()[{s}, :-1]",
                f"np.copyto({g}[{r}], {h}[{s}])",
                f"{a} = np.where(np.array({m}), {a}, {b})",
                f"{a} = np.roll({a}, {i}) + np.flip({b})",
                f"{a} = np.tanh({a})",
            ]
        )
    )


PROGRAMS = st.lists(statement(), min_size=1, max_size=9)
VALUES = st.integers(0, 2**32 - 1)


def compiled(statements):
    text = "\n    ".join(
        [
            "def f(np, x):",
            "a, b = x * 1.0, np.ones(6)",
            "g, h = np.zeros((3, 4)), np.ones((3, 4)) * x[2]",
            "g[1] = x[:4]",
            *statements,
            "return np.sum(np.tanh(a)) + np.sum(np.sin(b)) + np.sum(g * h * 0.3) + np.sum(np.sin(g))",
        ]
    )
    space = {}
    exec(text, space)
    return space["f"]


def slope(f, x, v):
    """The derivative along `v`, by a complex step."""
    return f(COMPLEX, x + 1e-40j * v).imag / 1e-40


def check(statements, seed, f=None):
    f = f or compiled(statements)
    rng = numpy.random.default_rng(seed)
    x, v = rng.normal(size=6), rng.normal(size=6)
    want = numpy.array([slope(compiled(statements), x, e) for e in numpy.eye(6)])
    scale = 1 + numpy.abs(want).max()
    if not scale < 1e6:  # chaotic: rounding decides
        return
    array = tnp.array(x)
    with GradientTape() as tape:
        tape.watch(array)
        y = f(tnp, array)
    numpy.testing.assert_allclose(plain(tape.gradient(y, array)) / scale, want / scale, atol=1e-11, rtol=0)
    value, tangent = jvp(lambda x: f(tnp, x), (x,), (v,))
    assert value == compiled(statements)(numpy, x.copy())
    numpy.testing.assert_allclose(float(tangent) / scale, want @ v / scale, atol=1e-11, rtol=0)


@settings(max_examples=150, deadline=None)
@given(PROGRAMS, VALUES)
def test_small_arrays_run_at_once(statements, seed):
    check(statements, seed)


@settings(max_examples=150, deadline=None)
@given(PROGRAMS, VALUES)
def test_every_operation_recorded(statements, seed):
    with tnp.config(lazy_from=1):
        check(statements, seed)


@settings(max_examples=150, deadline=None)
@given(PROGRAMS, VALUES)
def test_saved_values_stay_pending(statements, seed):
    with tnp.config(lazy_from=1), mock.patch.object(saved, "SMALL", 0):
        check(statements, seed)


@settings(max_examples=40, deadline=None)
@given(PROGRAMS, VALUES)
def test_checkpointed(statements, seed):
    f = compiled(statements)

    def again(np, x):
        return recompute_grad(lambda x: f(np, x))(x)

    check(statements, seed, again)


@settings(max_examples=60, deadline=None)
@given(PROGRAMS, VALUES)
def test_second_order(statements, seed):
    f = compiled(statements)
    rng = numpy.random.default_rng(seed)
    x, v = rng.normal(size=6), rng.normal(size=6)
    gradient = grad(lambda x: f(tnp, x))
    step = 1e-6
    want = (plain(gradient(x + step * v)) - plain(gradient(x - step * v))) / (2 * step)
    scale = 1 + numpy.abs(want).max() + numpy.abs(plain(gradient(x))).max()
    if not scale < 1e3:
        return
    forward = jvp(gradient, (x,), (v,))[1]
    reverse = grad(lambda x: (gradient(x) * tnp.array(v)).sum())(x)
    numpy.testing.assert_allclose(plain(forward) / scale, plain(reverse) / scale, atol=1e-10, rtol=0)
    numpy.testing.assert_allclose(plain(forward) / scale, want / scale, atol=1e-5, rtol=0)
