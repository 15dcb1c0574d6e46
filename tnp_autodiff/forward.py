"""Forward mode: tangents are pushed along as the program runs."""

from contextlib import ExitStack
from typing import Any

import numpy as np

import tnp
from tnp.core.pytree import flatten
from tnp.hot import ndarray
from tnp_autodiff.errors import NotDifferentiableError, explain
from tnp_autodiff.examples import lowered, own, raised
from tnp_autodiff.places import geometry
from tnp_autodiff.recorder import is_float, is_tracked
from tnp_autodiff.tracks import Held, Track, as_dtype, clock, is_paused, make_track, paused_since, track_of
from tnp_autodiff.variable import Variable


class Pushing:
    """An accumulator as arrays know it.

    Attributes
    ----------
    alive : bool
    busy : bool
        Is it at work here? What it does itself has no tangents for it.
    born : int
    """

    __slots__ = ("__weakref__", "alive", "born")

    def __init__(self) -> None:
        self.alive, self.born = True, next(clock)

    busy = property(is_paused)

    def working(self) -> Any:
        """In this block only what lies further out is told."""
        return paused_since(self.born)

    def tangent_of(self, x: Any) -> Any:
        """The tangent of an array; None for zeros."""
        track = track_of(x)
        held = None if track is None else track.tangents.get(self)
        return None if held is None else held.get(geometry(x)[0])

    def give(self, track: Track, place: Any, t: Any, adds: bool = False) -> None:
        """The tangent of what is at `place` becomes `t`, or is added to; None for zeros."""
        held = track.tangents.get(self)
        if held is None:
            if t is None:
                return
            held = Held(track.key)
            track.tangents = {**track.tangents, self: held}
        t = None if t is None else as_dtype(tnp.asarray(t), place.dtype)
        if not adds:
            held.set(place, t)
        elif t is not None:
            held.add(place, t)


class ForwardAccumulator:
    """Pushes tangents from primals to what is computed from them.

    Parameters
    ----------
    primals : array, variable, or structure of them
    tangents : structure of arrays
        Of the shapes of the primals.

    Raises
    ------
    ValueError
        A primal is given twice, or a tangent has another shape.
    NotDifferentiableError
        A primal is not of a floating dtype.

    Examples
    --------
    >>> import tnp as np
    >>> from tnp_autodiff import ForwardAccumulator
    >>> x = np.array([1.0, 2.0])
    >>> with ForwardAccumulator(x, np.array([1.0, 0.0])) as acc:
    ...     y = x * x
    ...     y[1] = y[0]
    >>> acc.jvp(y)
    array([2., 2.])
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._pushing = Pushing()
        xs = [x._array if isinstance(x, Variable) else x for x in flatten(primals)[0]]
        ts = flatten(tangents)[0]
        if len(xs) != len(ts):
            raise ValueError(explain("ForwardAccumulator", f"{len(ts)} tangents", f"{len(xs)}", "one for each primal"))
        for x, t in zip(xs, ts, strict=True):
            self._watch(x, tnp.asarray(t))

    def _watch(self, x: Any, t: Any) -> None:
        if not isinstance(x, ndarray):
            raise ValueError(
                explain("ForwardAccumulator: no array", type(x).__name__, "tnp arrays or variables", "tnp.asarray(x)")
            )
        if not is_float(x.dtype):
            raise NotDifferentiableError(
                explain(f"ForwardAccumulator: {x.dtype}", str(x.dtype), "floating or complex", "x.astype(float)")
            )
        if t.shape != x.shape:
            raise ValueError(
                explain("ForwardAccumulator: a tangent", f"shape {t.shape}", f"shape {x.shape}", "that of its primal")
            )
        track = make_track(own(x))
        if self._pushing in track.tangents:
            raise ValueError(
                explain("ForwardAccumulator: a primal twice", "one array again", "each array once", "add the tangents")
            )
        self._pushing.give(track, geometry(x)[0], lowered(t, x).copy())

    def __enter__(self) -> "ForwardAccumulator":
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __del__(self) -> None:
        self.end()

    def end(self) -> None:
        """No tangents are asked any more: arrays forget theirs."""
        self._pushing.alive = False

    def jvp(self, primals: Any, unconnected_gradients: str = "none") -> Any:
        """The tangents of arrays.

        Parameters
        ----------
        primals : array or structure of arrays
        unconnected_gradients : {"none", "zero"}

        Returns
        -------
        tangents
            In the structure of `primals`; None, or zeros, for what depends on no primal.
        """
        leaves, build = flatten(primals)
        return build([self._tangent(x, unconnected_gradients == "zero") for x in leaves])

    def _tangent(self, x: Any, zero: bool) -> Any:
        x = x._array if isinstance(x, Variable) else x
        with ExitStack() as stack:
            stack.enter_context(self._pushing.working())
            t = self._pushing.tangent_of(x) if isinstance(x, ndarray) else None
            t = raised(t, x)
            if t is None:
                return tnp.zeros(np.shape(x), getattr(x, "dtype", float)) if zero else None
            return t[()] if t.ndim == 0 and not is_tracked(t) else t.copy()
