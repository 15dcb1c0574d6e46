"""What is known of the memory of arrays: who wants to know, what changed it last, and what belongs to it."""

import itertools
import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

import tnp
from tnp import hot, tracing
from tnp.core import native
from tnp.core.cells import TRACED
from tnp.core.interpreter import recorder
from tnp.hot import ndarray
from tnp_autodiff.errors import AliasError
from tnp_autodiff.places import Key, Strided, geometry

clock = itertools.count(1)


class _Pause:
    """A block in which some recordings and accumulators are told nothing: those named, and those born in a span."""

    __slots__ = ("first", "last", "named")

    def __init__(self, named: tuple[Any, ...], first: float, last: float) -> None:
        self.named, self.first, self.last = named, first, last


# Of the context, as a thread or a task has it: what pauses here is still told of what others do.
_pauses: ContextVar[tuple[_Pause, ...]] = ContextVar("tnp_autodiff_pauses", default=())


def is_paused(x: Any) -> bool:
    """Is a recording or an accumulator to be told nothing here?"""
    pauses = native.value(_pauses)
    return len(pauses) != 0 and any([p.first <= x.born <= p.last or x in p.named for p in pauses])


@contextmanager
def _pause(p: _Pause) -> Iterator[None]:
    _pauses.set((*_pauses.get(), p))
    try:
        yield
    finally:  # blocks of generators do not end in the order of their beginning, nor always in their context
        p.named, p.first, p.last = (), math.inf, -math.inf
        _pauses.set(tuple([q for q in _pauses.get() if q is not p]))


def paused(*named: Any) -> Any:
    """In the block, in this context, these recordings are told nothing."""
    return _pause(_Pause(named, math.inf, -math.inf))


def paused_since(born: int) -> Any:
    """In the block, in this context, whatever was born from then until now is told nothing."""
    return _pause(_Pause((), born, next(clock)))


class Recording:
    """A tape as events know it.

    Attributes
    ----------
    alive : bool
        False once the tape is gone or used up: nothing is recorded for it any more.
    paused : bool
        Is nothing recorded for it here?
    born : int
    """

    __slots__ = ("__weakref__", "_events", "_room", "alive", "born")

    def __init__(self) -> None:
        self.alive, self.born = True, next(clock)
        self._events: list[weakref.ref[Any]] = []
        self._room = 64

    @property
    def paused(self) -> bool:
        return is_paused(self)

    def add(self, event: Any) -> None:
        """An event was recorded for this; it lives as long as what depends on it."""
        ref = native.weak(event)
        native.spare_collector(ref)
        self._events.append(ref)
        if len(self._events) > self._room:
            self._events = [r for r in self._events if r() is not None]
            self._room = 2 * len(self._events) + 64

    def end(self) -> None:
        """Nothing is asked of this any more: events that nobody else wants let go of what they hold."""
        self.alive = False
        events, self._events = self._events, []
        for r in events:
            event = r()
            if event is not None and not any([tape.alive for tape in event.tapes]):
                event.let_go()


class Event:
    """What changed the content of a cell (tnp_autodiff/events.py).

    Attributes
    ----------
    time : float
    tapes : tuple of Recording
        For whom it was recorded.
    """

    __slots__ = ("__weakref__", "tapes", "time")
    time: float
    tapes: tuple[Recording, ...]

    def refs_of(self, tape: Recording) -> "list[Ref]":
        raise NotImplementedError

    def play(self, cts: "Cotangents", tape: Recording, needed: set["Event"]) -> None:
        """Turn the cotangents of what it made into those of what it read."""

    def let_go(self) -> None:
        """Drop saved values, and what was before: no gradient is asked any more."""


_NOTHING: dict[Any, Any] = {}  # nobody adds to it: it stands for each empty one


def records(head: Event | None) -> bool:
    """Does a tape that knows of this event record here?"""
    if head is not None:
        for r in head.tapes:
            if r.alive and not is_paused(r):
                return True
    return False


class Track:
    """What is known of the content of one cell (`Cell.record`).

    Attributes
    ----------
    key : Key
    head : Event or None
        The latest event that changed it.
    watched : dict of Recording to Source
    tangents : dict of Pushing to Held
    windows : tuple of Window
        Arguments that share the memory's content with the array under another name.
    window : Window or None
        What makes it such an argument.
    """

    __slots__ = ("head", "key", "tangents", "watched", "window", "windows")

    def __init__(self, key: Key, head: Event | None = None) -> None:
        self.key, self.head = key, head
        self.watched: dict[Recording, Any] = _NOTHING
        self.tangents: dict[Any, Held] = _NOTHING
        self.windows: tuple[Window, ...] = ()
        self.window: Window | None = None

    def open(self, window: "Window") -> None:
        self.windows = (*self.windows, window)

    def close(self, window: "Window") -> None:
        self.windows = tuple([w for w in self.windows if w is not window])

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

    def write(self) -> None:
        """The argument is written: from now on the caller's name may not be read."""
        self.written = True
        written.add(self)

    def close(self) -> None:
        """The call is over."""
        self.origin.close(self)
        written.discard(self)

    def refuse(self, did: str) -> None:
        """The memory is reached under another name, and one of the two is written."""
        raise AliasError(did)


written: set[Window] = set()  # open ones, of arguments that were written


class Ref:
    """What an event read: a place in some memory, after the event `head`."""

    __slots__ = ("head", "key", "place")

    def __init__(self, key: Key, place: Any, head: Any) -> None:
        self.key, self.place, self.head = key, place, head


def fresh_track(x: ndarray) -> tuple[Track, Strided]:
    """Begin to track the memory of `x`, of which nothing is known; where `x` lies in it."""
    place, nbytes = geometry(x)
    key = Key.__new__(Key)
    key.nbytes, key.dtype = nbytes, place.dtype
    track = Track.__new__(Track)
    track.key, track.head, track.window = key, None, None
    track.watched = track.tangents = _NOTHING
    track.windows = ()
    native.spare_collector(key)
    native.spare_collector(track)
    track_as(x, track)
    return track, place


def ref_to(key: Key, place: Any, head: Any) -> Ref:
    """`Ref`, made quickly."""
    ref = Ref.__new__(Ref)
    ref.key, ref.place, ref.head = key, place, head
    native.spare_collector(ref)
    return ref


def track_of(x: Any) -> Track | None:
    """What is known of the memory of `x`; None if nobody wants to know any more."""
    if type(x) is not ndarray or x._cell is None:
        return None
    record = x._cell.record
    if record is None:
        return None
    if type(record) is not Track:  # it stands for many arrays, which have one
        return track_of(tracing.beneath(x))
    track: Track | None = record
    if track is not None and not track.is_live():
        x._cell.record = track = None
        if not tracing.is_value(x) and recorder() is None:
            tracing.untrace(x)
    return track


def track_as(x: ndarray, track: Track) -> None:
    """Tell of the memory of `x` from now on, as `track` says."""
    c = hot.cell_of(x)
    c.record = track
    c.marked |= TRACED


def make_track(x: ndarray) -> Track:
    """Begin to track the memory of `x`."""
    x = tracing.beneath(x)
    track = track_of(x)
    if track is None:
        track = fresh_track(x)[0]
        tracing.offer_calls()
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


class Cotangents:
    """The cotangents of a backward pass."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[Key, Held] = {}

    def add(self, ref: Ref, g: Any) -> None:
        held = self._held.get(ref.key)
        if held is None:
            held = self._held[ref.key] = Held(ref.key)
        held.add(ref.place, as_dtype(g, ref.place.dtype))

    def peek(self, key: Key, place: Any) -> Any:
        held = self._held.get(key)
        return None if held is None else held.get(place)

    def of(self, key: Key) -> Held | None:
        return self._held.get(key)

    def pop_at(self, key: Key, place: Any) -> Any:
        held = self._held.pop(key, None)
        return None if held is None else held.get(place)
