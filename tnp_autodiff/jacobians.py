"""Matrices of derivatives: `jacrev`, `jacfwd`, `hessian`, and the product `hvp`.

Of structures: in the structure of the value, for each leaf the structure of the arguments; each has the shape of the
leaf of the value and then that of the leaf of the argument.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tnp
from tnp.hot import ndarray
from tnp_autodiff.forward import ForwardAccumulator
from tnp_autodiff.functional import Arguments, grad, jvp, numbers_of, vjp
from tnp_autodiff.recorder import read_stand_ins
from tnp_autodiff.tree import flatten, map_leaves


def _stacked(rows: list[Any], shape: tuple[int, ...], axis: int) -> Any:
    """Arrays, one for each element of an array of `shape`, as one array; of an empty one, one that says its shape."""
    rows = [tnp.asarray(r) for r in rows]
    rest = rows[0].shape
    joined = tnp.stack(rows) if axis == 0 else tnp.stack(rows, axis=-1)
    if 0 in shape:
        joined = joined[:0] if axis == 0 else joined[..., :0]
    return joined.reshape((*shape, *rest) if axis == 0 else (*rest, *shape))


def _basis(x: Any) -> Iterator[Any]:
    """Unit arrays of the shape of `x`; of an empty one, itself once: what comes of it says dtypes and shapes."""
    if not x.size:
        yield tnp.zeros(x.shape, x.dtype)
    for i in range(x.size):
        unit = tnp.zeros(x.size, x.dtype)
        unit[i] = 1.0
        yield unit.reshape(x.shape)


def _units(leaves: list[Any], k: int) -> Iterator[list[Any]]:
    """For each element of the leaf `k`: all leaves, zero but for that element."""
    zeros = [tnp.zeros(x.shape, x.dtype) for x in leaves]
    for unit in _basis(leaves[k]):
        yield [*zeros[:k], unit, *zeros[k + 1 :]]


def jacrev(f: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The function that gives the Jacobian of `f`, by one backward pass for each element of its value.

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
            pulled = [pull(build(units)) for units in _units(leaves, k)]
            found = map_leaves(lambda *rows: _stacked(list(rows), leaves[k].shape, 0), *pulled)
            return found[0] if isinstance(argnums, int) else found

        return build([by_arguments(k) for k in range(len(leaves))])

    return called


def jacfwd(f: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The function that gives the Jacobian of `f`, by one forward pass for each element of the arguments.

    Parameters and result are those of `jacrev`. `f` runs once for each element, each time on the values that the
    arguments had; what it writes to them reaches the caller once.

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
        columns: list[list[Any]] = []  # for each leaf of the arguments, for each of its elements, the value's leaves
        build: Any = None
        arguments: Any = None
        for k in range(len(chosen)):
            columns.append([])
            for units in _units(chosen, k):
                arguments = Arguments(tuple(full), nums)
                accumulator = ForwardAccumulator(arguments.sources, units)
                with arguments.apart():
                    y = f(*arguments.args)
                leaves, build = flatten(accumulator.jvp(y, unconnected_gradients="zero"))
                columns[k].append(leaves)
                accumulator.end()
        if arguments is not None:
            arguments.hand_back()

        def by_arguments(j: int) -> Any:
            found = rebuild(
                [_stacked([c[j] for c in column], x.shape, -1) for x, column in zip(chosen, columns, strict=True)]
            )
            return found[0] if isinstance(argnums, int) else tuple(found)

        return build([by_arguments(j) for j in range(len(columns[0][0]))])

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
