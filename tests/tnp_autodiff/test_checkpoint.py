"""Functions that are run again: the second run does what the first one did, and nothing happens twice."""

import functools
import types

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import AliasError, GradientTape, Variable, grad, jvp, recompute_grad

X = numpy.array([0.3, -0.7, 1.1, 0.5])


@pytest.fixture
def x():
    return tnp.array(X)


def same_gradients(f, again, *xs):
    """Of a program with and without recomputing: values, gradients, tangents, second derivatives."""

    def loss(g):
        return lambda *xs: tnp.sin(g(*xs)).sum()

    numbers = tuple(range(len(xs)))
    for d in (lambda g: grad(g, numbers), lambda g: grad(lambda *xs: (grad(g)(*xs) ** 2).sum(), numbers)):
        for got, want in zip(d(loss(again))(*xs), d(loss(f))(*xs), strict=True):
            numpy.testing.assert_allclose(plain(got), plain(want), rtol=1e-12, atol=1e-14)
    tangents = [tnp.ones(t.shape) for t in xs]
    got, want = jvp(loss(again), xs, tangents), jvp(loss(f), xs, tangents)
    numpy.testing.assert_allclose(float(got[0]), float(want[0]), rtol=1e-14)
    numpy.testing.assert_allclose(float(got[1]), float(want[1]), rtol=1e-12)


def test_arguments_by_name_and_structures(x):
    def f(x, *, scale, rest=None):
        return x * scale * rest["b"][0]

    again = recompute_grad(f)
    call = lambda g: lambda x, s: g(x, scale=s, rest={"b": [x[0], 3]})  # noqa: E731
    same_gradients(call(f), call(again), x, tnp.array(X + 1))


def test_several_results_of_several_kinds(x):
    @recompute_grad
    def f(x):
        return {"y": tnp.sin(x), "rest": (x[0] * x[1], tnp.arange(3), "text", None, 4)}

    r = f(x)
    assert r["rest"][2:] == ("text", None, 4)
    assert r["rest"][1].tolist() == [0, 1, 2]
    same_gradients(lambda x: tnp.sin(x) * x[0] * x[1], lambda x: (lambda r: r["y"] * r["rest"][0])(f(x)), x)


def test_writes_to_arguments_reach_the_caller_once(x):
    def f(x, w):
        x[0] *= w[1]
        x[1:] += w[:-1] * x[:-1]
        return tnp.cos(x) * w

    def program(g):
        def run(x, w):
            a = x * 2.0
            y = g(a, w)
            return y + a * y

        return run

    w = tnp.array(X[::-1] + 0.5)
    same_gradients(program(f), program(recompute_grad(f)), x, w)
    a, b = tnp.array(X), tnp.array(X)
    assert recompute_grad(f)(a, w).tolist() == f(b, w).tolist()
    assert a.tolist() == b.tolist()


def test_a_function_that_only_writes(x):
    def fill(a, x):
        a[...] = x * x

    @recompute_grad
    def again(a, x):
        fill(a, x)

    def program(g):
        def run(x):
            a = tnp.zeros(4)
            assert g(a, x) is None
            return a * x

        return run

    same_gradients(program(fill), program(again), x)


def test_written_integers(x):
    count = tnp.zeros(2, int)

    @recompute_grad
    def f(x, count):
        count[0] += 1
        return x * count[0]

    assert plain(grad(lambda x: f(x, count).sum())(x)).tolist() == [1] * 4
    assert count.tolist() == [1, 0]


def test_arguments_that_share_memory_may_not_be_written(x):
    @recompute_grad
    def f(x, y):
        x[0] = 1.0
        return y.sum()

    with pytest.raises(AliasError):
        f(x, x[:2])
    assert f(x, tnp.ones(3)) == 3
    assert x[0] == 1


BUFFER = tnp.zeros(4)


def deep(x):
    BUFFER[1:2] = x[0]


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda x, s: BUFFER.__setitem__(0, 1.0), "BUFFER"),
        (lambda x, s: numpy.random.default_rng(1) and deep(x), "BUFFER"),
        (lambda x, s: s.held["a"][0].fill(2.0), "s.held['a'][...]"),
        (lambda x, s: s.count.__iadd__(1), "s.count"),
        (lambda x, s: s.variable.assign_add(1.0), "s.variable"),
        (lambda x, s: tnp.add(x, x, out=s.held["a"][0]), "s.held['a'][...]"),
    ],
)
def test_writes_to_arrays_from_outside_are_refused_by_name(x, write, name):
    s = types.SimpleNamespace(held={"a": [tnp.zeros(4)]}, count=tnp.zeros((), int)[None], variable=Variable(1.0))

    def f(x):
        write(x, s)
        return x * 2.0

    with pytest.raises(ValueError) as error:
        recompute_grad(f)(x)
    assert f"a write to {name}" in str(error.value)
    BUFFER[...] = 0.0  # outside they are as ever
    s.held["a"][0][0] = 1.0


def test_reads_of_arrays_from_outside_are_not(x):
    table = tnp.array(X)
    f = recompute_grad(functools.partial(lambda table, x: (x * table).sum() + BUFFER.sum(), table))
    assert grad(f)(x).tolist() == X.tolist()


@pytest.mark.parametrize("kind", ["generator", "legacy", "module", "made inside"])
def test_random_numbers_are_drawn_again(x, kind):
    rng = {"generator": tnp.random.default_rng(3), "legacy": tnp.random.RandomState(3)}.get(kind, tnp.random)

    def f(x):
        source = tnp.random.default_rng(5) if kind == "made inside" else rng
        noise = source.normal(size=4) + source.uniform(0.0, 1.0, 4)
        return x * noise

    def outcome(g):
        if kind == "module":
            tnp.random.seed(7)
        else:
            nonlocal rng
            rng = {"generator": tnp.random.default_rng(3), "legacy": tnp.random.RandomState(3)}.get(kind, tnp.random)
        with GradientTape() as tape:
            tape.watch(x)
            y = tnp.tanh(g(x)).sum()
        return float(plain(y)), tape.gradient(y, x).tolist(), rng.normal() if kind != "made inside" else 0

    assert outcome(recompute_grad(f)) == outcome(f)


def test_states_of_generators_are_as_if_it_ran_once(x):
    rng, other = tnp.random.default_rng(3), tnp.random.default_rng(3)
    f = recompute_grad(lambda x: x * rng.standard_normal(4))
    grad(lambda x: f(x).sum())(x)
    other.standard_normal(4)
    assert rng.random() == other.random()


def test_nested(x):
    inner = recompute_grad(lambda x: tnp.sin(x) * x)
    outer = recompute_grad(lambda x: inner(x) * inner(x * 2.0))
    plain_inner = lambda x: tnp.sin(x) * x  # noqa: E731
    same_gradients(lambda x: plain_inner(x) * plain_inner(x * 2.0), outer, x)
