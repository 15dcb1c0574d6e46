"""Random in-place programs: vmap is the loop, bit for bit; so is what is written to arguments, and the gradient."""

import warnings

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

import tnp
from tests.tnp.transforms.looped import assert_same, check
from tnp_autodiff import LeavingTapeWarning, grad

FLAT, GRID = ["a", "b", "x"], ["g", "h"]
HALVES = ["[:3]", "[3:]", "[::2]", "[1::2]", "[2:5]", "[::-1][:3]", "[4:1:-1]"]


@st.composite
def statement(draw):
    a, b = draw(st.sampled_from(FLAT)), draw(st.sampled_from([*FLAT, "w"]))
    g, h = draw(st.sampled_from(GRID)), draw(st.sampled_from(GRID))
    i = draw(st.sampled_from(["0", "3", "5", "-1", "k", "n[0]", "n[1]"]))
    j = draw(st.sampled_from(["1", "4", "-2", "k", "n[2]"]))
    r, s = draw(st.sampled_from(["0", "2", "k % 3"])), draw(st.sampled_from(["1", "-1", "n[0] % 3"]))
    p, q = draw(st.sampled_from(HALVES)), draw(st.sampled_from(HALVES))
    few = draw(st.lists(st.integers(-6, 5), min_size=3, max_size=3))
    m = draw(st.lists(st.booleans(), min_size=6, max_size=6))
    v = draw(st.sampled_from(["y", "2.0", f"{b}[{j}]", f"{b}.sum()", "w[0]"]))
    return draw(
        st.sampled_from(
            [
                f"{a} = {b} * {a} + 0.5",
                f"{a} += {b}",
                f"{a} *= {v}",
                f"{a} -= {b} * {v}",
                f"{a} /= {b} * {b} + 2.0",
                f"{a}[...] = {b}",
                f"{a}[:] = {v}",
                f"{a}{p} = {b}{q} * 1.0",
                f"{a}{p} += {b}{q}",
                f"{a}{p} *= {v}",
                f"{a}[1:] = {a}[:-1]",
                f"{a}[:-1] = {a}[1:] * {b}[1:]",
                f"{a}[{i}], {a}[{j}] = {a}[{j}], {a}[{i}]",
                f"{a}[{i}] = {b}[{j}] * {a}[{j}]",
                f"{a}[{i}] = {v}",
                f"{a}[{i}] += {v}",
                f"{a}[{few}] = {b}[:3]",
                f"{a}[{few}] += {b}{q}",
                f"{a}[n] = {b}[:3]",
                f"{a}[n] += {b}{q}",
                f"{a} = {a}[[0, 1, 1, 2, 3, 4]] + {b}[n].sum()",
                f"{a}[np.array({m})] = {v}",
                f"{a}[np.array({m})] *= {v}",
                f"{a}[{b} > 0] = {v}",
                f"np.add({a}, {v}, out={a}, where={b} > y)",
                f"np.add.at({a}, {few}, {b}{q} * 0.5)",
                f"np.add.at({a}, n, {b}{q})",
                f"np.subtract.at({a}, n, {v})",
                f"np.multiply({b}, {a}, out={a})",
                f"np.multiply({b}{q}, 0.7, out={a}{p})",
                f"np.copyto({a}, {b}, where={a} < y)",
                f"for t in range(1, 6): {a}[t] = {a}[t - 1] * 0.5 + {b}[t]",
                f"v = {a}[::-1]; v[:3] = {b}{q} * 1.0; v *= {b}",
                f"v = {a}{p}; {a}[{i}] = v[0] * 2.0; v += {b}{q}",
                f"t = {b} * {b}; {a} *= t; t[...] = 0.0",
                f"s = {a}[{i}]; t = s; s += {b}[{j}]; s *= 0.5; {a}[{j}] = s * t",
                f"s = np.sum({a}); t = s; s *= 0.3; {a}[{i}] += s - t * 0.2",
                f"{g}[{r}] = {a}[1:5]",
                f"{g}[{r}], {g}[{s}] = {g}[{s}] * 1.0, {g}[{r}] * 1.0",
                f"{g}[{r}] *= {v}",
                f"{g}[:, {r}] += {a}{p}",
                f"{g}[{r}, {s}] = {v}",
                f"{g}[n % 3, {s}] = {b}[:3]",
                f"{g}[:, n % 4] = {h}[:, :3] * 2.0",
                f"{g} = {g} + {h} * {b}[:4]",
                f"{g}.T[1:3] *= {a}{p}",
                f"{g}.reshape(-1)[::2] = {a}",
                f"{g}[1:] = {g}[:-1] * {h}[1:]",
                f"{a}{p} = np.sum({g}, axis=1)",
                f"{a}[:4] = np.cumsum({g}[{r}])",
                f"{a}[:4] = {g}.max(0) - {g}.mean(axis=0)",
                f"{a} = np.concatenate([{a}{p}, {b}{q}])",
                f"{g} = {g}.T.reshape(3, 4)",
                f"{g}[{r}, 1:] = {g}.copy()[{s}, :-1]",
                f"np.copyto({g}[1], {h}[2])",
                f"{a} = np.where({a} > {v}, {a}, {b})",
                f"{a} = np.roll({a}, 2) + np.flip({b})",
                f"{a} = np.sort({a}) + {a}[np.argsort({b})]",
                f"{a} = np.clip({a}, -2.0, {v}) + 0.0",  # the sign of zero at a bound depends on how that lies
                f"{a} = np.take({a}, n % 6).sum() + {b}",
                f"z = np.zeros(6, complex); z.real[...] = {a}; z.imag[1:] = {b}[1:]; {a} = (z * 1j).real",
                f"o = np.zeros(6, int); o[...] = {a}; o[1] += k; {a} = {a} + o",
                "buf[:] = x; buf[2] += 1; a = a + buf[::-1]",
                f"late[1] = {v}; a[0] = late[1] * 2",
            ]
        )
    )


PROGRAMS = st.lists(statement(), min_size=1, max_size=8)
SEEDS = st.integers(0, 2**32 - 1)


def compiled(statements, result="a, b, g, h, x, np.sum(a)"):
    """A program of one example: x (6,), y (), k () and n (3,) of integers, w (6,) shared, two arrays from outside."""
    text = "\n    ".join(
        [
            "def f(np, x, y, k, n, w, buf, late):",
            "a, b = x * 1.0, np.ones(6)",
            "g, h = np.zeros((3, 4)), np.ones((3, 4)) * x[2]",
            "g[1] = x[:4]",
            *statements,
            f"return {result}",
        ]
    )
    space = {}
    exec(text, space)
    return space["f"]


def values(seed, n):
    rng = numpy.random.default_rng(seed)
    halves = lambda shape: rng.integers(-8, 9, shape) / 4  # noqa: E731
    return [halves((n, 6)), halves(n), rng.integers(0, 3, n), rng.integers(0, 3, (n, 3)), halves(6)]


AXES = (0, 0, 0, 0, None)


@settings(max_examples=400, deadline=None)
@given(PROGRAMS, SEEDS, st.integers(1, 4))
def test_programs(statements, seed, n):
    f = compiled(statements)
    outside = {numpy: (numpy.zeros(6), numpy.zeros(3)), tnp: (tnp.zeros(6), tnp.zeros(3))}
    check(lambda np, *xs: f(np, *xs, *outside[np]), *values(seed, n), in_axes=AXES)
    for ours, theirs in zip(outside[tnp], outside[numpy], strict=True):
        assert_same(ours, theirs, what="an array from outside")


@settings(max_examples=100, deadline=None)
@given(PROGRAMS, SEEDS)
def test_programs_under_two_maps(statements, seed):
    """The examples of the examples, with arrays that all of them share."""
    f = compiled(statements)
    xs = values(seed, 6)
    twice = [x.reshape((2, 3, *x.shape[1:])) for x in xs[:4]]

    outside = {numpy: (numpy.zeros(6), numpy.zeros(3)), tnp: (tnp.zeros(6), tnp.zeros(3))}

    def one(np, *given):
        return f(np, *given, *outside[np])

    def inner(np, x, y, k, n, w):
        if np is tnp:
            return tnp.vmap(lambda *given: one(tnp, *given), in_axes=AXES)(x, y, k, n, w)
        rows = [one(numpy, *given, w) for given in zip(x, y, k, n, strict=True)]
        return tuple(numpy.stack([numpy.array(row[k]) for row in rows]) for k in range(len(rows[0])))

    check(inner, *twice, xs[4], in_axes=AXES)
    for ours, theirs in zip(outside[tnp], outside[numpy], strict=True):
        assert_same(ours, theirs, what="an array from outside")


@settings(max_examples=100, deadline=None)
@given(PROGRAMS, SEEDS)
def test_gradients_of_programs(statements, seed):
    f = compiled(statements, "np.sum(a * 0.5) + np.sum(b * b) + np.sum(g * h)")
    x, y, k, n, w = values(seed, 3)

    def number(x, y, k, n):
        return f(tnp, x, y, k, n, tnp.array(w), tnp.zeros(6), tnp.zeros(3))

    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", LeavingTapeWarning)  # of integer arrays, which truncate
        got = tnp.vmap(grad(number, (0, 1)))(*[tnp.array(v) for v in (x, y, k, n)])
        rows = [
            grad(number, (0, 1))(tnp.array(a), tnp.array(b), int(c), d) for a, b, c, d in zip(x, y, k, n, strict=True)
        ]
    for g, want in zip(got, zip(*rows, strict=True), strict=True):
        want = numpy.stack([numpy.asarray(v) for v in want])
        scale = 1 + numpy.abs(want).max()
        numpy.testing.assert_allclose(tnp.to_numpy(g) / scale, want / scale, atol=1e-12, rtol=0)
