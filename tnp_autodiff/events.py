"""What happened to cells, and how each event is played backward.

Events hang on the cells that depend on them, not in a list: a dropped array drops its events. The adjoint of an
in-place program is an in-place program, with one cotangent for each cell:

    y = op(x[place])     ct_x[place] += vjp(ct_y)
    x[place] = v         ct_v += ct_x[place];  ct_x[place] = 0
    x[place] += v        ct_v += ct_x[place]

Cotangents are arrays like others, so an outer tape sees the backward pass as one more in-place program.
"""

import itertools
import weakref
from typing import Any, NamedTuple

import numpy as np

import tnp
from tnp import bind, content, hot, tracing
from tnp.core.cells import Cell, Storage, storage_of
from tnp.core.elementwise import cast_p
from tnp.core.interpreter import quietly
from tnp.core.layout import size_of
from tnp.hot import ndarray
from tnp.lazy import phantom
from tnp_autodiff.errors import NotDifferentiableError, explain
from tnp_autodiff.places import Key, Scattered, Strided, geometry

clock = itertools.count(1)


recordings: "weakref.WeakSet[Recording]" = weakref.WeakSet()


class Recording:
    """A tape as events know it.

    Attributes
    ----------
    alive : bool
        False once the tape is gone or used up: nothing is recorded for it any more.
    paused : int
        Blocks of `stop_recording` that are open.
    born : int
    """

    __slots__ = ("__weakref__", "alive", "born", "paused")

    def __init__(self) -> None:
        self.alive, self.paused, self.born = True, 0, next(clock)
        recordings.add(self)


class Track:
    """What is known of the content of one cell (`Cell.record`).

    Attributes
    ----------
    key : Key
    head : Event or None
        The latest event that changed it.
    watched : dict of Recording to Source
    tangents : dict of Pushing to Held
    windows : list of Window
        Arguments that share the memory's content with the array under another name.
    window : Window or None
        What makes it such an argument.
    """

    __slots__ = ("head", "key", "tangents", "watched", "window", "windows")

    def __init__(self, key: Key, head: "Event | None" = None) -> None:
        self.key, self.head = key, head
        self.watched: dict[Recording, Source] = {}
        self.tangents: dict[Any, Held] = {}
        self.windows: list[Window] = []
        self.window: Window | None = None

    def is_live(self) -> bool:
        """Does anybody still want to know?"""
        if self.head is not None:
            for r in self.head.tapes:
                if r.alive:
                    return True
        if self.windows or self.window is not None:
            return True
        return any([r.alive for r in self.watched]) or any([a.alive for a in self.tangents])


class Window:
    """An argument of a differentiated function: for the call it stands for the memory of the caller's array.

    Attributes
    ----------
    place : Strided
        What of the caller's memory it is.
    origin : Track
        Of the caller's memory.
    written : bool
    """

    __slots__ = ("origin", "place", "written")

    def __init__(self, place: Any, origin: Track) -> None:
        self.place, self.origin, self.written = place, origin, False


class Ref(NamedTuple):
    """What an event read: a place in some memory, after the event `head`."""

    key: Key
    place: Any
    head: "Event"


def track_of(x: Any) -> Track | None:
    """What is known of the memory of `x`; None if nobody wants to know any more."""
    if type(x) is not ndarray or x._cell is None:
        return None
    track = x._cell.record
    if track is not None and not track.is_live():
        x._cell.record = track = None
        if not tracing.is_value(x):
            tracing.untrace(x)
    return track


def watch(x: ndarray, recording: Recording) -> None:
    """Make the present content of `x` a source for `recording`."""
    track = make_track(x)
    before = track.head
    tapes = () if before is None else tuple(r for r in before.tapes if r.alive and r is not recording)
    track.watched = {r: s for r, s in track.watched.items() if r.alive}
    event = Source(
        track.key, before if before is not None and any(r.alive for r in before.tapes) else None, (*tapes, recording)
    )
    track.head = track.watched[recording] = event


def make_track(x: ndarray) -> Track:
    """Begin to track the memory of `x`."""
    track = track_of(x)
    if track is None:
        place, nbytes = geometry(x)
        track = hot.cell_of(x).record = Track(Key(nbytes, place.dtype))
        tracing.trace(x)
    return track


class Held:
    """A cotangent or tangent of one cell: an array lent for all of it, or memory of its own that is written to."""

    __slots__ = ("_buffer", "_key", "_place", "_value")

    def __init__(self, key: Key) -> None:
        self._key = key
        self._place = self._value = self._buffer = None

    def _own(self) -> Any:
        if self._buffer is None:
            self._buffer = self._key.zeros()
            if self._place is not None:
                self._place.set(self._buffer, self._value)
                self._place = self._value = None
        return self._buffer

    def add(self, place: Any, g: Any) -> None:
        if self._buffer is None and place.is_whole(self._key):
            if self._place is None:
                self._place, self._value = place, g
                return
            if self._place.alike(place):
                self._value = self._value + g
                return
        place.add(self._own(), g)

    def get(self, place: Any) -> Any:
        """An array of its own, or the lent one; None for zeros."""
        if self._buffer is None:
            if self._place is None:
                return None
            if self._place.alike(place):
                return self._value
        return place.get(self._own())

    def set(self, place: Any, value: Any) -> None:
        """Store an array, or None for zeros."""
        if place.is_whole(self._key):
            self._buffer = None
            self._place, self._value = (None, None) if value is None else (place, value)
        elif value is not None or self._buffer is not None or self._place is not None:
            place.set(self._own(), 0.0 if value is None else value)


def as_dtype(g: Any, dtype: np.dtype[Any]) -> Any:
    """A cotangent for an array of `dtype`: a real array depends on the real part."""
    if g.dtype == dtype:
        return g
    if g.dtype.kind == "c" and dtype.kind != "c":
        g = tnp.real(g)
    return g.astype(dtype)


class Cotangents(dict[Key, Held]):
    """The cotangents of a backward pass."""

    def add(self, ref: Ref, g: Any) -> None:
        held = self.get(ref.key)
        if held is None:
            held = self[ref.key] = Held(ref.key)
        held.add(ref.place, as_dtype(g, ref.place.dtype))

    def peek(self, key: Key, place: Any) -> Any:
        held = self.get(key)
        return None if held is None else held.get(place)

    def pop_at(self, key: Key, place: Any) -> Any:
        held = self.pop(key, None)
        return None if held is None else held.get(place)


class Aval:
    """Shape and dtype of an operand whose value a rule does not need."""

    __slots__ = ("dtype", "shape")

    def __init__(self, x: Any) -> None:
        self.shape: tuple[int, ...] = x.shape if hasattr(x, "shape") else np.shape(x)
        self.dtype: Any = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return size_of(self.shape)


class Event:
    """
    Attributes
    ----------
    time : float
    tapes : tuple of Recording
        For whom it was recorded.
    """

    __slots__ = ("__weakref__", "tapes", "time")
    time: float
    tapes: tuple[Recording, ...]

    def refs_of(self, tape: Recording) -> list[Ref]:
        raise NotImplementedError

    def play(self, cts: Cotangents, tape: Recording, needed: set["Event"]) -> None:
        """Turn the cotangents of what it made into those of what it read."""

    def let_go(self) -> None:
        """Drop saved values."""


class Source(Event):
    """An array was watched. It reads what the array was before."""

    __slots__ = ("before", "key")

    def __init__(self, key: Key, before: Event | None, tapes: tuple[Recording, ...]) -> None:
        self.time, self.key, self.before, self.tapes = next(clock), key, before, tapes

    def refs_of(self, tape: Recording) -> list[Ref]:
        return [] if self.before is None or tape not in self.before.tapes else [Ref(self.key, None, self.before)]


class Op(Event):
    """A fresh array, or several, from others.

    Attributes
    ----------
    rule : Rule
    outs : list of (Key, Strided) or None
    refs : list of Ref or None
        One for each operand; None for a constant.
    saved : list of Saved, Aval or number
    out : Saved or None
    params : dict
    """

    __slots__ = ("avals", "out", "outs", "params", "refs", "rule", "saved")
    rule: Any
    outs: list[Any]
    refs: list[Ref | None]
    saved: Any
    out: Any
    params: dict[str, Any]
    avals: list[Aval]

    def refs_of(self, tape: Recording) -> list[Ref]:
        return [r for r in self.refs if r is not None and tape in r.head.tapes]

    def play(self, cts: Cotangents, tape: Recording, needed: set[Event]) -> None:
        gs = [None if o is None else cts.pop_at(*o) for o in self.outs]
        if all(g is None for g in gs):
            return
        want = [r is not None and tape in r.head.tapes and r.head in needed for r in self.refs]
        if self.saved is None:
            raise RuntimeError("the saved values of this operation were let go")
        gs = [tnp.zeros(a.shape, a.dtype) if g is None else g for g, a in zip(gs, self.avals, strict=True)]
        xs = [s.thaw() if type(s) is Saved else s for s in self.saved]
        out = None if self.out is None else self.out.thaw()
        try:
            found = self.rule.vjp(gs[0] if len(gs) == 1 else tuple(gs), out, want, xs, self.params)
            for ref, wanted, g in zip(self.refs, want, found, strict=True):
                if wanted and ref is not None and g is not None:
                    cts.add(ref, g)
        finally:
            for s in (*self.saved, self.out):
                if hasattr(s, "release"):
                    s.release()

    def let_go(self) -> None:
        self.saved = self.out = None


class Write(Event):
    """A place was written, or added to.

    Attributes
    ----------
    key, place
    adds : bool
    before : Event or None
        What happened to the memory before; None if nothing of that is left.
    value : Ref or None
        None for a constant.
    blind : tuple of Recording
        Tapes to which the value is a constant.
    unknown : str or None
        The name of a function that has written nobody knows what.
    """

    __slots__ = ("adds", "before", "blind", "key", "place", "unknown", "value")
    key: Key
    place: Any
    adds: bool
    before: Event | None
    value: Ref | None
    blind: tuple[Recording, ...]
    unknown: str | None

    def refs_of(self, tape: Recording) -> list[Ref]:
        refs = [] if self.before is None or tape not in self.before.tapes else [Ref(self.key, None, self.before)]
        if self.value is not None and tape not in self.blind and tape in self.value.head.tapes:
            refs.append(self.value)
        return refs

    def play(self, cts: Cotangents, tape: Recording, needed: set[Event]) -> None:
        held = cts.get(self.key)
        if held is None:
            return
        if self.unknown is not None:
            raise NotDifferentiableError(
                explain(
                    f"gradient: {self.unknown} has written to an array that the result depends on",
                    "a function without a derivative rule",
                    "functions that docs/autodiff.md lists",
                    "write with x[...] = value",
                )
            )
        value = self.value
        if value is not None and (tape in self.blind or value.head not in needed):
            value = None
        g = None if value is None else held.get(self.place)
        if not self.adds:
            held.set(self.place, None)
        if value is not None and g is not None:
            wins = None if self.adds or type(self.place) is not Scattered else self.place.winners()
            cts.add(value, g if wins is None else tnp.where(wins, g, 0.0))


# ------------------------------------------------------------------------------------------------ saved values
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
        self._cell = None if size <= SMALL else weakref.ref(x._cell)

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
    if size <= SMALL:
        return hot.wrap(content.settle(x).copy())
    if 0 in place.strides:  # what is there, not its repetitions
        key = tuple(slice(1) if s == 0 else slice(None) for s in place.strides)
        return tnp.broadcast_to(x[key].copy(), place.shape)
    copy = None if content.is_shared(hot.cell_of(x)) else bind.record_copy(x)
    return x.copy() if copy is None else copy


class Valueless:
    """A rule that reads no values."""

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        return frozenset(), False


class Identity(Valueless):
    """The rule of a copy."""

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        return [g]

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        return ts[0]


IDENTITY = Identity()
