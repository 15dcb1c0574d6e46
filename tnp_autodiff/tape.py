"""`GradientTape`: reverse mode as TensorFlow offers it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

import tnp
from tnp.core.interpreter import batches
from tnp.core.pytree import flatten, map_leaves
from tnp.hot import ndarray
from tnp_autodiff import reverse, variable
from tnp_autodiff.errors import NotDifferentiableError, explain
from tnp_autodiff.events import watch
from tnp_autodiff.examples import own
from tnp_autodiff.handing import hand_out
from tnp_autodiff.recorder import is_float, paused
from tnp_autodiff.tracks import Recording
from tnp_autodiff.units import for_each_unit
from tnp_autodiff.variable import Variable

_open: ContextVar[tuple["GradientTape", ...]] = ContextVar("tnp_open_tapes", default=())


class GradientTape:
    """Records what is computed from watched arrays, and gives the gradients of it.

    Arrays remember what they came from for as long as the tape lives and has not been used up: what is computed after
    the block from what was computed in it has a gradient, too. In-place operations, views and loops are recorded as
    they are.

    Parameters
    ----------
    persistent : bool
        May gradients be asked more than once?
    watch_accessed_variables : bool
        Watch trainable variables that are read in the block?

    Notes
    -----
    A watched array means its value when it was watched; any other source means its value now.

    Examples
    --------
    >>> import tnp as np
    >>> from tnp_autodiff import GradientTape
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> with GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    ...     y[0] = 5.0 * x[2]
    >>> tape.gradient(y.sum(), x)
    array([ 0.,  4., 11.])
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._watches = persistent, watch_accessed_variables
        self._recording = Recording()
        self._batches = batches.get()  # each example of those has its own source
        self._variables: dict[int, Variable] = {}
        self._entered = False
        self._used = False

    def __enter__(self) -> "GradientTape":
        if self._entered:
            raise ValueError(
                explain("GradientTape: this tape is recording already", "a second `with`", "one", "make another tape")
            )
        self._entered = True
        _open.set((*_open.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        if not self._entered:
            raise ValueError(
                explain("GradientTape: this tape is not recording", "the end of a block", "its beginning first", "with")
            )
        self._entered = False
        _open.set(tuple([tape for tape in _open.get() if tape is not self]))  # in any order, as generators end

    def __del__(self) -> None:
        self._recording.end()

    def watch(self, tensor: Any) -> None:
        """Make arrays, or variables, sources of derivatives: what is computed from them is recorded.

        Parameters
        ----------
        tensor : tnp.ndarray, Variable, or a structure of them

        Raises
        ------
        ValueError
            Of what is no tnp array.
        NotDifferentiableError
            Of arrays of integers, and of anything else that has no derivatives.
        """
        for x in flatten(tensor)[0]:
            if isinstance(x, Variable):
                self._watch_variable(x)
                continue
            if not isinstance(x, ndarray):
                raise ValueError(
                    explain("watch: not an array", type(x).__name__, "a tnp array or a Variable", "tnp.asarray(x)")
                )
            self._watch(x)

    def _watch(self, x: ndarray) -> None:
        if not is_float(x.dtype):
            raise NotDifferentiableError(
                explain(f"watch: {x.dtype} has no derivatives", str(x.dtype), "floating or complex", "x.astype(float)")
            )
        watch(own(x, self._batches), self._recording)

    def _watch_variable(self, v: Variable) -> None:
        if id(v) not in self._variables:
            self._variables[id(v)] = v
            self._watch(v._array)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Variables that the tape has watched, in this order."""
        return tuple(self._variables.values())

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """In this block everything is a constant to the tape; arrays that are written forget what they were.

        >>> import tnp as np
        >>> from tnp_autodiff import GradientTape
        >>> x = np.ones(2)
        >>> with GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * 1.0
        ...     with tape.stop_recording():
        ...         y[0] = 3 * x[0]
        >>> tape.gradient(y.sum(), x)
        array([0., 1.])
        """
        with paused(self._recording):
            yield

    def reset(self) -> None:
        """Forget everything recorded and watched so far."""
        self._recording.end()
        self._recording, self._used = Recording(), False
        self._variables = {}

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any:
        """The gradient of the sum of all targets.

        Parameters
        ----------
        target : array or structure of arrays
        sources : array, variable, or structure of them
        output_gradients : like `target`, optional
            Weights of the elements of the targets; None is one.
        unconnected_gradients : {"none", "zero"}
            What is given for a source that no target depends on.

        Returns
        -------
        gradients
            Arrays in the structure of `sources`. For a complex source df/dx + i df/dy.

        Raises
        ------
        RuntimeError
            A tape that is not persistent was used before.
        NotDifferentiableError
            The way from a source to a target leads through an operation without derivative, or an integer.
        """
        targets = [_array(y, "target") for y in flatten(target)[0]]
        seeds = _seeds(targets, output_gradients)
        arrays, build = _sources(sources, unconnected_gradients)
        self._use()  # of right arguments alone
        if self._persistent and self._entered:  # higher derivatives of the same tape
            found = reverse.gradient(self._recording, seeds, arrays, True)
        else:
            with paused(self._recording):
                found = reverse.gradient(self._recording, seeds, arrays, self._persistent)
        if not self._persistent:
            self._recording.end()
        if unconnected_gradients == "zero":
            found = [tnp.zeros(x.shape, x.dtype) if g is None else g for g, x in zip(found, arrays, strict=True)]
        return build([None if found[i] is None else hand_out(found, i) for i in range(len(found))])

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: str = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivative of each element of `target` by each of the sources'.

        Parameters
        ----------
        target : array
        sources : array, variable, or structure of them
        unconnected_gradients : {"none", "zero"}
        parallel_iterations, experimental_use_pfor
            As TensorFlow takes them; of no effect.

        Returns
        -------
        jacobians
            In the structure of `sources`; each has the shape of the target and then that of the source.

        >>> import tnp as np
        >>> from tnp_autodiff import GradientTape
        >>> x = np.array([1.0, 2.0])
        >>> with GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x[::-1]
        >>> tape.jacobian(y, x)
        array([[2., 1.],
               [2., 1.]])
        """
        y = _array(target, "target")
        _sources(sources, unconnected_gradients)  # before the tape is used
        rows = self._rows(lambda unit: self.gradient(y, sources, unit, unconnected_gradients), y.shape, y.dtype)
        return map_leaves(lambda g: g.reshape((*y.shape, *g.shape[1:])), rows)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: str = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each example by itself.

        Parameters
        ----------
        target, source : array
            Of one length along the first axis: example by example the target depends on the source alone.
        unconnected_gradients, parallel_iterations, experimental_use_pfor
            As for `jacobian`.

        Returns
        -------
        array
            (number of examples, rest of the target's shape, rest of the source's shape).

        Raises
        ------
        ValueError
            The first axes differ.

        >>> import tnp as np
        >>> from tnp_autodiff import GradientTape
        >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> with GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x)
        array([[[2., 0.],
                [0., 4.]],
               [[6., 0.],
                [0., 8.]]])
        """
        y, x = _array(target, "target"), _array(source, "source")
        if y.ndim < 2 or x.ndim < 2 or len(y) != len(x):
            raise ValueError(
                explain(
                    "batch_jacobian: target and source have no examples in common",
                    f"shapes {y.shape} and {x.shape}",
                    "two axes or more, and the first of one length",
                    "jacobian",
                )
            )

        _sources(source, unconnected_gradients)

        def row(unit: Any) -> Any:
            return self.gradient(y, source, tnp.broadcast_to(unit, y.shape), unconnected_gradients)

        rows = self._rows(row, y.shape[1:], y.dtype)
        if rows is None:
            return None
        return tnp.moveaxis(rows, 0, 1).reshape((*y.shape, *x.shape[1:]))

    def _rows(self, f: Callable[[Any], Any], shape: tuple[int, ...], dtype: Any) -> Any:
        """What `f` gives for each unit array; the tape counts as used once."""
        self._use()
        persistent, self._persistent = self._persistent, True
        try:
            return for_each_unit(f, shape, dtype)
        finally:
            self._persistent = persistent
            if not persistent:
                self._recording.end()

    def _use(self) -> None:
        if self._used and not self._persistent:
            raise RuntimeError(
                explain(
                    "gradient: this tape was used already",
                    "a second call",
                    "one call",
                    "GradientTape(persistent=True)",
                )
            )
        self._used = True


def _array(x: Any, what: str) -> Any:
    if isinstance(x, Variable):
        return x.value
    if not isinstance(x, (ndarray, np.generic, np.ndarray, float, int, complex)):
        raise TypeError(explain(f"gradient: {what} is no array", type(x).__name__, "arrays", "tnp.asarray(x)"))
    x = tnp.asarray(x)
    if not is_float(x.dtype):
        raise NotDifferentiableError(
            explain(f"gradient: {what} is of {x.dtype}", str(x.dtype), "floating or complex", "x.astype(float)")
        )
    return x


def _sources(sources: Any, unconnected_gradients: str) -> tuple[list[Any], Any]:
    """The arrays of a structure of sources, and what puts others in their place."""
    if unconnected_gradients not in ("none", "zero"):
        raise ValueError(
            explain("gradient: unconnected_gradients", repr(unconnected_gradients), '"none" or "zero"', "")
        )
    leaves, build = flatten(sources)
    return [x._array if isinstance(x, Variable) else _array(x, "source") for x in leaves], build


def _seeds(targets: list[Any], output_gradients: Any) -> list[tuple[Any, Any]]:
    if output_gradients is None:
        return [(y, tnp.ones(y.shape, y.dtype)) for y in targets]
    leaves = output_gradients if isinstance(output_gradients, (list, tuple)) else [output_gradients]
    if isinstance(output_gradients, dict):
        leaves = flatten(output_gradients)[0]
    seeds = []
    for y, g in zip(targets, leaves, strict=True):
        g = tnp.ones(y.shape, y.dtype) if g is None else tnp.asarray(g)
        if g.shape != y.shape:
            raise ValueError(
                explain("gradient: output_gradients", f"shape {g.shape}", f"shape {y.shape}", "one weight an element")
            )
        seeds.append((y, g))
    return seeds


def _accessed(v: Variable) -> None:
    for tape in _open.get():
        if tape._watches and tape._entered and not tape._recording.paused and is_float(v.dtype):
            tape._watch_variable(v)


variable.accessed.append(_accessed)
