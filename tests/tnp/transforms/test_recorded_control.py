"""`cond` and `while_loop` in compiled functions: steps of one plan, which look at the values of each call."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp import cond, jit, vmap, while_loop
from tnp.transforms.errors import ConcretizationError
from tnp_autodiff import grad


def larger(x):
    return cond(x.sum() > 0, lambda x: x * 2, lambda x: -x, x + 1.0) + 1


def halved(x):
    return while_loop(lambda s: abs(s).max() > 1, lambda s: s / 2, x)


def steps(x):
    n, value = while_loop(
        lambda s: s[1]["v"].sum() < 100, lambda s: (s[0] + 1, {"v": s[1]["v"] * 2 + 1}), (0, {"v": x})
    )
    return {"n": n, "v": value["v"]}


@pytest.mark.parametrize("f", [larger, halved], ids=["cond", "while_loop"])
def test_one_plan_follows_the_values(f):
    compiled = jit(f)
    for x in ([1.0, 2.0], [-5.0, 1.0], [300.0, 0.5], [0.25, 0.125], [-1e9, 3.0]):
        assert plain(compiled(tnp.array(x))).tobytes() == plain(f(tnp.array(x))).tobytes()
    assert len(compiled._plans) == 1


def test_structures_and_numbers_that_count():
    compiled = jit(steps)
    for x in ([1.0, 2.0], [60.0, 50.0], [0.0, 0.0]):
        want, got = steps(tnp.array(x)), compiled(tnp.array(x))
        assert plain(got["n"]) == want["n"] and plain(got["v"]).tobytes() == plain(want["v"]).tobytes()
    assert len(compiled._plans) == 1


def test_what_follows_and_what_comes_before_is_part_of_the_plan():
    @jit
    def f(x):
        y = tnp.zeros(3)
        y[:2] = cond(x[0] > 1, tnp.sqrt, tnp.square, x)
        y[2] = y[:2].sum()
        return y

    for x in ([4.0, 9.0], [0.5, 2.0]):
        parts = numpy.sqrt(x) if x[0] > 1 else numpy.square(x)
        assert plain(f(tnp.array(x))).tolist() == [*parts, parts.sum()]


def test_under_vmap_and_in_a_compiled_vmap():
    xs = numpy.array([[1.0, 2.0], [-5.0, 1.0], [7.0, 0.0]])
    want = numpy.stack([plain(larger(tnp.array(x))) for x in xs])
    for f in (vmap(jit(larger)), jit(vmap(larger))):
        for _ in range(2):
            numpy.testing.assert_array_equal(plain(f(tnp.array(xs))), want)


def test_arrays_that_the_functions_close_over_are_refused():
    @jit
    def f(x):
        y = x * 2
        return cond(x[0] > 0, lambda v: v + y, lambda v: v, x)

    with pytest.raises(ConcretizationError, match="an argument of the callback"):
        f(tnp.ones(2))


def test_functions_may_not_write_to_what_they_are_given():
    def write(v):
        v[0] = 1.0
        return v

    with pytest.raises(ValueError, match="read-only"):
        jit(lambda x: cond(x[0] > 0, write, write, x))(tnp.ones(2))


def test_branches_of_other_shapes_are_refused_when_they_are_taken():
    f = jit(lambda x: cond(x[0] > 0, lambda v: v, lambda v: v[:1], x))
    assert f(tnp.ones(2)).tolist() == [1, 1]
    with pytest.raises(ValueError, match="cond gives something else"):
        f(-tnp.ones(2))
    assert f(tnp.ones(2)).tolist() == [1, 1]


def test_derivatives():
    x = tnp.array([1.0, 2.0])
    assert grad(lambda x: jit(larger)(x).sum())(x).tolist() == [2, 2]
    with pytest.raises(ConcretizationError):  # its derivative would look at values, too
        jit(grad(lambda x: larger(x).sum()))(x)
