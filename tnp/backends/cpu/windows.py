"""Kernels that go from row to row themselves, over places that they replace.

A slab of a few planes at a time: what the results replace is copied aside, the kernel reads the copy and writes to the
place, and where that raised a flag which the caller watches, the copy is put back.
"""

from array import array
from math import prod
from typing import Any

import numpy as np

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW, Group
from tnp.backends.cpu.driver import COPIES, COPY_ALIGNED
from tnp.backends.cpu.kernel import Kernel, Ready, chunks_of, common, launch
from tnp.backends.cpu.layout import Layout
from tnp.core.native import address

SLAB = 4096  # elements: the copies stay in the nearest cache
LARGEST = 1 << 16  # elements of a plane
_STATUS_BITS = ((INVALID, 1), (DIVIDE, 4), (OVERFLOW, 8), (UNDERFLOW, 16))


def status_bits(watched: int) -> int:
    """The processor's bits of these flags."""
    return sum(bit for flag, bit in _STATUS_BITS if watched & flag)


class InPlace(Ready):
    """`Ready` for groups whose results replace leaves.

    Attributes
    ----------
    pairs : list of int
        Leaf and output that are one place, leaf and output, ...
    slab : int
        Rows at a time.
    """

    __slots__ = ("pairs", "slab")

    def __init__(self, kernel: Kernel, layout: Layout, pairs: list[int], slab: int, stress: bool) -> None:
        chunks = chunks_of(kernel, layout.rows, layout.columns, stress, slab)
        super().__init__(kernel, layout.packed, chunks)
        self.pairs, self.slab = pairs, slab

    def run(self, hooks: list[Any], group: Group) -> int:
        """Compute the outputs; says in ``group.undone`` which elements are left as they were."""
        slab, columns, replacing = self.slab, self.chunks[0][3], common("replacing")
        undone: list[tuple[int, int]] = []
        fixed = [status_bits(group.watched), 0, len(self.pairs) // 2, *self.pairs, 0]
        sizes = [slab * columns * group.leaves[k].itemsize for k in self.pairs[::2]]
        room = COPY_ALIGNED + sum([(n + 2 * COPY_ALIGNED - 1) & -COPY_ALIGNED for n in sizes])

        def call(args: bytes, row0: int, row1: int, _column0: int, _column1: int) -> int:
            report = array("q", fixed + [0] * -(-(row1 - row0) // slab))
            copies = np.empty(room, np.uint8)
            report[COPIES] = (address(copies) + COPY_ALIGNED - 1) & -COPY_ALIGNED
            status = replacing(args, report.buffer_info()[0], row0, row1, slab)
            at = len(fixed)
            for start in report[at : at + report[at - 1]]:
                undone.append((start * columns, min(start + slab, row1) * columns))
            return status

        flags = launch(hooks, self.kernel, self.arguments(group), self.chunks, call)
        group.undone = merged(undone)
        return flags


def merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, neighbours put together."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if found and found[-1][1] == start:
            found[-1] = found[-1][0], stop
        else:
            found.append((start, stop))
    return found


def in_place(group: Group, layout: Layout) -> tuple[list[int], int] | None:
    """`InPlace`'s pairs and slab for a group whose kernel goes over rows as `layout` says; None: it cannot be."""
    rows = prod(group.shape[1:]) // layout.columns  # of a plane
    if not layout.in_order or rows * layout.columns > LARGEST:
        return None
    pairs: list[int] = []
    for o, (_, out) in enumerate(group.outputs):
        for k, leaf in enumerate(group.leaves):
            if type(leaf) is np.ndarray and address(leaf) == address(out):
                if leaf.strides != out.strides or leaf.shape != out.shape or leaf.dtype != out.dtype:
                    return None
                pairs += (k, len(group.leaves) + o)
    return pairs, rows * max(1, SLAB // (rows * layout.columns))
