"""Linear algebra.

The argument of `cholesky`, `eigh` and `eigvalsh` counts as symmetric (Hermitian): its gradient is, too, although NumPy
reads one triangle alone. Where eigenvalues or singular values are equal the vectors have no derivative; what would
divide by their difference counts as 0. The norm has derivative 0 at 0.
"""

from typing import Any

import numpy as np
from numpy import linalg
from numpy.linalg import _umath_linalg

import tnp
import tnp.linalg as _la
from tnp.tracing import beneath
from tnp_autodiff.errors import NotDifferentiableError, explain
from tnp_autodiff.events import Valueless
from tnp_autodiff.recorder import CALLS, record, run, unknown
from tnp_autodiff.rules.base import (
    Substitute,
    adjoint,
    composed_of,
    conj,
    constant,
    rule,
    transposed,
    unbroadcast,
    value_of,
)
from tnp_autodiff.rules.composed import rebound
from tnp_autodiff.rules.reductions import axes_of

la: Any = _la


def _diagonal(v: Any) -> Any:
    """Matrices with the vectors `v` on the diagonal."""
    return v[..., None] * np.eye(v.shape[-1])


def _gaps(v: Any) -> Any:
    """One over ``v[j] - v[i]``; 0 where there is no gap."""
    gap = v[..., None, :] - v[..., :, None]
    return tnp.where(gap == 0, 0.0, 1.0 / tnp.where(gap == 0, 1.0, gap))


def _hermitian(x: Any) -> Any:
    return 0.5 * (x + adjoint(x))


@rule(linalg.solve, operands=2, keeps="xo")
def solve(g, out, want, a, b):
    vector = b.ndim == 1
    g, out = (g[..., None], out[..., None]) if vector else (g, out)
    gb = la.solve(adjoint(a), g)
    ga = unbroadcast(-gb @ adjoint(out), a) if want[0] else None
    return ga, unbroadcast(gb[..., 0] if vector else gb, b)


@rule(linalg.inv, _umath_linalg.inv, keeps="o")
def inv(g, out, want, a, signature=None):
    h = adjoint(out)
    return -h @ g @ h


def _cofactors(a: Any) -> Any:
    """The derivative of the determinant, for singular matrices too."""
    det = value_of(run(linalg.det, (a,), {}))
    if (det != 0).all():
        return tnp.asarray(la.det(a))[..., None, None] * tnp.swapaxes(la.inv(a), -1, -2)
    u, s, v = la.svd(a)
    others = tnp.stack([tnp.prod(tnp.delete(s, i, -1), axis=-1) for i in range(s.shape[-1])], -1)
    sign = tnp.asarray(la.det(u) * la.det(v))[..., None, None]
    return sign * (conj(u) * others[..., None, :]) @ conj(v)


@rule(linalg.det, keeps="x")
def det(g, out, want, a):
    return tnp.asarray(g)[..., None, None] * conj(_cofactors(a))


@rule(linalg.slogdet, keeps="xo")
def slogdet(g, out, want, a):
    sign, size = g
    factor = size
    if a.dtype.kind == "c":
        factor = size + 1j * tnp.real(conj(sign) * out[0] * 1j)
    return tnp.asarray(factor)[..., None, None] * adjoint(la.inv(a))


@rule(linalg.cholesky, keeps="o")
def cholesky(g, out, want, a, /, *, upper=False):
    low, g = (adjoint(out), adjoint(g)) if upper else (out, g)
    half = tnp.tril(adjoint(low) @ g) * (1.0 - 0.5 * np.eye(low.shape[-1]))
    inverse = la.inv(low)
    return _hermitian(adjoint(inverse) @ half @ inverse)


def _qr_square(gq: Any, gr: Any, q: Any, r: Any) -> Any:
    """NumPy's `r` has a real diagonal: it fixes the phases of the columns of `q`."""
    half = tnp.tril(r @ adjoint(gr) - adjoint(gq) @ q) * (1.0 - 0.5 * np.eye(r.shape[-1]))
    return adjoint(la.solve(r, adjoint(gq + q @ (half + adjoint(half)))))


@rule(linalg.qr, keeps="xo")
def _qr(g, out, want, a, mode="reduced"):
    (gq, gr), (q, r) = g, out
    rows, columns = a.shape[-2:]
    if columns <= rows:
        return _qr_square(gq, gr, q, r)
    left, right = r[..., :rows], gr[..., rows:]
    gq = gq + a[..., rows:] @ adjoint(right)
    return tnp.concatenate([_qr_square(gq, gr[..., :rows], q, left), q @ right], -1)


def qr(raw: Any, args: Any, kwargs: Any) -> Any:
    a, mode = args[0], kwargs.get("mode", args[1] if len(args) > 1 else "reduced")
    if mode == "r":
        return la.qr(a)[1]
    if mode == "reduced" or (mode == "complete" and a.shape[-2] <= a.shape[-1]):
        return _qr(raw, (a,), {})
    return unknown(raw, args, kwargs)


def _svd(g: Any, out: Any, a: Any) -> Any:
    (gu, gs, gv), (u, s, v) = g, out
    right, gw = adjoint(v), adjoint(gv)
    f = _gaps(s * s)
    left = adjoint(u) @ gu
    inner = ((left - adjoint(left)) * f) * s[..., None, :]
    both = adjoint(right) @ gw
    inner = inner + s[..., :, None] * ((both - adjoint(both)) * f) + _diagonal(gs)
    over = 1.0 / tnp.where(s == 0, 1.0, s)
    if a.dtype.kind == "c":
        turn = tnp.imag(tnp.diagonal(left, 0, -2, -1)) * over
        inner = inner + 1j * _diagonal(turn)
    found = u @ inner @ v
    if a.shape[-2] > s.shape[-1]:
        found = found + ((gu - u @ left) * over[..., None, :]) @ v
    if a.shape[-1] > s.shape[-1]:
        found = found + (u * over[..., None, :]) @ (gv - adjoint(both) @ v)
    return found


class _ThinSvd:
    """The rule of the thin decomposition."""

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        return frozenset(), True

    def vjp(self, g: Any, out: Any, want: Any, xs: Any, params: Any) -> list[Any]:
        return [_svd(g, out, xs[0])]

    def jvp(self, ts: Any, out: Any, xs: Any, params: Any) -> Any:
        return transposed(self, ts, out, xs, params)


_THIN = _ThinSvd()


def svd(raw: Any, args: Any, kwargs: Any) -> Any:
    names = ("a", "full_matrices", "compute_uv", "hermitian")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    a = tnp.asarray(given["a"])
    if given.get("hermitian"):  # by way of eigh
        return rebound(raw)(*args, **kwargs)
    if not given.get("compute_uv", True):
        return record(_SINGULAR_VALUES, [a], run(raw, args, kwargs), {})
    result = run(raw, args, kwargs)
    k = min(a.shape[-2:])
    if result.U.shape[-1] == result.Vh.shape[-2] == k:
        return record(_THIN, [a], result, {})
    u, s, v = record(_THIN, [a], type(result)(result.U[..., :k].copy(), result.S, result.Vh[..., :k, :].copy()), {})
    return type(result)(_with_rest(u, result.U, -1, a), s, _with_rest(v, result.Vh, -2, a))


def _with_rest(thin: Any, full: Any, axis: int, a: Any) -> Any:
    """The thin factor, and columns (or rows) beyond, which have no derivative."""
    k = thin.shape[axis]
    rest = full[..., k:] if axis == -1 else full[..., k:, :]
    return tnp.concatenate([thin, record(_BEYOND, [a], rest.copy(), {})], axis)


class _Beyond(Valueless):
    """The rule of singular vectors that no singular value has: they may be any basis."""

    def vjp(self, g: Any, out: Any, want: Any, xs: Any, params: Any) -> list[Any]:
        if value_of(beneath(g)).any():
            raise NotDifferentiableError(
                explain(
                    "gradient: svd: vectors beyond the singular values have no derivative",
                    "full_matrices=True of a matrix that is not square",
                    "full_matrices=False",
                    "svd(a, full_matrices=False)",
                )
            )
        return [None]

    def jvp(self, ts: Any, out: Any, xs: Any, params: Any) -> Any:
        return None


_BEYOND = _Beyond()


def _singular_values(a: Any) -> Any:
    return la.svd(a, full_matrices=False).S


_SINGULAR_VALUES = Substitute(_singular_values)


@rule(linalg.eigh, keeps="o")
def eigh(g, out, want, a, UPLO="L"):
    (gw, gv), (w, v) = g, out
    inner = _diagonal(gw) + (adjoint(v) @ gv) * _gaps(w)
    return _hermitian(v @ inner @ adjoint(v))


@rule(linalg.eig, keeps="o")
def eig(g, out, want, a):
    (gw, gv), (w, v) = g, out
    vector = adjoint(v) @ gv
    along = tnp.real(tnp.diagonal(vector, 0, -2, -1))
    inner = _diagonal(gw) + (vector - adjoint(v) @ v * along[..., None, :]) * conj(_gaps(w))
    return la.solve(adjoint(v), inner @ adjoint(v))


def _of_values(raw: Any, f: Any) -> None:
    substitute = Substitute(f)

    def handle(raw: Any, args: Any, kwargs: Any) -> Any:
        return record(substitute, [tnp.asarray(args[0])], run(raw, args, kwargs), {})

    CALLS[raw] = handle


@rule(linalg.pinv, keeps="xo")
def pinv(g, out, want, a, rcond=None, hermitian=False, *, rtol=np._NoValue):
    h, gh = adjoint(out), adjoint(g)
    rows, columns = np.eye(a.shape[-2]), np.eye(a.shape[-1])
    return -h @ g @ h + (rows - a @ out) @ gh @ out @ h + h @ out @ gh @ (columns - out @ a)


_LSTSQ = Substitute(lambda a, b: la.pinv(a) @ b)


@composed_of(linalg.lstsq)
def lstsq(a, b, rcond=None):
    a, b = tnp.asarray(a), tnp.asarray(b)
    x, residuals, rank, _ = run(linalg.lstsq, (a, b, rcond), {})
    x = record(_LSTSQ, [a, b], x, {})
    if residuals.size:
        d = b - a @ x
        residuals = tnp.atleast_1d(tnp.sum(tnp.real(d * conj(d)), axis=0))
    return x, residuals, rank, la.svd(a, compute_uv=False)


# ------------------------------------------------------------------------------------------------ norms
def _vector_norm(x: Any, order: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Made so that the derivative at 0 is 0."""
    size = abs(x)
    if order in (None, 2):
        total = tnp.sum(tnp.real(x * conj(x)), axis=axes, keepdims=keepdims)
        zero = total == 0
        return tnp.where(zero, 0.0, tnp.sqrt(tnp.where(zero, 1.0, total)))
    if order == np.inf:
        return tnp.max(size, axis=axes, keepdims=keepdims)
    if order == -np.inf:
        return tnp.min(size, axis=axes, keepdims=keepdims)
    if order == 0:
        return tnp.sum(tnp.where(x != 0, 1.0, 0.0), axis=axes, keepdims=keepdims)
    if order == 1:
        return tnp.sum(size, axis=axes, keepdims=keepdims)
    none = size == 0
    powers = tnp.where(none, 0.0 if order > 0 else np.inf, tnp.where(none, 1.0, size) ** order)
    total = tnp.sum(powers, axis=axes, keepdims=keepdims)
    zero = total == 0
    return tnp.where(zero, 0.0, tnp.where(zero, 1.0, total) ** (1.0 / order))


def _matrix_norm(x: Any, order: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if order in (None, "fro", "f"):
        return _vector_norm(x, 2, axes, keepdims)
    row, column = axes
    if order in (1, -1, np.inf, -np.inf):
        inner, outer = (row, column) if abs(order) == 1 else (column, row)
        sums = tnp.sum(abs(x), axis=inner, keepdims=True)
        r = (tnp.max if order > 0 else tnp.min)(sums, axis=outer, keepdims=True)
    else:
        s = la.svd(tnp.moveaxis(x, axes, (-2, -1)), compute_uv=False)
        s = tnp.where(s == 0, 0.0, s)  # flat at 0
        r = {2: tnp.max, -2: tnp.min, "nuc": tnp.sum}[order](s, axis=-1)
        r = tnp.expand_dims(r, axes)
    return r if keepdims else r.reshape([n for i, n in enumerate(x.shape) if i not in axes])


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    axes = axes_of(axis, x.ndim)
    if axis is None and ord is None:
        return _vector_norm(x, 2, axes, keepdims)
    return (_vector_norm if len(axes) == 1 else _matrix_norm)(x, ord, axes, keepdims)


_NORM = Substitute(_norm)


@composed_of(linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    params = {"ord": ord, "axis": axis, "keepdims": keepdims}
    x = tnp.asarray(x)
    return record(_NORM, [x], run(linalg.norm, (x,), params), params)


@composed_of(linalg.vector_norm)
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):  # noqa: A002
    x = tnp.asarray(x)
    result = run(linalg.vector_norm, (x,), {"axis": axis, "keepdims": keepdims, "ord": ord})
    substitute = Substitute(lambda x: _vector_norm(x, ord, axes_of(axis, x.ndim), keepdims))
    return record(substitute, [x], result, {})


@composed_of(linalg.matrix_norm)
def matrix_norm(x, /, *, keepdims=False, ord="fro"):  # noqa: A002
    return la.norm(x, ord, (-2, -1), keepdims)


CALLS[linalg.qr], CALLS[linalg.svd] = qr, svd
_of_values(linalg.svdvals, _singular_values)
_of_values(linalg.eigvalsh, lambda a: la.eigh(a).eigenvalues)
_of_values(linalg.eigvals, lambda a: la.eig(a).eigenvalues)
for _name in "matrix_power multi_dot cond tensorinv tensorsolve".split():
    CALLS[getattr(linalg, _name)] = lambda raw, args, kwargs: rebound(raw)(*args, **kwargs)
for _name in "cross outer matmul diagonal matrix_transpose vecdot tensordot trace".split():
    CALLS[getattr(linalg, _name)] = lambda raw, args, kwargs: rebound(raw)(*args, **kwargs)
constant(linalg.matrix_rank)
