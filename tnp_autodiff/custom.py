"""Derivatives that the program says: constants, and functions with a rule of their own."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tnp
from tnp.core.interpreter import quietly
from tnp.core.pytree import flatten, map_leaves
from tnp.hot import ndarray
from tnp_autodiff import variable
from tnp_autodiff.errors import explain
from tnp_autodiff.events import Valueless
from tnp_autodiff.recorder import read_stand_ins as plain
from tnp_autodiff.recorder import record
from tnp_autodiff.rules.base import transposed
from tnp_autodiff.variable import Variable


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

    def __init__(self, backward: Callable[..., Any], name: str, variables: list[Variable]) -> None:
        self._backward, self._name, self._variables = backward, name, variables

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        gs = g if isinstance(g, tuple) else (g,)
        by_variables: list[Any] = []
        if self._variables:
            both = self._backward(*gs, variables=self._variables)
            if not isinstance(both, (tuple, list)) or len(both) != 2:
                self._refuse("one result", "a pair: gradients by the arguments, gradients by the variables")
            found, by_variables = both[0], _listed(both[1])
            if len(by_variables) != len(self._variables):
                self._refuse(f"{len(by_variables)} gradients by variables", f"{len(self._variables)}, one for each")
        else:
            found = self._backward(*gs)
        found = _listed(found)
        if len(found) != len(xs) - len(by_variables):
            self._refuse(f"{len(found)} gradients", f"{len(xs) - len(by_variables)}, one for each argument")
        found += by_variables
        for f, x in zip(found, xs, strict=True):
            if f is not None and tnp.shape(f) != x.shape:
                self._refuse(f"a gradient of shape {tnp.shape(f)}", f"shape {x.shape}, that of the argument")
        return [None if f is None else tnp.asarray(f) for f in found]

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        return transposed(self, ts, out, xs, params)

    def _refuse(self, got: str, expected: str) -> None:
        raise ValueError(explain(f"custom_gradient: {self._name}", got, expected, "None stands for no gradient"))


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (tuple, list)) else [found]


def arrays_of(args: Any) -> Any:
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
        differentiated in turn for higher orders. If `f` reads variables that are trainable and no arguments, the second
        function takes ``variables=``, a list of them, and returns a pair: the gradients by the arguments, and a list of
        those by the variables.

    Returns
    -------
    callable
        Of the same arguments, with the result alone.

    Raises
    ------
    ValueError
        In the backward pass, if there are not as many gradients as arguments, or as variables, or of other shapes.
    TypeError
        `f` reads a variable, and its second function takes no ``variables=``.

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
        passed = [x for x in flatten([args, kwargs])[0] if isinstance(x, Variable)]
        args = arrays_of(args)
        given, build = flatten(args)
        inner = build([x.copy() if isinstance(x, ndarray) else x for x in given])
        with _reading() as read:
            y, backward = f(*inner, **kwargs)
        variables = [v for v in read.values() if not any(v is p for p in passed)]
        name = getattr(f, "__name__", "f")
        if variables and not _takes_variables(backward):
            raise TypeError(
                explain(
                    f"custom_gradient: {name} reads variables, and its gradient does not know of them",
                    f"a gradient function without variables=, and {', '.join(v.name for v in variables)}",
                    "a gradient function (*gradients, variables=None) that returns (by arguments, by variables)",
                    "or pass the variables as arguments",
                )
            )
        return _recorded(_Custom(backward, name, variables), [*given, *[v._array for v in variables]], y)

    return called


def _takes_variables(f: Callable[..., Any]) -> bool:
    parameters = inspect.signature(f).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


_readers: ContextVar[tuple[dict[int, Variable], ...]] = ContextVar("tnp_autodiff_readers", default=())


@contextmanager
def _reading() -> Iterator[dict[int, Variable]]:
    """Which trainable variables are read in the block, in this order."""
    found: dict[int, Variable] = {}
    _readers.set((*_readers.get(), found))
    try:
        yield found
    finally:
        _readers.set(tuple([r for r in _readers.get() if r is not found]))


def _accessed(v: Variable) -> None:
    for found in _readers.get():
        found[id(v)] = v


variable.accessed.append(_accessed)
