"""Where in its memory an array lies, and the same place in other memory of the same geometry.

A cotangent has the bytes of what it belongs to: a place that is so many bytes from the start, with such strides, is
the same place in both. So views need no rules of their own, `.real` and `.imag` included.
"""

from typing import Any

import numpy as np

import tnp
from tnp import content, hot, tracing
from tnp.core import native
from tnp.core.layout import size_of
from tnp.hot import ndarray
from tnp.lazy import phantom


class Key:
    """The identity of a cell's content, for those who hold something that belongs to it.

    Attributes
    ----------
    nbytes : int
    dtype : numpy.dtype
        Of the elements, floating or complex.
    """

    __slots__ = ("dtype", "nbytes")

    def __init__(self, nbytes: int, dtype: np.dtype[Any]) -> None:
        self.nbytes, self.dtype = nbytes, dtype

    def zeros(self) -> Any:
        """Memory for a cotangent or tangent, as a flat array."""
        buffer = tnp.zeros(self.nbytes // self.dtype.itemsize, self.dtype)
        hot.cell_of(buffer)  # before anything else refers to the memory
        return buffer


def is_same_kind(a: np.dtype[Any], b: np.dtype[Any]) -> bool:
    """Are the numbers, or their real and imaginary parts, the same bytes?"""
    return (
        a is b or a == b or ({a.kind, b.kind} == {"c", "f"} and np.empty(0, a).real.dtype == np.empty(0, b).real.dtype)
    )


class Strided:
    """A strided place.

    Attributes
    ----------
    offset : int
        Bytes from the start of the memory.
    shape, strides : tuple of int
        Strides are in bytes.
    dtype : numpy.dtype
    """

    __slots__ = ("_axes", "dtype", "offset", "shape", "strides")

    def __init__(self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.offset, self.shape, self.strides, self.dtype = offset, shape, strides, dtype
        self._axes: Any = 0  # not known yet

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return size_of(self.shape)

    def alike(self, other: Any) -> bool:
        """Are the two the same elements in the same order?"""
        return self is other or (
            type(other) is Strided
            and self.shape == other.shape
            and self.strides == other.strides
            and self.offset == other.offset
            and self.dtype == other.dtype
        )

    @property
    def axes(self) -> tuple[int, ...] | None:
        """Axes from the slowest to the fastest if the place lies densely in memory, else None."""
        if self._axes == 0:
            self._axes = self._find_axes()
        return self._axes

    def _find_axes(self) -> tuple[int, ...] | None:
        axes = sorted(range(len(self.shape)), key=lambda i: -self.strides[i])
        step = self.dtype.itemsize
        for i in reversed(axes):
            if self.shape[i] != 1:
                if self.strides[i] != step:
                    return None
                step *= self.shape[i]
        return tuple(axes)

    def is_whole(self, key: Key) -> bool:
        """Is it all the memory?"""
        return (
            self.offset == 0
            and (self.dtype is key.dtype or self.dtype == key.dtype)
            and size_of(self.shape) * self.dtype.itemsize == key.nbytes
            and self.axes is not None
        )

    def flat(self, g: Any) -> Any:
        """The elements of `g`, an array of this shape, in the order of memory; for a place that is whole."""
        return tnp.asarray(g).transpose(self.axes).reshape(-1)

    def of(self, buffer: Any) -> Any:
        """This place in the flat array `buffer`: a view."""
        nd = content.settle(buffer)
        r = np.ndarray(self.shape, self.dtype, nd, self.offset, self.strides)
        nd = None
        return hot._as_view(buffer, r)

    def _element(self, buffer: Any) -> int:
        """Which element of `buffer` the place is, if it is one; else -1."""
        if self.shape or not (buffer.dtype is self.dtype or buffer.dtype == self.dtype):
            return -1
        i, rest = divmod(self.offset, native.itemsize(self.dtype))
        return -1 if rest else i

    def get(self, buffer: Any) -> Any:
        """A copy of the elements."""
        i = self._element(buffer)
        if i < 0:
            return self.of(buffer).copy()
        value = buffer[i]
        return value if type(value) is ndarray else hot.wrap(np.array(value))

    def set(self, buffer: Any, value: Any) -> None:
        i = self._element(buffer)
        if i < 0:
            self.of(buffer)[...] = value
        else:
            buffer[i] = value

    def add(self, buffer: Any, g: Any) -> None:
        """Add `g`, an array of this shape, as often as the place sees an element."""
        i = self._element(buffer)
        if i >= 0:
            buffer[i] = g + buffer[i]
            return
        stretched = tuple([i for i, n in enumerate(self.shape) if n > 1 and self.strides[i] == 0])
        if stretched:
            kept = tuple([1 if i in stretched else n for i, n in enumerate(self.shape)])
            Strided(self.offset, kept, self.strides, self.dtype).add(buffer, tnp.sum(g, axis=stretched, keepdims=True))
        elif self._overlaps_itself():
            Scattered(positions(self), self.dtype).add(buffer, g)
        else:
            place = self.of(buffer)
            place += g

    def bounds(self) -> tuple[int, int]:
        """The first byte of the place, and the one behind its last."""
        spans = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        if 0 in self.shape:
            return self.offset, self.offset
        low = self.offset + sum([s for s in spans if s < 0])
        return low, self.offset + sum([s for s in spans if s > 0]) + self.dtype.itemsize

    def _overlaps_itself(self) -> bool:
        reach = 0
        for s, n in sorted((abs(s), n) for s, n in zip(self.strides, self.shape, strict=True) if n > 1):
            if s <= reach:
                return True
            reach += s * (n - 1)
        return False

    def broadcast(self, shape: tuple[int, ...]) -> "Strided":
        """The place as an array of `shape` sees it, to which it is assigned."""
        own, strides = self.shape, self.strides
        while len(own) > len(shape):  # NumPy drops leading axes of length one
            own, strides = own[1:], strides[1:]
        lead = len(shape) - len(own)
        fitted = [s if n == m else 0 for n, m, s in zip(own, shape[lead:], strides, strict=True)]
        return strided(self.offset, shape, (0,) * lead + tuple(fitted), self.dtype)


def strided(offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> Strided:
    """`Strided`, made quickly."""
    place = Strided.__new__(Strided)
    place.offset, place.shape, place.strides, place.dtype = offset, shape, strides, dtype
    place._axes = 0
    native.spare_collector(place)
    return place


class Scattered:
    """A list of elements: positions in the memory, counted in elements of `dtype`; they may repeat."""

    def __init__(self, at: Any, dtype: np.dtype[Any]) -> None:
        self.at, self.dtype = at, dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.at.shape

    def alike(self, other: Any) -> bool:
        return False

    def is_whole(self, key: Key) -> bool:
        return False

    def of(self, buffer: Any) -> Any:
        return buffer if buffer.dtype == self.dtype else buffer.view(self.dtype)

    def get(self, buffer: Any) -> Any:
        return self.of(buffer)[self.at]

    def set(self, buffer: Any, value: Any) -> None:
        self.of(buffer)[self.at] = value

    def add(self, buffer: Any, g: Any) -> None:
        tnp.add.at(self.of(buffer), self.at, g)

    def winners(self) -> Any:
        """Which of the values that are assigned are there afterwards: of several to one element the last."""
        flat = self.at.reshape(-1)
        last = np.unique(flat[::-1], return_index=True)[1]
        if last.size == flat.size:
            return None
        wins = np.zeros(flat.size, bool)
        wins[flat.size - 1 - last] = True
        return wins.reshape(self.at.shape)


def positions(place: Strided, key: Any = None) -> Any:
    """Positions of the elements of the place that NumPy's index `key` names, in elements; without reading all."""
    step = place.dtype.itemsize
    at: Any = np.int64(place.offset // step)
    for i, (n, s) in enumerate(zip(place.shape, place.strides, strict=True)):
        along = (np.arange(n) * (s // step)).reshape((n,) + (1,) * (len(place.shape) - i - 1))
        at = at + (along if key is None else np.broadcast_to(along, place.shape)[key])
    if key is None or not place.shape:
        at = np.broadcast_to(at, place.shape)
        return at if key is None else at[key]
    return at


def geometry(x: ndarray) -> tuple[Strided, int]:
    """The place of `x`, and the bytes of its memory; what is pending stays pending."""
    x = tracing.beneath(x)
    c = x._cell
    if c is None:
        c = hot.cell_of(x)  # first: a reference of our own would make the memory look shared
    nd = x._nd
    if nd is not None and nd is c.storage.full and (native.is_contiguous(nd) or nd.flags.forc):
        return strided(0, native.shape(nd), native.strides(nd), native.dtype(nd)), native.nbytes(nd)
    node = content.pending_node(x)
    if node is not None:
        order = node.order or range(len(node.shape))
        strides, step = [0] * len(node.shape), node.dtype.itemsize
        for i in reversed(order):
            strides[i] = step
            step *= node.shape[i]
        return Strided(0, node.shape, tuple(strides), node.dtype), step
    if x._nd is None and x._place is not None and x._cell.storage.node is not None:
        nd, node = x._place.nd, x._cell.storage.node
        offset = native.address(nd) - phantom._start
        return Strided(offset, nd.shape, nd.strides, nd.dtype), size_of(node.shape) * node.dtype.itemsize
    nd = content.settle(x)
    full = c.storage.full
    if full is None:  # written to as a whole meanwhile
        nd = content.settle(x)
        full = c.storage.full
    if native.is_contiguous(full) or full.flags.forc:
        nbytes = native.nbytes(full)
    else:
        low, high = np.lib.array_utils.byte_bounds(full)
        nbytes = high - low
    offset = native.address(nd) - native.address(full)
    return strided(offset, native.shape(nd), native.strides(nd), native.dtype(nd)), nbytes
