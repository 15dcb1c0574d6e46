"""Functions of functions: `grad` and kin, with JAX's signatures.

The function gets, in place of each argument that it is differentiated by, an array that has its values and is its
window: writes reach the caller's array when the function returns. The caller's own name of that array stays a
constant. Where both names are used and one is written, the answer would depend on the order: `AliasError`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import tnp
from tnp.core.interpreter import quietly
from tnp.core.pytree import flatten, map_leaves
from tnp.hot import ndarray
from tnp_autodiff import reverse
from tnp_autodiff.errors import NotDifferentiableError, explain
from tnp_autodiff.events import watch
from tnp_autodiff.examples import own
from tnp_autodiff.forward import ForwardAccumulator
from tnp_autodiff.handing import hand_out
from tnp_autodiff.places import geometry
from tnp_autodiff.recorder import is_float, is_tracked, paused, read_stand_ins
from tnp_autodiff.tracks import Recording, Track, Window, as_dtype, make_track


class Arguments:
    """Arguments as the function gets them.

    Attributes
    ----------
    args : list
    sources : list of ndarray
        The leaves that it is differentiated by.
    builds : list of callable
        For each such argument the structure of its leaves.
    """

    def __init__(self, args: tuple[Any, ...], nums: tuple[int, ...]) -> None:
        self.args, self.sources, self.builds = list(args), [], []
        self._windows: list[tuple[Any, ndarray, Window]] = []
        self.counts: list[int] = []
        for i in nums:
            leaves, build = flatten(args[i])
            inner = [self._window(x) for x in leaves]
            self.sources += inner
            self.builds.append(build)
            self.counts.append(len(inner))
            self.args[i] = build(inner)

    def _window(self, x: Any) -> ndarray:
        x = read_stand_ins(x)
        y = tnp.array(x)
        if not is_float(y.dtype):
            raise NotDifferentiableError(
                explain(f"grad: an argument of {y.dtype}", str(y.dtype), "floating or complex", "x.astype(float)")
            )
        mine = make_track(own(y))
        origin = make_track(x) if isinstance(x, ndarray) else Track(mine.key)
        place = geometry(x if isinstance(x, ndarray) else y)[0]
        mine.window = Window(place, origin)
        origin.open(mine.window)
        self._windows.append((x, y, mine.window))
        return y

    def watch(self, recording: Recording) -> None:
        """Make the arguments sources of `recording`."""
        for y in self.sources:
            watch(y, recording)

    @contextmanager
    def open(self) -> Iterator[None]:
        """The windows are open in the block; then what was written reaches the caller."""
        with self.apart():
            yield
        self.hand_back()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """The windows are open in the block."""
        try:
            yield
        finally:
            for _, y, window in self._windows:
                window.close()
                make_track(y).window = None

    def hand_back(self) -> None:
        """What was written reaches the caller."""
        for x, y, window in self._windows:
            if window.written and isinstance(x, ndarray):
                x[...] = y
            elif window.written and isinstance(x, np.ndarray):
                with quietly():
                    x[...] = tnp.to_numpy(y)

    def structured(self, found: list[Any]) -> list[Any]:
        """For each argument the structure of what belongs to its leaves."""
        result = []
        for build, count in zip(self.builds, self.counts, strict=True):
            result.append(build(found[:count]))
            found = found[count:]
        return result


def numbers_of(argnums: Any) -> tuple[int, ...]:
    """Numbers of arguments as a tuple."""
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def _handed(found: list[Any], xs: list[Any]) -> list[Any]:
    """Gradients as the program gets them; zeros for what is not connected."""
    return [tnp.zeros(x.shape, x.dtype)[()] if found[i] is None else hand_out(found, i) for i, x in enumerate(xs)]


def _result(y: Any) -> Any:
    """A result that nobody else tracks is a plain one."""
    plain = isinstance(y, ndarray) and y.ndim == 0 and not is_tracked(y)
    return y[()] if plain else y


def value_and_grad(f: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the value of `f` and its gradient.

    Parameters
    ----------
    f : callable
        Gives one real number; with `has_aux` a pair of that and anything.
    argnums : int or sequence of int
        Arguments to differentiate by: arrays, numbers, or structures of them.
    has_aux : bool

    Returns
    -------
    callable
        Of the arguments of `f`: ``(value, gradient)``, or ``((value, aux), gradient)``. For a complex argument the
        gradient is df/dx + i df/dy.

    Raises
    ------
    TypeError
        `f` gives no single real number.
    NotDifferentiableError
        An argument is of integers.
    AliasError
        An argument is reached by another name, and one is written.

    >>> import tnp as np
    >>> from tnp_autodiff import value_and_grad
    >>> value_and_grad(lambda x: (x * x).sum())(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """

    def called(*args: Any, **kwargs: Any) -> Any:
        recording, arguments = Recording(), Arguments(args, numbers_of(argnums))
        arguments.watch(recording)
        try:
            with arguments.open():
                y = f(*arguments.args, **kwargs)
            aux = None
            if has_aux:
                y, aux = y
            if np.shape(y) != () or tnp.asarray(y).dtype.kind == "c":
                raise TypeError(
                    explain(
                        "grad: the function gives no single real number",
                        f"shape {np.shape(y)}, {tnp.asarray(y).dtype}",
                        "shape (), floating",
                        "y.sum(), y.real, jacrev or vjp",
                    )
                )
            with paused(recording):
                seeds = [(y, tnp.ones((), y.dtype))] if isinstance(y, ndarray) else []
                found = reverse.gradient(recording, seeds, arguments.sources, False)
        finally:
            recording.end()
        gs = arguments.structured(_handed(found, arguments.sources))
        g = gs[0] if isinstance(argnums, int) else tuple(gs)
        y = _result(y)
        return ((y, aux) if has_aux else y), g

    return called


def grad(f: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of `f`: see `value_and_grad`; with `has_aux` a pair with the rest.

    >>> import tnp as np
    >>> from tnp_autodiff import grad
    >>> grad(grad(np.sin))(np.pi / 2)
    np.float64(-1.0)
    """
    both = value_and_grad(f, argnums, has_aux)

    def called(*args: Any, **kwargs: Any) -> Any:
        y, g = both(*args, **kwargs)
        return (g, y[1]) if has_aux else g

    return called


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `f`, and the function that pulls cotangents of it back.

    Parameters
    ----------
    f : callable
        Gives an array or a structure of arrays; with `has_aux` a pair of that and anything.
    *primals
        Arguments of `f`.

    Returns
    -------
    value, pull[, aux]
        ``pull(cotangents)`` gives a tuple with what belongs to each argument; it may be called again.

    >>> import tnp as np
    >>> from tnp_autodiff import vjp
    >>> y, pull = vjp(np.multiply, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    >>> pull(np.array([1.0, 10.0]))
    (array([ 3., 40.]), array([ 1., 20.]))
    """
    recording, arguments = Recording(), Arguments(primals, tuple(range(len(primals))))
    arguments.watch(recording)
    with arguments.open():
        y = f(*arguments.args)
    aux = None
    if has_aux:
        y, aux = y

    def pull(cotangents: Any) -> Any:
        seeds = []
        for leaf, g in zip(flatten(y)[0], flatten(cotangents)[0], strict=True):
            if tnp.shape(g) != tnp.shape(leaf):
                raise ValueError(
                    explain("vjp: a cotangent", f"shape {tnp.shape(g)}", f"shape {tnp.shape(leaf)}", "one a value")
                )
            seeds.append((leaf, tnp.asarray(g)))
        with paused(recording):
            found = reverse.gradient(recording, seeds, arguments.sources, True)
        gs = _handed(found, arguments.sources)
        return tuple(arguments.structured(gs))

    with paused(recording):
        value = map_leaves(lambda leaf: leaf.copy() if isinstance(leaf, ndarray) else leaf, y)
    value = map_leaves(_result, value)
    return (value, pull, aux) if has_aux else (value, pull)


def jvp(f: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """The value of `f`, and the tangent of it.

    Parameters
    ----------
    f : callable
    primals, tangents : tuple
        Arguments of `f`, and their tangents.

    Returns
    -------
    value, tangent[, aux]

    >>> import tnp as np
    >>> from tnp_autodiff import jvp
    >>> jvp(np.square, (np.array([1.0, 2.0]),), (np.array([1.0, 1.0]),))
    (array([1., 4.]), array([2., 4.]))
    """
    arguments = Arguments(tuple(primals), tuple(range(len(primals))))
    accumulator = ForwardAccumulator(arguments.sources, [tnp.asarray(t) for t in flatten(list(tangents))[0]])
    with arguments.open():
        y = f(*arguments.args)
    aux = None
    if has_aux:
        y, aux = y
    t = accumulator.jvp(y, unconnected_gradients="zero")
    accumulator.end()
    y = map_leaves(_result, y)
    return (y, t, aux) if has_aux else (y, t)


def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `f`, and the function that pushes tangents to it, without running `f` again.

    Parameters
    ----------
    f : callable
        Gives an array or a structure of arrays; with `has_aux` a pair of that and anything.
    *primals
        Arguments of `f`.

    Returns
    -------
    value, push[, aux]
        ``push(*tangents)`` gives the tangent of the value, in its structure; it may be called again.

    Raises
    ------
    ValueError
        From ``push``: a tangent is missing, or has another shape than its primal.

    >>> import tnp as np
    >>> from tnp_autodiff import linearize
    >>> y, push = linearize(np.sin, np.array([0.0, np.pi]))
    >>> push(np.array([1.0, 1.0]))
    array([ 1., -1.])
    """
    y, pull, *aux = vjp(f, *primals, has_aux=has_aux)
    leaves, build = flatten(y)
    recording = Recording()  # of the backward pass, which is linear in its cotangents
    gs = [tnp.zeros_like(tnp.asarray(leaf)) for leaf in leaves]
    for g in gs:
        watch(g, recording)
    pulled = [tnp.asarray(x) for x in flatten(pull(build(gs)))[0]]

    def push(*tangents: Any) -> Any:
        ts = [tnp.asarray(t) for t in flatten(list(tangents))[0]]
        shapes, wanted = [t.shape for t in ts], [x.shape for x in pulled]
        if shapes != wanted:
            raise ValueError(explain("linearize: tangents", f"shapes {shapes}", f"shapes {wanted}", "one a primal"))
        with paused(recording):
            seeds = [(x, as_dtype(t, x.dtype)) for x, t in zip(pulled, ts, strict=True)]
            found = reverse.gradient(recording, seeds, gs, True)
        return build(_handed(found, gs))

    return (y, push, *aux)
