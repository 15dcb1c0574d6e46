"""The states of random generators: which were drawn from, and how to draw the same once more."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numpy import random

# Generators that have drawn, by identity, with the states that they had before: for those who want to know
drawn: ContextVar[tuple[dict[int, tuple[Any, Any]], ...]] = ContextVar("tnp_random_drawn", default=())


def note(source: Any) -> None:
    """`source`, one of NumPy's generators or bit generators, is about to draw."""
    for seen in drawn.get():
        owner = source.bit_generator if isinstance(source, random.Generator) else source
        if id(owner) not in seen and not isinstance(owner, random.SeedSequence):
            seen[id(owner)] = (owner, state_of(owner))


def state_of(source: Any) -> Any:
    """The state of a bit generator or a `RandomState`."""
    if isinstance(source, random.RandomState):
        return random.RandomState.get_state(source, legacy=False)
    return source.state


def set_state(source: Any, state: Any) -> None:
    """Have `source` go on from a state that it had (`state_of`)."""
    if isinstance(source, random.RandomState):
        random.RandomState.set_state(source, state)
    else:
        source.state = state


@contextmanager
def watched() -> Iterator[dict[int, tuple[Any, Any]]]:
    """Which generators draw in the block, in this context, with the states that they had before (for `replayed`)."""
    shared = random.mtrand._rand
    seen = {id(shared): (shared, state_of(shared))}
    drawn.set((*drawn.get(), seen))
    try:
        yield seen
    finally:
        drawn.set(tuple([d for d in drawn.get() if d is not seen]))


@contextmanager
def replayed(seen: dict[int, tuple[Any, Any]]) -> Iterator[None]:
    """In the block generators draw what they drew in that of `watched`; then they are as before."""
    now = [(source, state_of(source)) for source, _ in seen.values()]
    for source, state in seen.values():
        set_state(source, state)
    try:
        yield
    finally:
        for source, state in now:
            set_state(source, state)
