"""Elementwise functions: the same on all examples, once axes are aligned. In-place operators, `out=`, `where=`."""

from typing import Any

import numpy as np

import tnp
from tnp import bind
from tnp.arrays.operators import OPERATORS, UFUNCS
from tnp.core.cells import IMMUTABLE
from tnp.core.elementwise import PRIMITIVES, umath
from tnp.hot import ndarray
from tnp.transforms.batching import RULES, Batch
from tnp.transforms.rules.base import as_array, bound, into, methods, named, public, rule, shape_of

UFUNC_NAMES = [n for n in dir(umath) if isinstance(getattr(umath, n), np.ufunc) and getattr(umath, n).signature is None]


def ufunc_call(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """A call of an elementwise ufunc."""
    if not kwargs and len(args) == raw.nin:
        r = _quick(batch, raw, args)
        if r is not None:
            return r
    outs = kwargs.get("out")
    if outs is None and len(args) > raw.nin:
        outs = args[raw.nin :]
    operands = [as_array(batch, x) for x in args[: raw.nin]]
    if outs is Ellipsis:  # an array without dimensions in place of a scalar
        outs = None
    if outs is not None and any([x is not None for x in (outs if type(outs) is tuple else (outs,))]):
        return _into_outs(batch, raw, operands, outs if type(outs) is tuple else (outs,), kwargs)
    where = kwargs.get("where", True)
    shapes = [shape_of(x) for x in (*operands, where)]
    ndim = max([len(s) for s in shapes])
    lows = [batch.aligned(x, ndim) for x in operands]
    if kwargs:
        kwargs = {k: batch.aligned(v, ndim) if k == "where" else v for k, v in kwargs.items() if k != "out"}
        if where is not True and not any([batch.is_batched(x) for x in operands]):  # the mask says how many there are
            lows[0] = batch.every(operands[0])
    try:
        return batch.up(public(raw)(*lows, **kwargs))
    except ValueError:
        np.broadcast_shapes(*shapes)  # NumPy's own words for one example
        raise


def _quick(batch: Batch, raw: Any, args: Any) -> Any:
    """A call on arrays and numbers alone, whose axes are aligned already; None for others."""
    ndim, lows = -1, []
    for x in args:
        t = type(x)
        if t is ndarray:
            low = batch.low(x)
            if low is x or ndim not in (-1, low.ndim):
                return None
            ndim = low.ndim
            lows.append(low)
        elif t is float or t is int:
            lows.append(x)
        else:
            return None
    prim = PRIMITIVES.get(raw)
    r = None if prim is None else bind.elementwise(prim, tuple(lows))
    try:
        return batch.up(public(raw)(*lows) if r is None else r)
    except ValueError:
        np.broadcast_shapes(*[shape_of(x) for x in args])  # NumPy's own words for one example
        raise


def _into_outs(batch: Batch, raw: Any, operands: list[Any], outs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc that writes to what the program gave."""
    where = kwargs.get("where", True)
    shape = np.broadcast_shapes(*[shape_of(x) for x in (*operands, where)])
    given = [x for x in outs if x is not None]
    for out in given:
        if np.broadcast_shapes(shape, out.shape) != out.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast shape {shape}"
            )
        batch.check_writable(out)
    if len(given) < len(outs):
        found = ufunc_call(batch, raw, operands, {k: v for k, v in kwargs.items() if k != "out"})
        return tuple([y if out is None else into(batch, out, y) for y, out in zip(found, outs, strict=True)])
    for out in given:
        batch.note_own_write(out, ...)
        batch.lift(out)
    ndim = given[0].ndim
    lows = [batch.aligned(x, ndim) for x in operands]
    kwargs = {**kwargs, "out": tuple([batch.low(out) for out in given])}
    if where is not True:
        kwargs["where"] = batch.aligned(where, ndim)
    public(raw)(*lows, **kwargs)
    for out in given:
        batch.wrote(out)
    return outs[0] if len(outs) == 1 else outs


for _name in UFUNC_NAMES:
    RULES[getattr(umath, _name)] = ufunc_call


def _inplace(ufunc: Any) -> Any:
    def handle(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
        a, b = args
        if ufunc is np.power and type(b) in (int, float) and b in (2, -1, 0.5):
            r = a**b
            return into(batch, a, r)
        if ufunc is np.matmul:
            return into(batch, a, batch.call(np.matmul, (a, b), {}))
        return ufunc_call(batch, ufunc, (a, b), {"out": (a,)})

    return handle


for _name in OPERATORS:
    _method = getattr(np.ndarray, f"__i{_name}__", None)
    if _method is not None and _name in UFUNCS:
        RULES[_method] = _inplace(UFUNCS[_name])
RULES[np.ndarray.__imatmul__] = _inplace(np.matmul)


@rule(np.where)
def where(batch, raw, args, kwargs):
    if len(args) == 1:
        return batch.call(np.nonzero, args, kwargs)
    operands = [as_array(batch, x) for x in args]
    ndim = max([len(shape_of(x)) for x in operands])
    return batch.up(tnp.where(*[batch.aligned(x, ndim) for x in operands]))


@rule(np.ndarray.astype, np.astype)
def astype(batch, raw, args, kwargs):
    x, *rest = args
    if raw is np.astype:
        return batch.up(tnp.astype(batch.low(x), *rest, **kwargs))
    if kwargs.get("copy", True) is False and np.dtype(rest[0] if rest else kwargs["dtype"]) == x.dtype:
        return x
    return batch.up(batch.low(x).astype(*rest, **kwargs))


@rule(*named("nan_to_num sinc i0"))
def one_array(batch, raw, args, kwargs):
    x, *rest = args
    if kwargs.get("copy", rest[0] if rest else True) is False and raw is np.nan_to_num:
        return into(batch, x, batch.up(public(raw)(batch.low(x), **{**kwargs, "copy": True})))
    return batch.up(public(raw)(batch.low(as_array(batch, x)), *rest, **kwargs))


@rule(*named("isclose isposinf isneginf iscomplex isreal fix around round angle"))
def several(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    out = given.pop("out", None)
    arrays = {k: as_array(batch, v) for k, v in given.items() if k in ("a", "b", "x", "z", "rtol", "atol")}
    ndim = max([len(shape_of(v)) for v in arrays.values()])
    given |= {k: batch.aligned(v, ndim) for k, v in arrays.items()}
    r = batch.up(public(raw)(*given.values()))
    return r if out is None else into(batch, out, r)


@rule(np.clip)
def clip(batch, raw, args, kwargs):
    a, low, high, out = (*args, None, None, None)[:4]
    kwargs = dict(kwargs)
    out = kwargs.pop("out", out)
    low = kwargs.pop("min", kwargs.pop("a_min", low))
    high = kwargs.pop("max", kwargs.pop("a_max", high))
    operands = [as_array(batch, x) for x in (a, low, high)]
    ndim = max([len(shape_of(x)) for x in operands if x is not None])
    lows = [None if x is None else batch.aligned(x, ndim) for x in operands]
    if not batch.is_batched(operands[0]) and lows[0] is not None and np.ndim(lows[0]) == 0:
        lows[0] = tnp.asarray(lows[0])
    r = batch.up(tnp.clip(*lows, **kwargs))
    return r if out is None else into(batch, out, r)


methods("clip round conj conjugate")


@rule(np.piecewise)
def piecewise(batch, raw, args, kwargs):
    x, conditions, functions, *rest = args
    x = as_array(batch, x)
    if not isinstance(conditions, (list, tuple)):
        conditions = [conditions]
    r = tnp.zeros_like(x)
    if len(functions) == len(conditions) + 1:
        *functions, other = functions
        r[...] = other(x, *rest, **kwargs) if callable(other) else other
    for c, f in zip(conditions, functions, strict=True):
        r = tnp.where(c, f(x, *rest, **kwargs) if callable(f) else f, r).astype(x.dtype)
    return r


@rule(np.ndarray.copy, np.copy, np.ndarray.__copy__, np.ndarray.__deepcopy__)
def copy(batch, raw, args, kwargs):
    x = args[0]
    order = kwargs.get("order", args[1] if len(args) > 1 and isinstance(args[1], str) else "C")
    low = batch.low(x)
    if order in ("F", "f") and low.ndim > 2:
        axes = (0, *range(low.ndim - 1, 0, -1))
        return _array(batch, tnp.transpose(tnp.transpose(low, axes).copy(), axes))
    return _array(batch, low.copy() if order in ("C", "c", "F", "f") else low.copy(order="K"))


def _array(batch: Batch, low: Any) -> Any:
    """A result that is an array without dimensions, not a scalar, where examples have none."""
    y = batch.up(low)
    y._cell.marked &= ~IMMUTABLE
    return y
