"""cond, while_loop and scan: as plain functions, under vmap, under tapes."""

import numpy
import pytest

import tnp
from tnp_autodiff import grad

X = numpy.array([4.0, -3.0, 0.25, -0.5])


def test_cond_runs_one_branch():
    ran = []
    got = tnp.cond(tnp.array(3.0) > 2, lambda x: ran.append(1) or x * 2, lambda x: ran.append(2) or x, 5)
    assert got == 10 and ran == [1]
    assert tnp.cond(False, lambda: 1, lambda: 2) == 2


def test_cond_of_examples():
    got = tnp.vmap(lambda x: tnp.cond(x > 0, tnp.sqrt, lambda x: -x, x))(tnp.array(X))
    assert numpy.array_equal(got, [2.0, 3.0, 0.5, 0.5])


def test_cond_of_structures():
    def f(x):
        return tnp.cond(x[0] > 0, lambda x: {"a": x * 2, "b": x.sum()}, lambda x: {"a": x, "b": 0.0}, x)

    got = tnp.vmap(f)(tnp.array(X.reshape(2, 2)))
    assert numpy.array_equal(got["a"], [[8, -6], [0.5, -1]]) and numpy.array_equal(got["b"], [1, -0.25])


def test_branches_that_write_to_their_operands():
    def clear(x):
        x[0] = 0
        return x

    got = tnp.vmap(lambda x: (tnp.cond(x[0] > 0, clear, lambda x: x, x), x))(tnp.array(X.reshape(2, 2) - 1))
    assert numpy.array_equal(got[0], [[0, -4], [-0.75, -1.5]]) and numpy.array_equal(got[1], X.reshape(2, 2) - 1)


def test_branches_of_other_shapes():
    with pytest.raises(ValueError, match="results differ"):
        tnp.vmap(lambda x: tnp.cond(x > 0, lambda: tnp.zeros(2), lambda: tnp.zeros(3)))(tnp.array(X))


def test_the_branch_not_taken_has_no_derivative():
    f = lambda x: tnp.cond(x > 0, tnp.sqrt, lambda x: x * x, x)  # noqa: E731
    assert numpy.array_equal(tnp.vmap(grad(f))(tnp.array([4.0, -3.0, 0.0])), [0.25, -6.0, 0.0])
    assert grad(f)(tnp.array(4.0)) == 0.25


def test_while_loop():
    assert tnp.while_loop(lambda v: v < 100, lambda v: v * 3, 1) == 243
    got = tnp.vmap(lambda n: tnp.while_loop(lambda v: v < 100, lambda v: v * n, n))(tnp.array([2, 3, 200]))
    assert got.tolist() == [128, 243, 200]


def test_while_loop_of_structures():
    def gcd(a, b):
        return tnp.while_loop(lambda v: v[1] != 0, lambda v: (v[1], v[0] % v[1]), (a, b))[0]

    a, b = numpy.array([12, 35, 7, 0]), numpy.array([18, 21, 7, 5])
    assert numpy.array_equal(tnp.vmap(gcd)(tnp.array(a), tnp.array(b)), numpy.gcd(a, b))
    assert tnp.vmap(tnp.vmap(gcd))(tnp.array(a.reshape(2, 2)), tnp.array(b.reshape(2, 2))).tolist() == [[6, 7], [7, 5]]


def test_fori_loop():
    assert tnp.fori_loop(1, 5, lambda i, v: v * i, 1) == 24
    assert tnp.fori_loop(5, 1, lambda i, v: v * i, 1) == 1

    def powers(x, n):
        return tnp.fori_loop(0, n, lambda i, v: {"p": v["p"] * x, "s": v["s"] + i}, {"p": x * 0 + 1, "s": 0})

    got = tnp.vmap(powers)(tnp.array([2.0, 3.0, 5.0]), tnp.array([3, 0, 2]))
    assert got["p"].tolist() == [8, 1, 25] and got["s"].tolist() == [3, 0, 1]
    slope = tnp.vmap(grad(lambda x, n: powers(x, n)["p"]))(tnp.array([2.0, 3.0, 5.0]), tnp.array([3, 0, 2]))
    assert slope.tolist() == [12, 0, 10]


def test_newtons_method_and_its_derivative():
    def root(a):
        step = lambda v: (0.5 * (v[0] + a / v[0]), v[0])  # noqa: E731
        return tnp.while_loop(lambda v: abs(v[0] - v[1]) > 1e-14, step, (a * 0.5 + 0.5, a * 0.0 - 1))[0]

    a = tnp.array([1.0, 2.0, 50.0])
    numpy.testing.assert_allclose(tnp.vmap(root)(a), numpy.sqrt([1, 2, 50]), rtol=1e-15)
    numpy.testing.assert_allclose(tnp.vmap(grad(root))(a), 0.5 / numpy.sqrt([1, 2, 50]), rtol=1e-12)


def test_scan():
    carry, ys = tnp.scan(lambda c, x: (c + x, c * x), 0.0, tnp.array([1.0, 2.0, 3.0]))
    assert carry == 6 and ys.tolist() == [0, 2, 9]
    carry, ys = tnp.scan(lambda c, x: (c + x, c), 0.0, tnp.array([1.0, 2.0, 3.0]), reverse=True)
    assert carry == 6 and ys.tolist() == [5, 3, 0]
    carry, ys = tnp.scan(lambda c, x: (c * 2, None), 1, length=5)
    assert carry == 32 and ys is None
    carry, ys = tnp.scan(lambda c, x: (c + x["a"], (c, x["b"])), 0, {"a": tnp.arange(3), "b": tnp.ones((3, 2))})
    assert carry == 3 and ys[0].tolist() == [0, 0, 1] and ys[1].shape == (3, 2)


def test_scan_of_examples():
    x = numpy.arange(6.0).reshape(2, 3)
    carry, ys = tnp.vmap(lambda x: tnp.scan(lambda c, v: (c * 0.5 + v, c), x[0], x))(tnp.array(x))
    rows = [tnp.scan(lambda c, v: (c * 0.5 + v, c), r[0], r) for r in x]
    assert numpy.array_equal(carry, [r[0] for r in rows]) and numpy.array_equal(ys, [r[1] for r in rows])


def test_gradient_of_scan():
    got = grad(lambda x: tnp.scan(lambda c, v: (c * v, c), tnp.array(1.0), x)[0])(tnp.array([2.0, 3.0, 4.0]))
    assert got.tolist() == [12, 8, 6]


@pytest.mark.parametrize("call", [
    lambda: tnp.scan(lambda c, x: (c, x), 0, (tnp.arange(3), tnp.arange(2))),
    lambda: tnp.scan(lambda c, x: (c, x), 0),
    lambda: tnp.scan(lambda c, x: (c, x), 0, tnp.arange(3), length=2),
])  # fmt: skip
def test_lengths_of_scan(call):
    with pytest.raises(ValueError, match="scan: lengths"):
        call()
