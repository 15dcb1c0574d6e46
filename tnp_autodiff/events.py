"""What happened to cells, and how each event is played backward.

Events hang on the cells that depend on them, not in a list: a dropped array drops its events. The adjoint of an
in-place program is an in-place program, with one cotangent for each cell:

    y = op(x[place])     ct_x[place] += vjp(ct_y)
    x[place] = v         ct_v += ct_x[place];  ct_x[place] = 0
    x[place] += v        ct_v += ct_x[place]

Cotangents are arrays like others, so an outer tape sees the backward pass as one more in-place program.
"""

from typing import Any

import numpy as np

import tnp
from tnp.core.layout import size_of
from tnp.hot import ndarray
from tnp_autodiff.errors import NotDifferentiableError, explain
from tnp_autodiff.places import Key, Scattered
from tnp_autodiff.tracks import Cotangents, Event, Recording, Ref, clock, make_track


class Kept:
    """A value as an event keeps it."""

    __slots__ = ()

    def thaw(self, maker: Any = None) -> Any:
        """The value, with the derivatives that it had then for whoever records now.

        `maker` is the event itself, if it has made the value.
        """
        raise NotImplementedError

    def release(self) -> None:
        """It is not used any more."""


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


class Source(Event):
    """An array was watched. It reads what the array was before."""

    __slots__ = ("before", "key")

    def __init__(self, key: Key, before: Event | None, tapes: tuple[Recording, ...]) -> None:
        self.time, self.key, self.before, self.tapes = next(clock), key, before, tapes
        for tape in tapes:
            tape.add(self)

    def let_go(self) -> None:
        self.before = None

    def refs_of(self, tape: Recording) -> list[Ref]:
        return [] if self.before is None or tape not in self.before.tapes else [Ref(self.key, None, self.before)]


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


class Op(Event):
    """A fresh array, or several, from others.

    Attributes
    ----------
    rule : Rule
    outs : tuple of (Key, Strided) or None
    avals : list of Aval, or None
        Of the results, if there is more than one.
    refs : tuple of Ref or None
        One for each operand; None for a constant.
    saved : tuple of Kept, Aval, Strided or number
    out : Kept or None
    params : dict
    """

    __slots__ = ("avals", "out", "outs", "params", "refs", "rule", "saved")
    rule: Any
    outs: tuple[Any, ...]
    refs: tuple[Ref | None, ...]
    saved: Any
    out: Any
    params: dict[str, Any]
    avals: list[Aval] | None

    def refs_of(self, tape: Recording) -> list[Ref]:
        return [r for r in self.refs if r is not None and tape in r.head.tapes]

    def play(self, cts: Cotangents, tape: Recording, needed: set[Event]) -> None:
        gs = [None if o is None else cts.pop_at(o[0], o[1]) for o in self.outs]
        if all([g is None for g in gs]):
            return
        want = [r is not None and tape in r.head.tapes and r.head in needed for r in self.refs]
        if self.saved is None:
            raise RuntimeError("the saved values of this operation were let go")
        if self.avals is not None:
            gs = [tnp.zeros(a.shape, a.dtype) if g is None else g for g, a in zip(gs, self.avals, strict=True)]
        xs = [s.thaw(None) if isinstance(s, Kept) else s for s in self.saved]
        out = None if self.out is None else self.out.thaw(self)
        try:
            found = self.rule.vjp(gs[0] if self.avals is None else tuple(gs), out, want, xs, self.params)
            for ref, wanted, g in zip(self.refs, want, found, strict=True):
                if wanted and ref is not None and g is not None:
                    cts.add(ref, g)
        finally:
            for s in self.saved:
                if isinstance(s, Kept):
                    s.release()
            if self.out is not None:
                self.out.release()

    def let_go(self) -> None:
        self.saved = self.out = None
        self.refs = ()


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
        held = cts.of(self.key)
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

    def let_go(self) -> None:
        self.before = self.value = None


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
