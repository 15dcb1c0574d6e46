"""Derivatives that the program says: constants, functions with a rule of their own, functions that are run again."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tnp
from tnp.core.interpreter import quietly
from tnp.hot import ndarray
from tnp_autodiff import reverse
from tnp_autodiff.errors import explain
from tnp_autodiff.events import Valueless, watch
from tnp_autodiff.recorder import collectors, paused, record
from tnp_autodiff.recorder import read_stand_ins as plain
from tnp_autodiff.rules.base import transposed
from tnp_autodiff.tracks import Recording, clock
from tnp_autodiff.tree import flatten, map_leaves


def stop_gradient(x: Any) -> Any:
    """The values of `x`, constants to every tape and accumulator.

    Parameters
    ----------
    x : array, variable, or structure of them

    Returns
    -------
    structure of copies

    >>> import tnp as np
    >>> from tnp_autodiff import grad, stop_gradient
    >>> grad(lambda x: (x * stop_gradient(x)).sum())(np.array([2.0, 3.0]))
    array([2., 3.])
    """

    def constant(leaf: Any) -> Any:
        leaf = plain(leaf)
        if not isinstance(leaf, ndarray):
            return leaf
        with quietly():
            return leaf.copy() if leaf.ndim else leaf[()]

    return map_leaves(constant, x)


class _Custom(Valueless):
    """The rule of a function that brings its own."""

    def __init__(self, backward: Callable[..., Any], name: str) -> None:
        self._backward, self._name = backward, name

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        found = self._backward(*(g if isinstance(g, tuple) else (g,)))
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(found) != len(xs):
            self._refuse(f"{len(found)} gradients", f"{len(xs)}, one for each argument")
        for f, x in zip(found, xs, strict=True):
            if f is not None and tnp.shape(f) != x.shape:
                self._refuse(f"a gradient of shape {tnp.shape(f)}", f"shape {x.shape}, that of the argument")
        return [None if f is None else tnp.asarray(f) for f in found]

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        return transposed(self, ts, out, xs, params)

    def _refuse(self, got: str, expected: str) -> None:
        raise ValueError(explain(f"custom_gradient: {self._name}", got, expected, "None stands for no gradient"))


def _arrays(args: Any) -> Any:
    """Arguments of the program as arrays; what is no number stays."""

    def array(x: Any) -> Any:
        x = plain(x)
        return tnp.asarray(x) if isinstance(x, (ndarray, float, complex)) or hasattr(x, "__array__") else x

    return map_leaves(array, args)


def _recorded(rule: Any, operands: list[Any], y: Any) -> Any:
    """The structure `y` as results of the operands by the rule, and of nothing else."""
    leaves, build = flatten(stop_gradient(y))
    leaves = [tnp.asarray(leaf) if not isinstance(leaf, ndarray) else leaf for leaf in leaves]
    leaves = [leaf[()] if leaf.ndim == 0 else leaf for leaf in leaves]
    found = record(rule, operands, leaves[0] if len(leaves) == 1 else tuple(leaves), {})
    return build([found] if len(leaves) == 1 else list(found))


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that brings its derivative.

    Parameters
    ----------
    f : callable
        ``f(*args)`` returns the result, or a structure of results, and a function that turns the gradients by the
        results into those by the arguments (None: no gradient). That function may use the arguments: it is
        differentiated in turn for higher orders.

    Returns
    -------
    callable
        Of the same arguments, with the result alone.

    Raises
    ------
    ValueError
        In the backward pass, if there are not as many gradients as arguments, or of other shapes.

    >>> import tnp as np
    >>> from tnp_autodiff import custom_gradient, grad
    >>> @custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))
    >>> grad(log1pexp)(np.array(100.0))
    np.float64(1.0)
    """

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        args = _arrays(args)
        given, build = flatten(args)
        inner = build([x.copy() if isinstance(x, ndarray) else x for x in given])
        y, backward = f(*inner, **kwargs)
        return _recorded(_Custom(backward, getattr(f, "__name__", "f")), given, y)

    return called


class _Recomputed:
    """The rule of a function that is run again when its gradient is asked."""

    def __init__(self, f: Callable[..., Any], build: Callable[[list[Any]], Any], outer: list[ndarray]) -> None:
        self._f, self._build, self._outer = f, build, outer

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        return frozenset(range(len(want) - len(self._outer))), False

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        recording = Recording()
        copies = [x.copy() if isinstance(x, ndarray) else x for x in xs[: len(xs) - len(self._outer)]]
        sources = [*copies, *self._outer]
        for x in sources:
            if isinstance(x, ndarray) and x.dtype.kind in "fc":
                watch(x, recording)
        try:
            y = flatten(self._f(*self._build(copies)))[0]
            seeds = list(zip(y, g if isinstance(g, tuple) else (g,), strict=True))
            with paused(recording):
                return reverse.gradient(recording, seeds, sources, False)
        finally:
            recording.end()

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        return transposed(self, ts, out, xs, params)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that saves its arguments alone, and runs again when its gradient is asked (checkpointing).

    Parameters
    ----------
    f : callable
        Of arrays or structures of them. It must give the same when it runs again, and may not write to its arguments
        nor to other arrays from outside.

    Returns
    -------
    callable

    >>> import tnp as np
    >>> from tnp_autodiff import grad, recompute_grad
    >>> grad(recompute_grad(lambda x: (np.sin(x) ** 2).sum()))(np.zeros(2))
    array([0., 0.])
    """

    @functools.wraps(f)
    def called(*args: Any) -> Any:
        args = _arrays(args)
        given, build = flatten(args)
        inner = []
        for x in given:
            if isinstance(x, ndarray):
                x = stop_gradient(x)
                x = tnp.asarray(x)
                x.flags.writeable = False
            inner.append(x)
        with _collecting() as found:
            y = f(*build(inner))
        outer = list(found.values())
        return _recorded(_Recomputed(f, build, outer), [*given, *outer], y)

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
