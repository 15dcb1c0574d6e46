"""Every batching rule against a loop over the examples."""

import numpy
import pytest

import tnp
from tests.tnp.transforms.looped import check, flatten

rng = numpy.random.default_rng(5)
V = rng.standard_normal((5, 4))
M = rng.standard_normal((5, 3, 4))
S = rng.standard_normal((5, 3, 3))
T = rng.standard_normal((5, 2, 3, 4))
N = rng.standard_normal(5)
I = rng.integers(-5, 5, (5, 4))
J = rng.integers(0, 3, (5, 4))
P = numpy.abs(M) + 0.5
C = M + 1j * rng.standard_normal(M.shape)
B = M > 0
SPD = S @ numpy.swapaxes(S, 1, 2) + 3 * numpy.eye(3)

ONE = {
    # elementwise
    "operators": (lambda np, x: -x + 2 * x - x / 3 + abs(x) - x**2 + x * x // 1 % 3, M),
    "scalars": (lambda np, x: x * 2 + x**3, N),
    "exp": (lambda np, x: np.tanh(np.exp(np.sin(x))), M),
    "comparisons": (lambda np, x: (x > 0, x <= x[0], x == x, ~(x < 0)), M),
    "broadcast": (lambda np, x: x * x[0] + x[:, :1] - x.sum(), M),
    "divmod": (lambda np, x: np.divmod(x, 0.7), M),
    "divmod operator": (lambda np, x: divmod(x, 3), I),
    "modf": (lambda np, x: np.modf(x), M),
    "frexp": (lambda np, x: np.frexp(x), M),
    "integers": (lambda np, x: (x & 3, x | 1, x ^ x[0], x << 1, ~x, x // 3, x % 3), I),
    "promotion": (lambda np, x: (x + 1.5, x + 1, x.astype(np.float32) + 1.5, x.sum() * 1.5), I),
    "where": (lambda np, x: np.where(x > 0, x, x[0]), M),
    "where shared": (lambda np, x: np.where(np.arange(4) > 1, x, 0), M),
    "clip": (lambda np, x: (np.clip(x, -0.5, 0.5), x.clip(0), np.clip(x, x[0], None)), M),
    "nan_to_num": (lambda np, x: np.nan_to_num(np.log(x)), M),
    "ufunc where": (lambda np, x: np.add(x, 1, where=x > 0, out=np.zeros((3, 4))), M),
    "ufunc out": (lambda np, x: np.multiply(x, x, out=np.empty((3, 4))), M),
    "casts": (lambda np, x: (x.astype(int), x.astype("f4"), x.astype(complex), x.astype(bool)), M),
    "isclose": (lambda np, x: (np.isclose(x, x[0]), np.isfinite(x), np.isnan(x)), M),
    "round": (lambda np, x: (np.round(x, 1), x.round(2), np.fix(x), np.rint(x)), M),
    "complex": (lambda np, x: (x.real, x.imag, np.conj(x), np.abs(x), np.angle(x), x * 1j, np.real(x), np.imag(x)), C),
    "imag of real": (lambda np, x: x.imag + x, M),
    "select": (lambda np, x: np.select([x > 1, x < -1], [x, x * x], 0.0), M),
    "piecewise": (lambda np, x: np.piecewise(x, [x < 0, x >= 0], [-1.0, 1.0]), V),
    "choose": (lambda np, x: np.choose(x, [x, x * 10, x * 100]), J),
    "sinc": (lambda np, x: np.sinc(x), M),
    "bool": (lambda np, x: (x & x[0], x | True, x.sum(), x.any(), x.all(0), np.logical_not(x)), B),
    # reductions
    "sum": (lambda np, x: (x.sum(), x.sum(0), x.sum(axis=1), np.sum(x, axis=(0, 1)), x.sum(-1, keepdims=True)), M),
    "sum keepdims": (lambda np, x: (np.sum(x, keepdims=True), x.mean(keepdims=True)), T),
    "sum tuple": (lambda np, x: (x.sum((0, 2)), x.sum((-1, 0)), x.mean((1, 2)), x.max((0, 1))), T),
    "prod": (lambda np, x: (x.prod(), x.prod(1)), M),
    "max": (lambda np, x: (x.max(), x.min(0), np.max(x, 1), np.ptp(x), np.ptp(x, axis=0)), M),
    "mean": (lambda np, x: (x.mean(), np.mean(x, 0), x.var(), x.std(1), np.var(x, axis=0, ddof=1)), M),
    "mean of integers": (lambda np, x: (x.mean(), x.sum(), x.max(), x.prod()), I),
    "scalars reduced": (lambda np, x: (np.sum(x), np.max(x), np.mean(x), np.cumsum(x), np.median(x), np.any(x)), N),
    "reduced where": (lambda np, x: (x.sum(where=x > 0), x.max(0, where=x > 0, initial=0.0)), M),
    "any": (lambda np, x: ((x > 0).any(), (x > 0).all(1), np.any(x > 1, axis=0), np.count_nonzero(x > 0)), M),
    "count": (lambda np, x: (np.count_nonzero(x), np.count_nonzero(x, axis=0)), J),
    "arg": (lambda np, x: (x.argmax(), x.argmin(0), np.argmax(x, axis=1), np.argmin(x, 1, keepdims=True)), M),
    "median": (lambda np, x: (np.median(x), np.median(x, axis=0), np.median(x, axis=(0, 1), keepdims=True)), M),
    "quantile": (
        lambda np, x: (np.quantile(x, 0.3), np.quantile(x, [0.1, 0.5], axis=1), np.percentile(x, 40, axis=0)),
        M,
    ),
    "average": (lambda np, x: (np.average(x), np.average(x, axis=0), np.average(x, axis=1, weights=[1, 2, 3, 4])), M),
    "nan": (lambda np, x: (np.nansum(x), np.nanmean(x, axis=0), np.nanmax(x), np.nanstd(x), np.nanmedian(x)), M),
    "nan more": (
        lambda np, x: (np.nanmin(x, 1), np.nanprod(x), np.nanvar(x, axis=1), np.nancumsum(x), np.nanargmax(x)),
        M,
    ),
    "reduce": (lambda np, x: (np.add.reduce(x), np.maximum.reduce(x, axis=1), np.multiply.reduce(x, axis=None)), M),
    "reduceat": (lambda np, x: np.add.reduceat(x, [0, 2], axis=1), M),
    "ufunc outer": (lambda np, x: np.subtract.outer(x, x[:2]), V),
    "cumsum": (lambda np, x: (np.cumsum(x), x.cumsum(0), np.cumprod(x, axis=1), np.cumsum(x, -1)), M),
    "accumulate": (lambda np, x: (np.maximum.accumulate(x), np.add.accumulate(x, axis=1)), M),
    "trace": (lambda np, x: (np.trace(x), x.trace(1), np.diagonal(x), x.diagonal(1)), M),
    "cov": (lambda np, x: np.corrcoef(x), M),
    # movement
    "reshape": (lambda np, x: (x.reshape(12), x.reshape(4, 3), np.reshape(x, (2, -1)), x.T.reshape(-1), x.ravel()), M),
    "reshape F": (lambda np, x: (x.reshape(12, order="F"), np.ravel(x, "F"), x.flatten("F"), x.T.ravel("K")), M),
    "transpose": (lambda np, x: (x.T, np.transpose(x, (2, 0, 1)), x.swapaxes(0, 1), np.moveaxis(x, 0, -1)), T),
    "axes": (lambda np, x: (np.expand_dims(x, 1), x[None], np.squeeze(x[:1]), np.atleast_3d(x), np.rollaxis(x, 1)), M),
    "flip": (lambda np, x: (np.flip(x), np.flip(x, 0), np.fliplr(x), np.rot90(x), x[::-1, ::-2]), M),
    "roll": (lambda np, x: (np.roll(x, 1), np.roll(x, 2, axis=1), np.roll(x, (1, 1), axis=(0, 1))), M),
    "roll by": (lambda np, x: np.roll(np.arange(4), x[0]), I),
    "repeat": (lambda np, x: (np.repeat(x, 2), x.repeat(2, axis=0), np.repeat(x, [1, 0, 2, 1], axis=1)), M),
    "tile": (lambda np, x: (np.tile(x, 2), np.tile(x, (2, 1, 2)), np.tile(x[0], (2, 3))), M),
    "pad": (lambda np, x: (np.pad(x, 1), np.pad(x, [(1, 0), (0, 2)], constant_values=3), np.pad(x, 1, "edge")), M),
    "pad more": (
        lambda np, x: (
            np.pad(x, 2, "reflect"),
            np.pad(x, 1, "linear_ramp"),
            np.pad(x, 1, "mean"),
            np.pad(x, 2, "wrap"),
        ),
        M,
    ),
    "pad by": (lambda np, x: np.pad(x, 1, constant_values=x[0]), V),
    "broadcast_to": (lambda np, x: (np.broadcast_to(x, (2, 3, 4)), np.broadcast_arrays(x, x[0])[1]), M),
    "split": (lambda np, x: (np.split(x, 2, axis=1), np.array_split(x, 2), np.hsplit(x, 2), np.vsplit(x, 3)), M),
    "joined": (
        lambda np, x: (np.concatenate([x, x[:1]]), np.stack([x, x], 1), np.hstack([x, x]), np.vstack([x, x[0]])),
        M,
    ),
    "joined more": (lambda np, x: (np.dstack([x, x]), np.column_stack([x, x[:, 0]]), np.concatenate([x, x], None)), M),
    "joined with shared": (
        lambda np, x: (np.concatenate([x, np.ones(2)]), np.stack([np.zeros(4), x]), np.append(x, 1.0)),
        V,
    ),
    "block": (lambda np, x: np.block([[x, x], [x * 2, x]]), M),
    "builders": (lambda np, x: (np.r_[x, 2.0, x[:1]], np.c_[x, x], np.r_["0,2", x, x], np.r_[0:3, x]), V),
    "insert": (lambda np, x: (np.insert(x, 1, x[0]), np.delete(x, 1), np.append(x, x)), V),
    "diff": (lambda np, x: (np.diff(x), np.diff(x, axis=0), np.diff(x, 2), np.diff(x, prepend=0.0), np.ediff1d(x)), M),
    "gradient": (lambda np, x: (np.gradient(x), np.trapezoid(x, axis=0), np.unwrap(x)), V),
    "tri": (lambda np, x: (np.tril(x), np.triu(x, 1), np.diag(x), np.diag(x[0])), M),
    "like": (lambda np, x: (np.zeros_like(x) + x, np.ones_like(x), np.full_like(x, 2) * x, np.full((2,), x[0, 0])), M),
    "array": (lambda np, x: (np.array(x), np.asarray(x), np.array([x[0], x[1], 2.0]), np.array([x, x]), np.copy(x)), V),
    "linspace": (lambda np, x: np.linspace(x[0], x[1], 5), V),
    "vander": (lambda np, x: (np.vander(x), np.polyval([1.0, 2.0, 3.0], x)), V),
    "meshgrid": (lambda np, x: np.meshgrid(x, x[:2]), V),
    "resize": (lambda np, x: np.resize(x, (2, 5)), V),
    "iteration": (lambda np, x: sum([row.max() for row in x]), M),
    # indexing
    "views": (lambda np, x: (x[0], x[1, 2], x[:, 1], x[..., 0], x[::2, None], x[-1, ::-1], x[:, 1:3].T), M),
    "fancy": (
        lambda np, x: (x[[0, 2, 0]], x[:, [1, 1]], x[[0, 1], [1, 2]], x[np.array([[0], [1]]), np.array([2, 3])]),
        M,
    ),
    "fancy apart": (lambda np, x: (x[[0, 1], :, [1, 2]], x[0, :, [1, 2]], x[:, [0, 1], None, [1, 2]]), T),
    "masks": (lambda np, x: (x[np.array([True, False, True])], x[:, np.arange(4) > 1], x[np.eye(3, 4) > 0]), M),
    "own indices": (lambda np, x: (x[x % 4], np.arange(10)[x], np.arange(40).reshape(10, 4)[x], x[x[0]]), J),
    "own indices apart": (
        lambda np, x: (np.arange(120).reshape(5, 4, 6)[:, x[0]], np.arange(120).reshape(5, 4, 6)[x[0], :, x[1:3]]),
        J,
    ),
    "own index behind": (lambda np, x: np.arange(24).reshape(2, 3, 4)[:, x], J),
    "take": (lambda np, x: (np.take(x, [0, 5]), np.take(x, [1, 0], axis=0), x.take(2, axis=1), np.take(x, 11)), M),
    "take own": (lambda np, x: (np.take(np.arange(9), x), np.take(x, x), np.take(x, x + 9, mode="clip")), J),
    "take along": (lambda np, x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), M),
    "compress": (lambda np, x: (np.compress([True, False, True], x, axis=0), np.extract(np.arange(4) > 1, x[0])), M),
    # sorting
    "sort": (lambda np, x: (np.sort(x), np.sort(x, axis=0), np.sort(x, axis=None), np.argsort(x), x.argsort(0)), M),
    "partition": (lambda np, x: (np.sort(np.partition(x, 2)[..., :2]), np.sort(np.argpartition(x, 1)[..., :1])), M),
    "searchsorted": (
        lambda np, x: (np.searchsorted([-1.0, 0.0, 1.0], x), np.searchsorted(np.sort(x[0]), x, "right")),
        M,
    ),
    "searchsorted own": (
        lambda np, x: (np.searchsorted(np.sort(x), 0), np.searchsorted(np.sort(x), x), np.digitize(x, [0, 2])),
        I,
    ),
    "isin": (lambda np, x: (np.isin(x, [1, 2]), np.isin([0, 1, 9], x), np.isin(x, x[:1], invert=True)), J),
    "lexsort": (lambda np, x: np.lexsort((x, -x)), I),
    # linear algebra of integers, and what needs no order
    "products of integers": (
        lambda np, x: (x @ x, np.dot(x, x), np.outer(x, x), np.inner(x, x), np.vdot(x, x), np.kron(x, x)),
        I,
    ),
    "einsum of integers": (
        lambda np, x: (np.einsum("i,j", x, x), np.einsum("i,i->", x, x), np.einsum("...i->...", x)),
        I,
    ),
    "cross": (lambda np, x: np.cross(x[:3], x[1:]), I),
    "convolve of integers": (
        lambda np, x: (
            np.convolve(x, [1, 2]),
            np.convolve(x, x[:2], "same"),
            np.convolve([1, 2, 3, 4, 5, 6], x, "valid"),
        ),
        I,
    ),
    "correlate of integers": (
        lambda np, x: (np.correlate(x, [1, 2], "full"), np.correlate([1, 2], x, "same"), np.correlate(x, x)),
        I,
    ),
    "fft": (
        lambda np, x: (np.fft.fft(x), np.fft.rfft(x, axis=0), np.fft.fft2(x), np.fft.fftn(x), np.fft.fftshift(x)),
        M,
    ),
    "ifft": (lambda np, x: (np.fft.ifft(x), np.fft.irfft(x), np.fft.fft(x, 6), np.fft.fft2(x, norm="ortho")), C),
    "interp": (lambda np, x: np.interp(x, [-1.0, 0.0, 2.0], [3.0, 1.0, 4.0]), M),
    "interp own": (lambda np, x: (np.interp([0.1, -9.0, 9.0, 0.5], np.sort(x), x), np.interp(x, np.sort(x), x * 2)), V),
    "linalg": (
        lambda np, x: (np.linalg.det(x), np.linalg.inv(x), np.linalg.slogdet(x), np.linalg.matrix_power(x, 3)),
        S,
    ),
    "decompositions": (lambda np, x: (np.linalg.qr(x), np.linalg.svd(x), np.linalg.pinv(x), np.linalg.eigvals(x)), S),
    "symmetric": (lambda np, x: (np.linalg.cholesky(x), np.linalg.eigh(x), np.linalg.eigvalsh(x)), SPD),
    "solve": (lambda np, x: (np.linalg.solve(x, x[0]), np.linalg.solve(x, np.ones(3)), np.linalg.solve(x, x)), S),
    "rank": (lambda np, x: (np.linalg.matrix_rank(x), np.linalg.cond(x)), S),
}

# Sums of products, whose order BLAS chooses by shape
ROUNDED = {
    "matmul": (
        lambda np, x: (
            x @ x.T,
            x @ x[0],
            x[:, 0] @ x,
            x @ np.ones(4),
            np.ones((2, 3)) @ x,
            np.ones(3) @ x,
            x @ np.ones((4, 2)),
        ),
        M,
    ),
    "vectors": (
        lambda np, x: (x @ x, np.ones((3, 4)) @ x, x @ np.ones((4, 3)), np.dot(x, np.ones(4)), np.inner(x, x)),
        V,
    ),
    "stacks": (lambda np, x: (x @ x[0].T, x @ np.swapaxes(x, 1, 2), x[0, 0] @ np.swapaxes(x, 1, 2), x @ x[0, 0]), T),
    "dot": (lambda np, x: (np.dot(x, x[0].T), np.dot(x, np.ones((2, 4, 3))), np.dot(2.0, x), x.dot(x[0, 0])), T),
    "complex products": (lambda np, x: (x @ x.T, np.vdot(x, x), np.vecdot(x, x), np.linalg.norm(x)), C),
    "einsum": (
        lambda np, x: (
            np.einsum("ij,kj->ik", x, x),
            np.einsum("ij,jk", x, np.ones((4, 2))),
            np.einsum(x, [0, 1], [1, 0]),
        ),
        M,
    ),
    "tensordot": (lambda np, x: (np.tensordot(x, x, ([0, 1], [0, 1])), np.tensordot(x, np.ones((4, 2)), 1)), M),
    "norm": (
        lambda np, x: (
            np.linalg.norm(x),
            np.linalg.norm(x, axis=0),
            np.linalg.norm(x, 1),
            np.linalg.norm(x, "nuc"),
            np.linalg.norm(x[0], 3),
        ),
        M,
    ),
    "convolve": (
        lambda np, x: (np.convolve(x, [0.5, 1.0, 2.0]), np.convolve(x, x, "same"), np.correlate(x, x, "full")),
        V,
    ),
    "lstsq": (lambda np, x: np.linalg.lstsq(x.T, np.ones(4)), M),
    "multi_dot": (lambda np, x: np.linalg.multi_dot([x, x.T, x]), M),
    "matvec": (lambda np, x: (np.matvec(x, x[0]), np.vecmat(x[:, 0], x), np.linalg.tensorsolve(np.eye(4), x[0])), M),
}


# How the examples lie in memory, and along which axis
LAYOUTS = {
    "in order": (lambda x: x, 0),
    "one example": (lambda x: x[:1], 0),
    "last axis": (lambda x: numpy.ascontiguousarray(numpy.moveaxis(x, 0, -1)), -1),
    "backwards": (lambda x: x[::-1], 0),
    "with gaps": (lambda x: numpy.repeat(x, 2, axis=0)[::2], 0),
    "every axis backwards": (lambda x: numpy.flip(numpy.flip(x).copy()), 0),
    "Fortran": (lambda x: numpy.asfortranarray(x), 0),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ONE)
def test_rule(name, layout):
    f, x = ONE[name]
    lay, axis = LAYOUTS[layout]
    check(f, lay(x), in_axes=axis)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ROUNDED)
def test_products(name, layout):
    f, x = ROUNDED[name]
    lay, axis = LAYOUTS[layout]
    check(f, lay(x), in_axes=axis, ulp=32)


@pytest.mark.parametrize("name", [n for n in ONE if n not in ("own index behind",)])
def test_rule_of_no_examples(name):
    """Results have the shapes and dtypes that one example gives."""
    f, x = ONE[name]
    with numpy.errstate(all="ignore"):
        one = [numpy.asarray(y) for y in flatten(f(numpy, x[0]))]
    got = flatten(tnp.vmap(lambda r: f(tnp, r))(tnp.array(x[:0])))
    assert [y.shape for y in got] == [(0, *y.shape) for y in one]
    assert [y.dtype for y in got] == [y.dtype for y in one]
