"""Shapes, and the order in which arrays lie in memory.

This module is also compiled by Cython; the types stand in layout.pxd.
"""

from typing import Any

import numpy as np

Shape = tuple[int, ...]

ELIDED_FROM = 256 * 1024  # bytes from which NumPy computes over an operand that has no name (tnp/arrays/temporaries.py)


def size_of(shape: Shape) -> int:
    """Number of elements."""
    n = 1
    for k in shape:
        n *= k
    return n


def has_shape(nd: Any, shape: Shape) -> bool:
    """Is that the shape of the array?"""
    if nd.ndim != len(shape):
        return False
    for i in range(nd.ndim):
        k = shape[i]
        if nd.shape[i] != k:
            return False
    return True


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """Shape of the result, or None if NumPy has to say that there is none."""
    if a is b or a == b:
        return a
    if len(a) < len(b):
        a, b = b, a
    out = list(a)
    lead = len(a) - len(b)
    for i, n in enumerate(b):
        m = a[lead + i]
        if m != n:
            if m == 1:
                out[lead + i] = n
            elif n != 1:
                return None
    return tuple(out)


def is_in_c_order(nd: Any) -> bool:
    """Does it lie in C order, gaps aside?"""
    last = -1
    for i in range(nd.ndim):
        n, s = nd.shape[i], nd.strides[i]
        if n != 1 and s != 0:
            if s < 0:
                s = -s
            if last >= 0 and s > last:
                return False
            last = s
    return True


def may_meet_itself(nd: Any) -> bool:
    """May two elements lie at one place, or share bytes? Strides along which each axis steps over the next are sure."""
    axes = list(range(nd.ndim))
    if _steps_over(nd, axes):
        return False
    steps = [-abs(nd.strides[i]) for i in axes]
    axes.sort(key=steps.__getitem__)
    return not _steps_over(nd, axes)


def _steps_over(nd: Any, axes: list[int]) -> bool:
    """Does each of the axes, from the slowest to the fastest, step over all that those after it reach?"""
    extent = nd.itemsize
    for i in range(nd.ndim - 1, -1, -1):
        a = axes[i]
        n, s = nd.shape[a], nd.strides[a]
        if n > 1:
            if s < 0:
                s = -s
            if s < extent:
                return False
            extent += s * (n - 1)
    return True


def copied_in_order(nd: Any) -> bool:
    """Is NumPy's copy of `nd` in C order? Copies have a rule of their own, for axes of one element too."""
    last = -1
    for i in range(nd.ndim):
        s = nd.strides[i]
        if s < 0:
            s = -s
        if last >= 0 and s > last:
            last = -2
            break
        last = s
    if last != -2:  # the usual case
        return True
    like: Any = np.empty_like(nd, "i1", "K")
    return bool(like.strides == np.empty(like.shape, "i1").strides)


def axes_by_stride(nd: Any) -> Shape:
    """Axes from the slowest to the fastest."""
    axes = list(range(nd.ndim))
    for i in range(1, nd.ndim):
        j = i
        while j > 0:
            a, b = axes[j - 1], axes[j]
            if nd.strides[a] >= nd.strides[b]:
                break
            axes[j - 1], axes[j] = b, a
            j -= 1
    return tuple(axes)


def lies_along(nd: Any, axes: Shape) -> bool:
    """Is each of `axes`, which are all that the array has, strictly faster than the one before, and long and positive?

    Whatever else is in an operation, NumPy then orders these axes so.
    """
    last = -1
    for i in range(nd.ndim):
        a = axes[i]
        s = nd.strides[a]
        if nd.shape[a] == 1 or s <= 0 or (last >= 0 and s >= last):
            return False
        last = s
    return True
