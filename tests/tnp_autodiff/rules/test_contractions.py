"""Products of matrices and tensors, real and complex, in all combinations of dimensions."""

import numpy
import pytest

from tests.tnp_autodiff.differences import check

RNG = numpy.random.default_rng(3)
A, B, V, S = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=4), RNG.normal(size=(4, 4))
STACK, PAIR = RNG.normal(size=(2, 3, 4)), RNG.normal(size=2)
C, Z = A + 1j * B, (B - 1j * A).T.copy()

PROGRAMS = {
    "kron": (lambda np, x, y: np.kron(x, y), A, B),
    "cross": (lambda np, x, y: np.cross(x[:, :3], y[:, 1:]), A, B),
    "tensordot": (lambda np, x, y: np.tensordot(x, y, axes=([0, 1], [0, 1])) * 1.0, A, B),
    "tensordot1": (lambda np, x, y: np.tensordot(x, y.T, axes=1), A, B),
    "dot": (lambda np, x, y: np.dot(x, y.T), A, B),
    "matmul": (lambda np, x, y: x @ y.T, A, B),
    "inner": (lambda np, x, y: np.inner(x, y), A, B),
    "vdot": (lambda np, x, y: np.vdot(x, y) * 1.0, A, B),
    "vecdot": (lambda np, x, y: np.vecdot(x, y), A, B),
    "matrix @ vector": (lambda np, x, y: x @ y[0], A, B),
    "vector @ matrix": (lambda np, x, y: x[:, 0] @ y, A, B),
    "vector @ vector": (lambda np, x, y: x[0] @ y[0] * 1.0, A, B),
    "dot as a method": (lambda np, x, y: x.dot(y[0]), A, B),
    "dot with a number": (lambda np, x, y: np.dot(x, y[0, 0]), A, B),
    "einsum": (lambda np, x, y: np.einsum("ij,kj->ik", x, y), A, B),
    "einsum to a number": (lambda np, x, y: np.einsum("ij,ij", x, y) * 1.0, A, B),
    "einsum with sums of its own": (lambda np, x, y: np.einsum("ij,kl->jl", x, y), A, B),
    "einsum with ellipsis": (lambda np, x, y: np.einsum("...j,j->...", x, y[0]), A, B),
    "einsum of a diagonal": (lambda np, x, y: np.einsum("ii->i", x[:, :3]) * y[0, :3], A, B),
    "einsum of a trace": (lambda np, x, y: np.einsum("ii,jk->j", x[:, :3], y), A, B),
    "einsum by lists": (lambda np, x, y: np.einsum(x, [0, 1], y, [2, 1], [0, 2]), A, B),
    "einsum that stretches": (lambda np, x, y: np.einsum("ij,ij->ij", x, y[:, :1]), A, B),
    "einsum that stretches a sum": (lambda np, x, y: np.einsum("ij,j->i", x[:, :1], y[0]), A, B),
    "einsum that stretches sums of two": (lambda np, x, y: np.einsum("ij,ij,kj->k", x[:1], y[:, :1], x), A, B),
    "einsum that stretches a diagonal": (lambda np, x, y: np.einsum("ii,ij->j", x[:, :3], y[:1]), A, B),
    "matmul out": (lambda np, x, y: np.matmul(x, y.T, out=np.zeros((3, 3))), A, B),
    "complex matmul": (lambda np, x, y: x @ y, C, Z),
    "complex dot": (lambda np, x, y: np.dot(x, y), C, Z),
    "complex eins": (lambda np, x, y: np.einsum("ij,ji->i", x, y), C, Z),
    "complex vdot": (lambda np, x, y: np.vdot(x, y.T) * 1.0, C, Z),
    "complex mul": (lambda np, x, y: np.sum(abs(x.T * y) ** 2) * 1.0, C, Z),
    "complex re": (lambda np, x, y: x.real * y.T.imag, C, Z),
    "complex prod": (lambda np, x, y: np.prod(x) * np.cumprod(y), C, Z),
    "complex vecdot": (lambda np, x, y: np.vecdot(x, y.T), C, Z),
    "complex ngle": (lambda np, x, y: np.angle(x) * abs(y.T), C, Z),
    "complex sort": (lambda np, x, y: np.sort(x), C, Z),
    "complex cast": (lambda np, x, y: x.real.astype("c16") * y.T, C, Z),
    "real @ complex": (lambda np, x, y: x @ y, A, Z),
    "stack @ matrix": (lambda np, x, y: x @ y, STACK, RNG.normal(size=(4, 2))),
    "stack @ stack": (lambda np, x, y: x @ y, STACK, RNG.normal(size=(2, 4, 2))),
    "vector @ stack": (lambda np, x, y: x @ y, V, RNG.normal(size=(2, 4, 2))),
    "stack @ vector": (lambda np, x, y: x @ y, STACK, V),
    "dot of stacks": (lambda np, x, y: np.dot(x, y), STACK, RNG.normal(size=(2, 4, 2))),
    "dot of a stack": (lambda np, x, y: np.dot(x, y), STACK, V),
    "inner of a stack": (lambda np, x, y: np.inner(x, y), STACK, A),
    "einsum of three": (lambda np, x, y, z: np.einsum("bij,jk,b->ik", x, y, z), STACK, S, PAIR),
    "outer": (lambda np, x, y: np.outer(x, y), V, PAIR),
    "polyval": (lambda np, x, y: np.polyval(x, y), V, A),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f, *xs = PROGRAMS[name]
    check(f, *xs)
