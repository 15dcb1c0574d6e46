"""The seam: what everything above asks of a backend, and the fused group it hands over.

The lazy graph, fusion and the schedule are shared by all backends; a backend turns one `Group` into memory.
"""

from collections.abc import Callable, Iterable
from math import prod
from typing import Any, Protocol

import numpy as np

from tnp.core.config import Config
from tnp.core.primitive import Primitive

# What a kernel reports of the floating-point status: NumPy's own bits (numpy/ufuncobject.h)
DIVIDE, OVERFLOW, UNDERFLOW, INVALID = 1, 2, 4, 8


# Among the params of an elementwise step: its last bits may differ from NumPy's
FAST = (("math", "fast"),)


class Step:
    """One primitive inside a group.

    Attributes
    ----------
    prim : Primitive
        `Elementwise` (its ufunc, `cast_p` or `where_p`) or `Reduction`.
    args : tuple of int
        Operands: ``i >= 0`` is the result of step i, ``i < 0`` is leaf ``~i``.
    in_dtypes : tuple of dtype
        Of the loop. An operand of another dtype is cast to it first, as NumPy casts.
    dtype : dtype
        Of the result.
    params : tuple of (name, value)
        Hashable. `cast_p`: dtype. `Reduction`: axis (tuple of non-negative ints), keepdims. `FAST`, the object
        itself, for others whose last bits may differ from NumPy's.
    """

    __slots__ = ("args", "dtype", "in_dtypes", "params", "prim")

    def __init__(
        self,
        prim: Primitive,
        args: tuple[int, ...],
        in_dtypes: tuple[Any, ...],
        dtype: Any,
        params: tuple[tuple[str, Any], ...] = (),
    ) -> None:
        self.prim, self.args, self.in_dtypes, self.dtype, self.params = prim, args, in_dtypes, dtype, params


class Group:
    """Steps that run together, producers first.

    Attributes
    ----------
    steps : list of Step
        Every `Elementwise` step has the shape of the group. A `Reduction` step reduces something of that shape, and
        no step of the group reads its result.
    leaves : list of (numpy.ndarray or numpy.generic)
        Memory that is read: any strides, broadcastable to the shape of the group (0-d arrays and NumPy scalars
        are constants for the whole group; an operand of a Python number comes as a scalar of the loop's dtype).
    outputs : list of (int, numpy.ndarray)
        Step and destination. The destination has the shape of the group (of the reduced result for a `Reduction`)
        and any strides; where its dtype is not the step's, the value is cast on storing, as assignment casts. No
        destination overlaps a leaf, except one that is exactly the same place (same address, strides and shape).
    shape : tuple of int
    watched : int
        Flags (DIVIDE | OVERFLOW | ...) after which the caller will compute again what raised them, to tell which
        operation it was, and needs the leaves for that. 0: whatever is raised, everything is stored.
    undone : list of (int, int)
        Set by `Backend.run`. Elements, as ``start, stop`` in C order over `shape`, that were not stored because they
        raised watched flags: there the destinations that lie on leaves still hold the leaves' contents, and what
        other elementwise destinations hold means nothing. Everywhere else (and in results of a `Reduction`) every
        output is stored, and no watched flag was raised. Ascending, disjoint; always empty where `watched` is 0 or no
        destination lies on a leaf, or `told` is set. `part` makes them groups of their own: unless `is_flat`, they are
        whole planes, that is, multiples of the number of elements which share an index on the first axis.
    spare : bool
        Nobody needs what a leaf holds on which a destination lies: `Backend.run` may leave it and put other memory, C
        contiguous, into `outputs` instead.
    told : bool
        Set by `Backend.run`. The flags are the very ones of the only step, which was stored whatever it raised.
    """

    __slots__ = ("leaves", "outputs", "shape", "spare", "steps", "told", "undone", "watched")

    def __init__(
        self,
        steps: list[Step],
        leaves: list[Any],
        outputs: list[tuple[int, Any]],
        shape: tuple[int, ...],
        watched: int = 0,
    ) -> None:
        self.steps, self.leaves, self.outputs, self.shape = steps, leaves, outputs, shape
        self.watched, self.undone = watched, []  # type: int, list[tuple[int, int]]
        self.spare = self.told = False


def is_flat(group: Group) -> bool:
    """Is every operand C-contiguous, with the group's shape, or a NumPy scalar?"""
    operands = group.leaves + [nd for _, nd in group.outputs]
    return all([isinstance(a, np.generic) or (a.shape == group.shape and a.flags.c_contiguous) for a in operands])


def part(group: Group, start: int, stop: int, flat: bool) -> Group:
    """The elements from `start` to `stop`, in C order over the shape, as a group of their own.

    They are whole planes (see `Group.undone`) unless the group is `flat`.
    """
    if flat:
        shape: tuple[int, ...] = (stop - start,)
        leaves = [a if isinstance(a, np.generic) else a.reshape(-1)[start:stop] for a in group.leaves]
        outputs = [(i, nd.reshape(-1)[start:stop]) for i, nd in group.outputs]
    else:
        plane = prod(group.shape[1:])
        rows, ndim = slice(start // plane, stop // plane), len(group.shape)
        shape = (rows.stop - rows.start, *group.shape[1:])
        leaves = [a[rows] if a.ndim == ndim and a.shape[0] != 1 else a for a in group.leaves]
        outputs = [(i, nd[rows]) for i, nd in group.outputs]
    return Group(group.steps, leaves, outputs, shape)


class Backend(Protocol):
    """One kind of device."""

    name: str

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], order: str = "C") -> np.ndarray[Any, Any]:
        """Uninitialised memory of this device, C- or F-ordered. Raises MemoryError with NumPy's text."""
        ...

    def is_sole(self, nd: np.ndarray[Any, Any]) -> bool:
        """Is `nd` all that refers to its memory, which `empty` or NumPy allocated? Who refers to `nd` is not asked."""
        ...

    def fusible(self, prim: Primitive, in_dtypes: tuple[Any, ...], operand: np.ndarray[Any, Any]) -> bool:
        """May `prim` read this leaf inside a larger group and still give NumPy's bits? Otherwise it runs alone.

        Called once per edge from a leaf that is neither C-contiguous nor a scalar, so it may look at strides.
        """
        ...

    def configure(self, settings: Config) -> None:
        """The settings have changed."""
        ...

    def room(self) -> int:
        """Bytes of results that may be promised: beyond, it is better to compute at once, or to fail at once."""
        ...

    def workers(self) -> int:
        """Threads that work on this device's host memory together, the calling one included."""
        ...

    def run_chunks(self, fn: Callable[[Any], object], chunks: Iterable[Any]) -> None:
        """Call ``fn(chunk)`` for each chunk of work on host memory, on as many threads as there are.

        When it returns, or raises the first exception of a chunk, nothing of it runs any more. A chunk takes a few
        milliseconds at most, so that an interrupt acts soon, and lets other threads run meanwhile, as NumPy's loops do.
        """
        ...

    def memory_report(self) -> str:
        """What this device's memory is used for, in one line."""
        ...

    def supports(self, prim: Primitive, in_dtypes: tuple[Any, ...]) -> str | None:
        """Can programs do it? "exact": whatever lies where; "loop": by NumPy's loop; None: no."""
        ...

    def does(self, instruction: Any) -> bool:
        """Can programs do this with NumPy's bits: a `Reduce` or `Multiply`, in whatever blocks; a `Step` on numbers?"""
        ...

    def assemble(self, instructions: list[Any], arena: Any, constants: Any) -> Any:
        """A program of the instructions of tnp/backends/program.py. Raises `Unfit`.

        `arena` and `constants` are memory, as bytes, that it works in.
        """
        ...

    def run(self, group: Group) -> int:
        """Compute the outputs. Returns the floating-point flags that any step raised (DIVIDE | OVERFLOW | ...).

        Warnings are the caller's business: nothing here warns. With flags raised, the leaves still hold their
        contents unless a destination is the same place as a leaf; see `Group.watched` for these.
        """
        ...
