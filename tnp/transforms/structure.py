"""Nested structures as a flat list of leaves, and what else there is: something hashable."""

from collections.abc import Callable
from typing import Any


class Structure:
    """What a structure is besides its leaves.

    Attributes
    ----------
    key : hashable
        Equal for structures of the same kind.
    build : callable
        Of an iterator over leaves: the structure.
    """

    __slots__ = ("build", "key")

    def __init__(self, key: Any, build: Callable[[Any], Any]) -> None:
        self.key, self.build = key, build


LEAF = Structure(None, next)


def flatten(tree: Any, leaves: list[Any]) -> Structure:
    """Append the leaves of a tree of lists, tuples, named tuples and dicts; None has none.

    >>> leaves = []
    >>> structure = flatten({"a": 1, "b": [2, (3,)]}, leaves)
    >>> leaves
    [1, 2, 3]
    >>> structure.build(iter([10, 20, 30]))
    {'a': 10, 'b': [20, (30,)]}
    """
    t = type(tree)
    if tree is None:
        return Structure((t,), lambda new: None)
    if t is dict:
        parts = [(k, flatten(v, leaves)) for k, v in tree.items()]
        return Structure((t, *[(k, p.key) for k, p in parts]), lambda new: {k: p.build(new) for k, p in parts})
    if t is list or t is tuple:
        items = [flatten(x, leaves) for x in tree]
        return Structure((t, *[p.key for p in items]), lambda new: t([p.build(new) for p in items]))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        items = [flatten(x, leaves) for x in tree]
        return Structure((t, *[p.key for p in items]), lambda new: t(*[p.build(new) for p in items]))
    leaves.append(tree)
    return LEAF
