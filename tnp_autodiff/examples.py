"""Differentiation of functions that run for many examples at once (`tnp.vmap`).

It sees the arrays of all examples, as any others; examples do not meet, so what it finds for each is its own. Here one
is turned into the other: cotangents and results of one example into those of all, and back.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tnp.core.interpreter import batches
from tnp.core.layout import size_of
from tnp.hot import ndarray
from tnp.tracing import beneath, box_of
from tnp_autodiff.errors import NotDifferentiableError, explain


def is_one(x: Any) -> bool:
    """Does `x` stand for one of many?"""
    return box_of(x) is not None


def own(x: ndarray, around: tuple[Any, ...] | None = None) -> ndarray:
    """Give each example that there is here its own copy of the memory of `x`. Returns `x`."""
    around = batches.get() if around is None else around
    if around:
        *outer, batch = around
        if batch.is_batched(x):
            own(batch.box_of(x).low, tuple(outer))
        else:
            own(x, tuple(outer))
            batch.lift(x)
    return x


def lowered(g: Any, x: Any) -> Any:
    """What belongs to one example, as `x` does, for all: `g` has the shape of `x`."""
    box: Any = box_of(x)
    if box is None:
        return g
    batch = box.interpreter
    return lowered(batch.every(g), batch.low(x))


def raised(g: Any, x: Any) -> Any:
    """What belongs to all examples, as one sees it that sees `x`."""
    box: Any = box_of(x)
    if box is None or g is None:
        return g
    batch = box.interpreter
    return batch.up(raised(g, batch.low(x)))


def _levels(x: Any) -> set[int]:
    found = set()
    box: Any = box_of(x)
    while box is not None:
        found.add(id(box.interpreter))
        x = box.interpreter.low(x)
        box = box_of(x)
    return found


def check_own(y: Any, x: Any) -> None:
    """Refuse the gradient of one example's result by an array that all examples share."""
    if not _levels(y) <= _levels(x):
        raise NotDifferentiableError(
            explain(
                "gradient: of one example's value, by an array that all examples share",
                "an array that is watched outside vmap",
                "one that is watched inside, or an argument of grad",
                "watch it in the function, or sum over the batch outside vmap",
            )
        )


@contextmanager
def for_all(around: tuple[Any, ...] = ()) -> Iterator[None]:
    """In this block there are no examples but those of `around`: other arrays are those of all of them."""
    token = batches.set(around)
    try:
        yield
    finally:
        batches.reset(token)


class OfExamples:
    """A rule of one example as one of them all, at any time later.

    Parameters
    ----------
    rule : Rule
    batch : Batch
    """

    def __init__(self, rule: Any, batch: Any) -> None:
        self._rule, self._batch = rule, batch

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        return self._rule.keeps(want)

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        batch = self._batch
        with batch.again():
            found = self._rule.vjp(self._up(g), self._up(out), want, [self._up(x) for x in xs], params)
            return [None if f is None else batch.every(f) for f in found]

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        batch = self._batch
        with batch.again():
            found = self._rule.jvp([self._up(t) for t in ts], self._up(out), [self._up(x) for x in xs], params)
            if isinstance(found, tuple):
                return tuple([None if f is None else batch.every(f) for f in found])
            return None if found is None else batch.every(found)

    def _up(self, x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple([self._up(y) for y in x])
        if isinstance(x, ndarray):
            return self._batch.up(x)
        return _Aval(x.shape[1:], x.dtype) if hasattr(x, "shape") and x.shape else x


class _Aval:
    """Shape and dtype of one example."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype, self.ndim, self.size = shape, dtype, len(shape), size_of(shape)


__all__ = ["OfExamples", "beneath", "check_own", "for_all", "is_one", "lowered", "own", "raised"]
