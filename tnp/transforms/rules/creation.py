"""Functions whose result is decided by shapes and dtypes alone, and arrays made like others."""

import numpy as np

import tnp
from tnp.core.cells import IMMUTABLE
from tnp.hot import ndarray
from tnp.transforms.rules.base import as_array, bound, differs, named, on_examples, public, rule

SHAPES = """
zeros_like ones_like empty_like shape ndim size result_type can_cast common_type iscomplexobj isrealobj isscalar
broadcast_shapes iterable isfortran einsum_path diag_indices_from tril_indices_from triu_indices_from
"""


@rule(*named(SHAPES))
def by_shape(batch, raw, args, kwargs):
    if raw in (np.zeros_like, np.ones_like, np.empty_like) and type(args[0]) is not ndarray:
        args = (as_array(batch, args[0]), *args[1:])
    return on_examples(batch, raw, args, kwargs)


@rule(np.array_repr, np.array_str, np.array2string)
def text(batch, raw, args, kwargs):
    return batch.text(args[0], lambda x: public(raw)(x, *args[1:], **kwargs))


@rule(np.may_share_memory, np.shares_memory)
def shares_memory(batch, raw, args, kwargs):
    x, y = args[:2]
    if batch.is_batched(x) and batch.is_batched(y):
        return raw(x._nd, y._nd, *args[2:], **kwargs) if x._cell is y._cell else False
    return False


@rule(np.full_like)
def full_like(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    value = given.pop("fill_value")
    r = tnp.empty_like(given.pop("a"), **given)
    r[...] = value
    return r


@rule(np.full)
def full(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    value = given["fill_value"]
    dtype = given.get("dtype")
    r = tnp.empty(given["shape"], as_array(batch, value).dtype if dtype is None else dtype, given.get("order", "C"))
    r[...] = value
    return r


@rule(*named("array asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite require"))
def as_new(batch, raw, args, kwargs):
    given = dict(zip(("x", "dtype"), args, strict=False)) | kwargs
    x = given["x"] if "x" in given else given.get("object", given.get("a"))
    dtype = given.get("dtype")
    if type(x) is not ndarray:
        if not differs(batch, x):
            x = tnp.asarray(x)
        return _cast(as_array(batch, x), dtype)
    copies = given.get("copy", True if raw is np.array else None)
    if copies is False or (copies is None and (dtype is None or np.dtype(dtype) == x.dtype)):
        y = x if raw in (np.asarray, np.asanyarray, np.array) or x._nd.flags.c_contiguous else x.copy()
    else:
        y = x.copy(order=given.get("order") or "K") if dtype is None else x.astype(dtype)
        y._cell.marked &= ~IMMUTABLE
    n = given.get("ndmin", 0)
    return y[(None,) * (n - y.ndim) + (...,)] if n > y.ndim else y


def _cast(x, dtype):
    return x if dtype is None or np.dtype(dtype) == x.dtype else x.astype(dtype)


@rule(np.logspace)
def logspace(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    base, dtype = given.pop("base", 10.0), given.pop("dtype", None)
    r = tnp.power(base, tnp.linspace(**given))
    return r if dtype is None else r.astype(dtype)


@rule(np.linspace)
def linspace(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    start, stop = (tnp.asarray(given[k]) * 1.0 for k in ("start", "stop"))
    num, endpoint, axis = given.get("num", 50), given.get("endpoint", True), given.get("axis", 0)
    ndim = max(start.ndim, stop.ndim)
    lows = [batch.aligned(x, ndim) for x in (start, stop)]
    at = axis if axis < 0 else axis + 1
    found = tnp.linspace(*lows, num, endpoint=endpoint, retstep=True, axis=at, dtype=given.get("dtype"))
    r = batch.up(found[0])
    return (r, batch.up(found[1])) if given.get("retstep") else r
