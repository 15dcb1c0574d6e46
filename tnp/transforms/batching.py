"""Arrays that stand for many: what a function written for one example gets for a batch of them.

Such an array has the shape, dtype and strides of one example, on address space that holds nothing
(tnp/lazy/phantom.py): so NumPy itself makes its views. Its cell's record is a `BatchBox`, which has the values: an
array one level down whose first axis is the batch. A place in the one is a place in the other with one axis more. What
is done to the array is done to that one by the rules in tnp/transforms/rules; memory that all examples share becomes
one for each example when a value that differs between them is written to it (`Batch.lift`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import tnp
from tnp import content, hot
from tnp.core import native
from tnp.core.cells import IMMUTABLE, TRACED, Cell, Storage
from tnp.core.interpreter import DECLINED, Box, Interpreter, batches
from tnp.hot import ndarray
from tnp.lazy import phantom
from tnp.transforms.errors import STEERS, EscapedError, depends, explain, here
from tnp.transforms.outside import Outside

RULES: dict[Any, Any] = {}  # NumPy's function, method or ufunc -> handler(batch, raw, args, kwargs)
LARGE = 1 << 28  # bytes of copies from which it is asked whether there is room
CREATORS: dict[Any, Any] = {}  # the same for functions that are asked without a batched argument: random numbers
fallback: Any = None  # the handler of functions that have no rule


def install_fallback(f: Any) -> None:
    """``f(batch, raw, args, kwargs)`` does what no rule is for."""
    global fallback
    fallback = f


class BatchBox(Box):
    """The values of all examples.

    Attributes
    ----------
    nd : numpy.ndarray
        The example of which `low` is the whole.
    low : ndarray
        One level down, the batch axis first; the others have the strides of one example.
    start : int
        Address of the first element of the example.
    shape, strides
        Of that example.
    before : tuple or None
        What the cell was while all examples shared it: its record and marks.
    cell : Cell or None
        Of the array that is the argument, whose slices these are.
    through : tuple or None
        Array and key of which this is a part that differs between the examples: what is written here is written there.
    """

    __slots__ = ("before", "cell", "low", "nd", "shape", "start", "strides", "through")

    def __init__(self, batch: "Batch", low: Any, nd: Any, before: Any = None) -> None:
        super().__init__(batch)
        self.low, self.before, self.through, self.cell = low, before, None, None
        self.nd, self.start, self.shape, self.strides = nd, native.address(nd), nd.shape, nd.strides


class Batch(Interpreter):
    """One `vmap` while its function runs.

    Attributes
    ----------
    n : int
        Examples.
    level : int
        How many are around it.
    dead : bool
        Has it returned?
    warns : bool
        Does it say which functions run for one example after the other?
    """

    def __init__(self, n: int, outside: list[Any], warns: bool = True) -> None:
        self.n, self.level, self.dead, self.warns = n, len(batches.get()) + 1, False, warns
        self._busy = self._inside = 0
        self._outside = Outside(outside)
        self._lifted: list[tuple[Cell, BatchBox]] = []
        self._arguments: list[tuple[Any, Any, BatchBox]] = []
        self._written: set[int] = set()  # boxes of arguments

    # -------------------------------------------------------------------------------------------- up and down
    def box_of(self, x: Any) -> BatchBox | None:
        """The values of `x` for the examples of this batch, if they differ."""
        if type(x) is ndarray and x._cell is not None:
            record = x._cell.record
            if type(record) is BatchBox and record.interpreter is self:
                return record
        return None

    def is_batched(self, x: Any) -> bool:
        return self.box_of(x) is not None

    def low(self, x: Any) -> Any:
        """`x` one level down: with a batch axis in front if its values differ between the examples."""
        box = self.box_of(x)
        if box is None:
            return x
        nd = x._nd if x._nd is not None else content.settle(x)
        if nd is box.nd:
            return box.low
        offset = native.address(nd) - box.start
        if nd.shape == box.shape and nd.strides == box.strides and offset == 0 and nd.dtype == box.low.dtype:
            return box.low
        low = content.settle(box.low)  # a view looks at no value
        return hot._as_view(box.low, window(low, offset, (self.n, *nd.shape), (low.strides[0], *nd.strides), nd))

    def every(self, x: Any, copy: bool = False) -> Any:
        """`x` one level down with a batch axis in front in any case."""
        if self.is_batched(x):
            return self.low(x).copy() if copy else self.low(x)
        x = tnp.asarray(x)
        r = tnp.broadcast_to(x, (self.n, *x.shape))
        return r.copy() if copy else r

    def aligned(self, x: Any, ndim: int) -> Any:
        """`x` one level down, to be broadcast with arrays whose examples have `ndim` axes."""
        low = self.low(x)
        if low is x:
            return x
        missing = ndim + 1 - low.ndim
        return low[(slice(None), *(None,) * missing)] if missing > 0 else low

    def up(self, low: Any) -> Any:
        """What the function gets for `low`, whose first axis is the batch; for tuples and lists of such too."""
        if isinstance(low, (tuple, list)):
            items = [self.up(x) for x in low]
            return type(low)(*items) if hasattr(low, "_fields") else type(low)(items)
        box_nd = self._example(low)
        x = _standing_for(BatchBox(self, low, box_nd), box_nd)
        if not box_nd.shape:
            x._cell.marked |= IMMUTABLE
        return x

    def _example(self, low: Any) -> Any:
        """One example of `low` on address space that holds nothing."""
        node = content.pending_node(low)
        if node is not None and node.order is None:
            nd = phantom.phantom(node.shape[1:], node.dtype, None)
            if nd is not None:
                return nd
        nd = content.settle(low)
        return _ghost(nd.shape[1:], nd.strides[1:], nd.dtype, nd.flags.writeable)

    def argument(self, x: Any, axis: int) -> Any:
        """The array that stands for the slices of `x` along `axis`: what is written to it reaches `x`."""
        low = tnp.moveaxis(x, axis, 0) if axis else x[...]
        if content.pending_node(low) is not None:
            y = self.up(low)
            y._cell.record.cell = hot.cell_of(x)
            return y
        strides = content.settle(low).strides
        if low.ndim > 1 and low.size and abs(strides[0]) < max(map(abs, strides[1:])) and strides[0]:
            arranged = outermost(low)  # else additions would be in another order than in a loop
            y = self.up(arranged)
            self._arguments.append((low, arranged, y._cell.record))
        else:
            y = self.up(low)
        y._cell.record.cell = hot.cell_of(x)
        if self.n > 1 and strides[0] == 0 and low.size:
            y._nd.flags.writeable = False
        return y

    def result(self, x: Any, axis: int | None, given: set[int]) -> Any:
        """A result of the function for all examples, the batch along `axis`; it is its own array."""
        low = self.low(x)
        if axis is None:
            if self.is_batched(x):
                raise ValueError(
                    explain("vmap: out_axes", "None, of a result that differs between the examples", "an axis", "0")
                )
            return x
        box = self.box_of(x)
        if box is None:
            low = self.every(x, copy=True)
        elif low is not box.low or id(low) in given or low._base is not None or self._is_argument(box):
            low = low.copy()
        if not low.dtype.isnative:
            low = low.astype(low.dtype.newbyteorder("="))
        given.add(id(low))
        if not -low.ndim <= axis < low.ndim:
            raise ValueError(
                explain(
                    "vmap: out_axes",
                    f"axis {axis}",
                    f"{-low.ndim} to {low.ndim - 1}",
                    f"the result has {low.ndim} axes",
                )
            )
        return tnp.moveaxis(low, 0, axis) if axis else low

    def _is_argument(self, box: BatchBox) -> bool:
        return any([box is b for _, _, b in self._arguments])

    # -------------------------------------------------------------------------------------------- shared memory
    def lift(self, x: Any) -> Any:
        """Give each example its own copy of the memory of `x`, which so far all shared. Returns `x`."""
        if self.is_batched(x):
            return x
        cell = hot.cell_of(x)
        content.settle(x)
        full = cell.storage.full
        token = batches.set(())  # no example reads it
        try:
            low, nd = self._copies(cell, full)
        finally:
            batches.reset(token)
        box = BatchBox(self, low, nd, before=(cell.record, cell.marked))
        cell.record = box
        cell.marked |= TRACED
        self._lifted.append((cell, box))
        return x

    def _copies(self, cell: Cell, full: Any) -> tuple[Any, Any]:
        """As many copies of the memory `full` as there are examples, and the one of which they are copies."""
        whole = hot.new(ndarray)
        whole._nd, whole._cell, whole._base = full, cell, hot.OWNER
        if self.n * full.nbytes > LARGE and self.n * full.nbytes > content.backend.room():
            raise MemoryError(
                explain(
                    "vmap: a write that differs between the examples, to an array that all share",
                    f"{self.n} copies of {full.nbytes} bytes, at {here()}",
                    "memory for a copy for each example",
                    "return what is written, or write to an array of the size of what is written",
                )
            )
        if full.flags.c_contiguous:
            return tnp.broadcast_to(whole, (self.n, *full.shape)).copy(), full
        if full.flags.f_contiguous:
            return tnp.broadcast_to(whole.T, (self.n, *full.shape[::-1])).copy(), full.T
        first, last = np.lib.array_utils.byte_bounds(full)  # the same gaps
        low = tnp.zeros((self.n, (last - first) // full.itemsize), full.dtype)
        hot.cell_of(low)
        inside, offset = content.settle(low), native.address(full) - first
        strides = (inside.strides[0], *full.strides)
        hot._as_view(low, window(inside, offset, (self.n, *full.shape), strides, full))[...] = whole
        return low, window(full, -offset, (low.shape[1],), (full.itemsize,), full)

    def wrote(self, x: Any) -> None:
        """Something was written to the values of `x`."""
        box = self.box_of(x)
        if box is None:
            return
        self._written.add(id(box))
        if box.cell is not None:
            self._outside.wrote_argument(box.cell)
        if box.through is not None:
            array, key = box.through
            array[key] = self.up(box.low)

    def check_writable(self, x: Any) -> None:
        """Refuse, as NumPy does, to write to an array that is read-only; and to what cannot be one for each example."""
        if type(x) is not ndarray:
            raise depends(
                f"a write to a {type(x).__module__}.{type(x).__name__}, which all examples share",
                "tnp's arrays (tnp.zeros, tnp.array ...) become one for each example",
            )
        nd = x._nd if x._nd is not None else content.settle(x)
        if not nd.flags.writeable:
            raise ValueError("assignment destination is read-only")

    # -------------------------------------------------------------------------------------------- arrays from outside
    def note_call(self, raw: Any, args: Any, kwargs: Any) -> None:
        """The program calls `raw`."""
        if not self._busy and not self._inside:
            self._outside.note_call(raw, args, kwargs)

    def note_read(self, x: Any) -> None:
        """The program reads `x`."""
        if not self._busy and not self._inside:
            self._outside.note_read(x)

    def note_write(self, x: Any, key: Any) -> None:
        """The program writes to `x`: what does not differ between the examples."""
        if not self._busy and not self._inside:
            self._outside.note_write(x, key)

    def note_own_write(self, x: Any, key: Any) -> None:
        """A rule writes to `x`, for the program: those further out are told too."""
        for batch in batches.get():
            if not batch._busy:
                batch._outside.note_write(x, key)

    def close(self) -> None:
        """Arrays from outside are as after the last example; what belongs to one example is no more."""
        self._busy += 1
        for cell, box in reversed(self._lifted):
            if cell.record is not box or (id(box) in self._written and not self._outside.has(cell)):
                continue
            assert box.before is not None
            record, marked = box.before
            cell.record = record
            cell.marked = (cell.marked & ~TRACED) | (marked & TRACED)
            if self.n and id(box) in self._written:
                self._keep_last(cell, box)
        for original, arranged, box in self._arguments:
            if id(box) in self._written:
                original[...] = arranged
        self._outside.close()
        self._lifted, self._arguments = [], []  # no cycles: what the program has dropped is free
        self.dead = True

    def _keep_last(self, cell: Cell, box: BatchBox) -> None:
        """What the last example has written to memory from outside."""
        full = cell.storage.full
        written = self._outside.written(cell)
        if written is None or not written.any():
            return
        whole = hot.new(ndarray)
        whole._nd, whole._cell, whole._base = full, cell, hot.OWNER
        low = content.settle(box.low)
        offset = native.address(full) - box.start
        every = hot._as_view(box.low, window(low, offset, (self.n, *full.shape), (low.strides[0], *full.strides), full))
        if written.all():
            whole[...] = every[self.n - 1]
        else:
            mask = tnp.asarray(written)
            whole[mask] = every[self.n - 1][mask]

    @contextmanager
    def again(self) -> Iterator[None]:
        """In this block arrays of one example can be used once more, though the function has returned."""
        was, token = self.dead, batches.set((*[b for b in batches.get() if b.level < self.level], self))
        self.dead = False
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            self.dead = was
            batches.reset(token)

    # -------------------------------------------------------------------------------------------- the interpreter
    def call(self, raw: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        if self.dead:
            raise EscapedError(
                explain("vmap: an array of one example after the end", "an array that vmap's function kept",
                        "what the function returned", "return it")
            )  # fmt: skip
        rule = RULES.get(raw, fallback)
        self._inside += 1  # what a rule does itself is not what the program does
        try:
            return rule(self, raw, tuple(args), kwargs)
        finally:
            self._inside -= 1

    def create(self, raw: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """A call without traced arrays: of functions that give each example something else."""
        try:
            rule = CREATORS.get(raw)
        except TypeError:  # not hashable
            rule = None
        return DECLINED if rule is None or self._busy else rule(self, raw, tuple(args), kwargs)

    def read(self, array: Any) -> None:
        if self.dead:
            self.call(None, (), {})
        raise depends("one number or NumPy array is wanted (bool, int, float, numpy.asarray, item ...)", STEERS)

    def text(self, array: Any, which: Any) -> str:
        """How an array prints: with the values of all examples."""
        return f"{which(self.low(array))} of {self.n} examples"

    def write(self, array: Any, key: Any, value: Any) -> None:
        self.read(array)

    def export(self, array: Any) -> None:
        self.read(array)


def window(nd: Any, offset: int, shape: Any, strides: Any, like: Any) -> Any:
    """A view of the memory of `nd`, `offset` bytes from its first element, of the dtype of `like`."""
    base = nd.base if type(nd.base) is np.ndarray else nd
    at = offset + native.address(nd) - native.address(base)
    if not base.flags.c_contiguous:
        base = base.transpose(np.argsort([-s for s in base.strides], kind="stable"))
    if 0 in shape:
        at = 0
    r = np.ndarray(shape, like.dtype, base, at, strides)
    if not (like.flags.writeable and nd.flags.writeable):
        r.flags.writeable = False
    return r


def _ghost(shape: Any, strides: Any, dtype: Any, writeable: bool) -> Any:
    """An array of these strides on address space that holds nothing."""
    nd = phantom.phantom(shape, dtype, None)
    if nd is None:
        raise MemoryError(f"vmap: one example of shape {shape} is too large")
    if nd.strides != strides and nd.size > 1:
        low = sum([(n - 1) * s for n, s in zip(shape, strides, strict=True) if s < 0])
        high = sum([(n - 1) * s for n, s in zip(shape, strides, strict=True) if s > 0])
        space = phantom.phantom((high - low + nd.itemsize,), np.uint8, None)
        if space is None:
            raise MemoryError(f"vmap: one example of shape {shape} spans too much memory")
        nd = np.ndarray(shape, dtype, space.base, -low, strides)
    if not writeable:
        nd.flags.writeable = False
    return nd


def _standing_for(box: BatchBox, nd: Any) -> Any:
    x = hot.new(ndarray)
    cell = x._cell = Cell(Storage(nd, None), TRACED)
    cell.record = box
    x._nd, x._base = nd, hot.OWNER
    return x


def outermost(low: Any) -> Any:
    """A copy of `low` whose batch axis is the slowest in memory, the others in their order."""
    strides = content.settle(low).strides
    axes = [0, *sorted(range(1, low.ndim), key=lambda i: -abs(strides[i]))]
    return tnp.transpose(tnp.transpose(low, axes).copy(), np.argsort(axes))
