"""`vmap` and `vectorized_map`: a function written for one example, run on many at once."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import tnp
from tnp import host, tracing
from tnp.core.interpreter import batches
from tnp.core.pytree import flatten
from tnp.hot import ndarray
from tnp.transforms import rules
from tnp.transforms.batching import Batch
from tnp.transforms.errors import DataDependentError, EscapedError, LoopCarriedError, VmapLoopWarning, explain

__all__ = ["rules", "vectorized_map", "vmap"]


def vmap(
    f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, *, axis_size: int | None = None
) -> Callable[..., Any]:
    """The function that maps `f`, which is written for one example, over an axis of its arguments.

    Parameters
    ----------
    f : callable
        Of arrays, or structures of them. It may write to its arguments, to arrays that it makes and to arrays from
        outside, as in a loop over the examples.
    in_axes : int, None, or structure of them
        For each positional argument the axis along which the examples lie; None: all examples get the same. One for
        all, or a sequence with one for each, which may have the structure of the argument. Keyword arguments are mapped
        along their first axis.
    out_axes : int, None, or structure of them
        Where that axis is in the results.
    axis_size : int, optional
        How many examples there are: needed where no argument is mapped (a function of random numbers).

    Returns
    -------
    callable
        Of the same arguments with one axis more; so are its results.

    Raises
    ------
    ValueError
        The mapped axes differ in length, there is none, or `in_axes` does not fit the arguments.
    DataDependentError
        A value that differs between the examples is to steer Python (``if x > 0``), or a shape.
    LoopCarriedError
        An element of an array from outside is read and then written.

    Notes
    -----
    Values are those of a loop, bit for bit, except sums of products (`matmul` and kin), whose order BLAS chooses by
    shape. Random numbers: each call draws for all examples at once, the first example first. After JAX's function of
    the same name. See docs/vmap.md.

    Examples
    --------
    >>> import tnp as np
    >>> def fill(x):
    ...     a = np.zeros(3)
    ...     a[1] = x.sum()
    ...     return a
    >>> np.vmap(fill)(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[0., 3., 0.],
           [0., 7., 0.]])
    >>> np.vmap(np.dot, in_axes=(0, None))(np.ones((2, 3)), np.arange(3.0))
    array([3., 3.])
    """

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        per_argument = _per_argument(in_axes, len(args))
        leaves, build = flatten([list(args), kwargs])
        axes = [a for axis, x in zip(per_argument, args, strict=True) for a in _spread(axis, x, "in_axes")]
        axes += [0] * (len(leaves) - len(axes))
        leaves = [_array(x) if a is not None else x for x, a in zip(leaves, axes, strict=True)]
        batch = Batch(
            _length(leaves, axes, axis_size), [f, [x for x, a in zip(leaves, axes, strict=True) if a is None]]
        )

        def on_examples(inner: list[Any]) -> Any:
            positional, named = build(inner)
            return f(*positional, **named)

        return _run(batch, on_examples, leaves, axes, out_axes)

    return called


def mapped(f: Callable[[Any], Any], x: Any) -> Any:
    """``vmap(f)(x)`` of one array, for who knows that `f` does nothing to arrays from outside; no notices."""
    return _run(Batch(len(x), [], warns=False), lambda inner: f(inner[0]), [x], [0], 0)


def _run(batch: Batch, f: Callable[[list[Any]], Any], leaves: list[Any], axes: list[Any], out_axes: Any) -> Any:
    """What `f` gives for all examples, of what stands for one of each of `leaves`."""
    tracing.offer_calls()
    try:
        inner = [x if a is None else batch.argument(x, a % x.ndim) for x, a in zip(leaves, axes, strict=True)]
        token = batches.set((*batches.get(), batch))
        host.watchers.append(_nobody)  # compiled short ways would ask nobody for random numbers
        try:
            y = f(inner)
        finally:
            host.watchers.remove(_nobody)
            batches.reset(token)
        results, rebuild = flatten(y)
        given: set[int] = set()
        along = _spread(out_axes, y, "out_axes")
        return rebuild([batch.result(x, a, given) for x, a in zip(results, along, strict=True)])
    finally:
        batch.close()


def _nobody(raw: Any) -> None:
    """Is told of functions, and tells nobody."""


def _array(x: Any) -> Any:
    return x if type(x) is ndarray else tnp.asarray(getattr(x, "_array", x))


def _per_argument(axes: Any, n: int) -> list[Any]:
    """`in_axes` for each of `n` arguments."""
    if isinstance(axes, (list, tuple)):
        if len(axes) != n:
            raise ValueError(
                explain(
                    "vmap: in_axes",
                    f"{len(axes)} for {n} arguments",
                    f"{n}, or one for all",
                    "None for an argument that is not mapped",
                )
            )
        return list(axes)
    return [axes] * n


def _spread(axes: Any, tree: Any, name: str) -> list[Any]:
    """The axis of each leaf of `tree`, from one for all or a structure that begins as the tree does."""
    if axes is None or isinstance(axes, (int, np.integer)):
        return [None if axes is None else int(axes)] * len(flatten(tree)[0])
    if isinstance(axes, dict) and isinstance(tree, dict) and axes.keys() == tree.keys():
        return [a for k in tree for a in _spread(axes[k], tree[k], name)]
    if isinstance(axes, (list, tuple)) and isinstance(tree, (list, tuple)) and len(axes) == len(tree):
        return [a for b, t in zip(axes, tree, strict=True) for a in _spread(b, t, name)]
    raise ValueError(
        explain(
            f"vmap: {name}",
            f"{axes!r} for {type(tree).__name__}",
            "an int, None, or the structure of what it is for",
            "0",
        )
    )


def _length(leaves: list[Any], axes: list[Any], given: int | None) -> int:
    """How many examples there are."""
    lengths = {}
    for i, (x, a) in enumerate(zip(leaves, axes, strict=True)):
        if a is not None:
            if not -x.ndim <= a < x.ndim:
                raise ValueError(
                    explain(
                        "vmap: in_axes",
                        f"axis {a} of an array of shape {x.shape}",
                        "an axis that it has",
                        "None: the same for all examples",
                    )
                )
            lengths[i] = x.shape[a]
    if not lengths:
        if given is not None:
            return given
        raise ValueError(
            explain("vmap: nothing to map over", "in_axes None for all", "one axis at least", "axis_size= without one")
        )
    if len(set(lengths.values())) > 1 or given not in (None, *lengths.values()):
        got = ", ".join([f"{n} (array {i}, shape {leaves[i].shape}, axis {axes[i]})" for i, n in lengths.items()])
        got += "" if given is None else f", axis_size {given}"
        raise ValueError(
            explain(
                "vmap: the mapped axes differ in length", got, "one length", "in_axes names the axis of each argument"
            )
        )
    return next(iter(lengths.values()))


def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """`fn` of each element of `elems` along the first axis, all at once: TensorFlow's function of this name.

    Parameters
    ----------
    fn : callable
        Of one element, in the structure of `elems`.
    elems : array or structure of arrays
        Of one length along the first axis. Of length 1, or without axes, they are the same for all.
    fallback_to_while_loop : bool
        May `fn` run for one element after the other where it cannot be batched?
    warn : bool
        Say so when that happens?

    Returns
    -------
    array or structure of arrays

    Raises
    ------
    ValueError
        Lengths differ, or there are no elements.
    DataDependentError, EscapedError, LoopCarriedError
        `fn` cannot be batched, and `fallback_to_while_loop` is false.

    >>> import tnp as np
    >>> np.vectorized_map(lambda x: x * x, np.arange(3))
    array([0, 1, 4])
    """
    leaves, build = flatten(elems)
    leaves = [_array(x) for x in leaves]
    lengths = {x.shape[0] for x in leaves if x.ndim} - {1}
    n = lengths.pop() if len(lengths) == 1 else 1
    if lengths or not leaves:
        raise ValueError(
            explain(
                "vectorized_map: elems",
                f"lengths {sorted({x.shape[0] for x in leaves if x.ndim})}",
                "one length",
                "elements lie along the first axis",
            )
        )
    mapped = [x.ndim > 0 and (x.shape[0] == n) for x in leaves]
    if not any(mapped):
        leaves, mapped = [tnp.broadcast_to(x, (n, *x.shape)) for x in leaves], [True] * len(leaves)
    given = [x if m or not x.ndim else x[0] for x, m in zip(leaves, mapped, strict=True)]

    def of(*parts: Any) -> Any:
        return fn(build(list(parts)))

    with warnings.catch_warnings() if not warn else _nothing():
        if not warn:
            warnings.simplefilter("ignore", VmapLoopWarning)
        try:
            return vmap(of, in_axes=tuple(0 if m else None for m in mapped))(*given)
        except (DataDependentError, EscapedError, LoopCarriedError) as problem:
            if not fallback_to_while_loop:
                raise
            if warn:
                name = getattr(fn, "__name__", "fn")
                warnings.warn(
                    f"vectorized_map: {name} runs for one element after the other\n{problem}", VmapLoopWarning, 2
                )
    rows = [flatten(of(*[x[i] if m else x for x, m in zip(given, mapped, strict=True)])) for i in range(n)]
    again = rows[0][1]
    return again([tnp.stack([tnp.asarray(row[0][k]) for row in rows]) for k in range(len(rows[0][0]))])


class _nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None
