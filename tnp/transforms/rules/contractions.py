"""Products of matrices and tensors, convolutions, interpolation."""

import string
from typing import Any

import numpy as np

import tnp
from tnp.core.elementwise import umath
from tnp.transforms.batching import RULES, Batch
from tnp.transforms.rules.base import bound, fallback, finish, into, public, rule
from tnp.transforms.rules.reductions import operand


@rule(np.matmul, np.linalg.matmul)
def matmul(batch, raw, args, kwargs):
    kwargs = dict(kwargs)
    out = kwargs.pop("out", args[2] if len(args) > 2 else None)
    a, b = (operand(batch, x) for x in args[:2])
    if a.ndim == 0 or b.ndim == 0 or a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        np.matmul(*[np.broadcast_to(np.zeros((), x.dtype), x.shape) for x in (a, b)])  # NumPy says what is wrong
    return finish(batch, _product(batch, a, b, kwargs), out)


def _product(batch: Batch, a: Any, b: Any, kwargs: dict[str, Any]) -> Any:
    low, other = batch.low(a), batch.low(b)
    if a.ndim == 1 and not batch.is_batched(b) and b.ndim <= 2:
        return tnp.matmul(low, other, **kwargs)
    if b.ndim == 1 and not batch.is_batched(a) and a.ndim <= 2:  # one product of matrices
        return tnp.matmul(other, low.T if a.ndim == 2 else low, **kwargs)
    left, right = _matrix(batch, a, 0), _matrix(batch, b, 1)
    ndim = max(a.ndim, b.ndim, 2) + 1
    left, right = (
        x[(slice(None), *(None,) * (ndim - x.ndim))] if batch.is_batched(of) else x for x, of in ((left, a), (right, b))
    )
    r = tnp.matmul(left, right, **kwargs)
    if b.ndim == 1:
        r = r[..., 0]
    if a.ndim == 1:
        r = r[..., 0] if b.ndim == 1 else r[..., 0, :]
    return r


def _matrix(batch: Batch, x: Any, vector_is: int) -> Any:
    """`x` one level down, a vector as a row (0) or a column (1)."""
    low = batch.low(x)
    if x.ndim > 1:
        return low
    return low[..., None] if vector_is else low[..., None, :]


@rule(np.dot, np.inner, np.ndarray.dot)
def dot(batch, raw, args, kwargs):
    a, b = (operand(batch, x) for x in args[:2])
    out = kwargs.get("out", args[2] if len(args) > 2 else None)
    if a.ndim == 0 or b.ndim == 0:
        r = tnp.multiply(a, b)
    else:
        at = -1 if raw is np.inner or b.ndim == 1 else -2
        if a.shape[-1] != b.shape[at]:
            raw(*[np.broadcast_to(np.zeros((), x.dtype), x.shape) for x in (a, b)])
        columns = tnp.moveaxis(b, at, 0) if b.ndim > 1 else b
        rest = columns.shape[1:]
        if a.ndim > 2 or b.ndim > 2:
            rows = a.reshape((-1, a.shape[-1])) if a.ndim != 1 else a
            columns = columns.reshape((b.shape[at], -1)) if b.ndim > 2 else columns
            r = tnp.matmul(rows, columns).reshape((*a.shape[:-1], *rest))
        else:
            r = tnp.matmul(a, columns)
    return r if out is None else into(batch, out, r)


@rule(np.vdot)
def vdot(batch, raw, args, kwargs):
    a, b = (operand(batch, x) for x in args)
    a, b = (x.reshape(-1) for x in (a, b))
    return tnp.matmul(tnp.conj(a) if a.dtype.kind == "c" else a, b)


def gufunc(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """A ufunc on the last axes: the batch is one of the axes in front."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    if "axes" in kwargs or kwargs.get("axis", -1) != -1 or len(args) > raw.nin:
        return fallback(batch, raw, args, kwargs if out is None else {**kwargs, "out": out})
    kwargs.pop("axis", None)
    cores = [c.count(",") + 1 for c in raw.signature.split("->")[0].replace("),(", ")|(").split("|")]
    operands = [operand(batch, x) for x in args]
    ahead = max([x.ndim - c for x, c in zip(operands, cores, strict=True)])
    lows = [batch.aligned(x, ahead + c) for x, c in zip(operands, cores, strict=True)]
    return finish(batch, public(raw)(*lows, **kwargs), out)


for _name in "vecdot matvec vecmat".split():
    if hasattr(umath, _name):
        RULES[getattr(umath, _name)] = gufunc
if hasattr(np.linalg, "vecdot"):

    @rule(np.linalg.vecdot)
    def linalg_vecdot(batch, raw, args, kwargs):
        axis = kwargs.get("axis", -1)
        a, b = (tnp.moveaxis(operand(batch, x), axis, -1) for x in args)
        return gufunc(batch, np.vecdot, (a, b), {})


# ------------------------------------------------------------------------------------------------ einsum
@rule(np.einsum)
def einsum(batch, raw, args, kwargs):
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    subscripts, operands = _read_subscripts(args)
    operands = [operand(batch, x) for x in operands]
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        letters = inputs.replace(",", "").replace(".", "")
        output = ("..." if "." in inputs else "") + "".join(sorted({c for c in letters if letters.count(c) == 1}))
    free = next(c for c in string.ascii_letters if c not in subscripts)
    terms = [free + t if batch.is_batched(x) else t for t, x in zip(terms, operands, strict=True)]
    low = tnp.einsum(f"{','.join(terms)}->{free}{output}", *[batch.low(x) for x in operands], **kwargs)
    return finish(batch, low, out)


def _read_subscripts(args: Any) -> tuple[str, list[Any]]:
    """The call as text and operands, also where subscripts are lists of numbers."""
    if isinstance(args[0], str):
        return args[0], list(args[1:])
    operands, terms = list(args[: len(args) // 2 * 2 : 2]), list(args[1::2])

    def text(term: Any) -> str:
        return "".join(["..." if i is Ellipsis else string.ascii_letters[i] for i in term])

    output = f"->{text(args[-1])}" if len(args) % 2 else ""
    return ",".join([text(t) for t in terms]) + output, operands


# ------------------------------------------------------------------------------------------------ along a line
@rule(np.convolve, np.correlate)
def convolve(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, v = (operand(batch, given[k]) for k in ("a", "v"))
    mode = given.get("mode", "full" if raw is np.convolve else "valid")
    if raw is np.correlate:
        v = tnp.conj(v)[::-1]
    a, v = (x.reshape(1) if x.ndim == 0 else x for x in (a, v))
    swapped = v.size > a.size
    if swapped:
        a, v = v, a
    if not v.size:
        raise ValueError("v cannot be empty" if not swapped else "a cannot be empty")
    m, k = a.size, v.size
    low, factors = batch.every(a), batch.low(v)
    full = tnp.zeros((batch.n, m + k - 1), np.result_type(a.dtype, v.dtype))
    for j in range(k):  # as many steps as the shorter one has elements
        full[:, j : j + m] += low * (factors[:, j, None] if batch.is_batched(v) else factors[j])
    late = swapped and raw is np.correlate
    start = k // 2 if late else (k - 1) - k // 2
    if mode == "same":
        full = full[:, start : start + m].copy()
    elif mode == "valid":
        full = full[:, k - 1 : m].copy()
    return batch.up(full)


@rule(np.polymul)
def polymul(batch, raw, args, kwargs):
    return tnp.convolve(*[operand(batch, x) for x in args])


@rule(np.bincount)
def bincount(batch, raw, args, kwargs):
    given = dict(zip(("x", "weights", "minlength"), args, strict=False)) | kwargs
    x, weights, least = given["x"], given.get("weights"), given.get("minlength", 0)
    if batch.is_batched(x):
        return fallback(batch, raw, args, kwargs)
    r = tnp.zeros(max(int(tnp.max(x)) + 1 if np.size(x) else 0, least))
    tnp.add.at(r, x, weights)
    return r


@rule(np.interp)
def interp(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    x, xp, fp = (operand(batch, given[k]) for k in ("x", "xp", "fp"))
    ends = {k: given.get(k) for k in ("left", "right")}
    if given.get("period") is not None or any([batch.is_batched(v) for v in ends.values()]):
        return fallback(batch, raw, args, kwargs)
    if not batch.is_batched(xp) and not batch.is_batched(fp):
        return batch.up(tnp.interp(batch.low(x), xp, fp, **ends))
    x, xp = (v.astype(float) if v.dtype != float else v for v in (x, xp))
    at = tnp.clip(tnp.searchsorted(xp, x, "right") - 1, 0, max(xp.size - 2, 0))
    after = tnp.minimum(at + 1, xp.size - 1)
    x0, x1, y0, y1 = xp[at], xp[after], fp[at], fp[after]
    with np.errstate(all="ignore"):  # as in NumPy's C code
        slope = (y1 - y0) / (x1 - x0)
        r = slope * (x - x0) + y0
        r = tnp.where(tnp.isnan(r), slope * (x - x1) + y1, r)
        r = tnp.where(tnp.isnan(r) & (y0 == y1), y0, r)
    r = tnp.where(x == x0, y0, r)
    r = tnp.where(x == x1, y1, r)
    r = tnp.where(x < xp[0], fp[0] if ends["left"] is None else ends["left"], r)
    r = tnp.where(x > xp[-1], fp[-1] if ends["right"] is None else ends["right"], r)
    return tnp.where(tnp.isnan(x), x, r)
