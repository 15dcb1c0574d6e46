"""Other shapes, axes and orders: views where NumPy's are, made by NumPy on one example."""

from typing import Any

import numpy as np

import tnp
from tnp import hot
from tnp.transforms.batching import RULES, Batch, window
from tnp.transforms.errors import depends
from tnp.transforms.rules.base import as_array, axes_in, axis_in, bound, finish, methods, named, public, rule
from tnp.transforms.rules.composed import run_rebound
from tnp.transforms.rules.reductions import flat, operand


def views(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """What NumPy makes is a view of one example, or a list of such: then it is one of what stands for them all."""
    x = args[0]
    if not batch.is_batched(x):
        x = operand(batch, x)
    return _as_views(batch, x, raw(x._nd, *args[1:], **kwargs))


def _as_views(batch: Batch, x: Any, r: Any) -> Any:
    if isinstance(r, (list, tuple)):
        return type(r)([_as_views(batch, x, y) for y in r])
    if r is x._nd:
        return x
    return hot._as_view(x, r) if r.base is hot.root(x._nd) else tnp.asarray(r)  # imag of real numbers is made of zeros


VIEWS = """
transpose swapaxes moveaxis rollaxis expand_dims squeeze flip fliplr flipud rot90 diagonal split array_split hsplit
vsplit dsplit matrix_transpose permute_dims unstack real imag atleast_1d atleast_2d atleast_3d broadcast_to
"""
rule(*named(VIEWS))(views)
for _name in "transpose swapaxes squeeze diagonal view".split():
    RULES[getattr(np.ndarray, _name)] = views
if hasattr(np.linalg, "diagonal"):
    RULES[np.linalg.diagonal] = RULES[np.linalg.matrix_transpose] = views


@rule(np.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks.as_strided)
def windows(batch, raw, args, kwargs):
    x = args[0]
    r = raw(x._nd, *args[1:], **kwargs)
    return hot._as_view(x, window(x._nd, 0, r.shape, r.strides, r))


@rule(np.atleast_1d, np.atleast_2d, np.atleast_3d)
def at_least(batch, raw, args, kwargs):
    if len(args) > 1:
        return tuple([public(raw)(x) for x in args])
    return views(batch, raw, args, kwargs)


@rule(np.broadcast_arrays)
def broadcast_arrays(batch, raw, args, kwargs):
    shape = np.broadcast_shapes(*[np.shape(x) for x in args])
    return tuple([tnp.broadcast_to(as_array(batch, x), shape) for x in args])


@rule(np.reshape, np.ndarray.reshape)
def reshape(batch, raw, args, kwargs):
    x, *rest = args
    kwargs = dict(kwargs)
    if raw is np.reshape:
        x, shape = operand(batch, x), rest[0] if rest else kwargs.pop("shape")
        order = kwargs.get("order", rest[1] if len(rest) > 1 else "C")
    else:
        shape = rest[0] if len(rest) == 1 else tuple(rest)
        order = kwargs.get("order", "C")
    copy = kwargs.get("copy")
    try:
        if copy is True:
            raise ValueError
        return _as_views(batch, x, np.reshape(x._nd, shape, order=order, copy=False))
    except ValueError:
        if copy is False:
            raise
        return _reshaped(batch, x, np.reshape(x._nd, shape, order=order).shape, order)


def _reshaped(batch: Batch, x: Any, shape: tuple[int, ...], order: str) -> Any:
    """A copy of other shape, which nothing else refers to."""
    low = batch.low(x)
    if order in ("A", "a"):
        order = "F" if x._nd.flags.f_contiguous and not x._nd.flags.c_contiguous else "C"
    if order in ("F", "f"):
        low = tnp.transpose(low, (0, *range(low.ndim - 1, 0, -1))).reshape((batch.n, *shape[::-1]))
        return batch.up(tnp.transpose(low, (0, *range(low.ndim - 1, 0, -1))))
    return batch.up(low.reshape((batch.n, *shape)))


@rule(np.ravel, np.ndarray.ravel)
def ravel(batch, raw, args, kwargs):
    x = operand(batch, args[0])
    order = kwargs.get("order", args[1] if len(args) > 1 else "C")
    if order in ("K", "k"):
        axes = np.argsort([-abs(s) for s in x._nd.strides], kind="stable")
        x, order = tnp.transpose(x, tuple(axes)), "C"
    return reshape(batch, np.reshape, (x, -1), {"order": order})


@rule(np.ndarray.flatten)
def flatten(batch, raw, args, kwargs):
    x = ravel(batch, np.ravel, args, kwargs)
    return x.copy() if x._cell is args[0]._cell else x


@rule(np.roll)
def roll(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, shift, axis = operand(batch, given["a"]), given["shift"], given.get("axis")
    if batch.is_batched(shift):
        size = a.size if axis is None else a.shape[axis]
        at = (tnp.arange(size) - shift) % max(size, 1)
        if axis is None:
            return tnp.take(a.reshape(-1), at).reshape(a.shape)
        return tnp.take(a, at, axis=axis)
    low = batch.every(a)
    if axis is None:
        return batch.up(tnp.roll(flat(batch, a), shift, axis=1).reshape(low.shape))
    axes = axes_in(axis, a.ndim) if isinstance(axis, (tuple, list)) else axis_in(axis, a.ndim)
    return batch.up(tnp.roll(low, shift, axis=axes))


@rule(np.repeat)
def repeat(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, axis = operand(batch, given["a"]), given.get("axis")
    if batch.is_batched(given["repeats"]):
        raise depends("repeat: how often differs between the examples", "the same number for all")
    if axis is None:
        return batch.up(tnp.repeat(flat(batch, a), given["repeats"], axis=1))
    return batch.up(tnp.repeat(batch.every(a), given["repeats"], axis=axis_in(axis, a.ndim)))


methods("repeat")


@rule(np.tile)
def tile(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, reps = operand(batch, given["A"]), given["reps"]
    reps = tuple(reps) if np.ndim(reps) else (int(reps),)
    reps = (1,) * (a.ndim - len(reps)) + reps
    low = batch.aligned(a, len(reps)) if batch.is_batched(a) else batch.every(a)
    return batch.up(tnp.tile(low, (1, *reps)))


@rule(np.diff)
def diff(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, axis = operand(batch, given.pop("a")), given.pop("axis", -1)
    for name in ("prepend", "append"):
        if name in given:
            x = operand(batch, given[name])
            if x.ndim == 0:
                shape = list(a.shape)
                shape[axis] = 1
                x = tnp.broadcast_to(x, tuple(shape))
            given[name] = batch.every(x)
    return batch.up(tnp.diff(batch.every(a), axis=axis_in(axis, a.ndim), **given))


def _trace(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    given = bound(np.trace, args, kwargs)
    a = operand(batch, given["a"])
    axes = axis_in(given.get("axis1", 0), a.ndim), axis_in(given.get("axis2", 1), a.ndim)
    r = tnp.trace(batch.every(a), given.get("offset", 0), *axes, given.get("dtype"))
    return finish(batch, r, given.get("out"))


rule(np.trace, np.ndarray.trace)(_trace)


@rule(np.pad)
def pad(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, width, mode = operand(batch, given["array"]), given["pad_width"], given.get("mode", "constant")
    more = given.get("kwargs", {})
    if any([batch.is_batched(v) for v in more.values()]) or callable(mode):
        return run_rebound(batch, raw, args, kwargs)
    if isinstance(width, dict):
        pairs: Any = [width.get(i, width.get(i - a.ndim, 0)) for i in range(a.ndim)]
        width = [(p, p) if np.ndim(p) == 0 else tuple(p) for p in pairs]
    pairs = np.broadcast_to(np.asarray(width), (a.ndim, 2)).tolist()
    for name, value in more.items():
        if name in ("constant_values", "end_values", "stat_length") and np.ndim(value):
            more = {**more, name: [(0, 0), *np.broadcast_to(np.asarray(value), (a.ndim, 2)).tolist()]}
            if name == "stat_length":
                more[name][0] = (1, 1)
    return batch.up(tnp.pad(batch.every(a), [(0, 0), *pairs], mode, **more))
