"""Reverse mode: the events that lead from sources to a result, played from the latest to the earliest."""

from typing import Any

import numpy as np

from tnp.hot import ndarray
from tnp_autodiff.examples import beneath, check_own, for_all, is_one, lowered, raised
from tnp_autodiff.places import geometry
from tnp_autodiff.tracks import Cotangents, Event, Recording, Ref, track_of

inspect: Any = None  # tnp_autodiff/debugging.py's, once it was asked for: it looks at what was found


def gradient(tape: Recording, seeds: list[tuple[Any, Any]], sources: list[Any], keeps: bool) -> list[Any]:
    """Cotangents of `sources` for the cotangents of some results; None where a source is not connected.

    Parameters
    ----------
    tape : Recording
    seeds : list of (array, its cotangent)
    sources : list of arrays
    keeps : bool
        May the same events be played once more?
    """
    if any([is_one(y) for y, _ in seeds]):
        for y, _ in seeds:
            for x in sources:
                check_own(y, x)
        with for_all():
            lows = [(beneath(y), lowered(g, y)) for y, g in seeds]
            found = gradient(tape, lows, [beneath(x) for x in sources], keeps)
        return [raised(g, x) for g, x in zip(found, sources, strict=True)]
    cts, heads = Cotangents(), []
    for y, g in seeds:
        track = track_of(y)
        if track is not None and track.head is not None and tape in track.head.tapes:
            cts.add(Ref(track.key, geometry(y)[0], track.head), g)
            heads.append(track.head)
    wanted: dict[Event, list[tuple[int, Any, Any]]] = {}
    for i, x in enumerate(sources):
        track = track_of(x) if type(x) is ndarray else None
        event = None if track is None else track.watched.get(tape) or track.head
        if track is not None and event is not None:
            wanted.setdefault(event, []).append((i, track.key, geometry(x)[0]))
    events = _reached(heads, tape)
    needed = _needed(events, tape, wanted)
    result: list[Any] = [None] * len(sources)
    with np.errstate(all="ignore"):
        for event in reversed(events):
            for i, key, place in wanted.get(event, ()):
                result[i] = cts.peek(key, place)
            if event in needed:
                event.play(cts, tape, needed)
            if not keeps and not any(r.alive for r in event.tapes if r is not tape):
                event.let_go()
    if inspect is not None:
        inspect(result)
    return result


def _reached(heads: list[Event], tape: Recording) -> list[Event]:
    """The events that lead to these, the earliest first."""
    seen: set[Event] = set()
    stack = list(heads)
    while stack:
        event = stack.pop()
        if event not in seen:
            seen.add(event)
            stack += [r.head for r in event.refs_of(tape)]
    return sorted(seen, key=lambda e: e.time)


def _needed(events: list[Event], tape: Recording, wanted: dict[Event, Any]) -> set[Event]:
    """Those that a source leads to."""
    needed: set[Event] = set()
    for event in events:
        if event in wanted or any(r.head in needed for r in event.refs_of(tape)):
            needed.add(event)
    return needed
