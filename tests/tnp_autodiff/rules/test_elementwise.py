"""Every elementwise operation, real and complex, at ordinary points and at those where a convention decides."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check, plain
from tnp.core import elementwise
from tnp_autodiff import grad, jvp
from tnp_autodiff.recorder import PRIMITIVES

RNG = numpy.random.default_rng(1)
A, B, V = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=4)
POSITIVE, INSIDE = RNG.uniform(0.3, 2.0, (3, 4)), RNG.uniform(-0.9, 0.9, (3, 4))
C, Z = A + 1j * B, B[::-1] - 1j * A

ANYWHERE = """
sin cos tan exp exp2 expm1 sinh cosh tanh arctan arcsinh negative positive square absolute cbrt fabs degrees radians
deg2rad rad2deg sinc
"""
AT = {
    **dict.fromkeys(ANYWHERE.split(), A),
    **dict.fromkeys("sqrt log log2 log10 log1p reciprocal".split(), POSITIVE),
    **dict.fromkeys("arcsin arccos arctanh".split(), INSIDE),
    "arccosh": POSITIVE + 1.5,
}
COMPLEX = """
sin cos tan exp sqrt log sinh cosh tanh arcsinh arctan square reciprocal absolute conjugate real imag angle negative
log10 log1p expm1 sign arcsin arccos arctanh arccosh exp2 log2 positive
"""
PAIRS = """
add subtract multiply divide maximum minimum fmax fmin hypot arctan2 logaddexp logaddexp2 copysign remainder fmod
"""


@pytest.mark.parametrize("name", AT)
def test_one_operand(name):
    check(lambda np, x: getattr(np, name)(x), AT[name])


@pytest.mark.parametrize("name", COMPLEX.split())
def test_complex(name):
    check(lambda np, x: getattr(np, name)(x), C)


@pytest.mark.parametrize("name", PAIRS.split())
def test_two_operands(name):
    check(lambda np, x, y: getattr(np, name)(x, y), A, B)
    check(lambda np, x, y: getattr(np, name)(x, y), A, V)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_complex_operands(name):
    check(lambda np, x, y: getattr(np, name)(x, y), A, C)
    check(lambda np, x, y: getattr(np, name)(x, y), C, Z)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, 2.5, -2])
def test_powers(exponent):
    check(lambda np, x: x**exponent, POSITIVE)


PROGRAMS = {
    "x ** y": (lambda np, x, y: x**y, POSITIVE, V),
    "complex x ** y": (lambda np, x, y: x**y, C, Z),
    "float_power": (lambda np, x, y: np.float_power(x, y), POSITIVE, V),
    "2 ** x": (lambda np, x: 2.0**x, A),
    "operators": (lambda np, x, y: (2 - x) / y + 3 / x * y - -x % 2.0 + abs(y), A, B),
    "where": (lambda np, x, y: np.where(x > 0, x * y, y), A, B),
    "where of numbers": (lambda np, x: np.where(x > 0, x, 2.0), A),
    "clip": (lambda np, x: np.clip(x, -0.5, 0.6), A),
    "clip above": (lambda np, x: np.clip(x, None, 0.6), A),
    "clip below": (lambda np, x: x.clip(-0.5), A),
    "clip by name": (lambda np, x: np.clip(x, max=0.5), A),
    "clip between arrays": (lambda np, x, y, z: np.clip(x, y, z), A, A - 0.5 * POSITIVE, A + 0.5),
    "astype": (lambda np, x: x.astype("c16") * (1 + 2j), A),
    "out": (lambda np, x, y: np.multiply(x, y, out=np.zeros((3, 4))), A, B),
    "out and where": (lambda np, x, y: np.multiply(x, y, out=np.ones((3, 4)), where=np.abs(x) > 0.3), A, B),
    "dtype": (lambda np, x, y: np.multiply(x, y, dtype="c16"), A, B),
    "divmod": (lambda np, x, y: divmod(x, y)[1], A, B),
    "modf": (lambda np, x, y: np.modf(x)[0] * y, A, B),
    "outer": (lambda np, x, y: np.multiply.outer(x, y), A, V),
    "real part of a cast": (lambda np, x, z: x.real.astype("c16") * z, C, Z),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f, *xs = PROGRAMS[name]
    check(f, *xs)


def test_every_primitive_has_a_rule_or_is_known_to_have_none():
    without = {p.name for p in elementwise.PRIMITIVES.values() if p not in PRIMITIVES}
    integers_and_truths = """
    less less_equal equal not_equal greater greater_equal logical_and logical_or logical_xor logical_not bitwise_and
    bitwise_or bitwise_xor invert left_shift right_shift isnan isinf isfinite bitwise_count gcd lcm
    """
    assert without == {*integers_and_truths.split(), "nextafter"}


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "rint", "sign"])
def test_steps_have_derivative_zero(name):
    x = tnp.array(A)
    assert plain(grad(lambda x: (getattr(tnp, name)(x) * x).sum())(x)).tolist() == getattr(numpy, name)(A).tolist()


# ------------------------------------------------------------------------------------------------ conventions
def slope(f, x):
    """The derivative at a number, by both modes."""
    back = grad(lambda x: f(x).sum())(tnp.array([x]))
    forth = jvp(f, (tnp.array([x]),), (tnp.ones(1),))[1]
    assert plain(back).tolist() == plain(forth).tolist()
    return float(plain(back)[0])


@pytest.mark.parametrize(
    ("f", "at", "value"),
    [
        (lambda x: tnp.maximum(x, 1.0), 1.0, 0.5),
        (lambda x: tnp.minimum(x, 1.0), 1.0, 0.5),
        (lambda x: tnp.maximum(x, x), 1.0, 1.0),
        (lambda x: tnp.fmax(x, tnp.nan), 1.0, 1.0),
        (lambda x: tnp.clip(x, 0.0, 1.0), 0.0, 1.0),
        (lambda x: tnp.clip(x, 0.0, 1.0), 1.0, 1.0),
        (lambda x: tnp.clip(x, None, 1.0), 1.0, 1.0),
        (abs, 0.0, 0.0),
        (tnp.fabs, 0.0, 0.0),
        (lambda x: x**0, 0.0, 0.0),
        (lambda x: x**1, 0.0, 1.0),
        (lambda x: x**2, 0.0, 0.0),
        (lambda x: tnp.power(0.0, x), 2.0, 0.0),
        (lambda x: tnp.hypot(x, 0.0), 0.0, 0.0),
        (lambda x: tnp.logaddexp(x, -tnp.inf), -tnp.inf, 0.5),
        (tnp.sinc, 0.0, 0.0),
        (tnp.sqrt, 0.0, numpy.inf),
        (lambda x: tnp.where(x > 0, tnp.sqrt(x), 0.0), 0.0, 0.0),
        (lambda x: tnp.where(x > 0, tnp.log(x), 0.0), -1.0, 0.0),
        (lambda x: tnp.where(x > 0, x * tnp.log(x), 0.0), 0.0, 0.0),
        (lambda x: tnp.where(x < 1, tnp.exp(x), x), 1000.0, 1.0),
        (lambda x: tnp.where(x == 0, 1.0, tnp.sin(x) / x), 0.0, 0.0),
    ],
)
def test_conventions(f, at, value):
    with numpy.errstate(all="ignore"):
        assert slope(f, at) == value


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_arctan2_of_very_small_and_very_large_operands(size):
    x, y = tnp.array([3 * size]), tnp.array([-4 * size])
    f = lambda x, y: tnp.arctan2(x, y).sum()  # noqa: E731
    want = [-0.16 / size, -0.12 / size]
    numpy.testing.assert_allclose([float(plain(g)[0]) for g in grad(f, (0, 1))(x, y)], want)
    along = [jvp(f, (x, y), (tnp.ones(1) * a, tnp.ones(1) * (1 - a)))[1] for a in (1.0, 0.0)]
    numpy.testing.assert_allclose([float(plain(t)) for t in along], want)


def test_the_second_derivative_of_sinc_at_zero():
    second = grad(grad(lambda x: tnp.sinc(x).sum()))
    with pytest.raises(TypeError, match="no single real number"):
        second(tnp.zeros(2))
    assert float(grad(grad(tnp.sinc))(tnp.array(0.0))) == pytest.approx(-(numpy.pi**2) / 3, rel=1e-12)


def test_a_cotangent_of_zero_is_no_constant():
    """The second derivative of (3x)**2 / 2 at 0, where the first cotangent is 0."""
    assert float(grad(grad(lambda x: 0.5 * (x * 3.0) ** 2))(tnp.array(0.0))) == 9.0
    assert float(grad(grad(lambda x: x * x * x))(tnp.array(0.0))) == 0.0


def test_large_arrays_with_infinite_factors():
    x = tnp.zeros(10_000)
    x[::2] = 4.0
    with numpy.errstate(all="ignore"):
        g = grad(lambda x: tnp.where(x > 0, tnp.sqrt(x), 0.0).sum())(x)
    assert plain(g).tolist() == [0.25, 0.0] * 5_000


def test_float32_stays_float32():
    x = tnp.array(A, "f4")
    g = grad(lambda x: (tnp.exp(x) * 2.0).sum())(x)
    assert g.dtype == numpy.float32
    numpy.testing.assert_allclose(plain(g), 2 * numpy.exp(A), rtol=1e-6)
