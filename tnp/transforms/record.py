"""What one run of a function leaves: the calls of NumPy's functions, and which memory each of them saw."""

from typing import Any

import numpy as np


class Slot:
    """One piece of memory.

    Attributes
    ----------
    kind : {"given", "held", "made", "object"}
        Memory of the arguments (and of what names reach); of an array that no name reaches; what a call made; an
        object that is no array.
    number : int
    nbytes : int
    dynamic : bool
        How many elements there are depends on values.
    cell : object
        A weak reference to the cell; the cell itself if it is held.
    """

    __slots__ = ("cell", "dynamic", "kind", "nbytes", "number", "start")

    def __init__(self, kind: str, number: int, start: int, nbytes: int, cell: Any) -> None:
        self.kind, self.number, self.start, self.nbytes, self.cell = kind, number, start, nbytes, cell
        self.dynamic = False


class Ref:
    """A place in a slot, as an array, or as a number that nothing changes in place.

    Attributes
    ----------
    slot : int
    offset : int
        In bytes.
    shape, strides : tuple of int
    dtype : numpy.dtype
    writeable, value : bool
    whole : bool
        It is the very array that a call made.
    dynamic : bool
        Its shape depends on values.
    """

    __slots__ = ("dtype", "dynamic", "offset", "shape", "slot", "strides", "value", "whole", "writeable")

    def __init__(self, slot: int, offset: int, nd: Any, value: bool, whole: bool) -> None:
        self.slot, self.offset, self.value, self.whole, self.dynamic = slot, offset, value, whole, False
        self.shape, self.strides, self.dtype, self.writeable = nd.shape, nd.strides, nd.dtype, nd.flags.writeable

    def is_like(self, nd: Any) -> bool:
        """Is this array, which a call has made now, like that of the recorded call?"""
        if self.dynamic:
            return True
        if nd.shape != self.shape or nd.dtype != self.dtype:
            return False
        return all([n < 2 or a == b for n, a, b in zip(self.shape, self.strides, nd.strides, strict=True)])

    def bounds(self) -> tuple[int, int]:
        """The first byte and the one behind the last."""
        if 0 in self.shape:
            return self.offset, self.offset
        spans = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        low = self.offset + sum([s for s in spans if s < 0])
        return low, self.offset + sum([s for s in spans if s > 0]) + self.dtype.itemsize

    def same(self, other: "Ref") -> bool:
        """Is it the same place?"""
        return (
            self.slot == other.slot
            and self.offset == other.offset
            and self.shape == other.shape
            and self.strides == other.strides
            and self.dtype == other.dtype
        )


class Kept:
    """Among the arguments: an object that a call made."""

    __slots__ = ("slot",)

    def __init__(self, slot: int) -> None:
        self.slot = slot


class Made:
    """In a result: what becomes the content of a slot."""

    __slots__ = ("ref", "slot")

    def __init__(self, slot: int, ref: Ref | None) -> None:
        self.slot, self.ref = slot, ref


class Op:
    """One call.

    Attributes
    ----------
    raw : callable
        NumPy's function, method or ufunc, or the operator.
    args, kwargs
        With `Ref` in place of arrays.
    result
        With `Made` in place of fresh arrays; what else it is nobody needs.
    writes : list of Ref
        Places that it writes to.
    point : tuple
        Where the program wrote it.
    modes : dict
        The floating-point error state where the program has set one.
    """

    __slots__ = ("args", "kwargs", "modes", "point", "raw", "result", "writes")

    def __init__(
        self,
        raw: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        writes: list[Ref],
        point: Any,
        modes: Any,
    ) -> None:
        self.raw, self.args, self.kwargs, self.result = raw, args, kwargs, result
        self.writes, self.point, self.modes = writes, point, modes

    @property
    def name(self) -> str:
        """What it is called in explanations."""
        return str(getattr(self.raw, "__name__", self.raw))


class Record:
    """The calls of one run, in the program's order.

    Attributes
    ----------
    ops : list of Op
    slots : list of Slot
    made : dict of int to Ref
        What calls have made, by slot.
    """

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.slots: list[Slot] = []
        self.made: dict[int, Ref] = {}

    def written(self) -> set[int]:
        """The slots that something writes to after they were made."""
        return {ref.slot for op in self.ops for ref in op.writes}


def refs_of(x: Any) -> list[Ref]:
    """All references in the arguments of a call."""
    found: list[Ref] = []
    _find(x, found)
    return found


def _find(x: Any, found: list[Ref]) -> None:
    t = type(x)
    if t is Ref:
        found.append(x)
    elif t is tuple or t is list:
        for y in x:
            _find(y, found)
    elif t is dict:
        for y in x.values():
            _find(y, found)
    elif t is slice:
        _find((x.start, x.stop, x.step), found)


def is_number_dtype(dtype: np.dtype[Any]) -> bool:
    """Can arrays of this dtype take part in a recorded function?"""
    return dtype.kind in "biufc" or dtype.type.__module__.partition(".")[0] == "ml_dtypes"
