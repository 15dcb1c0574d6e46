"""What no rule is for runs for one example after the other, and says so."""

from typing import Any

import numpy as np

import tnp
from tnp import host
from tnp.hot import ndarray
from tnp.transforms.batching import Batch, install_fallback
from tnp.transforms.errors import EscapedError, depends, explain, warn_loop
from tnp.transforms.rules.base import arrays_of, into, of_none, public


def loop(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """The call for each example; results are put together."""
    name = getattr(raw, "__name__", str(raw))
    if batch.warns:
        warn_loop(f"numpy.{name}")
    out = kwargs.get("out")
    kwargs = {k: v for k, v in kwargs.items() if k != "out"}
    for i, key in host.writes_of(raw, name) or ():
        x = kwargs.get(key, args[i] if i < len(args) else None)
        if type(x) is ndarray and key != "out":
            batch.note_own_write(x, ...)
            batch.lift(x)
            for y in arrays_of([x]):
                batch.wrote(y)
    rows = [
        public(raw)(*[_one(batch, x, i) for x in args], **{k: _one(batch, v, i) for k, v in kwargs.items()})
        for i in range(batch.n)
    ]
    if not rows:
        return of_none(batch, raw, args, kwargs)
    r = _together(batch, rows, name)
    if out is None:
        return r
    return into(batch, out, r)


def _one(batch: Batch, x: Any, i: int) -> Any:
    """What example `i` has for the argument `x`."""
    if type(x) is ndarray:
        return batch.low(x)[i] if batch.is_batched(x) else x
    if isinstance(x, (list, tuple)):
        items = [_one(batch, y, i) for y in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return {k: _one(batch, v, i) for k, v in x.items()}
    return x


def _together(batch: Batch, rows: list[Any], name: str) -> Any:
    first = rows[0]
    if isinstance(first, (list, tuple)):
        items = [_together(batch, [r[k] for r in rows], name) for k in range(len(first))]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if first is None or isinstance(first, (str, np.dtype)):
        return first
    if len({np.shape(r) for r in rows}) > 1:
        raise depends(f"numpy.{name}: results differ in shape", "fixed shapes")
    if isinstance(first, (ndarray, np.ndarray, np.generic, bool, int, float, complex)):
        return batch.up(tnp.stack([tnp.asarray(r) for r in rows]))
    raise EscapedError(
        explain(f"vmap: numpy.{name}", f"results of type {type(first).__name__}", "arrays", "call it outside vmap")
    )


install_fallback(loop)
