"""Reading and writing by index: with the batch as one index more where indices differ between the examples."""

from typing import Any, NamedTuple

import numpy as np

import tnp
from tnp import hot
from tnp.arrays.indexing import basic
from tnp.core import native
from tnp.hot import ndarray
from tnp.transforms.batching import RULES, Batch
from tnp.transforms.errors import depends
from tnp.transforms.rules.base import as_array, bound, fallback, finish, into, methods, named, public, rule, shape_of
from tnp.transforms.rules.reductions import flat, operand

WHERE = "where(mask, x, 0) keeps the shape; x[mask] = v and add(x, v, out=x, where=mask) are possible"


def refuse_mask(what: str) -> Any:
    return depends(f"{what}: how many elements there are differs between the examples", WHERE)


class Advanced(NamedTuple):
    """A key with index arrays, for arrays with a batch axis in front.

    Attributes
    ----------
    key : tuple
        One level down, without an index for the batch.
    batched : bool
        Do index arrays differ between the examples? They have the batch axis in front then.
    before : int
        Axes of the result in front of those of the index arrays, if the indices are next to each other, else 0.
    dims : int
        Axes of the index arrays together, for one example.
    adjacent : bool
    """

    key: tuple[Any, ...]
    batched: bool
    before: int
    dims: int
    adjacent: bool


def expanded(batch: Batch, key: Any, ndim: int) -> list[Any]:
    """The parts of a key: index arrays in place of masks, slices in place of the ellipsis and of what is missing."""
    parts: list[Any] = []
    for k in key if type(key) is tuple else (key,):
        if isinstance(k, (list, tuple)):
            k = as_array(batch, k) if any([type(y) is ndarray for y in k]) else np.asarray(k)
            if k.size == 0 and not batch.is_batched(k):
                k = k.astype(np.intp)
        if k is None or k is Ellipsis or isinstance(k, slice):
            parts.append(k)
        elif shape_of(k) and k.dtype.kind == "b":
            if batch.is_batched(k):
                raise refuse_mask("a mask as index")
            parts += np.nonzero(np.asarray(k))
        elif isinstance(k, (bool, np.bool_)) or (hasattr(k, "dtype") and k.dtype.kind == "b"):
            if batch.is_batched(k):
                raise refuse_mask("a mask as index")
            parts += [None, np.nonzero(np.asarray(k)[None])[0]]
        else:
            parts.append(k if hasattr(k, "dtype") else k.__index__())
    used = sum([k is not None and k is not Ellipsis for k in parts])
    if used > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed")
    missing = [slice(None)] * (ndim - used)
    at = [i for i, k in enumerate(parts) if k is Ellipsis]
    return [*parts[: at[0]], *missing, *parts[at[0] + 1 :]] if at else [*parts, *missing]


def advanced(batch: Batch, key: Any, ndim: int) -> Advanced:
    """A key with index arrays, one level down."""
    parts = expanded(batch, key, ndim)
    arrays = [i for i, k in enumerate(parts) if k is not None and not isinstance(k, slice)]
    count = max([len(shape_of(parts[i])) for i in arrays])
    batched = any([batch.is_batched(parts[i]) for i in arrays])
    adjacent = arrays == list(range(arrays[0], arrays[-1] + 1))
    for i in arrays:
        parts[i] = batch.aligned(parts[i], count)
    return Advanced(tuple(parts), batched, arrays[0] if adjacent else 0, count, adjacent)


def _rows(batch: Batch, count: int) -> Any:
    return np.arange(batch.n).reshape((batch.n,) + (1,) * count)


def _place(batch: Batch, a: Advanced) -> tuple[tuple[Any, ...], bool]:
    """The key into memory with a batch axis in front; do the axes of the index arrays come right behind the batch's?"""
    if not a.batched and a.adjacent:
        return (slice(None), *a.key), False
    return (_rows(batch, a.dims), *a.key), a.before > 0


def _get(batch: Batch, x: Any, key: Any) -> Any:
    """Elements by index arrays: of all examples, one level down."""
    a = advanced(batch, key, x.ndim)
    if batch.is_batched(x):
        place, moved = _place(batch, a)
        r = batch.low(x)[place]
        return _moved_back(r, a) if moved else r
    r = x[a.key]  # shared by all, the indices are not
    return tnp.moveaxis(r, a.before, 0) if a.before else r


def _moved_back(r: Any, a: Advanced) -> Any:
    """(batch, index axes, before, rest) as (batch, before, index axes, rest)."""
    return tnp.moveaxis(r, tuple(range(1, 1 + a.dims)), tuple(range(1 + a.before, 1 + a.before + a.dims)))


@rule(np.ndarray.__getitem__)
def getitem(batch, raw, args, kwargs):
    x, key = args
    if basic(key) or _names_fields(key):
        r = x._nd[key]
        if type(r) is np.ndarray:
            return hot._as_view(x, r)
        return _element(batch, x, key)
    if basic(_plain(key)):
        return batch.call(raw, (x, _plain(key)), kwargs)
    y = batch.up(_get(batch, x, key))
    if y.ndim and all([shape_of(k) == () for k in (key if type(key) is tuple else (key,)) if hasattr(k, "dtype")]):
        y._cell.record.through = (x, key)  # in a loop it is a view
    return y


def _names_fields(key: Any) -> bool:
    """Does the key name fields of a structured array?"""
    return isinstance(key, str) or (isinstance(key, list) and bool(key) and all([isinstance(k, str) for k in key]))


def _plain(key: Any) -> Any:
    """The key with Python's numbers for NumPy's."""

    def plain(k: Any) -> Any:
        return int(k) if isinstance(k, np.integer) else k

    return tuple([plain(k) for k in key]) if type(key) is tuple else plain(key)


def _element(batch: Batch, x: Any, key: Any) -> Any:
    """One element of each example: a copy, as it is a scalar to the program."""
    low = batch.low(x)[(slice(None), *(key if type(key) is tuple else (key,)))]
    return batch.up(low.copy())


# ------------------------------------------------------------------------------------------------ writing
@rule(np.ndarray.__setitem__)
def setitem(batch, raw, args, kwargs):
    x, key, value = args
    batch.check_writable(x)
    if _names_fields(key):
        x[key][...] = value
        return
    value = as_array(batch, value)
    key = _plain(key)
    if not batch.is_batched(x) and not batch.is_batched(value) and not _differs(batch, key):
        batch.call(None, (), {})
    if batch.is_batched(value) and value._cell is x._cell and basic(key) and _same_place(x, key, value):
        return  # ``m[0] += v`` ends with ``m[0] = m[0]``
    batch.note_own_write(x, key)
    batch.lift(x)
    mask = _mask_of(batch, key)
    if mask is not None and (batch.is_batched(mask) or shape_of(value) == ()):
        _set_masked(batch, x, mask, value)
    elif basic(key):
        keys = key if type(key) is tuple else (key,)
        keys = (slice(None), *keys) if Ellipsis in keys else (slice(None), *keys, Ellipsis)
        target = x._nd[(*keys[1:],)]
        low = batch.low(x)
        whole = target.shape == x.shape and target.strides == x._nd.strides
        low[Ellipsis if whole else keys] = _fitted(batch, value, target.shape)
    else:
        _set_advanced(batch, x, key, value)
    batch.wrote(x)
    return


def _differs(batch: Batch, key: Any) -> bool:
    return any([batch.is_batched(k) for k in (key if type(key) is tuple else (key,))])


def _same_place(x: Any, key: Any, value: Any) -> bool:
    keys = key if type(key) is tuple else (key,)
    place, mine = x._nd[keys if Ellipsis in keys else (*keys, Ellipsis)], value._nd
    return (
        (place.shape, place.strides, place.dtype) == (mine.shape, mine.strides, mine.dtype)
        and native.address(place) == native.address(mine)
    )  # fmt: skip


def _fitted(batch: Batch, value: Any, shape: tuple[int, ...]) -> Any:
    """A value one level down, to be assigned to a place that has `shape` in each example."""
    own = shape_of(value)
    more = len(own) - len(shape)
    if more > 0 and set(own[:more]) <= {1}:  # NumPy drops leading axes of length one
        value = value.reshape(own[more:]) if hasattr(value, "reshape") else np.reshape(value, own[more:])
        own = own[more:]
    if len(own) > len(shape) or any([a not in (1, b) for a, b in zip(own[::-1], shape[::-1], strict=False)]):
        raise ValueError(f"could not broadcast input array from shape {_text(own)} into shape {_text(shape)}")
    return batch.aligned(value, len(shape))


def _text(shape: tuple[int, ...]) -> str:
    return f"({','.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _mask_of(batch: Batch, key: Any) -> Any:
    """The mask that is the whole key, if it is one."""
    if type(key) is tuple and len(key) == 1:
        (key,) = key
    if isinstance(key, list):
        key = as_array(batch, key)
    return key if isinstance(key, (ndarray, np.ndarray)) and key.dtype.kind == "b" else None


def _set_masked(batch: Batch, x: Any, mask: Any, value: Any) -> None:
    """``x[mask] = v``, one number for each example."""
    if np.prod(shape_of(value), dtype=int) != 1 and batch.is_batched(mask):
        raise refuse_mask("a write by a mask")
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(
            f"boolean index did not match indexed array along axis 0; shapes are {x.shape} and {mask.shape}"
        )
    low = batch.low(x)
    m = batch.every(mask) if batch.is_batched(mask) else tnp.broadcast_to(tnp.asarray(mask), (batch.n, *mask.shape))
    if not batch.is_batched(value):
        low[m] = value if shape_of(value) == () else tnp.asarray(value).reshape(())
        return
    m = m[(..., *(None,) * (x.ndim - mask.ndim))]
    v = batch.low(value.reshape(())).reshape((batch.n,) + (1,) * x.ndim)
    low[...] = tnp.where(m, v.astype(low.dtype) if v.dtype != low.dtype else v, low)


def _set_advanced(batch: Batch, x: Any, key: Any, value: Any) -> None:
    a = advanced(batch, key, x.ndim)
    place, moved = _place(batch, a)
    low = batch.low(x)
    if not moved and a.adjacent:
        ndim = a.dims + sum([k is None or isinstance(k, slice) for k in a.key])
        low[place] = batch.aligned(value, ndim)
        return
    shape = np.broadcast_to(np.empty((), bool), low.shape)[_real(place)].shape[1:]
    if moved:  # as the example sees it: axes in front of those of the index arrays come first
        shape = (*shape[a.dims : a.dims + a.before], *shape[: a.dims], *shape[a.dims + a.before :])
    v = _fitted(batch, value, shape)
    if moved:
        v = tnp.broadcast_to(v, (batch.n, *shape))
        v = tnp.moveaxis(v, tuple(range(1 + a.before, 1 + a.before + a.dims)), tuple(range(1, 1 + a.dims)))
    low[place] = v


def _real(place: tuple[Any, ...]) -> tuple[Any, ...]:
    """The key with arrays that have only the shapes of those that may be one level down."""
    return tuple([np.zeros(k.shape, np.intp) if hasattr(k, "shape") else 0 if isinstance(k, int) else k for k in place])


def ufunc_at(batch, raw, args, kwargs):
    x, key, *values = args
    ufunc = raw.__self__
    batch.check_writable(x)
    batch.note_own_write(x, key)
    batch.lift(x)
    values = [as_array(batch, v) for v in values]
    mask = _mask_of(batch, key)
    if mask is not None and batch.is_batched(mask):
        if any([shape_of(v) for v in values]):
            raise refuse_mask("ufunc.at by a mask")
        x[...] = tnp.where(mask, public(ufunc)(x, *values), x)
        return
    keys = expanded(batch, key, x.ndim)
    low = batch.low(x)
    if all([k is None or isinstance(k, (slice, int)) for k in keys]):
        place: Any = (slice(None), *keys)
        ndim = sum([k is None or isinstance(k, slice) for k in keys])
        public(ufunc).at(low, place, *[batch.aligned(v, ndim) for v in values])
    else:
        a = advanced(batch, key, x.ndim)
        place, moved = _place(batch, a)
        if moved:
            raise depends("ufunc.at: index arrays behind slices differ between the examples", "moveaxis first")
        ndim = a.dims + sum([k is None or isinstance(k, slice) for k in a.key])
        if not a.batched and a.adjacent:
            place = (_rows(batch, ndim if a.before else a.dims), *a.key) if not a.before else place
        public(ufunc).at(low, place, *[batch.aligned(v, ndim) for v in values])
    batch.wrote(x)
    return


for _name in dir(np):
    _ufunc = getattr(np, _name) if not _name.startswith("_") else None
    if isinstance(_ufunc, np.ufunc) and _ufunc.signature is None and _ufunc.nout == 1:
        RULES[_ufunc.at] = ufunc_at


# ------------------------------------------------------------------------------------------------ functions
@rule(np.take)
def take(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, at, axis, mode = (
        operand(batch, given["a"]),
        operand(batch, given["indices"]),
        given.get("axis"),
        given.get("mode"),
    )
    if axis is None:
        a, axis = (a.reshape(-1)), 0
    axis = axis % a.ndim
    size = a.shape[axis]
    if not batch.is_batched(at):
        low = tnp.take(batch.low(a), at, axis=axis + 1, **({} if mode is None else {"mode": mode}))
        return finish(batch, low, given.get("out"))
    if mode == "wrap":
        at = at % size
    elif mode == "clip":
        at = tnp.clip(at, 0, size - 1)
    y = batch.up(_get(batch, a, (*(slice(None),) * axis, at)))
    return y if given.get("out") is None else into(batch, given["out"], y)


methods("take")


@rule(np.take_along_axis)
def take_along_axis(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    a, at, axis = operand(batch, given["arr"]), operand(batch, given["indices"]), given.get("axis", -1)
    if axis is None:
        a, axis = a.reshape(-1), 0
    return batch.up(tnp.take_along_axis(batch.every(a), batch.every(at), axis=axis % a.ndim + 1))


@rule(np.copyto)
def copyto(batch, raw, args, kwargs):
    given = dict(zip(("dst", "src", "casting", "where"), args, strict=False)) | kwargs
    x, value, where = given["dst"], as_array(batch, given["src"]), given.get("where", True)
    kind = value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype
    weak = type(value) in (int, float, complex)
    if not weak and not np.can_cast(kind, x.dtype, given.get("casting", "same_kind")):
        raise TypeError(f"Cannot cast array data from {kind!r} to {x.dtype!r} according to the rule 'same_kind'")
    if where is True:
        x[...] = value
        return
    batch.check_writable(x)
    batch.note_own_write(x, ...)
    batch.lift(x)
    low, m = batch.low(x), batch.aligned(where, x.ndim)
    tnp.copyto(low, _fitted(batch, value, x.shape), casting=given.get("casting", "same_kind"), where=m)
    batch.wrote(x)
    return


@rule(np.putmask)
def putmask(batch, raw, args, kwargs):
    x, mask, values = args
    values = as_array(batch, values)
    if shape_of(values):
        size = values.size
        if not size:
            return
        values = values.reshape(-1)[np.arange(x.size) % size].reshape(x.shape)
    x[...] = tnp.where(mask, values, x).astype(x.dtype)
    return


@rule(np.put, np.ndarray.put)
def put(batch, raw, args, kwargs):
    given = dict(zip(("a", "ind", "v", "mode"), args, strict=False)) | kwargs
    x, at, v = (
        given["a"],
        operand(batch, given.get("ind", given.get("indices"))),
        operand(batch, given.get("v", given.get("values"))),
    )
    mode = given.get("mode", "raise")
    if mode == "wrap":
        at = at % x.size
    elif mode == "clip":
        at = tnp.clip(at, 0, x.size - 1)
    at = at.reshape(-1)
    if not v.size:
        return
    v = v.reshape(-1)[np.arange(at.size) % v.size]
    x[at if x.ndim == 1 else tnp.unravel_index(at % x.size if mode == "raise" else at, x.shape)] = v.astype(x.dtype)
    return


@rule(np.ndarray.fill)
def fill(batch, raw, args, kwargs):
    x, value = args
    x[...] = value
    return


@rule(np.fill_diagonal)
def fill_diagonal(batch, raw, args, kwargs):
    given = bound(raw, args, kwargs)
    x, value = given["a"], given["val"]
    if shape_of(value) == () and x.ndim == 2 and (not given.get("wrap") or x.shape[0] <= x.shape[1]):
        k = np.arange(min(x.shape))
        x[k, k] = value
        return None
    return fallback(batch, raw, args, kwargs)


@rule(np.place)
def place(batch, raw, args, kwargs):
    x, mask, values = args
    if np.size(values) == 1:
        x[mask] = values if shape_of(values) == () else values[0]
        return
    raise refuse_mask("place")


@rule(np.unravel_index, np.ravel_multi_index)
def unravel_index(batch, raw, args, kwargs):
    if raw is np.ravel_multi_index:
        ndim = max([len(shape_of(x)) for x in args[0]])
        return batch.up(tnp.ravel_multi_index(tuple([batch.aligned(x, ndim) for x in args[0]]), *args[1:], **kwargs))
    return tuple([batch.up(x) for x in tnp.unravel_index(batch.low(args[0]), *args[1:], **kwargs)])


@rule(np.choose, np.ndarray.choose)
def choose(batch, raw, args, kwargs):
    given = dict(zip(("a", "choices", "out", "mode"), args, strict=False)) | kwargs
    items = given["choices"]
    choices = [
        operand(batch, c)
        for c in (items if isinstance(items, (list, tuple)) else [items[i] for i in range(len(items))])
    ]
    a = operand(batch, given["a"])
    ndim = max([x.ndim for x in (a, *choices)])
    lows = [batch.aligned(x, ndim) for x in (a, *choices)]
    shape = np.broadcast_shapes(*[x.shape for x in (a, *choices)])
    if not batch.is_batched(a):
        lows[0] = tnp.broadcast_to(lows[0], (batch.n, *(1,) * (ndim - a.ndim), *a.shape))
    r = tnp.choose(lows[0], [tnp.broadcast_to(x, (batch.n, *shape)) for x in lows[1:]], mode=given.get("mode", "raise"))
    return finish(batch, r, given.get("out"))


@rule(np.compress, np.ndarray.compress, np.extract)
def compress(batch, raw, args, kwargs):
    condition, a = (args[1], args[0]) if raw is np.ndarray.compress else args[:2]
    rest = args[2:]
    axis = kwargs.get("axis", rest[0] if rest else None)
    if batch.is_batched(condition):
        raise refuse_mask("compress")
    a = operand(batch, a)
    if axis is None or raw is np.extract:
        keep = np.asarray(condition).reshape(-1).astype(bool)
        return finish(batch, flat(batch, a)[:, : keep.size][:, keep[: a.size]], kwargs.get("out"))
    return finish(batch, tnp.compress(condition, batch.every(a), axis=axis % a.ndim + 1), kwargs.get("out"))


@rule(
    np.ndarray.nonzero,
    *named(
        "nonzero flatnonzero argwhere unique trim_zeros unique_all unique_counts unique_inverse unique_values "
        "intersect1d setdiff1d setxor1d union1d"
    ),
)
def refuse(batch, raw, args, kwargs):
    raise refuse_mask(raw.__name__)


@rule(np.ndarray.item, np.ndarray.tolist, np.ndarray.tobytes, np.ndarray.tofile, np.ndarray.dump, np.ndarray.dumps)
def leaving(batch, raw, args, kwargs):
    batch.read(args[0])
