"""Forward mode by itself: nesting, tapes inside and outside, in-place programs, refusals."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import ForwardAccumulator, GradientTape, NotDifferentiableError, Variable, jvp

X, T = numpy.array([0.3, -0.7, 1.1]), numpy.array([1.0, 2.0, -1.0])


@pytest.fixture
def x():
    return tnp.array(X)


def test_in_place_programs_push_tangents(x):
    with ForwardAccumulator(x, tnp.array(T)) as acc:
        y = x * x
        y[1:] = y[:-1]
        y += x
        y[0] = 5.0
        z = y[::-1]
        z *= 2.0
        tnp.add.at(y, [2, 2], x[:2])
    want = numpy.array([0, 2 * (2 * X[0] * T[0] + T[1]), 2 * (2 * X[1] * T[1] + T[2]) + T[0] + T[1]])
    numpy.testing.assert_allclose(plain(acc.jvp(y)), want)
    assert acc.jvp(tnp.ones(3)) is None
    assert acc.jvp(tnp.ones(3), unconnected_gradients="zero").tolist() == [0, 0, 0]


def test_the_primal_itself(x):
    with ForwardAccumulator(x, tnp.array(T)) as acc:
        assert acc.jvp(x).tolist() == T.tolist()
        x *= 3.0
    assert acc.jvp(x).tolist() == (3 * T).tolist()


def test_nested_accumulators(x):
    with ForwardAccumulator(x, tnp.array(T)) as outer, ForwardAccumulator(x, tnp.array(T)) as inner:
        y = tnp.exp(x) * x
    first = inner.jvp(y)
    numpy.testing.assert_allclose(plain(first), (X + 1) * numpy.exp(X) * T)
    numpy.testing.assert_allclose(plain(outer.jvp(first)), (X + 2) * numpy.exp(X) * T * T)


def test_forward_over_reverse(x):
    with ForwardAccumulator(x, tnp.array(T)) as acc:
        with GradientTape() as tape:
            tape.watch(x)
            y = (tnp.exp(x) * x).sum()
        g = tape.gradient(y, x)
    numpy.testing.assert_allclose(plain(acc.jvp(g)), (X + 2) * numpy.exp(X) * T)


def test_reverse_over_forward(x):
    with GradientTape() as tape:
        tape.watch(x)
        with ForwardAccumulator(x, tnp.array(T)) as acc:
            y = tnp.exp(x) * x
        t = acc.jvp(y)
    numpy.testing.assert_allclose(plain(tape.gradient(t, x)), (X + 2) * numpy.exp(X) * T)


def test_variables():
    v = Variable(3.0)
    with ForwardAccumulator(v, tnp.array(2.0)) as acc:
        y = v * v
    assert acc.jvp(y) == 12


def test_perturbations_are_not_confused():
    """d/dx of x * d/dy (x + y) at y = 1 is 1."""

    def f(x):
        return x * jvp(lambda y: x + y, (tnp.array(1.0),), (tnp.array(1.0),))[1]

    assert jvp(f, (tnp.array(2.0),), (tnp.array(1.0),))[1] == 1


def test_refusals(x):
    with pytest.raises(ValueError, match="a primal twice"):
        ForwardAccumulator([x, x], [tnp.ones(3), tnp.ones(3)])
    with pytest.raises(ValueError, match="a tangent"):
        ForwardAccumulator(x, tnp.ones(2))
    with pytest.raises(ValueError, match="2 tangents"):
        ForwardAccumulator(x, [tnp.ones(3), tnp.ones(3)])
    with pytest.raises(ValueError, match="no array"):
        ForwardAccumulator(3.0, 1.0)
    with pytest.raises(NotDifferentiableError, match="int64"):
        ForwardAccumulator(tnp.arange(3), tnp.ones(3))
    with (
        pytest.raises(NotDifferentiableError, match="unique has no derivative rule"),
        ForwardAccumulator(x, tnp.ones(3)),
    ):
        tnp.unique(x)


def test_a_dead_accumulator_wants_no_more(x):
    acc = ForwardAccumulator(x, tnp.ones(3))
    y = x * 2.0
    del acc
    z = y * 3.0
    assert z._cell is None or z._cell.record is None
