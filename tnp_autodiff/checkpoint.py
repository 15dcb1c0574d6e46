"""Functions that are run again when their gradient is asked.

The second run must do what the first one did: random numbers are drawn from the same states, what is written to an
argument is a result of the function, and writes to other arrays from outside, which would happen twice, are refused.
"""

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import numpy as np

import tnp
from tnp.core import streams
from tnp.core.pytree import flatten
from tnp.hot import ndarray
from tnp_autodiff import reverse
from tnp_autodiff.custom import arrays_of, stop_gradient
from tnp_autodiff.errors import explain
from tnp_autodiff.events import watch
from tnp_autodiff.places import geometry
from tnp_autodiff.recorder import collectors, is_float, paused, record
from tnp_autodiff.rules.base import transposed
from tnp_autodiff.tracks import Recording, Track, Window, clock, make_track
from tnp_autodiff.variable import Variable

_REACH = 2000  # objects that are looked at in search of arrays from outside
_OWN = ("tnp", "tnp_autodiff", "numpy")  # packages whose functions keep no arrays of the program
_running: ContextVar[tuple["_Guard", ...]] = ContextVar("tnp_autodiff_guards", default=())


class _Guard(Window):
    """An array from outside, not to be written to in this context."""

    __slots__ = ("name",)

    def __init__(self, place: Any, origin: Track, name: str) -> None:
        super().__init__(place, origin)
        self.name = name

    def refuse(self, did: str) -> None:
        if self in _running.get():
            raise ValueError(
                explain(
                    f"recompute_grad: a write to {self.name}, which is no argument",
                    "an array from outside of the function, which runs twice",
                    "writes to arguments and to arrays made inside",
                    "pass the array as an argument, or return the value and write it outside",
                )
            )


def _reached(f: Any) -> Iterator[tuple[str, ndarray]]:
    """Arrays that `f` reaches by name: through closures, globals, attributes, containers, functions that it calls."""
    stack: list[tuple[str, Any, int]] = [("", f, 0)]
    seen: set[int] = set()
    while stack and len(seen) < _REACH:
        name, x, depth = stack.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Variable):
            yield name, x._array
        elif isinstance(x, ndarray):
            yield name, x
        elif depth < 6:
            stack += [(n, y, depth + 1) for n, y in _parts(name, x)]


def _parts(name: str, x: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(x, types.FunctionType):
        return _names_of(x)
    if isinstance(x, types.MethodType):
        return [("self", x.__self__), (name, x.__func__)]
    if isinstance(x, functools.partial):
        return [(name, y) for y in (x.func, *x.args, *x.keywords.values())]
    if isinstance(x, (list, tuple, set)):
        return [(f"{name}[...]", y) for y in x] if len(x) < _REACH else []
    if isinstance(x, dict):
        return [(f"{name}[{k!r}]", y) for k, y in x.items()] if len(x) < _REACH else []
    if isinstance(x, (type, types.ModuleType)) or type(x).__module__.split(".")[0] in _OWN:
        return []
    return [(f"{name}.{k}", y) for k, y in getattr(x, "__dict__", {}).items()]


def _names_of(f: types.FunctionType) -> Iterator[tuple[str, Any]]:
    if f.__module__ is None or f.__module__.split(".")[0] in _OWN:
        return
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        with suppress(ValueError):  # not assigned yet
            yield name, cell.cell_contents
    for y in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
        yield "a default", y
    codes = [f.__code__]
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        for name in code.co_names:
            if name in f.__globals__:
                yield name, f.__globals__[name]


@contextmanager
def _guarded(f: Any, own: Iterable[Any]) -> Iterator[None]:
    """In the block writes to arrays that `f` reaches by name are refused, but to those among `own`."""
    cells = {id(x._cell) for x in own if isinstance(x, ndarray)}
    guards = []
    for name, x in _reached(f):
        if not _can_be_tracked(x):
            continue
        place = geometry(x)[0]
        if id(x._cell) not in cells:
            track = make_track(x)
            guard = _Guard(place, track, name)
            track.open(guard)
            guards.append(guard)
    token = _running.set((*_running.get(), *guards))
    try:
        yield
    finally:
        _running.reset(token)
        for guard in guards:
            guard.close()


def _can_be_tracked(x: Any) -> bool:
    return isinstance(x, ndarray) and (x.dtype.kind in "biu" or is_float(x.dtype))


class _Inside:
    """The arguments as the function gets them: copies, of which it is known whether they are written.

    Attributes
    ----------
    leaves : list
    """

    def __init__(self, given: list[Any]) -> None:
        self.leaves = [stop_gradient(x) if isinstance(x, ndarray) else x for x in given]
        self.leaves = [tnp.asarray(x) if isinstance(g, ndarray) else x for g, x in zip(given, self.leaves, strict=True)]
        self._windows: list[Window | None] = []
        for g, x in zip(given, self.leaves, strict=True):
            if not _can_be_tracked(x):
                self._windows.append(None)
                continue
            own, origin = make_track(x), make_track(g)
            own.window = Window(geometry(g)[0], origin)
            origin.open(own.window)
            self._windows.append(own.window)

    def close(self) -> list[int]:
        """Which arguments were written; they are ordinary arrays from now on."""
        for x, w in zip(self.leaves, self._windows, strict=True):
            if w is not None:
                w.close()
                make_track(x).window = None
        return [i for i, w in enumerate(self._windows) if w is not None and w.written]


class _Recomputed:
    """The rule of a function that is run again when its gradient is asked.

    Its results are those of the function that are arrays, and then the arguments that it has written to.
    """

    def __init__(self, f: Callable[[list[Any]], list[Any]], outer: list[ndarray], written: list[int]) -> None:
        self._f, self._outer, self._written = f, outer, written

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        return frozenset(range(len(want) - len(self._outer))), False

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        recording = Recording()
        copies = [x.copy() if isinstance(x, ndarray) else x for x in xs[: len(xs) - len(self._outer)]]
        sources = [*copies, *self._outer]
        for x in sources:
            if isinstance(x, ndarray) and is_float(x.dtype):
                watch(x, recording)
        try:
            y = [*self._f(copies), *[copies[i] for i in self._written]]
            seeds = list(zip(y, g if isinstance(g, tuple) else (g,), strict=True))
            with paused(recording):
                return reverse.gradient(recording, seeds, sources, False)
        finally:
            recording.end()

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        return transposed(self, ts, out, xs, params)


def _is_result(y: Any) -> bool:
    return isinstance(y, (ndarray, np.generic, np.ndarray))


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that saves its arguments alone, and runs again when its gradient is asked (checkpointing).

    Parameters
    ----------
    f : callable
        Of arrays or structures of them, by position or by name; gives an array or a structure. When it runs again,
        random numbers are drawn from the states that their generators had. It may write to its arguments.

    Returns
    -------
    callable
        Its results are arrays of their own, also where those of `f` are views of an argument.

    Raises
    ------
    ValueError
        `f` writes to an array from outside that is no argument: that would happen twice. Such arrays are known by
        name: closures, globals, attributes, containers, and those of functions that `f` calls.
    AliasError
        Two arguments share memory, and one of them is written.

    >>> import tnp as np
    >>> from tnp_autodiff import grad, recompute_grad
    >>> grad(recompute_grad(lambda x: (np.sin(x) ** 2).sum()))(np.zeros(2))
    array([0., 0.])
    """

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        given, build = flatten(arrays_of([args, kwargs]))

        def run(leaves: list[Any]) -> Any:
            args, kwargs = build(leaves)
            return flatten(f(*args, **kwargs))

        inside = _Inside(given)
        try:
            with _guarded(f, (*given, *inside.leaves)), _collecting() as found, streams.watched() as drawn:
                leaves, structure = run(inside.leaves)
        finally:
            written = inside.close()

        def again(leaves: list[Any]) -> list[Any]:
            with streams.replayed(drawn):
                return [y for y in run(leaves)[0] if _is_result(y)]

        outer = [x for x in found.values() if not any(x is y for y in given)]
        fresh = [y for y in leaves if _is_result(y)]
        results = stop_gradient([*fresh, *[inside.leaves[i] for i in written]])
        if results:
            rule = _Recomputed(again, outer, written)
            operands = [*given, *outer]
            one = len(results) == 1
            results = record(rule, operands, results[0] if one else tuple(results), {})
            results = [results] if one else list(results)
        for i, value in zip(written, results[len(fresh) :], strict=True):
            given[i][...] = value
        mine = iter(results)
        return structure([next(mine) if _is_result(y) else y for y in leaves])

    return called


@contextmanager
def _collecting() -> Iterator[dict[int, ndarray]]:
    """Which tracked arrays from outside are read in the block."""
    found: dict[int, ndarray] = {}
    collector = (next(clock), found)
    collectors.set((*collectors.get(), collector))
    try:
        yield found
    finally:
        collectors.set(tuple([c for c in collectors.get() if c is not collector]))
