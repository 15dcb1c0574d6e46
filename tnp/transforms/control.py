"""Control flow that depends on values: `cond`, `while_loop`, `fori_loop`, `scan`. Under `vmap`, and as they are."""

from collections.abc import Callable
from typing import Any

import tnp
from tnp.core.interpreter import recording
from tnp.core.pytree import flatten, map_leaves
from tnp.hot import ndarray
from tnp.tracing import box_of
from tnp.transforms.errors import explain
from tnp.transforms.recorded_control import recorded


def _differs(x: Any) -> bool:
    return type(x) is ndarray and box_of(x) is not None


def _pick(c: Any, x: Any, y: Any) -> Any:
    """`x` where `c` holds, else `y`; `c` is one truth value for each example."""
    if x is y:
        return x
    return tnp.where(c, x, y)


def _merged(c: Any, a: Any, b: Any, name: str) -> Any:
    left, build = flatten(a)
    right, _ = flatten(b)
    shapes = [tnp.shape(x) for x in left], [tnp.shape(x) for x in right]
    if shapes[0] != shapes[1]:
        raise ValueError(
            explain(
                f"{name}: results differ",
                f"shapes {shapes[0]} and {shapes[1]}",
                "the same structure and shapes",
                "broadcast_to",
            )
        )
    return build([_pick(c, x, y) for x, y in zip(left, right, strict=True)])


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """``true_fun(*operands) if pred else false_fun(*operands)``, also where `pred` differs between the examples.

    Parameters
    ----------
    pred : bool or array without dimensions
    true_fun, false_fun : callable
        Give structures of arrays; where `pred` differs between the examples both run, on all of them, and must give
        the same structure and shapes, and write to nothing from outside.
    *operands
        Arguments of both.

    Returns
    -------
    what the chosen function gives

    Raises
    ------
    ValueError
        The results differ in shape.

    >>> import tnp as np
    >>> np.vmap(lambda x: np.cond(x > 0, np.sqrt, np.negative, x))(np.array([4.0, -3.0]))
    array([2., 3.])
    """
    if not _differs(pred):
        if type(pred) is ndarray:
            found = recorded("cond", _choose, (true_fun, false_fun), (pred, list(operands)))
            if found is not None:
                return found[0]
        return true_fun(*operands) if pred else false_fun(*operands)
    with tnp.errstate(all="ignore"):  # of the branch that is not taken
        a = true_fun(*map_leaves(_own, list(operands)))
        b = false_fun(*map_leaves(_own, list(operands)))
    return _merged(pred, a, b, "cond")


def _choose(functions: list[Any], value: Any) -> Any:
    pred, operands = value
    with recording(None):
        chosen = functions[0 if pred else 1]
    return chosen(*operands)


def _repeat(functions: list[Any], value: Any) -> Any:
    while True:
        c = functions[0](value)
        with recording(None):
            if not c:
                return value
        value = functions[1](value)


def _own(x: Any) -> Any:
    return x.copy() if type(x) is ndarray and x.ndim else x


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """``while cond_fun(val): val = body_fun(val)``, also where the condition differs between the examples.

    Parameters
    ----------
    cond_fun : callable
        Of the value; gives a truth value.
    body_fun : callable
        Of the value; gives the next one, of the same structure and shapes.
    init_val : structure of arrays

    Returns
    -------
    the last value
        Examples whose condition does not hold any more keep theirs, while others go on.

    >>> import tnp as np
    >>> np.vmap(lambda n: np.while_loop(lambda v: v < 100, lambda v: v * n, n))(np.array([2, 3, 7]))
    array([128, 243, 343])
    """
    found = recorded("while_loop", _repeat, (cond_fun, body_fun), init_val)
    if found is not None:
        return found[0]
    value = init_val
    while True:
        c = cond_fun(value)
        if not _differs(c):
            if not c:
                return value
            value = body_fun(value)
            continue
        if not _any(c):
            return value
        with tnp.errstate(all="ignore"):
            following = body_fun(map_leaves(_own, value))
        value = _merged(c, following, value, "while_loop")


def _any(c: Any) -> bool:
    """Does it hold for any example, of all batches?"""
    box: Any = box_of(c)
    while box is not None:
        c = box.interpreter.low(c).any()
        box = box_of(c)
    return bool(c)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """``for i in range(lower, upper): val = body_fun(i, val)``, also where the bounds differ between the examples.

    Parameters
    ----------
    lower, upper : int or array without dimensions
    body_fun : callable
        Of the number of the step and the value; gives the next value.
    init_val : structure of arrays

    Returns
    -------
    the last value

    >>> import tnp as np
    >>> np.vmap(lambda n: np.fori_loop(0, n, lambda i, v: v + i, 0))(np.array([3, 5]))
    array([ 3, 10])
    """
    if not _differs(lower) and not _differs(upper):
        value = init_val
        for i in range(int(lower), int(upper)):
            value = body_fun(i, value)
        return value
    start = (lower + 0, init_val)
    return while_loop(lambda v: v[0] < upper, lambda v: (v[0] + 1, body_fun(*v)), start)[1]


def scan(
    f: Callable[[Any, Any], Any], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False
) -> tuple[Any, Any]:
    """Run `f` along the first axis of `xs`, carrying a value from each step to the next.

    Parameters
    ----------
    f : callable
        ``f(carry, x)`` gives ``(carry, y)``.
    init : structure of arrays
    xs : structure of arrays, optional
    length : int, optional
        Steps, where there is no `xs`.
    reverse : bool
        From the last to the first?

    Returns
    -------
    carry
        The last one.
    ys : structure of arrays
        What each step gave, along the first axis; None where that is None, and where there are no steps.

    Raises
    ------
    ValueError
        There are no steps to tell the length from, or lengths differ.

    >>> import tnp as np
    >>> np.scan(lambda c, x: (c + x, c * x), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 2., 9.]))
    """
    leaves, build = flatten(xs)
    lengths = {len(x) for x in leaves} | (set() if length is None else {length})
    if len(lengths) != 1:
        raise ValueError(
            explain("scan: lengths", f"{sorted(lengths)}", "one length", "of xs along the first axis, or length=")
        )
    n = lengths.pop()
    carry, rows, again = init, [], None
    for i in reversed(range(n)) if reverse else range(n):
        carry, y = f(carry, build([x[i] for x in leaves]))
        row, again = flatten(y)
        rows.append(row)
    if again is None:
        return carry, None
    rows = rows[::-1] if reverse else rows
    return carry, again([tnp.stack([row[k] for row in rows]) for k in range(len(rows[0]))])
