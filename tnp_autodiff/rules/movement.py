"""Views, which need no rule, and functions whose results are elements of their argument in some order.

Such a result is a read of scattered places: which, NumPy itself says, given the positions in place of the values.
"""

from typing import Any

import numpy as np

import tnp
from tnp import content
from tnp.hot import ndarray
from tnp_autodiff.errors import warn_leaving
from tnp_autodiff.events import IDENTITY, Valueless
from tnp_autodiff.places import Scattered, geometry, positions
from tnp_autodiff.recorder import CALLS, GATHER, gather_at, is_float, is_tracked, public, record, run, unknown
from tnp_autodiff.rules.base import composed_of, handled_by, into, rule, value_of
from tnp_autodiff.rules.elementwise import CAST_RULE


def gather(x: Any, place: Any, result: Any, same: Any) -> Any:
    """Record that `result`, fresh, is the elements of `x` at `place`; `same` does the same to another array."""
    return record(GATHER, [x], result, {"same": same}, places=[place])


def _moved(raw: Any, args: Any, kwargs: Any) -> Any:
    """A function that gives views, or elements in another order."""
    x = args[0] if args else None
    if type(x) is not ndarray:
        return unknown(raw, args, kwargs)
    result = run(raw, args, kwargs)
    if not is_tracked(x):
        return result
    rest = args[1:]

    def each(y: Any, which: Any) -> Any:
        if type(y) is list or type(y) is tuple:
            return type(y)([each(z, (*which, i)) for i, z in enumerate(y)])
        if not hasattr(y, "dtype") or (type(y) is ndarray and y._cell is x._cell):
            return y
        at = positions(geometry(x)[0]).reshape(-1)[_order(x, raw, rest, kwargs, which)]

        def same(t: Any) -> Any:
            r = public(raw)(t, *rest, **kwargs)
            for i in which:
                r = r[i]
            return r

        return gather(x, Scattered(at, content.dtype_of(x)), y, same)

    return each(result, ())


def _order(x: Any, raw: Any, rest: Any, kwargs: Any, which: Any) -> Any:
    """Which elements of `x`, counted in C order, the function gives."""
    r = run(raw, (tnp.arange(x.size).reshape(x.shape), *rest), kwargs)
    for i in which:
        r = r[i]
    return value_of(r)


def _getitem(raw: Any, args: Any, kwargs: Any) -> Any:
    x, key = args
    if type(x) is not ndarray:
        return unknown(raw, args, kwargs)
    r = run(raw, args, kwargs)
    if (type(r) is ndarray and r._cell is x._cell) or not is_tracked(x):
        return r
    return gather_at(x, key, r)


def _copied(raw: Any, args: Any, kwargs: Any) -> Any:
    """`copy`: the same elements in the same shape."""
    x = args[0]
    if type(x) is not ndarray:
        return unknown(raw, args, kwargs)
    return record(IDENTITY, [x], run(raw, args, kwargs), {})


def _flattened(raw: Any, args: Any, kwargs: Any) -> Any:
    """`reshape` and kin: a copy in C order needs no list of positions."""
    x = args[0]
    order = kwargs.get("order", args[1] if raw in _ORDER_SECOND and len(args) > 1 else "C")
    if type(x) is not ndarray or order != "C":
        return _moved(raw, args, kwargs)
    r = run(raw, args, kwargs)
    if type(r) is ndarray and r._cell is not None and r._cell is x._cell:
        return r
    return record(_RESHAPED, [x], r, {})


class _Reshaped(Valueless):
    def vjp(self, g: Any, out: Any, want: Any, xs: Any, params: Any) -> list[Any]:
        return [g.reshape(xs[0].shape)]

    def jvp(self, ts: list[Any], out: Any, xs: Any, params: Any) -> Any:
        return ts[0].reshape(out.shape)


_RESHAPED = _Reshaped()
_ORDER_SECOND = {np.ravel, np.ndarray.ravel, np.ndarray.flatten}


def _viewed(raw: Any, args: Any, kwargs: Any) -> Any:
    """Functions that give views of all their arguments."""
    result = run(raw, args, kwargs)
    cells = {id(x._cell) for x in args if type(x) is ndarray}
    alike = all(type(y) is ndarray and id(y._cell) in cells for x, y in zip(args, result, strict=True) if is_tracked(x))
    return result if alike else unknown(raw, args, kwargs)


def _astype(raw: Any, args: Any, kwargs: Any) -> Any:
    x = args[0]
    r = run(raw, args, kwargs)
    if type(x) is not ndarray or r is x:
        return r
    if not is_float(r.dtype):
        if is_tracked(x) and r.dtype.kind in "iu":
            warn_leaving(f"it is cast to {r.dtype}")
        return r

    return record(CAST_RULE, [x], r, {})


def _asarray(raw: Any, args: Any, kwargs: Any) -> Any:
    """`array` and kin: of an array itself, a copy or a cast; of a list the arrays in it joined."""
    x, rest = args[0], args[1:]
    if type(x) is ndarray:
        r = run(raw, args, kwargs)
        if r is x or (type(r) is ndarray and r._cell is not None and r._cell is x._cell):
            return r
        if r.shape != x.shape:
            x = x.reshape(r.shape)
        return _cast_like(x, r)
    if not isinstance(x, (list, tuple)):
        return unknown(raw, args, kwargs)
    r = run(raw, (_plain(x), *rest), kwargs)
    if not is_float(r.dtype):
        return r
    joined = _joined(x)
    return joined if joined.dtype == r.dtype else joined.astype(r.dtype)


def _cast_like(x: Any, r: Any) -> Any:

    return record(CAST_RULE, [x], r, {}) if is_float(r.dtype) else r


def _plain(x: Any) -> Any:
    """Nested lists with NumPy's arrays in them."""
    return [_plain(y) for y in x] if isinstance(x, (list, tuple)) else content.settle(x) if type(x) is ndarray else x


def _joined(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return tnp.stack([_joined(y) for y in x])
    return x if type(x) is ndarray else tnp.asarray(x)


@rule(np.concatenate, operands=0, linear=True)
def concatenate(g, out, want, arrays, axis=0, out_=None, dtype=None, casting="same_kind"):
    if axis is None:
        cuts = np.cumsum([x.size for x in arrays])[:-1]
        return [p.reshape(x.shape) for p, x in zip(tnp.split(g, cuts), arrays, strict=True)]
    return tnp.split(g, np.cumsum([x.shape[axis] for x in arrays])[:-1], axis=axis)


def _sorted(raw: Any, args: Any, kwargs: Any) -> Any:
    """`sort` and `partition`: the same elements along one axis."""
    x = args[0]
    r = run(raw, args, kwargs)
    if type(x) is not ndarray or not is_tracked(x):
        return r
    axis = kwargs.get("axis", args[1] if raw is np.sort and len(args) > 1 else args[2] if len(args) > 2 else -1)
    a, b = value_of(x), value_of(r)
    if axis is None:
        a, axis = a.reshape(-1), 0
    order = np.empty(a.shape, np.intp)
    np.put_along_axis(order, np.argsort(b, axis, "stable"), np.argsort(a, axis, "stable"), axis)
    where = positions(geometry(x)[0])
    at = np.take_along_axis(where.reshape(a.shape), order, axis)
    return gather(
        x, Scattered(at, a.dtype), r, lambda t: tnp.take_along_axis(t.reshape(a.shape), tnp.asarray(order), axis)
    )


_MOVED = """
array_split broadcast_to diagonal dsplit expand_dims flip fliplr
flipud hsplit matrix_transpose moveaxis permute_dims repeat roll rollaxis rot90 split squeeze swapaxes take
take_along_axis tile transpose trim_zeros unstack vsplit
"""
handled_by(_moved, *[getattr(np, name) for name in _MOVED.split()])
handled_by(_moved, np.lib.stride_tricks.as_strided, np.lib.stride_tricks.sliding_window_view)
handled_by(
    _moved, *[getattr(np.ndarray, name) for name in "diagonal repeat squeeze swapaxes take transpose view".split()]
)
handled_by(_flattened, np.reshape, np.ravel, np.ndarray.reshape, np.ndarray.ravel, np.ndarray.flatten)
handled_by(run, np.real, np.imag)  # views, or constants
handled_by(_copied, np.copy, np.ndarray.copy)
handled_by(_asarray, np.array, np.asarray, np.asarray_chkfinite, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
handled_by(_sorted, np.sort, np.partition)
handled_by(_viewed, np.broadcast_arrays)
handled_by(_astype, np.astype, np.ndarray.astype)
handled_by(_getitem, np.ndarray.__getitem__)


@composed_of(np.compress)
def compress(condition, a, axis=None, out=None):
    a = tnp.asarray(a)
    r = tnp.take(a.reshape(-1) if axis is None else a, np.nonzero(_mask(condition))[0], axis=axis or 0)
    return r if out is None else into(out, r)


@composed_of(np.extract)
def extract(condition, arr):
    return tnp.take(tnp.ravel(arr), np.nonzero(np.ravel(_mask(condition)))[0])


def _mask(condition: Any) -> Any:
    return value_of(condition).astype(bool)


CALLS[np.ndarray.compress] = lambda raw, args, kwargs: compress(args[1], args[0], *args[2:], **kwargs)


def _conjugated(raw: Any, args: Any, kwargs: Any) -> Any:
    """The method: real arrays are their own conjugates."""
    return tnp.conjugate(*args, **kwargs) if kwargs or content.dtype_of(args[0]).kind == "c" else args[0]


handled_by(_conjugated, np.ndarray.conj, np.ndarray.conjugate)


@composed_of(np.sort_complex)
def sort_complex(a):
    return tnp.sort(tnp.asarray(a).astype(run(np.sort_complex, (a,), {}).dtype))


@composed_of(np.require)
def require(a, dtype=None, requirements=None, *, like=None):
    r = run(np.require, (a, dtype, requirements), {})
    return r if r is a or r._cell is a._cell else _cast_like(a, r)


def _at_least(raw: Any, args: Any, kwargs: Any) -> Any:
    """`atleast_1d` and kin take several arrays."""
    return _moved(raw, args, kwargs) if len(args) == 1 else tuple([public(raw)(tnp.asarray(x)) for x in args])


handled_by(_at_least, np.atleast_1d, np.atleast_2d, np.atleast_3d)
