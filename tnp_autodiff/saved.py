"""Values that the backward pass needs, whatever is written later."""

import weakref
from typing import Any

import tnp
from tnp import bind, content, hot, tracing
from tnp.core.cells import Cell, Storage, storage_of
from tnp.core.elementwise import cast_p
from tnp.core.interpreter import quietly, recorder
from tnp.core.layout import size_of
from tnp.hot import ndarray
from tnp.lazy import phantom
from tnp_autodiff.events import IDENTITY, Aval, Op
from tnp_autodiff.places import Key, Strided, geometry
from tnp_autodiff.tracks import Ref, Track, track_of

SMALL = 1 << 12  # bytes up to which a saved value is copied at once and no more is asked


class Saved:
    """The present value of an array, whatever is written later.

    A copy, which for large arrays is one of the engine's pending operations: it costs nothing unless the memory is
    written, and a value that is not computed yet is not computed for it. If the memory was not written the array
    itself is there again.
    """

    __slots__ = ("_attached", "_cell", "_copy", "_ref", "_tangents", "_time")

    def __init__(self, x: ndarray, time: float) -> None:
        track = track_of(x)
        self._time, self._attached, self._ref = time + 0.5, None, None  # after the event that has made it
        self._tangents: list[tuple[Any, Any]] = []
        place, _ = geometry(x)
        if track is not None:
            if track.head is not None:
                self._ref = Ref(track.key, place, track.head)
            for a in track.tangents:
                if a.alive and not a.busy:
                    with a.working():
                        self._tangents.append((a, a.tangent_of(x)))
        with quietly():
            size = size_of(place.shape) * place.dtype.itemsize
            self._copy = _copied(x, place, size)
        self._cell = None if size <= SMALL or recorder() is not None else weakref.ref(x._cell)

    def _original(self) -> Any:
        """The memory itself, if nothing was written there since; else None.

        Whoever writes first serves those that wait to read: a copy that still waits says that nobody has.
        """
        node = content.pending_node(self._copy)
        if node is None or node.prim is not cast_p:
            return None
        (source,) = node.args
        storage = storage_of(source)
        if storage is None or storage.node is not None:
            return None
        nd = storage.full if type(source) is Storage else source.nd
        if phantom.is_phantom(nd):
            return None
        y = hot.new(ndarray)
        cell = self._cell() if self._cell is not None else None
        y._cell = cell if cell is not None and cell.storage is storage else Cell(storage, 0)
        y._nd = nd
        return y

    def thaw(self) -> Any:
        """The array, with the derivatives that it had then for whoever records now."""
        array = self._original()
        if array is None:
            array = self._copy
        elif array._cell.record is not None:  # it has them itself
            return array
        r = self._ref
        tangents = [(a, t) for a, t in self._tangents if a.alive and not a.busy and t is not None]
        recorded = r is not None and any(t.alive and not t.paused for t in r.head.tapes)
        if not recorded and not tangents:
            return array
        place, nbytes = geometry(array)
        track = hot.cell_of(array).record = Track(Key(nbytes, place.dtype))
        self._attached = tracing.trace(array)
        if r is not None and recorded:
            event = track.head = Op()
            event.time, event.tapes, event.rule, event.params = self._time, r.head.tapes, IDENTITY, {}
            event.outs, event.refs, event.saved, event.out = [(track.key, place)], [r], [None], None
            event.avals = [Aval(array)]
        for a, t in tangents:
            a.give(track, place, t)
        return array

    def release(self) -> None:
        """The array forgets what it was: else it would be in a cycle."""
        if self._attached is not None:
            self._attached._cell.record = None
            tracing.untrace(self._attached)
            self._attached = None


def _copied(x: ndarray, place: Strided, size: int) -> Any:
    if recorder() is not None:
        return x.copy()
    if size <= SMALL:
        return hot.wrap(content.settle(x).copy())
    if 0 in place.strides:  # what is there, not its repetitions
        key = tuple(slice(1) if s == 0 else slice(None) for s in place.strides)
        return tnp.broadcast_to(x[key].copy(), place.shape)
    copy = None if content.is_shared(hot.cell_of(x)) else bind.record_copy(x)
    return x.copy() if copy is None else copy
