"""Random numbers by reparametrisation: NumPy's stream, and derivatives that are those of differences at one stream."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check, plain
from tnp_autodiff import NotDifferentiableError, grad

RNG = numpy.random.default_rng(9)
LOC, SCALE, A = RNG.normal(size=(3, 1)), RNG.uniform(0.5, 2.0, 4), RNG.uniform(0.8, 3.0, (3, 4))
SOURCES = {
    "generator": lambda np: np.random.default_rng(4),
    "legacy": lambda np: np.random.RandomState(4),
    "module": lambda np: np.random.seed(4) or np.random,
}
CASES = {
    "normal": (LOC, SCALE), "lognormal": (LOC, SCALE), "uniform": (LOC, SCALE), "laplace": (LOC, SCALE),
    "gumbel": (LOC, SCALE), "logistic": (LOC, SCALE), "exponential": (SCALE,), "rayleigh": (SCALE,), "weibull": (A,),
    "pareto": (A,), "power": (A,), "triangular": (LOC - 3, LOC, LOC + SCALE),
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", CASES)
def test_families(name, source):
    xs, batched = CASES[name], source != "module"  # which draws on for each example
    size = numpy.broadcast_shapes(*[x.shape for x in xs])
    check(lambda np, *xs: getattr(SOURCES[source](np), name)(*xs), *xs, batched=batched)
    check(lambda np, *xs: getattr(SOURCES[source](np), name)(*xs, size=(2, *size)), *xs, second=False, batched=batched)
    check(
        lambda np, *xs: getattr(SOURCES[source](np), name)(*[x.reshape(-1)[0] for x in xs]) * 1.0, *xs, batched=batched
    )


@pytest.mark.parametrize("source", SOURCES)
def test_by_name_and_partly_constant(source):
    batched = source != "module"
    check(lambda np, x: SOURCES[source](np).normal(scale=x, size=(2, 4)), SCALE, batched=batched)
    check(lambda np, x: SOURCES[source](np).normal(x, 2.0), LOC, batched=batched)
    check(lambda np, x: SOURCES[source](np).gamma(2.5, x), SCALE, batched=batched)
    check(lambda np, x: SOURCES[source](np).vonmises(0.1 * x, 2.0), SCALE, batched=batched)


def test_standard_draws_are_constants():
    check(lambda np, x: np.random.default_rng(1).standard_normal(4) * x + np.random.default_rng(2).random(4), SCALE)


def test_the_stream_goes_on_as_numpys():
    rng, other = tnp.random.default_rng(4), numpy.random.default_rng(4)

    def f(x):
        return (rng.normal(x, x) * rng.uniform(x, 2 * x)).sum()

    grad(f)(tnp.array(SCALE))
    other.normal(SCALE, SCALE)
    other.uniform(SCALE, 2 * SCALE)
    assert rng.random() == other.random()


def test_a_scale_of_zero_and_a_small_one():
    z = numpy.random.default_rng(4).standard_normal(3)
    for scale in (0.0, 1e-9):
        g = grad(lambda s: tnp.random.default_rng(4).normal(1e6, s).sum())(tnp.full(3, scale))
        numpy.testing.assert_allclose(plain(g), z, rtol=1e-12)


def test_the_gradient_of_an_expectation():
    """By the scale of E[(loc + scale z)**2] it is 2 scale."""
    rng = tnp.random.default_rng(0)
    g = grad(lambda s: (rng.normal(1.0, s, size=200_000) ** 2).mean())(2.0)
    assert float(g) == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, x: rng.gamma(x, 2.0),
        lambda rng, x: rng.vonmises(0.0, x),
        lambda rng, x: rng.beta(x, x),
        lambda rng, x: rng.multivariate_normal(x, tnp.eye(4)),
    ],
)
@pytest.mark.parametrize("source", SOURCES)
def test_what_has_no_reparametrisation_is_refused_by_name(draw, source):
    for f in (lambda x: draw(SOURCES[source](tnp), x).sum(), lambda x: draw(SOURCES[source](tnp), x[:4] * 1.0).sum()):
        with pytest.raises(
            NotDifferentiableError, match=r"(gamma|vonmises|beta|multivariate_normal) has no derivative"
        ):
            grad(f)(tnp.array(SCALE))


def test_counts_are_constants():
    check(lambda np, x: np.random.default_rng(4).poisson(5.0 + 0.0 * x) * x, SCALE)
