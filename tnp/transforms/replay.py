"""A record run again, call by call, through NumPy: what a plan means, and how its warnings are found."""

import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np

from tnp.core import native
from tnp.transforms.errors import concrete, line_of
from tnp.transforms.record import Kept, Made, Op, Ref


class _Bytes:
    """Memory from an address on, as NumPy takes it."""

    def __init__(self, start: int, nbytes: int, owner: Any, writeable: bool) -> None:
        self._owner = owner
        self.__array_interface__ = {
            "data": (start, not writeable), "shape": (nbytes,), "typestr": "|u1", "version": 3,
        }  # fmt: skip


class Memory:
    """Content of one slot.

    Parameters
    ----------
    start, nbytes : int
    owner : object
        Keeps it.
    array : numpy.ndarray, optional
        The very array that a call made.
    writeable : bool
    """

    __slots__ = ("_bytes", "array", "nbytes", "owner", "start")

    def __init__(self, start: int, nbytes: int, owner: Any, array: Any = None) -> None:
        self.start, self.nbytes, self.owner, self.array = start, nbytes, owner, array
        self._bytes: Any = None

    @classmethod
    def of(cls, made: Any) -> "Memory":
        """The memory of a fresh array."""
        base = made.base if type(made.base) is np.ndarray else made
        start, stop = np.lib.array_utils.byte_bounds(base) if base.size else (native.address(base), 0)
        return cls(start, max(stop - start, 0), base, made)

    def at(self, ref: Ref) -> Any:
        """The array that lies at a place."""
        if ref.whole or (self.array is not None and ref.shape == self.array.shape and self._is(ref)):
            return self.array
        if self._bytes is None:
            if self.nbytes:
                self._bytes = np.asarray(_Bytes(self.start, self.nbytes, self.owner, True))
            else:
                self._bytes = np.empty(0, np.uint8)
        nd: Any = np.ndarray(ref.shape, ref.dtype, self._bytes, ref.offset if self.nbytes else 0, ref.strides)
        if not ref.writeable:
            nd.flags.writeable = False
        return nd

    def _is(self, ref: Ref) -> bool:
        nd = self.array
        return bool(
            nd.strides == ref.strides
            and nd.dtype == ref.dtype
            and native.address(nd) == self.start + ref.offset
            and nd.flags.writeable == ref.writeable
        )


class Environment:
    """The slots of a record while it runs again.

    Attributes
    ----------
    slots : dict
        Number of a slot: `Memory`, or an object that is no array.
    """

    __slots__ = ("slots",)

    def __init__(self) -> None:
        self.slots: dict[int, Any] = {}

    def get(self, ref: Ref) -> Any:
        """The array, or NumPy's scalar, of a reference."""
        nd = self.slots[ref.slot].at(ref)
        return nd[()] if ref.value else nd

    def argument(self, x: Any) -> Any:
        """The argument of a call from what is recorded of it."""
        t = type(x)
        if t is Ref:
            return self.get(x)
        if t is tuple or t is list:
            return t([self.argument(y) for y in x])
        if t is dict:
            return {k: self.argument(y) for k, y in x.items()}
        if t is Kept:
            return self.slots[x.slot]
        return x

    def keep(self, made: Any, result: Any) -> None:
        """Take what a call has made."""
        if type(made) is Made:
            if made.ref is None:
                self.slots[made.slot] = result
            else:
                nd = np.array(result) if type(result) is not np.ndarray else result
                if not made.ref.is_like(nd):
                    raise concrete("the shape of a result depends on values", "functions that keep the shape")
                self.slots[made.slot] = Memory.of(nd)
        elif type(made) is tuple:
            for m, r in zip(made, result, strict=True):
                self.keep(m, r)

    def run(self, op: Op) -> None:
        """Run one call."""
        args, kwargs = self.argument(op.args), self.argument(op.kwargs)
        first = op.args[0] if op.args else None
        if type(first) is Ref and first.value and getattr(op.raw, "__objclass__", None) is np.ndarray:
            args = (np.asarray(args[0]), *args[1:])
        with np.errstate(**op.modes) if op.modes else nullcontext():
            self.keep(op.result, op.raw(*args, **kwargs))


def replay(ops: list[Op], env: Environment) -> None:
    """Run calls one by one; warnings name the line of the program that made the call."""
    for op in ops:
        with Lines(op.point):
            env.run(op)


class Lines:
    """Warnings of the block are given with the line of a point of the program."""

    __slots__ = ("_caught", "_found", "_point")

    def __init__(self, point: Any) -> None:
        self._point = point

    def __enter__(self) -> None:
        self._caught = warnings.catch_warnings(record=True)
        self._found = self._caught.__enter__()
        warnings.simplefilter("always")

    def __exit__(self, *error: Any) -> None:
        self._caught.__exit__(*error)
        if self._point is None or not self._found:
            return
        file, line = line_of(self._point)
        space = self._point[2]
        for w in self._found:  # type: ignore[union-attr]
            warnings.warn_explicit(
                w.message, w.category, file, line, space.get("__name__"), space.setdefault("__warningregistry__", {})
            )
