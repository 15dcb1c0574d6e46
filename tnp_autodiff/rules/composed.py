"""NumPy's functions that NumPy itself writes in Python, run on tracked arrays.

Their own code runs once more, with tnp's functions under the names of NumPy's: so they are differentiated as any
program is, with NumPy's values. Only what they reach in C needs rules.
"""

import inspect
from typing import Any

import numpy as np

import tnp
from tnp import host
from tnp.transforms.rebound import rebound
from tnp_autodiff.recorder import CALLS, record, run, unknown
from tnp_autodiff.rules.base import composed_of, conj, constant, into, rule, value_of
from tnp_autodiff.rules.elementwise import CLIP_RULE
from tnp_autodiff.rules.reductions import axes_of


def _run(raw: Any, args: Any, kwargs: Any) -> Any:
    return rebound(raw)(*args, **kwargs)


_NAMES = """
angle append apply_along_axis apply_over_axes average block column_stack corrcoef cov cross cumulative_prod
cumulative_sum delete diag diagflat diff dstack ediff1d geomspace gradient hstack insert kron meshgrid nan_to_num
nancumprod nancumsum nanmax nanmin nanprod nansum outer pad piecewise polyfit polyval put_along_axis resize select
stack tensordot trapezoid tri tril triu unwrap vander vstack
"""
for _name in _NAMES.split():
    CALLS[getattr(np, _name)] = _run
if hasattr(np, "trapz"):  # NumPy 2.3
    CALLS[np.trapz] = _run  # noqa: NPY201


CALLS[type(np.r_).__getitem__] = _run


def _in_place(raw: Any, args: Any, kwargs: Any) -> Any:
    """These divide their sums in place, which a number does not allow: it is made with its axes."""
    given = inspect.signature(raw).bind(*args, **kwargs).arguments
    a = tnp.asarray(given["a"])
    axis, keepdims = given.get("axis"), given.get("keepdims", False)
    if given.get("out") is not None or len(axes_of(axis, a.ndim)) < a.ndim or (keepdims is True and a.ndim):
        return rebound(raw)(*args, **kwargs)
    given |= {"a": a, "keepdims": True} if a.ndim else {"a": a.reshape(1), "axis": None, "keepdims": True}
    r = rebound(raw)(**given)
    return r[(0,) * r.ndim]


CALLS[np.nanmean] = CALLS[np.nanvar] = _in_place


def _nanstd(raw: Any, args: Any, kwargs: Any) -> Any:
    """Made so that the derivative at 0 is 0."""
    given = inspect.signature(raw).bind(*args, **kwargs).arguments
    out = given.get("out")
    r = tnp.nanvar(**given)
    zero = r == 0
    r = tnp.where(zero, tnp.zeros((), r.dtype), tnp.sqrt(tnp.where(zero, tnp.ones((), r.dtype), r)))
    return r if out is None else into(out, r)


CALLS[np.nanstd] = _nanstd

constant(
    np.zeros_like, np.ones_like, np.empty_like, np.shape, np.ndim, np.size, np.round, np.around, np.fix, np.iscomplex,
    np.isreal, np.iscomplexobj, np.isrealobj, np.isposinf, np.isneginf, np.isclose, np.allclose, np.array_equal,
    np.array_equiv, np.may_share_memory, np.shares_memory, np.result_type, np.can_cast, np.common_type,
    np.min_scalar_type, np.broadcast_shapes, np.iterable, np.isscalar, np.array_repr, np.array_str, np.array2string,
    np.ndarray.round,
)  # fmt: skip


@composed_of(np.full_like)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    r = tnp.empty_like(a, dtype=dtype, order=order, subok=subok, shape=shape, device=device)
    r[...] = fill_value
    return r


@composed_of(np.full)
def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    r = tnp.empty(shape, fill_value.dtype if dtype is None else dtype, order)
    r[...] = fill_value
    return r


@composed_of(np.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    start, stop = tnp.asarray(start), tnp.asarray(stop)
    parts = num - 1 if endpoint else num
    if parts <= 0:
        r = tnp.broadcast_to(start, (num, *np.broadcast_shapes(start.shape, stop.shape))) * 1.0
        r = tnp.moveaxis(r, 0, axis)
        return (r, (stop - start) * np.nan) if retstep else r
    steps = tnp.arange(num, dtype=float).reshape((num,) + (1,) * max(start.ndim, stop.ndim))
    step = (stop - start) / parts
    r = steps * step + start
    if endpoint and num > 1:
        r[-1] = stop
    r = tnp.moveaxis(r, 0, axis)
    return (r, step) if retstep else r


@composed_of(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    return tnp.power(base, linspace(start, stop, num, endpoint, axis=axis))


@composed_of(np.polyadd)
def polyadd(a1, a2):
    return _aligned(tnp.add, a1, a2)


@composed_of(np.polysub)
def polysub(a1, a2):
    return _aligned(tnp.subtract, a1, a2)


def _aligned(f: Any, a: Any, b: Any) -> Any:
    """Of coefficients, the last of the same power."""
    a, b = tnp.atleast_1d(tnp.asarray(a)), tnp.atleast_1d(tnp.asarray(b))
    longer = max(a.size, b.size)
    return f(tnp.pad(a, (longer - a.size, 0)), tnp.pad(b, (longer - b.size, 0)))


@composed_of(np.polymul)
def polymul(a1, a2):
    return tnp.convolve(tnp.asarray(a1), tnp.asarray(a2))


@composed_of(np.polyder)
def polyder(p, m=1):
    p = tnp.asarray(p)
    for _ in range(m):
        p = p[:-1] * np.arange(p.size - 1, 0, -1)
    return p


@composed_of(np.polyint)
def polyint(p, m=1, k=None):
    p = tnp.asarray(p)
    constants = np.zeros(m) if k is None else np.broadcast_to(np.atleast_1d(k), m)
    for c in constants:
        p = tnp.concatenate([p / np.arange(p.size, 0, -1), [c]])
    return p


@composed_of(np.bincount)
def bincount(x, weights=None, minlength=0):
    x, weights = tnp.asarray(x), tnp.asarray(weights)
    r = tnp.zeros(run(np.bincount, (x,), {"minlength": minlength}).size)
    tnp.add.at(r, x, weights)
    return r


def _pair(f: Any) -> Any:
    """A ufunc with two results, which may be given places."""

    def handle(raw: Any, args: Any, kwargs: Any) -> Any:
        out = kwargs.get("out", args[raw.nin :])
        if kwargs.keys() - {"out"}:
            return unknown(raw, args, kwargs)
        outs = [*out, None, None][:2]
        return tuple([r if o is None else into(o, r) for r, o in zip(f(*args[: raw.nin]), outs, strict=True)])

    return handle


def _divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    return tnp.floor_divide(x1, x2), tnp.remainder(x1, x2)


def _modf(x: Any) -> tuple[Any, Any]:
    whole = tnp.trunc(x)
    return tnp.where(tnp.isinf(x), tnp.copysign(0.0, x), tnp.copysign(x - whole, x)), whole


CALLS[np.divmod], CALLS[np.modf] = _pair(_divmod), _pair(_modf)


def _clip(raw: Any, args: Any, kwargs: Any) -> Any:
    """`clip`, with one bound or both, by position or by either name."""
    a, low, high, out = (*args, None, None, None)[:4]
    kwargs = dict(kwargs)
    out = kwargs.pop("out", out)
    low = kwargs.pop("min", kwargs.pop("a_min", low))
    high = kwargs.pop("max", kwargs.pop("a_max", high))
    r = run(np.clip, (a, low, high), kwargs)
    bounds = [-np.inf if low is None else low, np.inf if high is None else high]
    operands = [a, *[tnp.asarray(b) if isinstance(b, (list, tuple)) else b for b in bounds]]
    r = record(CLIP_RULE, operands, r, {})
    return r if out is None else into(out, r)


CALLS[np.clip] = CALLS[np.ndarray.clip] = _clip


@composed_of(np.choose, np.ndarray.choose)
def choose(a, choices, out=None, mode="raise"):
    a = tnp.asarray(a)
    number = len(choices)
    index = value_of(a)
    if mode == "wrap":
        index = index % number
    elif mode == "clip":
        index = np.clip(index, 0, number - 1)
    elif index.size and (index.min() < 0 or index.max() >= number):
        raise ValueError("invalid entry in choice array")
    r = tnp.asarray(choices[0])
    for k in range(number):
        r = tnp.where(index == k, choices[k], r)
    if out is None:
        return r
    out[...] = r
    return out


def _sinc_slope(x: Any) -> Any:
    """Derivative of sin(pi x)/(pi x): near 0 its series, which has the right derivatives too."""
    p = np.pi * x
    near = abs(p) < 0.1
    safe = tnp.where(near, 1.0, p)
    q = tnp.where(near, p, 0.0)
    series = q * (-1 / 3 + q * q * (1 / 30 + q * q * (-1 / 840 + q * q * (1 / 45360 - q * q / 3991680))))
    return np.pi * tnp.where(near, series, (tnp.cos(safe) - tnp.sin(safe) / safe) / safe)


@rule(np.sinc, keeps="x")
def sinc(g, out, want, x):
    return g * conj(_sinc_slope(x))


def _ufunc_outer(raw: Any, args: Any, kwargs: Any) -> Any:
    a, b = tnp.asarray(args[0]), args[1]
    return host.ufunc_of(raw.__self__)(a[(..., *(None,) * np.ndim(b))], b, **kwargs)


for _name in dir(np):
    _ufunc = getattr(np, _name) if not _name.startswith("_") else None
    if isinstance(_ufunc, np.ufunc) and _ufunc.signature is None and _ufunc.nin == 2 and _ufunc.nout == 1:
        CALLS[_ufunc.outer] = _ufunc_outer
