"""Random in-place programs: gradient and tangent are those of a complex step through the same program under NumPy.

Every operation is analytic, so the imaginary part that a step of 1e-40 leaves is the derivative, exact to rounding.
"""

import functools
import types
from unittest import mock

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import GradientTape, grad, jvp, recompute_grad, saved, vjp


def complex_arrays(np):
    """`np`, with creation of complex arrays."""
    names = {name: getattr(np, name) for name in dir(numpy) if not name.startswith("_") and hasattr(np, name)}
    names |= {name: functools.partial(getattr(np, name), dtype=complex) for name in ("zeros", "ones")}
    return types.SimpleNamespace(**names)


COMPLEX = complex_arrays(numpy)

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
                f"v = {a}[::-1][1:][::2]; v *= {b}[:3]; v[1:][0] = {b}[{i}]",
                f"v = {g}.T[1:][:, ::-1]; w = v[1]; w += {b}{p}; v[0] = w * {a}[{i}]; {g}[{r}] *= 0.5",
                f"v = {g}[{r}:, ::2]; v.T[0] = {a}[{i}]; v += {h}[{r}:, 1::2]",
                f"v = {g}.reshape(2, 6)[{i} % 2]; v[...] = {b}; v[2:] *= v[:-2]",
                f"{a}[{a} > {b}[{i}]] = {b}[{j}] * 0.5",
                f"{a}[{b} < 0.3] *= {b}[{b} < 0.3]",
                f"{g}[{g} > {a}[{i}]] += {b}[{j}]",
                f"m = {a} > 0.1; {a}[m], {a}[~m] = {a}[m] * {b}[m], {b}[~m]",
                f"{a} = np.where({a} > {b}[{i}], {a} * {b}, {b})",
                f"np.add({a}, {b}, out={a}, where=np.array({m}))",
                f"np.multiply({a}, {b}[{i}], out={a}, where={b} > 0.2)",
                f"np.sum({g}, axis=1, out={a}{p})",
                f"np.cumsum({a}, out={a})",
                f"np.matmul({g}, {h}[{r}], out={a}{p})",
                f"np.multiply.at({a}, {k}, {b}{q})",
                f"np.put({a}, {k}, {b}[:3])",
                f"{g}.flat[{k}] = {b}{q}",
                f"np.fill_diagonal({g}, {b}[{i}])",
                f"{g}[:, {r}], {g}[:, {s}] = {g}[:, {s}] * 1.0, {g}[:, {r}] * 2.0",
                f"{a}{p}, {a}{q} = {b}{q} * 1.0, {a}{p} * 1.0",
                f"{g} += {a}[:3, None] * {b}[:4]",
                f"x[{i}] = {a}[{j}] * x[{i}]",
                f"x{p} += {a}{q}",
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
    value, tangent = jvp(lambda x: f(tnp, x), (x.copy(),), (v,))
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
    gradient = grad(lambda x: f(tnp, x * 1.0))
    step = 1e-6
    want = (plain(gradient(x + step * v)) - plain(gradient(x - step * v))) / (2 * step)
    scale = 1 + numpy.abs(want).max() + numpy.abs(plain(gradient(x))).max()
    if not scale < 1e3:
        return
    forward = jvp(gradient, (x,), (v,))[1]
    reverse = grad(lambda x: (gradient(x) * tnp.array(v)).sum())(x)
    numpy.testing.assert_allclose(plain(forward) / scale, plain(reverse) / scale, atol=1e-10, rtol=0)
    numpy.testing.assert_allclose(plain(forward) / scale, want / scale, atol=1e-5, rtol=0)


def real_parts(statements):
    """Statements that complex numbers alone have."""
    more = {"np.tanh": "a.real[...] = b.imag", "np.sin": "b.imag *= a.real", "np.roll": "a = a.conj() * b"}
    return [t for s in statements for t in (s, *[m for k, m in more.items() if k in s])]


@settings(max_examples=100, deadline=None)
@given(PROGRAMS, VALUES)
def test_complex_numbers(statements, seed):
    """The modes are transposes, and the tangent is that of differences."""
    text = [s for s in real_parts(statements) if ">" not in s and "<" not in s]  # complex numbers have no order
    f, ours = compiled(text), complex_arrays(tnp)
    rng = numpy.random.default_rng(seed)
    x, t = (rng.normal(size=6) + 1j * rng.normal(size=6) for _ in range(2))
    with numpy.errstate(all="ignore"):
        y, tangent = jvp(lambda x: f(ours, x), (x.copy(),), (t,))
        ahead, behind = (f(COMPLEX, x + step * t) for step in (1e-6, -1e-6))
        other = f(COMPLEX, x + 1e-5 * t)
        slope = (ahead - behind) / 2e-6
        scale = 1 + abs(y) + abs(slope)
        calm = scale < 1e3 and abs((other - ahead) / 9e-6 - slope) < 1e-2 * scale
    if not calm:  # chaotic, or nearly singular
        return
    # tracked elements are multiplied by ufuncs, NumPy's complex scalars by loops with other last bits
    assert abs(plain(y) - f(COMPLEX, x.copy())) / scale < 1e-13
    assert abs(plain(tangent) - slope) / scale < 1e-4
    g = 0.6 - 0.8j
    (back,) = vjp(lambda x: f(ours, x), x.copy())[1](tnp.array(g))
    left, right = numpy.conj(g) * plain(tangent), (numpy.conj(plain(back)) * t).sum()
    assert abs(left.real - right.real) / (1 + numpy.abs(plain(back)).max()) < 1e-9


@settings(max_examples=100, deadline=None)
@given(PROGRAMS, VALUES)
def test_single_precision(statements, seed):
    """Arrays of two precisions, and casts where one is written to the other."""
    f = compiled(statements)
    x = numpy.random.default_rng(seed).normal(size=6).astype("f4")
    want = numpy.array([slope(f, x.astype(float), e) for e in numpy.eye(6)])
    scale = 1 + numpy.abs(want).max()
    near = grad(lambda x: f(tnp, x * 1.0))(x.astype(float) * (1 + 1e-6))
    if not scale < 1e2 or numpy.abs(plain(near) - want).max() > 1e-3 * scale:  # rounding decides
        return
    g = grad(lambda x: f(tnp, x))(x.copy())
    assert g.dtype == numpy.float32
    numpy.testing.assert_allclose(plain(g) / scale, want / scale, atol=2e-3, rtol=0)
    tangent = jvp(lambda x: f(tnp, x), (x.copy(),), (numpy.ones(6, "f4"),))[1]
    numpy.testing.assert_allclose(float(tangent) / scale, want.sum() / scale, atol=1e-2, rtol=0)
