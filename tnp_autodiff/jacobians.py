"""Matrices of derivatives: `jacrev`, `jacfwd`, `hessian`, and the product `hvp`.

Of structures: in the structure of the value, for each leaf the structure of the arguments; each has the shape of the
leaf of the value and then that of the leaf of the argument.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import tnp
from tnp.core.pytree import flatten, map_leaves
from tnp.hot import ndarray
from tnp_autodiff.forward import ForwardAccumulator
from tnp_autodiff.functional import Arguments, grad, jvp, numbers_of, vjp
from tnp_autodiff.recorder import read_stand_ins
from tnp_autodiff.units import for_each_unit


def _for_each_element(f: Callable[[list[Any]], Any], leaves: list[Any], k: int) -> Any:
    """``f(units)`` for each element of the leaf `k`, along a new first axis: `units` are zero but for that element."""
    zeros = [tnp.zeros(x.shape, x.dtype) for x in leaves]
    return for_each_unit(lambda unit: f([*zeros[:k], unit, *zeros[k + 1 :]]), leaves[k].shape, leaves[k].dtype)


def jacrev(f: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The function that gives the Jacobian of `f`, by one backward pass for all elements of its value.

    Parameters
    ----------
    f : callable
        Gives an array or a structure of arrays.
    argnums : int or sequence of int
        Arguments to differentiate by: arrays, numbers, or structures of them.

    Returns
    -------
    callable
        Of the arguments of `f`; its result has the shape of the value and then that of the argument. For several
        arguments it is a tuple; for structures, see `tnp_autodiff.jacobians`.

    >>> import tnp as np
    >>> from tnp_autodiff import jacrev
    >>> jacrev(np.cumsum)(np.zeros(2))
    array([[1., 0.],
           [1., 1.]])
    """

    def called(*args: Any) -> Any:
        nums = numbers_of(argnums)

        def of(*chosen: Any) -> Any:
            full = list(args)
            for i, x in zip(nums, chosen, strict=True):
                full[i] = x
            return f(*full)

        y, pull = vjp(of, *[args[i] for i in nums])
        leaves, build = flatten(y)
        leaves = [tnp.asarray(leaf) for leaf in leaves]

        def by_arguments(k: int) -> Any:
            rows = _for_each_element(lambda units: pull(build(units)), leaves, k)
            found = map_leaves(lambda g: g.reshape((*leaves[k].shape, *g.shape[1:])), rows)
            return found[0] if isinstance(argnums, int) else found

        return build([by_arguments(k) for k in range(len(leaves))])

    return called


def jacfwd(f: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The function that gives the Jacobian of `f`, by one forward pass for all elements of the arguments.

    Parameters and result are those of `jacrev`. `f` runs once, for tangents of all elements (once for each where it
    looks at values); what it writes to the arguments reaches the caller once.

    >>> import tnp as np
    >>> from tnp_autodiff import jacfwd
    >>> jacfwd(lambda x: np.stack([x[0] * x[1], x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 1.]])
    """

    def called(*args: Any) -> Any:
        nums = numbers_of(argnums)
        chosen, rebuild = flatten([args[i] for i in nums])
        chosen = [read_stand_ins(x) for x in chosen]
        chosen = [x if isinstance(x, (ndarray, np.ndarray)) else tnp.asarray(x) for x in chosen]
        full = list(args)
        for i, x in zip(nums, rebuild(chosen), strict=True):
            full[i] = x
        kept: list[Any] = []  # the last run's arguments, and how its value is built

        def column(units: list[Any]) -> list[Any]:
            arguments = Arguments(tuple(full), nums)
            accumulator = ForwardAccumulator(arguments.sources, units)
            with arguments.apart():
                y = f(*arguments.args)
            leaves, build = flatten(accumulator.jvp(y, unconnected_gradients="zero"))
            accumulator.end()
            kept[:] = arguments, build
            return leaves

        columns = [_for_each_element(column, chosen, k) for k in range(len(chosen))]
        arguments, build = kept
        arguments.hand_back()

        def by_arguments(j: int) -> Any:
            found = rebuild(
                [
                    tnp.moveaxis(leaves[j], 0, -1).reshape((*leaves[j].shape[1:], *x.shape))
                    for x, leaves in zip(chosen, columns, strict=True)
                ]
            )
            return found[0] if isinstance(argnums, int) else tuple(found)

        return build([by_arguments(j) for j in range(len(columns[0]))])

    return called


def hessian(f: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The function that gives the second derivatives of `f`, which gives one number.

    Parameters
    ----------
    f : callable
    argnums : int or sequence of int

    Returns
    -------
    callable
        For several arguments a tuple of tuples: at [i][j] the derivatives by argument i and then by argument j, of the
        shape of the one and then that of the other.

    >>> import tnp as np
    >>> from tnp_autodiff import hessian
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    return jacrev(grad(f, argnums), argnums)


def hvp(f: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The Hessian of `f`, which gives one number, times a vector; without making the Hessian.

    >>> import tnp as np
    >>> from tnp_autodiff import hvp
    >>> hvp(lambda x: (x**3).sum(), (np.array([1.0, 2.0]),), (np.array([1.0, 1.0]),))
    array([ 6., 12.])
    """
    nums = tuple(range(len(primals)))
    found = jvp(grad(f, nums), primals, tangents)[1]
    return found[0] if len(nums) == 1 else found
