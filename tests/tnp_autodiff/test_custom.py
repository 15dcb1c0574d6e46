"""Constants, rules of the program's own, and functions that are run again."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import GradientTape, Variable, custom_gradient, grad, jvp, recompute_grad, stop_gradient

X = numpy.array([0.3, -0.7, 1.1, 0.5])


@pytest.fixture
def x():
    return tnp.array(X)


def test_stop_gradient_is_a_constant(x):
    numpy.testing.assert_allclose(plain(grad(lambda x: (x * stop_gradient(x)).sum())(x)), X)
    tangent = jvp(lambda x: x * stop_gradient(x), (x,), (tnp.ones(4),))[1]
    numpy.testing.assert_allclose(plain(tangent), X)
    assert stop_gradient([x, {"a": 2.0}])[1] == {"a": 2.0}


def test_a_stopped_copy_is_not_written_with_the_original(x):
    kept = stop_gradient(x)
    x += 1
    assert kept.tolist() == X.tolist()


@custom_gradient
def cube(x):
    return x**3, lambda g: g * 7.0 * x


def test_the_rule_given_is_the_one_used(x):
    numpy.testing.assert_allclose(plain(grad(lambda x: cube(x).sum())(x)), 7 * X)
    numpy.testing.assert_allclose(plain(jvp(cube, (x,), (tnp.ones(4),))[1]), 7 * X)


def test_the_second_order_is_that_of_the_rule(x):
    second = grad(lambda x: grad(lambda x: cube(x).sum())(x).sum())(x)
    assert second.tolist() == [7] * 4


def test_several_arguments_and_results(x):
    @custom_gradient
    def f(a, rest):
        (b,) = rest
        return (a * b, a + b), lambda p, q: (p * b + q, 10.0 * q)

    def g(a, b):
        y, z = f(a, [b])
        return y.sum() + (z * 2.0).sum()

    ga, gb = grad(g, (0, 1))(x, tnp.array(X + 1))
    numpy.testing.assert_allclose(plain(ga), X + 1 + 2)
    assert gb.tolist() == [20] * 4


@pytest.mark.parametrize(
    ("backward", "text"),
    [(lambda g: (g, g), "2 gradients"), (lambda g: g[:2], r"a gradient of shape \(2,\)")],
)
def test_wrong_gradients_are_refused(x, backward, text):
    with pytest.raises(ValueError, match=text):
        grad(lambda x: custom_gradient(lambda x: (x * 1.0, backward))(x).sum())(x)


def test_recomputing_gives_the_same_gradient_and_calls_twice(x):
    calls = []

    def f(x):
        calls.append(1)
        y = tnp.sin(x) * x
        y[0] *= y[1]
        return y

    want = grad(lambda x: f(x).sum())(x)
    calls.clear()
    again = recompute_grad(f)
    assert grad(lambda x: again(x).sum())(x).tolist() == want.tolist()
    assert len(calls) == 2
    second = grad(lambda x: (grad(lambda x: f(x).sum())(x) ** 2).sum())
    recomputed = grad(lambda x: (grad(lambda x: again(x).sum())(x) ** 2).sum())
    numpy.testing.assert_allclose(plain(recomputed(x)), plain(second(x)), rtol=1e-12)


def test_recomputing_sees_what_it_closes_over(x):
    w, v = tnp.array(X + 1), Variable(2.0)
    layer = recompute_grad(lambda x: tnp.tanh(x * w[:2].sum() + w[1:3].sum() * v))
    with GradientTape() as tape:
        tape.watch([x, w])
        y = layer(x).sum()
    found = tape.gradient(y, [x, w, v])
    with GradientTape() as tape:
        tape.watch([x, w])
        y = tnp.tanh(x * w[:2].sum() + w[1:3].sum() * v).sum()
    for got, want in zip(found, tape.gradient(y, [x, w, v]), strict=True):
        numpy.testing.assert_allclose(plain(got), plain(want), rtol=1e-13)


def test_recomputing_saves_the_arguments_alone(x):
    saved = []

    def step(x):
        for _ in range(20):
            x = tnp.sin(x)
        return x

    with GradientTape() as tape:
        tape.watch(x)
        y = recompute_grad(step)(x)
        event = y._cell.record.head
        while event is not None:
            saved.append(event)
            refs = event.refs_of(tape._recording)
            event = refs[0].head if refs else None
    assert len(saved) == 2  # the function, and the source


# ------------------------------------------------------------------------------------------------ variables
def test_a_rule_for_variables():
    v, w = Variable(3.0, name="v"), Variable(4.0, name="w")

    @custom_gradient
    def f(x, w):
        def backward(g, variables=None):
            assert variables == [v]
            return (g * 10.0, g * 20.0), [g * 30.0]

        return x * v * w, backward

    x = tnp.array(2.0)
    with GradientTape() as tape:
        tape.watch(x)
        y = f(x, w) * 2.0
    assert y == 48
    assert tape.gradient(y, [x, w, v]) == [20, 40, 60]


def test_variables_read_by_the_inner_function_and_their_second_order():
    v = Variable([1.0, 2.0])

    @custom_gradient
    def f(x):
        return (x * v**2).sum(), lambda g, variables: (g * v**2, [g * 2 * x * variables[0]])

    x = tnp.array([3.0, 4.0])
    with GradientTape() as outer:
        with GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        gx, gv = tape.gradient(y, [x, v])
    assert (plain(gx).tolist(), plain(gv).tolist()) == ([1, 4], [6, 16])
    assert outer.gradient(gv, v).tolist() == [6, 8]


@pytest.mark.parametrize(
    ("backward", "error", "text"),
    [
        (lambda g: g, TypeError, "reads variables, and its gradient does not know of them"),
        (lambda g, variables: g, ValueError, "a pair"),
        (lambda g, variables: (g, []), ValueError, "0 gradients by variables"),
    ],
)
def test_wrong_rules_for_variables_are_refused(x, backward, error, text):
    v = Variable(3.0)
    with pytest.raises(error, match=text):
        grad(lambda x: custom_gradient(lambda x: (x * v, backward))(x).sum())(x)


def test_variables_that_are_not_trained_need_no_rule(x):
    v = Variable(3.0, trainable=False)
    assert grad(lambda x: custom_gradient(lambda x: (x * v, lambda g: g * 5.0))(x).sum())(x).tolist() == [5] * 4
