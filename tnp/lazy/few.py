"""Readers of few elements: before memory changes they are given copies of what they read there, and go on waiting.

One element broadcast to a million is eight bytes to copy, and eight million to compute.
"""

from math import prod
from typing import Any

import numpy as np

from tnp.core.cells import Place, Storage
from tnp.lazy.fusion import view

FEW = 64  # distinct elements


def let_go(reader: Storage, storage: Storage) -> bool:
    """Have the pending `reader` read copies instead of `storage`. False, and nothing done, if they would be large."""
    args = [copied(a, storage) for a in reader.node.args]
    if any(a is None for a in args):
        return False
    reader.node.args = tuple(args)
    return True


def copied(a: Any, storage: Storage) -> Any:
    """The operand `a`, or a copy of it if it reads `storage`; None if the copy would be large."""
    if a is storage:
        nd = _copy(storage.full)
        return None if nd is None else Storage(nd, None)
    if type(a) is Place and a.storage is storage:
        nd = _copy(view(a))
        return None if nd is None else Place(Storage(nd, None), nd)
    return a


def _copy(nd: Any) -> Any:
    """A copy of few elements that repeats what `nd` repeats and runs the same ways; None for many."""
    axes = [i for i in range(nd.ndim) if nd.shape[i] != 1 and nd.strides[i]]
    if prod(nd.shape[i] for i in axes) > FEW or not nd.flags.aligned:
        return None
    # NumPy's loops may round differently for contiguous and other elements: gaps remain gaps, if smaller ones
    axes.sort(key=lambda i: abs(nd.strides[i]))
    strides = [0] * nd.ndim
    was = now = nd.itemsize  # the stride at which the next axis goes on without a gap
    for i in axes:
        strides[i] = now if abs(nd.strides[i]) == was else now + nd.itemsize
        was, now = abs(nd.strides[i]) * nd.shape[i], strides[i] * nd.shape[i]
    memory = np.empty(now // nd.itemsize, nd.dtype)
    start = sum(strides[i] * (nd.shape[i] - 1) for i in axes if nd.strides[i] < 0)
    once = tuple(slice(None) if s else slice(1) for s in strides)
    signed = [-s if nd.strides[i] < 0 else s for i, s in enumerate(strides)]
    alone = [nd.strides[i] if n == 1 else signed[i] for i, n in enumerate(nd.shape)]  # loops see that of one element
    made: Any = np.ndarray(nd.shape, nd.dtype, memory, start, alone)
    made[once] = nd[once]
    return made
