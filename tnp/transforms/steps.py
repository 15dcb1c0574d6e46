"""What a recorded call can become: the few things that a backend's program does, on references to slots."""

from typing import Any

import numpy as np

from tnp.core.primitive import Primitive
from tnp.transforms.record import Op, Ref, refs_of


class Elementwise:
    """``out[...] = prim(args)``, as if everything were read first.

    Attributes
    ----------
    op : int
        The number of the call that it belongs to.
    args : list of Ref or numpy.generic
    in_dtypes, dtype
        Of the loop.
    count : int or None
        The selection (see `Select`) that says how many elements there are.
    quiet : bool
        The error state ignores what it raises.
    """

    __slots__ = ("args", "count", "dtype", "in_dtypes", "op", "out", "prim", "quiet")

    def __init__(
        self, op: int, prim: Primitive, args: list[Any], in_dtypes: Any, dtype: Any, out: Ref, count: Any, quiet: bool
    ) -> None:
        self.op, self.prim, self.args, self.in_dtypes, self.dtype = op, prim, args, in_dtypes, dtype
        self.out, self.count, self.quiet = out, count, quiet

    @property
    def reads(self) -> list[Ref]:
        return [a for a in self.args if type(a) is Ref]


class Fold:
    """``out[...] = ufunc.reduce(arg, axes)``."""

    __slots__ = ("arg", "axes", "op", "out", "quiet", "ufunc")

    def __init__(self, op: int, ufunc: np.ufunc, arg: Ref, axes: tuple[int, ...], out: Ref, quiet: bool) -> None:
        self.op, self.ufunc, self.arg, self.axes, self.out, self.quiet = op, ufunc, arg, axes, out, quiet

    @property
    def reads(self) -> list[Ref]:
        return [self.arg]


class Product:
    """``out[...] = raw(a, b)``, a product of matrices or vectors."""

    __slots__ = ("a", "b", "op", "out", "quiet", "raw")

    def __init__(self, op: int, raw: Any, a: Ref, b: Ref, out: Ref, quiet: bool) -> None:
        self.op, self.raw, self.a, self.b, self.out, self.quiet = op, raw, a, b, out, quiet

    @property
    def reads(self) -> list[Ref]:
        return [self.a, self.b]


class Select:
    """``out = arg[mask]``; how many there are is kept under the number `count`."""

    __slots__ = ("arg", "count", "mask", "op", "out")

    def __init__(self, op: int, arg: Ref, mask: Ref, out: Ref, count: int) -> None:
        self.op, self.arg, self.mask, self.out, self.count = op, arg, mask, out, count

    @property
    def reads(self) -> list[Ref]:
        return [self.arg, self.mask]


class Scatter:
    """``out[mask] = arg``, of as many elements as `count` says."""

    __slots__ = ("arg", "count", "mask", "op", "out")

    def __init__(self, op: int, arg: Ref, mask: Ref, out: Ref, count: int) -> None:
        self.op, self.arg, self.mask, self.out, self.count = op, arg, mask, out, count

    @property
    def reads(self) -> list[Ref]:
        return [self.arg, self.mask, self.out]


class Constant:
    """``out`` holds these values: what a call has made of nothing but constants. None: whatever."""

    __slots__ = ("op", "out", "value")

    def __init__(self, op: int, value: Any, out: Ref) -> None:
        self.op, self.value, self.out = op, value, out

    @property
    def reads(self) -> list[Ref]:
        return []


class Call:
    """A call of NumPy's function."""

    __slots__ = ("call", "op")

    def __init__(self, op: int, call: Op) -> None:
        self.op, self.call = op, call

    @property
    def reads(self) -> list[Ref]:
        return refs_of((self.call.args, self.call.kwargs))
