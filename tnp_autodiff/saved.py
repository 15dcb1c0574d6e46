"""Values that the backward pass needs, whatever is written later."""

import weakref
from typing import Any

import tnp
from tnp import bind, content, hot, tracing
from tnp.core import native
from tnp.core.cells import Cell, Storage, storage_of
from tnp.core.elementwise import cast_p
from tnp.core.interpreter import quietly, recorder
from tnp.core.layout import size_of
from tnp.hot import ndarray
from tnp.lazy import phantom
from tnp_autodiff.events import IDENTITY, Kept, Op
from tnp_autodiff.places import Strided, geometry
from tnp_autodiff.tracks import Ref, fresh_track, records, ref_to, track_of

SMALL = 1 << 12  # bytes up to which a saved value is copied at once and no more is asked


class Saved(Kept):
    """The present value of an array, whatever is written later.

    A copy, which for large arrays is one of the engine's pending operations: it costs nothing unless the memory is
    written, and a value that is not computed yet is not computed for it. If the memory was not written the array
    itself is there again.
    """

    __slots__ = ("_attached", "_cell", "_copy", "_ref", "_tangents", "_time")
    _attached: Any
    _cell: Any
    _copy: Any
    _ref: Ref | None
    _tangents: Any
    _time: float

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
        cell = self._cell()
        y._cell = cell if cell is not None and cell.storage is storage else Cell(storage, 0)
        y._nd = nd
        return y

    def thaw(self, maker: Any = None) -> Any:
        array = None if self._cell is None else self._original()
        if array is None:
            array = self._copy
        elif array._cell.record is not None:  # it has them itself
            return array
        r = self._ref
        head = None if r is None else r.head or maker
        recorded = records(head)
        tangents = self._tangents and [(a, t) for a, t in self._tangents if a.alive and not a.busy and t is not None]
        if not recorded and not tangents:
            return array
        track, place = fresh_track(array)
        self._attached = array
        if r is not None and head is not None and recorded:
            event = track.head = Op()
            event.time, event.tapes, event.rule, event.params = self._time + 0.5, head.tapes, IDENTITY, {}
            event.outs, event.refs, event.saved = ((track.key, place),), (ref_to(r.key, r.place, head),), (None,)
            event.out = event.avals = None
        for a, t in tangents:
            a.give(track, place, t)
        return array

    def release(self) -> None:
        # the array forgets what it was: else it would be in a cycle
        if self._attached is not None:
            self._attached._cell.record = None
            tracing.untrace(self._attached)
            self._attached = None


def save(x: ndarray, time: float, maker: Any) -> Saved:
    """The present value of `x` for the event of this time; `maker`: the event, if it has just made the value."""
    s = Saved.__new__(Saved)
    s._time, s._attached, s._ref, s._cell, s._tangents = time, None, None, None, ()
    track = track_of(x)
    place = None
    if track is not None:
        if track.head is not None:
            place = geometry(x)[0]
            s._ref = ref_to(track.key, place, None if track.head is maker else track.head)  # no cycle
        if track.tangents:
            s._tangents = [(a, _tangent(a, x)) for a in track.tangents if a.alive and not a.busy]
    if recorder() is not None:  # the copy is a step of what is recorded
        with quietly():
            s._copy = x.copy()
        return s
    if size_of(content.shape_of(x)) * content.dtype_of(x).itemsize <= SMALL:
        s._copy = hot.wrap(content.settle(x).copy())
        native.spare_collector(s._copy)
        native.spare_collector(s)
        return s
    if place is None:
        place = geometry(x)[0]
    s._cell = weakref.ref(x._cell)
    with quietly():
        s._copy = _copied(x, place)
    return s


def _tangent(a: Any, x: ndarray) -> Any:
    with a.working():
        return a.tangent_of(x)


def _copied(x: ndarray, place: Strided) -> Any:
    if 0 in place.strides:  # what is there, not its repetitions
        key = tuple(slice(1) if s == 0 else slice(None) for s in place.strides)
        return tnp.broadcast_to(x[key].copy(), place.shape)
    copy = None if content.is_shared(hot.cell_of(x)) else bind.record_copy(x)
    return x.copy() if copy is None else copy
