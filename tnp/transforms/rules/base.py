"""What rules are made of: registering, reading calls, results, outputs."""

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

import tnp
from tnp import host
from tnp.hot import ndarray
from tnp.tracing import box_of
from tnp.tracing import public as public
from tnp.transforms import batching
from tnp.transforms.batching import RULES, Batch

Handler = Callable[[Batch, Any, tuple[Any, ...], dict[str, Any]], Any]


def rule(*raws: Any) -> Callable[[Handler], Handler]:
    """Make the handler below the rule of NumPy's functions `raws`: ``handler(batch, raw, args, kwargs)``."""

    def install(f: Handler) -> Handler:
        for raw in raws:
            RULES[raw] = f
        return f

    return install


def named(names: str) -> list[Any]:
    """NumPy's functions of these names."""
    return [getattr(np, name) for name in names.split()]


def methods(names: str) -> None:
    """NumPy's methods of these names take the array first and are otherwise NumPy's functions."""
    for name in names.split():
        RULES[getattr(np.ndarray, name)] = _as_function(getattr(np, name))


def _as_function(function: Any) -> Handler:
    return lambda batch, raw, args, kwargs: batch.call(function, args, kwargs)


@functools.cache
def _signature(raw: Any) -> inspect.Signature:
    return inspect.signature(raw)


@functools.cache
def _names(raw: Any) -> tuple[str, ...] | None:
    """The parameters of `raw` that may be given by position, if there are no others but those by name."""
    parameters = list(_signature(raw).parameters.values())
    if any([p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters]):
        return None
    return tuple([p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD])


def bound(raw: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by name; those that were not given, or given as NumPy's mark for that, are left out."""
    names = _names(raw)
    if names is None or len(args) > len(names) or not kwargs.keys() <= _signature(raw).parameters.keys():
        found: Any = _signature(raw).bind(*args, **kwargs).arguments
    else:
        found = dict(zip(names, args, strict=False))
        if found.keys() & kwargs.keys():
            _signature(raw).bind(*args, **kwargs)  # which refuses what is given twice
        found.update(kwargs)
    return {k: v for k, v in found.items() if v is not np._NoValue}


def arrays_of(x: Any, depth: int = 0) -> Iterator[Any]:
    """The arrays in nested lists and tuples."""
    if type(x) is ndarray:
        yield x
    elif isinstance(x, (list, tuple)) and depth < 8:
        for y in x:
            yield from arrays_of(y, depth + 1)


def differs(batch: Batch, x: Any) -> bool:
    """Is there a value in `x` that differs between the examples?"""
    return any([batch.is_batched(y) for y in arrays_of(x)])


def as_array(batch: Batch, x: Any) -> Any:
    """An operand that may be a nested list with batched arrays: as one array, one level up still."""
    if isinstance(x, (list, tuple)) and differs(batch, x):
        items = [as_array(batch, y) for y in x]
        dtype = np.result_type(*[y.dtype if hasattr(y, "dtype") else np.asarray(y) for y in items])
        rows = [batch.every(y) if batch.is_batched(y) else batch.every(np.asarray(y)) for y in items]
        return batch.up(tnp.stack([r.astype(dtype) if r.dtype != dtype else r for r in rows], axis=1))
    return x


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of one example of an operand."""
    t = type(x)
    if t is ndarray:
        return x.shape
    if t is float or t is int:
        return ()
    shape = getattr(x, "shape", None)
    return np.shape(x) if shape is None else shape


def axis_in(axis: Any, ndim: int) -> int:
    """An axis of one example, counted with the batch axis in front."""
    return normalize_axis_index(_index(axis), ndim) + 1


def axes_in(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes of one example, all for None, counted with the batch axis in front."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    found = tuple([axis_in(a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))])
    if len(set(found)) != len(found):
        raise ValueError("duplicate value in 'axis'")
    return found


def _index(axis: Any) -> int:
    return axis.__index__()


def into(batch: Batch, out: Any, value: Any, casting: str = "same_kind") -> Any:
    """`value` is written to what the program gave as ``out=``."""
    if type(out) is tuple:
        (out,) = out
    batch.check_writable(out)
    if shape_of(value) != out.shape:
        raise ValueError(f"output parameter has shape {out.shape}, the result has {shape_of(value)}")
    if not np.can_cast(value.dtype, out.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast the result from {value.dtype!r} to {out.dtype!r} with casting rule '{casting}'")
    out[...] = value
    return out


def finish(batch: Batch, low: Any, out: Any = None) -> Any:
    """The result `low` as the program gets it."""
    y = batch.up(low)
    return y if out is None else into(batch, out, y)


def on_examples(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """The call on arrays that look like one example and hold nothing: for what shapes and dtypes alone decide."""
    return host.wrap(raw(*[_ghosts(x) for x in args], **{k: _ghosts(v) for k, v in kwargs.items()}))


def of_none(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """The result for no examples: the shapes and dtypes that one would give."""
    with np.errstate(all="ignore"):
        return _empty(batch, raw(*[_ghosts(x) for x in args], **{k: _ghosts(v) for k, v in kwargs.items()}))


def _empty(batch: Batch, y: Any) -> Any:
    if isinstance(y, (tuple, list)):
        items = [_empty(batch, x) for x in y]
        return type(y)(*items) if hasattr(y, "_fields") else type(y)(items)
    y = np.asarray(y)
    return batch.up(tnp.zeros((0, *y.shape), y.dtype))


def fallback(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """The call without a rule."""
    return batching.fallback(batch, raw, args, kwargs)


def _ghosts(x: Any) -> Any:
    if type(x) is ndarray:
        return x._nd if box_of(x) is not None else np.broadcast_to(np.empty((), x.dtype), x.shape)
    return type(x)([_ghosts(y) for y in x]) if type(x) in (list, tuple) else x
