"""Arrays put together: what all examples share is repeated for each."""

import numpy as np

import tnp
from tnp.transforms.rules.base import axis_in, finish, rule, shape_of
from tnp.transforms.rules.reductions import flat, operand


@rule(np.concatenate)
def concatenate(batch, raw, args, kwargs):
    kwargs = dict(kwargs)
    names = ("axis", "out")
    kwargs |= dict(zip(names, args[1:], strict=False))
    axis, out = kwargs.pop("axis", 0), kwargs.pop("out", None)
    items = [operand(batch, x) for x in (args[0] if isinstance(args[0], (list, tuple)) else list(args[0]))]
    if axis is None:
        return finish(batch, tnp.concatenate([flat(batch, x) for x in items], axis=1, **kwargs), out)
    if any([x.ndim == 0 for x in items]):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    low = tnp.concatenate([batch.every(x) for x in items], axis=axis_in(axis, items[0].ndim), **kwargs)
    return finish(batch, low, out)


@rule(np.stack)
def stack(batch, raw, args, kwargs):
    kwargs = dict(kwargs) | dict(zip(("axis", "out"), args[1:], strict=False))
    axis, out = kwargs.pop("axis", 0), kwargs.pop("out", None)
    items = [operand(batch, x) for x in args[0]]
    if len({shape_of(x) for x in items}) != 1:
        raise ValueError("all input arrays must have the same shape")
    low = tnp.stack([batch.every(x) for x in items], axis=axis_in(axis, items[0].ndim + 1), **kwargs)
    return finish(batch, low, out)
