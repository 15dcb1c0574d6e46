"""How a kernel walks over its operands: flat, row by row, or gathering what does not lie side by side."""

from array import array
from math import prod
from typing import Any

import numpy as np

from tnp.backends.cpu.reach import GATHERED, ROW, SCALAR, UNIT

SHORTEST_ROW = 48  # elements
# Nanoseconds, measured: a row costs this much for each operand; where there are no rows, operands that do not lie
# side by side are copied to scratch, each row at so much for the beginning and for an element
ROW_NS = 40.0
FILL_NS, COPY_NS = (20.0, 0.1), (30.0, 0.2)  # of one value, of a row
NARROWEST, WIDEST = 4, 64  # lanes of vectors in rows that a kernel goes over itself
CONTIGUOUS_ALIGNED = 0x101  # of ndarray.flags.num


class Layout:
    """How one group is walked over.

    Attributes
    ----------
    classes : tuple of str
        How each operand is reached (see `plan`).
    shape : tuple of int
        Merged dimensions that the kernel is told; empty where it needs none.
    numbers : tuple of int
        What follows the addresses among a kernel's arguments: `shape`, then each operand's strides over it.
    packed : bytes
        The same.
    by_rows : bool
        The last dimension makes rows.
    rows, columns : int
        What there is to do.
    in_order : bool
        Rows follow one another as the elements of the group do.
    lanes : int
        Of the widest vector that fits into a row, where kernels shall go from row to row themselves; otherwise 0.
    strided : Layout or None
        Another way, for kernels that can go from row to row themselves (see `emit`) and replace nothing that they read.
    """

    __slots__ = ("by_rows", "classes", "columns", "in_order", "lanes", "numbers", "rows", "shape", "strided")

    def __init__(self, classes: tuple[str, ...], rows: int, columns: int) -> None:
        self.classes, self.rows, self.columns = classes, rows, columns
        self.shape: tuple[int, ...] = ()
        self.numbers: tuple[int, ...] = ()
        self.by_rows = False
        self.lanes = 0
        self.in_order = True
        self.strided: Layout | None = None

    @property
    def packed(self) -> bytes:
        return array("q", self.numbers).tobytes()


def layout_of(operands: list[Any], shape: tuple[int, ...], flat: bool, first_output: int) -> Layout:
    """The walk over operands that broadcast to ``shape``.

    Parameters
    ----------
    flat : bool
        Rows are not allowed.
    first_output : int
        The operand whose order in memory is followed; if there is one (a group may run for its flags alone).
    """
    size = 1
    for n in shape:
        size *= n
    strides = [_strides(a, shape) for a in operands]
    dims = [d for d, n in enumerate(shape) if n != 1]
    if first_output < len(operands):
        dims.sort(key=lambda d: -abs(strides[first_output][d]))
    merged: list[int] = []
    steps: list[list[int]] = [[] for _ in operands]
    for d in dims:
        n = shape[d]
        if merged and all(s[-1] == t[d] * n for s, t in zip(steps, strides, strict=True)):
            merged[-1] *= n
            for s, t in zip(steps, strides, strict=True):
                s[-1] = t[d]
        else:
            merged.append(n)
            for s, t in zip(steps, strides, strict=True):
                s.append(t[d])
    by_rows = not flat and len(merged) > 1 and _rows_pay(operands, steps, merged)
    classes = tuple(
        UNIT if k >= first_output and not merged and a.flags.aligned else _reach(a, s, merged, by_rows)
        for k, (a, s) in enumerate(zip(operands, steps, strict=True))
    )
    layout = Layout(classes, size // merged[-1] if by_rows else 1, merged[-1] if by_rows else size)
    layout.by_rows = by_rows
    if by_rows or GATHERED in classes:
        layout.shape = tuple(merged) or (1,)
        layout.numbers = (*layout.shape, *(n for own in steps for n in own or (0,)))
    if not flat and len(merged) > 1 and merged[-1] >= NARROWEST:
        layout.strided = _strided(operands, steps, merged, first_output)
        if layout.strided is not None:
            layout.strided.in_order = dims == sorted(dims)
    return layout


def _strided(operands: list[Any], steps: list[list[int]], shape: list[int], first_output: int) -> Layout | None:
    """The layout of a kernel that goes from row to row, if there can be one. Measured: never slower than the other."""
    classes = tuple(
        SCALAR if isinstance(a, np.generic) else UNIT if s[-1] == a.itemsize else ROW if s[-1] == 0 else GATHERED
        for a, s in zip(operands, steps, strict=True)
    )
    if GATHERED in classes or ROW in classes[first_output:]:
        return None
    layout = Layout(classes, prod(shape[:-1]), shape[-1])
    layout.by_rows, layout.shape = True, tuple(shape)
    layout.lanes = min(WIDEST, 1 << (shape[-1].bit_length() - 1))
    layout.numbers = (*shape, *(n for own in steps for n in own))
    return layout


def _rows_pay(operands: list[Any], steps: list[list[int]], shape: list[int]) -> bool:
    """Is it faster to go row by row than to gather the operands that would allow it?"""
    if shape[-1] < SHORTEST_ROW:
        return False
    gathering = 0.0
    for a, own in zip(operands, steps, strict=True):
        if _reach(a, own, shape, False) == GATHERED:
            how = _reach(a, own, shape, True)
            if how != GATHERED:
                start, each = FILL_NS if how == ROW else COPY_NS
                gathering += start + each * shape[-1]
    return gathering > ROW_NS * len(operands)


def _strides(a: Any, shape: tuple[int, ...]) -> list[int]:
    """Over the whole shape: 0 where the operand is broadcast."""
    missing = len(shape) - a.ndim
    own = zip(a.shape, a.strides, strict=True)
    return [0] * missing + [0 if n == 1 else s for n, s in own]


def _reach(a: Any, strides: list[int], shape: list[int], by_rows: bool) -> str:
    if isinstance(a, np.generic):
        return SCALAR
    if not a.flags.aligned:
        return GATHERED
    if not any(strides):
        return ROW
    if by_rows:
        return UNIT if strides[-1] == a.itemsize else ROW if strides[-1] == 0 else GATHERED
    expected = a.itemsize
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        if s != expected:
            return GATHERED
        expected *= n
    return UNIT
