"""Linear algebra: NumPy's functions take stacks of matrices, the batch is such a stack."""

from typing import Any

import numpy as np
from numpy.linalg import _umath_linalg

import tnp
from tnp.tracing import is_traced
from tnp.transforms.batching import RULES, Batch
from tnp.transforms.rules.base import axes_in, axis_in, bound, public, rule
from tnp.transforms.rules.composed import run_rebound
from tnp.transforms.rules.fallback import loop
from tnp.transforms.rules.reductions import flat, operand

STACKS = "det inv pinv slogdet cholesky eig eigh eigvals eigvalsh svd svdvals matrix_rank matrix_power cond qr"


def stacked(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """A function of a stack of matrices."""
    a = operand(batch, args[0])
    if a.ndim < 2:
        raw(np.zeros(a.shape, a.dtype), *args[1:], **kwargs)  # NumPy says what it expects
        if raw is np.linalg.matrix_rank:
            return (a != 0).any().astype(int)
    if any([batch.is_batched(x) for x in (*args[1:], *kwargs.values())]):
        return loop(batch, raw, args, kwargs)
    return batch.up(public(raw)(batch.every(a), *args[1:], **kwargs))


for _name in STACKS.split():
    RULES[getattr(np.linalg, _name)] = stacked
for _name in "multi_dot tensorsolve tensorinv".split():
    RULES[getattr(np.linalg, _name)] = run_rebound


@rule(np.linalg.trace)
def trace(batch, raw, args, kwargs):
    return batch.up(tnp.linalg.trace(batch.every(operand(batch, args[0])), **kwargs))


@rule(np.linalg.solve)
def solve(batch, raw, args, kwargs):
    a, b = (operand(batch, x) for x in args)
    if a.ndim < 2 or b.ndim == 0:
        raw(np.zeros(a.shape), np.zeros(b.shape))
    vector = b.ndim == 1
    if vector:
        b = b[:, None]
    ndim = max(a.ndim, b.ndim)
    r = tnp.linalg.solve(batch.aligned(a, ndim), batch.aligned(b, ndim))
    return batch.up(r[..., 0] if vector else r)


@rule(np.linalg.norm)
def norm(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    x, order, axis, keepdims = operand(batch, given["x"]), given.get("ord"), given.get("axis"), given.get("keepdims")
    if axis is None and (order is None or x.ndim == 1):
        if order is not None:
            low = tnp.linalg.norm(batch.every(x), order, axis=1)
        else:
            low = tnp.linalg.norm(flat(batch, x), axis=1)
        return batch.up(low.reshape((batch.n,) + (1,) * x.ndim) if keepdims else low)
    axes: Any = (1, 2) if axis is None else axes_in(axis, x.ndim) if np.ndim(axis) else axis_in(axis, x.ndim)
    if axis is None and x.ndim != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return batch.up(tnp.linalg.norm(batch.every(x), order, axes, bool(keepdims)))


@rule(*[getattr(np.linalg, n) for n in ("vector_norm", "matrix_norm") if hasattr(np.linalg, n)])
def named_norm(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    x, axis, keepdims = operand(batch, given.pop("x")), given.pop("axis", None), given.pop("keepdims", False)
    if raw is np.linalg.matrix_norm:
        return batch.up(public(raw)(batch.every(x), keepdims=keepdims, **given))
    if axis is None:
        low = public(raw)(flat(batch, x), axis=1, **given)
        return batch.up(low.reshape((batch.n,) + (1,) * x.ndim) if keepdims else low)
    axes: Any = axes_in(axis, x.ndim) if np.ndim(axis) else axis_in(axis, x.ndim)
    return batch.up(public(raw)(batch.every(x), axis=axes, keepdims=keepdims, **given))


@rule(np.linalg.lstsq)
def lstsq(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, b, rcond = operand(batch, given["a"]), operand(batch, given["b"]), given.get("rcond")
    lows = batch.every(a), batch.every(b)
    if a.ndim != 2 or b.ndim > 2 or 0 in a.shape or not batch.n:
        return loop(batch, raw, args, kwargs)
    if any([is_traced(x) for x in lows]):
        return _lstsq_of_steps(batch, a, b, rcond)
    m, n = a.shape
    dtype = np.result_type(a.dtype, b.dtype, np.float32 if a.dtype.char in "f" else np.float64)
    left, right = (tnp.to_numpy(x).astype(dtype, copy=False) for x in lows)
    if b.ndim == 1:
        right = right[..., None]
    if rcond is None:
        rcond = np.finfo(dtype).eps * max(n, m)
    function = _umath_linalg.lstsq
    if m < right.shape[-2] or m != right.shape[-2]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    padded = np.zeros((batch.n, max(m, n), right.shape[-1]), dtype)
    padded[:, :m] = right
    x, residues, rank, s = function(left, padded[:, :m], rcond)
    full = (rank == n).all() and m > n
    if m > n and not full and (rank == n).any():
        return loop(batch, raw, args, kwargs)  # some examples have residues, some have none
    found = residues if full else np.empty((batch.n, 0), residues.dtype)
    x = x[:, :n]
    if b.ndim == 1:
        x = x[..., 0]
    return tuple([batch.up(tnp.asarray(y)) for y in (x, found, rank, s)])


def _lstsq_of_steps(batch: Batch, a: Any, b: Any, rcond: Any) -> Any:
    """The same by functions that have derivatives."""
    m, n = a.shape
    rcond = np.finfo(a.dtype).eps * max(n, m) if rcond is None else rcond
    x = tnp.matmul(tnp.linalg.pinv(a, rcond), b)
    rest = b - tnp.matmul(a, x)
    residues = tnp.sum(abs(rest) ** 2, axis=0, keepdims=b.ndim == 1) if m > n else np.empty(0)
    s = tnp.linalg.svdvals(a)
    return x, residues, tnp.sum(s > rcond * s[0]), s
