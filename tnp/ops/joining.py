"""Arrays joined from others: one destination, into which each operand is written where it belongs.

A pending operand is computed straight into its part, by one kernel and without a temporary; memory is copied by all
threads.
"""

import numpy as _np

from tnp import bind, content
from tnp.core.cells import Storage
from tnp.core.dtypes import is_number
from tnp.host import native, run
from tnp.hot import get_lazy_from, ndarray, real
from tnp.lazy.schedule import lock
from tnp.ops.memory import adopt, adopt_storage, copy, pooled
from tnp.ops.views import look

_ABSENT = _np._NoValue


def joined(arrays, shape, dtype, parts):
    """A new array of this shape, ``new[parts[i]] = arrays[i]``; None if there is no memory of the pool for it.

    Operands are in C order, so that NumPy's result is too.
    """
    full = pooled(shape, dtype)
    if full is None:
        return None
    storage = Storage(full, None)
    for x, part in zip(arrays, parts, strict=True):
        write(storage, full[part], x)
    return adopt_storage(storage)


def write(storage, place, x):
    """``place[...] = x`` for a part `place` of the memory `storage` that nothing else knows yet."""
    if content.pending_node(x) is not None and content.dtype_of(x) != place.dtype:
        y = bind.cast(x, place.dtype)
        x = x if y is None else y
    with lock:
        s = content.pending_whole(x)
        if s is not None and s.node.dtype == place.dtype and s.node.shape == place.shape:
            content.schedule.store(storage, place, s)
            return
    copy(place, real(x))


def operands(arrays):
    """Operands of one numeric dtype or several, all in C order: their forms and the result's dtype, or None."""
    if type(arrays) not in (list, tuple) or not arrays:
        return None
    n, nbytes, waits, looks = 0, 0, False, []
    for x in arrays:
        if type(x) is not ndarray:
            return None
        waits = waits or x._nd is None
        nd = look(x)
        d = nd.dtype
        if not nd.flags.c_contiguous or not is_number(d):
            return None
        n += nd.size
        nbytes += nd.nbytes
        looks.append(nd)
    if n < get_lazy_from() or (not waits and nbytes < content.get_lone_below()):
        return None  # what is there already NumPy copies as fast
    dtype = looks[0].dtype
    if dtype is not _np.dtype(dtype.type) or any([nd.dtype is not dtype for nd in looks]):
        dtype = _np.result_type(*[nd.dtype for nd in looks])
    return looks, dtype


def _along(arrays, axis, looks, dtype, as_shape):
    """Concatenation along `axis` of the arrays, each seen in the shape ``as_shape(shape)``; None if NumPy must say no.

    `as_shape` adds axes of length one; what is written is the part without them.
    """
    shapes = [as_shape(nd.shape) for nd in looks]
    first = shapes[0]
    ndim = len(first)
    if not -ndim <= axis < ndim:
        return None
    axis %= ndim
    total = 0
    for shape in shapes:
        if len(shape) != ndim or shape[:axis] != first[:axis] or shape[axis + 1 :] != first[axis + 1 :]:
            return None
        total += shape[axis]
    start, parts = 0, []
    for nd, shape in zip(looks, shapes, strict=True):
        part = [slice(None)] * ndim
        part[axis] = slice(start, start + shape[axis])
        start += shape[axis]
        parts.append(tuple(_without_new(part, nd.shape, shape)))
    return joined(arrays, (*first[:axis], total, *first[axis + 1 :]), dtype, parts)


def _without_new(part, shape, seen):
    """The index `part` for the shape `seen`, with the axes that `shape` has not replaced by their only index."""
    missing = len(seen) - len(shape)
    if not missing:
        return part
    new = _new_axes(shape, seen)
    return [p.start or 0 if i in new else p for i, p in enumerate(part)]


def _new_axes(shape, seen):
    """Which axes of `seen` were added to `shape` (all of length one)."""
    if len(shape) == 1 and len(seen) == 2:
        return (1,) if seen[1] == 1 and seen[0] == shape[0] and shape[0] != 1 else (0,)
    return tuple(range(len(seen) - len(shape)))


def _joining(raw, axis_of, as_shape):
    """A function like vstack: concatenation along a fixed axis of operands seen in another shape."""

    def function(tup, *args, **kwargs):
        if not args and not kwargs:
            found = operands(tup)
            if found is not None:
                looks, dtype = found
                r = _along(tup, axis_of(looks), looks, dtype, as_shape)
                if r is not None:
                    return r
        return run(raw, (tup, *args), kwargs)

    return function


def _same(shape):
    return shape


def _two(shape):
    """atleast_2d"""
    return shape if len(shape) >= 2 else (1, *shape) if shape else (1, 1)


def _concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is None and dtype is None and casting == "same_kind" and type(axis) is int:
        found = operands(arrays)
        if found is not None:
            looks, kind = found
            r = _along(arrays, axis, looks, kind, _same)
            if r is not None:
                return r
    kwargs = {"out": out, "dtype": dtype, "casting": casting}
    if isinstance(out, ndarray):
        content.settle(out)
        return None
    return run(_np.concatenate, (arrays, axis), kwargs)


def _stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is None and dtype is None and casting == "same_kind" and type(axis) is int:
        found = operands(arrays)
        if found is not None:
            looks, kind = found
            shape = looks[0].shape
            ndim = len(shape) + 1
            if -ndim <= axis < ndim and all(nd.shape == shape for nd in looks):
                axis %= ndim
                lead = (slice(None),) * axis
                parts = [(*lead, i) for i in range(len(looks))]
                r = joined(arrays, (*shape[:axis], len(looks), *shape[axis:]), kind, parts)
                if r is not None:
                    return r
    if isinstance(out, ndarray):
        return None
    return run(_np.stack, (arrays, axis, out), {"dtype": dtype, "casting": casting})


def _column_stack(tup):
    """Vectors become columns: ``new[:, j] = vector``."""
    found = operands(tup)
    if found is not None:
        looks, dtype = found
        n = looks[0].shape[0] if looks[0].ndim else -1
        if all(nd.ndim in (1, 2) and nd.shape[0] == n for nd in looks):
            parts: list[tuple[slice | int, ...]] = []
            start = 0
            for nd in looks:
                if nd.ndim == 1:
                    parts.append((slice(None), start))
                    start += 1
                else:
                    parts.append((slice(None), slice(start, start + nd.shape[1])))
                    start += nd.shape[1]
            r = joined(tup, (n, start), dtype, parts)
            if r is not None:
                return r
    return run(_np.column_stack, (tup,), {})


def _dstack(tup):
    """Matrices become layers of the third axis."""
    found = operands(tup)
    if found is not None:
        looks, dtype = found
        shape = looks[0].shape
        if len(shape) == 2 and all(nd.shape == shape for nd in looks):
            r = joined(tup, (*shape, len(looks)), dtype, [(slice(None), slice(None), k) for k in range(len(looks))])
            if r is not None:
                return r
    return run(_np.dstack, (tup,), {})


def _append(arr, values, axis=None):
    if type(arr) is ndarray and type(values) is ndarray:
        found = operands((arr, values))
        if found is not None:
            looks, dtype = found
            if axis is None:
                flat = (arr.reshape(-1), values.reshape(-1))
                r = _along(flat, 0, [look(x) for x in flat], dtype, _same)
            else:
                r = _along((arr, values), axis, looks, dtype, _same) if type(axis) is int else None
            if r is not None:
                return r
    return run(_np.append, (arr, values, axis), {})


native(_concatenate, _np.concatenate, "concatenate")
native(_stack, _np.stack, "stack")
native(_joining(_np.vstack, lambda looks: 0, _two), _np.vstack, "vstack")
native(_joining(_np.hstack, lambda looks: 0 if looks[0].ndim == 1 else 1, _same), _np.hstack, "hstack")
native(_column_stack, _np.column_stack, "column_stack")
native(_dstack, _np.dstack, "dstack")
native(_append, _np.append, "append")


# ------------------------------------------------------------------------------------------------ repeated content
def _roll(a, shift, axis=None):
    """`numpy.roll` by one shift: two copies."""
    if type(a) is ndarray and type(shift) is int and (axis is None or type(axis) is int):
        nd = look(a)
        if nd.flags.c_contiguous and nd.ndim and (axis is None or -nd.ndim <= axis < nd.ndim) and nd.size:
            full = pooled(nd.shape, nd.dtype)
            if full is not None:
                if axis is None:
                    full = full.reshape(-1)
                    _rolled(full, real(a).reshape(-1), shift, 0)
                    return adopt(full).reshape(nd.shape)  # a view, as NumPy's
                _rolled(full, real(a), shift, axis % nd.ndim)
                return adopt(full)
    return run(_np.roll, (a, shift, axis), {})


def _rolled(dest, src, shift, axis):
    n = src.shape[axis]
    shift %= n
    lead = (slice(None),) * axis
    copy(dest[(*lead, slice(shift, None))], src[(*lead, slice(None, n - shift))])
    if shift:
        copy(dest[(*lead, slice(None, shift))], src[(*lead, slice(n - shift, None))])


def _sizes(counts):
    return all([type(k) is int and k >= 0 for k in counts])


def _tile(A, reps):
    if type(A) is ndarray and (type(reps) is int or type(reps) is tuple):
        counts = reps if isinstance(reps, tuple) else (reps,)
        nd = look(A)
        if nd.flags.c_contiguous and nd.size and _sizes(counts) and counts != (1,) * len(counts):
            ndim = max(nd.ndim, len(counts))
            shape = (1,) * (ndim - nd.ndim) + nd.shape
            counts = (1,) * (ndim - len(counts)) + counts
            full = pooled(tuple([n * k for n, k in zip(shape, counts, strict=True)]), nd.dtype)
            if full is not None:
                apart = [m for pair in zip(counts, shape, strict=True) for m in pair]
                once = [m for n in shape for m in (1, n)]
                copy(full.reshape(apart), real(A).reshape(once))
                total = full.shape
                return adopt(full.reshape(-1)).reshape(total)  # a view, as NumPy's
    return run(_np.tile, (A, reps), {})


native(_roll, _np.roll, "roll")
native(_tile, _np.tile, "tile")


def _direct(name):
    raw = getattr(_np, name)
    native(lambda *args, **kwargs: run(raw, args, kwargs), raw, name, name == "block")  # whose lists may be nested


for _name in ("block", "pad", "repeat"):
    _direct(_name)
