"""Nested structures of arrays: lists, tuples, named tuples and dicts; None holds nothing."""

from collections.abc import Callable
from typing import Any


def flatten(tree: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The leaves of a structure, and a function that puts as many others in their place.

    >>> leaves, build = flatten({"a": 1, "b": [2, (3,)]})
    >>> leaves
    [1, 2, 3]
    >>> build([x * 10 for x in leaves])
    {'a': 10, 'b': [20, (30,)]}
    """
    leaves: list[Any] = []
    shape = _take(tree, leaves)
    return leaves, lambda new: shape(iter(new))


def _take(tree: Any, leaves: list[Any]) -> Callable[[Any], Any]:
    if tree is None:
        return lambda new: None
    if isinstance(tree, dict):
        parts = {k: _take(tree[k], leaves) for k in tree}
        return lambda new: type(tree)((k, build(new)) for k, build in parts.items())
    if isinstance(tree, (list, tuple)):
        items = [_take(x, leaves) for x in tree]
        if hasattr(tree, "_fields"):
            return lambda new: type(tree)(*[build(new) for build in items])
        return lambda new: type(tree)(build(new) for build in items)
    leaves.append(tree)
    return next


def map_leaves(f: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The structure of `f` of each leaf, and of the corresponding leaves of others of the same structure.

    >>> map_leaves(lambda x, y: x + y, [1, (2, 3)], [10, (20, 30)])
    [11, (22, 33)]
    """
    leaves, build = flatten(tree)
    rest = [flatten(other)[0] for other in others]
    return build([f(*xs) for xs in zip(leaves, *rest, strict=True)])
