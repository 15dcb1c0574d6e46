"""Sorting, and searching in what is sorted."""

import numpy as np

import tnp
from tnp.core.interpreter import quietly
from tnp.transforms.rules.base import axis_in, bound, fallback, into, methods, public, rule
from tnp.transforms.rules.reductions import flat, operand


@rule(np.sort, np.argsort, np.partition, np.argpartition)
def sort(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, axis = operand(batch, given.pop("a")), given.pop("axis", -1)
    if axis is None:
        return batch.up(public(raw)(flat(batch, a), axis=1, **given))
    return batch.up(public(raw)(batch.every(a), axis=axis_in(axis, a.ndim), **given))


methods("argsort argpartition searchsorted")


@rule(np.ndarray.sort, np.ndarray.partition)
def sort_in_place(batch, raw, args, kwargs):
    x, *rest = args
    into(batch, x, batch.call(np.sort if raw is np.ndarray.sort else np.partition, (x, *rest), kwargs))


@rule(np.sort_complex)
def sort_complex(batch, raw, args, kwargs):
    return batch.up(tnp.sort_complex(batch.every(operand(batch, args[0]))))


@rule(np.lexsort)
def lexsort(batch, raw, args, kwargs):
    given = dict(zip(("keys", "axis"), args, strict=False)) | kwargs
    keys = [operand(batch, k) for k in given["keys"]]
    axis = given.get("axis", -1)
    return batch.up(tnp.lexsort([batch.every(k) for k in keys], axis=axis_in(axis, keys[0].ndim)))


@rule(np.searchsorted)
def searchsorted(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, v, side = operand(batch, given["a"]), operand(batch, given["v"]), given.get("side", "left")
    if given.get("sorter") is not None:
        a = tnp.take(a, given["sorter"])
    if not batch.is_batched(a):
        return batch.up(tnp.searchsorted(a, batch.low(v), side))
    return batch.up(bisected(batch.low(a), batch.every(v), side))


def bisected(a, v, side):
    """`searchsorted` of each row of `a`, by halving; `v` has the rows along its first axis."""
    n, m = a.shape
    row = np.arange(n).reshape((n,) + (1,) * (v.ndim - 1))
    low, high = np.zeros(v.shape, np.intp), np.full(v.shape, m, np.intp)
    with quietly():  # what comes of it is constant to derivatives
        a, v = tnp.to_numpy(a), tnp.to_numpy(v)
    for _ in range(m.bit_length()):
        middle = (low + high) // 2
        x = a[row, np.minimum(middle, m - 1)]
        if side == "left":  # NaN is the largest
            goes_right = (x < v) | (np.isnan(v) & ~np.isnan(x)) if x.dtype.kind in "fc" else x < v
        else:
            goes_right = ~((v < x) | (np.isnan(x) & ~np.isnan(v))) if x.dtype.kind in "fc" else ~(v < x)
        open_ = low < high
        low = np.where(open_ & goes_right, middle + 1, low)
        high = np.where(open_ & ~goes_right, middle, high)
    return tnp.asarray(low)


@rule(np.isin)
def isin(batch, raw, args, kwargs):
    element, tests = (operand(batch, x) for x in args[:2])
    if batch.is_batched(tests):
        tests = tests.reshape(-1)
        found = (element[..., None] == tests).any(axis=-1)
        return ~found if kwargs.get("invert") else found
    return batch.up(tnp.isin(batch.low(element), tests, *args[2:], **kwargs))


@rule(np.digitize)
def digitize(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    x, bins, right = operand(batch, given["x"]), operand(batch, given["bins"]), given.get("right", False)
    if batch.is_batched(bins):
        return fallback(batch, raw, args, kwargs)
    return batch.up(tnp.digitize(batch.low(x), bins, right))
