"""Memory for arrays: a pool of 64-byte aligned blocks.

Fresh memory is slow, because the kernel clears every page at its first touch; memory that a dropped temporary leaves
behind is warm. A block is a NumPy uint8 array that the pool keeps in the list of its size class, and what `empty`
returns is a view of it. The block is free when the pool alone holds a reference: views of views, memoryviews and
DLPack capsules keep it busy without any bookkeeping, and a block that the pool forgets lives on in its views.

There is no lock on the path of a hit: a block is taken by ``list.pop``, which is atomic, then tested.
"""

import os
import weakref
from math import prod
from sys import getrefcount
from typing import Any, Literal

import numpy as np

from tnp.core.config import config
from tnp.core.forks import Lock

ALIGNMENT = 64
SMALLEST = 32 << 10  # below this malloc is as good
_SCAN = 16  # blocks looked at from each end before new memory is asked for


class _Block:
    """One piece of memory. `root` is never handed out itself, so its references are its views and ours."""

    __slots__ = ("offset", "root", "size", "stamp")

    def __init__(self, size: int) -> None:
        # From 4 MiB on, NumPy itself asks for huge pages here (first touch 11 ms for 64 MiB, without them 48 ms).
        self.root = np.empty(size + ALIGNMENT, np.uint8)
        self.offset = -self.root.ctypes.data % ALIGNMENT
        self.size = size
        self.stamp = 0


def _references(block: _Block) -> int:
    return getrefcount(block.root)


_FREE = _references(_Block(1))  # 2 on today's Pythons

_held_roots: set[int] = set()  # identities of the roots in `_classes`, or about to be
_classes: dict[int, list[_Block]] = {}  # by size, each list least recently used first
_lock = Lock()  # of misses; re-entrant, for a finalizer may allocate in the middle
_apart: list[tuple[weakref.ref[Any], int]] = []  # roots that the pool let go while they were in use, and their sizes
_held = _clock = _misses = _unpooled = 0  # the clock counts requests that ended with a block of the pool


def _default_limit() -> int:
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = 8 << 30
    return min(memory // 8, 2 << 30)


_limit = _default_limit()
_bound: int | None = None  # of all that is in use, by the settings


def empty(shape: tuple[int, ...], dtype: np.dtype[Any], order: Literal["C", "F"] = "C") -> np.ndarray[Any, Any]:
    """Uninitialised array, 64-byte aligned if it is large. Raises what `numpy.empty` raises.

    Parameters
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    order : {"C", "F"}
    """
    global _clock
    nbytes = prod(shape) * dtype.itemsize
    if nbytes < SMALLEST or dtype.hasobject:  # references are NumPy's to initialise
        return np.empty(shape, dtype, order)
    shift = nbytes.bit_length() - 4
    size = -(-nbytes >> shift) << shift  # eight sizes an octave: at most an eighth is wasted
    blocks = _classes.get(size)
    if blocks:
        newest = blocks.pop()
        block: _Block | None = newest
        if getrefcount(newest.root) != _FREE:
            blocks.append(newest)
            block = _search(blocks)
        if block is not None:
            _clock = block.stamp = _clock + 1
            try:
                return np.ndarray(shape, dtype, block.root, block.offset, None, order)
            finally:
                blocks.append(block)  # only now: it has a view, so no other thread takes it for free
    return _fresh(shape, dtype, order, size)


def is_sole(nd: np.ndarray[Any, Any]) -> bool:
    """Does `nd` own its memory, from here or from NumPy, with no other view or user of it?

    References to `nd` itself are for the caller to count.
    """
    base = nd.base
    if base is None:
        return nd.flags.owndata
    return id(base) in _held_roots and getrefcount(base) <= _VIEWED


def _calibrate() -> int:
    """References to the root of a block with one view, as `is_sole` sees them."""
    block = _Block(SMALLEST)
    nd: np.ndarray[Any, Any] = np.ndarray(SMALLEST, np.uint8, block.root)
    base = nd.base
    return getrefcount(base)


_VIEWED = _calibrate()


def _search(blocks: list[_Block]) -> _Block | None:
    """A free block out of the list: of the newest, warm ones or, that nothing is forgotten, of the oldest."""
    count = len(blocks)
    for i in (*range(count - 2, max(-1, count - 2 - _SCAN), -1), *range(min(_SCAN, count - 2 - _SCAN))):
        try:
            if getrefcount(blocks[i].root) != _FREE:
                continue
            block = blocks.pop(i)
        except IndexError:  # other threads popped meanwhile
            continue
        if getrefcount(block.root) == _FREE:
            return block
        blocks.append(block)
    return None


def _fresh(shape: tuple[int, ...], dtype: np.dtype[Any], order: Literal["C", "F"], size: int) -> np.ndarray[Any, Any]:
    global _clock, _held, _misses, _unpooled
    with _lock:
        _misses += 1
        if _bound is not None:
            _keep_bound(_bound, shape, dtype, size)
        if size <= _limit:
            _drop_oldest(_limit - size)
        try:
            block = _Block(size)
        except (MemoryError, ValueError, OverflowError):  # that is more than there is, or than there can be
            _unpooled += 1
            trim()
            return np.empty(shape, dtype, order)  # NumPy's own text
        result: np.ndarray[Any, Any] = np.ndarray(shape, dtype, block.root, block.offset, None, order)
        if size > _limit:
            _unpooled += 1
            _set_apart(block)
        else:
            _clock = block.stamp = _clock + 1
            _held += size
            _held_roots.add(id(block.root))
            _classes.setdefault(size, []).append(block)
        return result


def _drop_oldest(limit: int) -> None:
    """Forget the least recently used blocks, busy ones too (these live on in their views), to hold `limit` bytes."""
    global _held
    while _held > limit:
        filled = [blocks for blocks in _classes.values() if blocks]
        if not filled:
            return
        oldest = min(filled, key=lambda blocks: blocks[0].stamp)
        block = oldest.pop(0)
        _held_roots.discard(id(block.root))
        _held -= block.size
        if _references(block) != _FREE:
            _set_apart(block)


def _set_apart(block: _Block) -> None:
    _apart.append((weakref.ref(block.root), block.size))
    n = len(_apart)
    if n >= 64 and n & (n - 1) == 0:
        _bytes_apart()


def _bytes_apart() -> int:
    _apart[:] = [(root, size) for root, size in _apart if root() is not None]
    return sum([size for _, size in _apart])


def _keep_bound(bound: int, shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> None:
    """Make room for `size` bytes within the bound of the settings, or raise MemoryError."""
    if _held + size + _bytes_apart() > bound:
        trim()
        used = _held + _bytes_apart()
        if used + size > bound:
            raise MemoryError(
                f"Unable to allocate {size:,} bytes for an array with shape {shape} and data type {dtype}\n"
                f"  got:      {used:,} bytes in use\n"
                f"  expected: at most {bound:,} bytes together, as tnp.config.memory_limit says\n"
                f"  hint:     let go of arrays that are no longer needed, or set a higher limit"
            )


def room() -> int:
    """Bytes of results that may still be promised: what is beyond is better computed, or refused, at once."""
    most = config.memory()
    if _bound is None:
        return most
    with _lock:
        now = stats()
        return max(0, min(most, _bound - now["in_use"] - now["apart"]))


def trim() -> None:
    """Give all free memory back to the system."""
    global _held
    with _lock:
        for blocks in list(_classes.values()):
            for block in [blocks.pop() for _ in range(len(blocks))]:
                if _references(block) != _FREE:
                    blocks.insert(0, block)
                else:
                    _held_roots.discard(id(block.root))
                    _held -= block.size


def set_limit(nbytes: int) -> int:
    """Bound what the pool holds, free and in use together. Returns the former bound.

    Blocks beyond the bound are forgotten, the least recently used first; their memory goes with their last view.
    """
    global _limit
    if nbytes < 0:
        raise ValueError(f"set_limit: the bound must not be negative, got {nbytes}")
    with _lock:
        former, _limit = _limit, nbytes
        _drop_oldest(nbytes)
    return former


def stats() -> dict[str, int]:
    """Bytes the pool holds, those of them in use, the bound, how many requests found a block.

    "apart" are the bytes of blocks in use that the pool holds no longer, or never did.
    """
    with _lock:
        used = sum(b.size for blocks in list(_classes.values()) for b in list(blocks) if _references(b) != _FREE)
        hits = _clock - (_misses - _unpooled)
        counts = {"held": _held, "in_use": used, "limit": _limit, "hits": hits, "misses": _misses}
        return {**counts, "apart": _bytes_apart()}


def _configured(settings: Any) -> None:
    global _bound
    _bound = settings.memory_limit


config.listen(_configured)
