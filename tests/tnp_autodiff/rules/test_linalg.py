"""Linear algebra: solutions, decompositions, norms; real and complex, stacked, at repeated values and at zero."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check, plain
from tnp_autodiff import NotDifferentiableError, grad, jvp

RNG = numpy.random.default_rng(6)
S, T = RNG.normal(size=(3, 3)) + 2 * numpy.eye(3), RNG.normal(size=(3, 3))
TALL, WIDE, V = RNG.normal(size=(4, 3)), RNG.normal(size=(2, 3)), RNG.normal(size=3)
STACK = RNG.normal(size=(2, 3, 3)) + 2 * numpy.eye(3)
C = S + 1j * T


def symmetric(np, x):
    return x @ np.swapaxes(x, -1, -2) + np.eye(3)


def hermitian(np, x):
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(3)


PROGRAMS = {
    "solve": (lambda np, a, b: np.linalg.solve(a, b), S, T),
    "solve vector": (lambda np, a, b: np.linalg.solve(a, b), S, V),
    "solve stack": (lambda np, a, b: np.linalg.solve(a, b), STACK, T),
    "solve complex": (lambda np, a, b: np.linalg.solve(a, b), C, T),
    "inv": (lambda np, a: np.linalg.inv(a), S),
    "inv complex": (lambda np, a: np.linalg.inv(a), C),
    "det": (lambda np, a: np.linalg.det(a) * 1.0, S),
    "det stack": (lambda np, a: np.linalg.det(a) * 1.0, STACK),
    "det complex": (lambda np, a: np.linalg.det(a) * 1.0, C),
    "slogdet": (lambda np, a: np.linalg.slogdet(a)[1] * 1.0, S),
    "slogdet complex": (lambda np, a: np.linalg.slogdet(a)[0] * (1 + np.linalg.slogdet(a)[1]), C),
    "svd of a symmetric matrix": (
        lambda np, a: np.linalg.svd(a + a.T, hermitian=True).S * abs(np.linalg.svd(a + a.T, hermitian=True).U),
        S,
    ),
    "singular values of a symmetric matrix": (
        lambda np, a: np.linalg.svd(a + np.conj(a.T), compute_uv=False, hermitian=True),
        C,
    ),
    "pinv of a symmetric matrix": (lambda np, a: np.linalg.pinv(a + a.T, hermitian=True), S),
    "cholesky": (lambda np, x: np.linalg.cholesky(symmetric(np, x)), S),
    "cholesky upper": (lambda np, x: np.linalg.cholesky(symmetric(np, x), upper=True), S),
    "cholesky complex": (lambda np, x: np.linalg.cholesky(hermitian(np, x)), C),
    "qr": (lambda np, a: np.linalg.qr(a)[0] @ (np.linalg.qr(a)[1] * 2.0 + 1.0), S),
    "qr tall": (lambda np, a: np.linalg.qr(a)[0] * np.linalg.qr(a)[1].sum(), TALL),
    "qr wide": (lambda np, a: np.linalg.qr(a)[1] * np.linalg.qr(a)[0].sum(), WIDE),
    "qr r": (lambda np, a: np.linalg.qr(a, mode="r"), TALL),
    "qr complex": (lambda np, a: np.linalg.qr(a)[0] @ (np.linalg.qr(a)[1] * 2.0 + 1.0), C),
    "qr complex, complete": (lambda np, a: np.linalg.qr(a, mode="complete")[0] * np.linalg.qr(a)[1].sum(), C),
    "qr complex tall": (lambda np, a: np.linalg.qr(a)[0] * np.linalg.qr(a)[1].sum(), C[:, :2]),
    "qr complex wide": (lambda np, a: np.linalg.qr(a)[1] * np.linalg.qr(a)[0].sum(), C[:2]),
    "qr complex stack": (lambda np, a: np.linalg.qr(a)[0] * np.linalg.qr(a)[1], numpy.array([C, C.T])),
    "qr complex r": (lambda np, a: np.linalg.qr(a, mode="r"), C[:, :2]),
    "singular values": (lambda np, a: np.linalg.svd(a, compute_uv=False), TALL),
    "svdvals": (lambda np, a: np.linalg.svdvals(a), WIDE),
    "svd": (lambda np, a: np.linalg.svd(a)[0] ** 2 @ np.diag(np.linalg.svd(a)[1]) + np.linalg.svd(a)[2] ** 2, S),
    "svd tall": (lambda np, a: np.linalg.svd(a, full_matrices=False)[0] ** 2, TALL),
    "svd wide": (lambda np, a: np.linalg.svd(a, full_matrices=False)[2] ** 2, WIDE),
    "svd full, thin part": (lambda np, a: np.linalg.svd(a)[0][:, :3] ** 2 * np.linalg.svd(a)[1], TALL),
    "svd complex": (lambda np, a: abs(np.linalg.svd(a)[0]) ** 2 + abs(np.linalg.svd(a)[2]) ** 2, C),
    "svd complex, back": (
        lambda np, a: np.linalg.svd(a)[0] @ np.diag(np.linalg.svd(a)[1] ** 2) @ np.linalg.svd(a)[2],
        C,
    ),
    "eigh": (lambda np, x: np.linalg.eigh(symmetric(np, x))[1] ** 2 @ np.linalg.eigh(symmetric(np, x))[0], S),
    "eigh complex": (lambda np, x: abs(np.linalg.eigh(hermitian(np, x))[1]) ** 2, C),
    "eigvalsh": (lambda np, x: np.linalg.eigvalsh(symmetric(np, x)), S),
    "eig": (lambda np, x: abs(np.linalg.eig(x)[1]) ** 2 * np.linalg.eig(x)[0], T),
    "eig complex": (lambda np, x: abs(np.linalg.eig(x)[1]) ** 2 * np.linalg.eig(x)[0], C),
    "eigvals": (lambda np, x: np.linalg.eigvals(x), T),
    "pinv": (lambda np, a: np.linalg.pinv(a), TALL),
    "pinv wide": (lambda np, a: np.linalg.pinv(a), WIDE),
    "lstsq": (lambda np, a, b: np.linalg.lstsq(a, b)[0], TALL, RNG.normal(size=4)),
    "matrix_power": (lambda np, a: np.linalg.matrix_power(a, 5), S),
    "matrix_power negative": (lambda np, a: np.linalg.matrix_power(a, -3), S),
    "multi_dot": (lambda np, a, b: np.linalg.multi_dot([a, b, a]), S, T),
    "cond": (lambda np, a: np.linalg.cond(a) * 1.0, S),
    "norm": (lambda np, a: np.linalg.norm(a) * 1.0, S),
    "norm of a vector": (lambda np, a: np.linalg.norm(a) * 1.0, V),
    "norm complex": (lambda np, a: np.linalg.norm(a) * 1.0, C),
    "vector_norm": (lambda np, a: np.linalg.vector_norm(a, axis=1), S),
    "matrix_norm": (lambda np, a: np.linalg.matrix_norm(a), STACK),
    "tensorsolve": (lambda np, a: np.linalg.tensorsolve(a, np.ones(3)), S),
    "linalg.outer": (lambda np, a: np.linalg.outer(a, a), V),
    "linalg.trace": (lambda np, a: np.linalg.trace(a), STACK),
}
PROGRAMS |= {
    f"norm {order} along an axis": (lambda np, a, order=order: np.linalg.norm(a, order, axis=1), S)
    for order in (1, 2, 3, 0.5, numpy.inf, -numpy.inf)
}
PROGRAMS |= {
    f"norm {order} of matrices": (
        lambda np, a, order=order: np.linalg.norm(a, order, (1, 2), True),
        STACK,
    )
    for order in ("fro", "nuc", 1, -1, 2, -2, numpy.inf, -numpy.inf)
}
PROGRAMS |= {
    f"cond {order}, {kind}": (lambda np, a, order=order: np.linalg.cond(a, order) * 1.0, x)
    for order in ("fro", 1, -1, 2, -2, numpy.inf, -numpy.inf)
    for kind, x in [("real", S), ("complex", C), ("stack", STACK)]
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f, *xs = PROGRAMS[name]
    check(f, *xs, tolerance=1e-5)


@pytest.mark.parametrize("order", [None, 1, 2, 3, numpy.inf])
def test_the_norm_is_flat_at_zero(order):
    g = grad(lambda x: tnp.linalg.norm(x, order))(tnp.zeros(3))
    assert g.tolist() == [0, 0, 0]


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, numpy.inf, -numpy.inf])
def test_norms_of_matrices_are_flat_at_zero(order):
    f = lambda a: tnp.linalg.norm(a, order)  # noqa: E731
    zeros, ones = tnp.zeros((2, 3)), tnp.ones((2, 3))
    assert plain(grad(f)(zeros)).tolist() == [[0, 0, 0]] * 2
    assert jvp(f, (zeros,), (ones,))[1] == 0


@pytest.mark.parametrize("order", [0.5, 1, 1.5, 2, 3, -1, -2.5])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_the_norm_does_not_change_with_an_element_at_zero(order):
    f = lambda x: tnp.linalg.norm(x, order)  # noqa: E731
    x = numpy.array([0.0, 2.0, -1.0])
    rest = [0.0, *plain(grad(f)(tnp.array(x[1:])))] if order > 0 else [0, 0, 0]
    numpy.testing.assert_allclose(plain(grad(f)(tnp.array(x))), rest)
    numpy.testing.assert_allclose(plain(jvp(f, (tnp.array(x),), (tnp.ones(3),))[1]), sum(rest))
    numpy.testing.assert_allclose(plain(grad(f)(tnp.array(x + 0j))), rest)


def test_the_diagonal_of_r_stays_real():
    a = numpy.array([[1 + 1j, 2], [3j, 1 - 2j], [1, 1j]])
    turned = jvp(lambda a: tnp.linalg.qr(a)[1], (tnp.array(a),), (tnp.array(a * 1j),))[1]
    numpy.testing.assert_allclose(plain(turned).diagonal(), 0, atol=1e-14)


def test_the_determinant_of_a_singular_matrix():
    a = numpy.array([[1.0, 2.0], [2.0, 4.0]])
    numpy.testing.assert_allclose(plain(grad(tnp.linalg.det)(a)), [[4, -2], [-2, 1]], atol=1e-14)
    assert plain(grad(tnp.linalg.det)(numpy.zeros((3, 3)))).tolist() == numpy.zeros((3, 3)).tolist()


def test_repeated_eigenvalues_give_no_nan():
    def f(a):
        w, v = tnp.linalg.eigh(a)
        return (w * w).sum() + (v @ tnp.swapaxes(v, 0, 1)).sum()

    numpy.testing.assert_allclose(plain(grad(f)(numpy.eye(3))), 2 * numpy.eye(3), atol=1e-14)
    singular = grad(lambda a: tnp.linalg.svd(a)[1].sum())(numpy.eye(2))
    numpy.testing.assert_allclose(plain(singular), numpy.eye(2), atol=1e-14)


def test_vectors_beyond_the_singular_values_are_refused():
    with pytest.raises(NotDifferentiableError, match="full_matrices=False"):
        grad(lambda a: (tnp.linalg.svd(a)[0] ** 3).sum())(TALL)
