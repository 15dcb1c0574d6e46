"""What distinguishes one call of a recorded function from another: the key of its plan."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tnp import content, hot
from tnp.hot import ndarray
from tnp.transforms.errors import explain
from tnp.transforms.names import DEPTH, Names, is_object
from tnp.transforms.record import is_number_dtype
from tnp.transforms.structure import Structure, flatten

_LIES = 0x500  # may it be written, and is it aligned?
_NUMBERS = (bool, int, float, complex, str, bytes)


class Inputs:
    """The inputs of one call.

    Attributes
    ----------
    key : hashable
    structure : Structure
        Of (args, kwargs).
    leaves : list
        Of the arguments, then of what names reach.
    arrays : list of (int, tnp.ndarray)
        The leaves that are arrays.
    groups : list of (int, int)
        For each array the piece of memory, and where that starts.
    spans : list of (int, int)
        Addresses of each piece of memory.
    sources : list of tuple
        Where the leaves come from: (0, position), (1, getter), (2, number of another leaf, attribute), and the key of
        the structure that lies there.
    """

    __slots__ = ("arrays", "count", "groups", "keeps", "key", "leaves", "sources", "spans", "structure")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: Names, static: Any) -> None:
        leaves: list[Any] = []
        self.keeps: list[Any] = []  # objects that the key names by identity
        key: list[Any] = [static]
        self.structure: Structure = flatten((args, kwargs), leaves)
        key.append(self.structure.key)
        self.count = len(leaves)
        self.sources: list[Any] = [(0, i, None, form) for i, form in enumerate(self.structure.key[1][1:])]
        for label, get in zip(names.labels, names.getters, strict=True):
            form = flatten(get(), leaves).key
            key.append((label, form))
            self.sources.append((1, get, None, form))
        self.leaves = leaves
        self.arrays: list[tuple[int, Any]] = []
        self._look(leaves, key, names.attributes, 0)
        self._memory(key)
        self.key = tuple(key)

    def _look(self, leaves: list[Any], key: list[Any], attributes: set[str], depth: int) -> None:
        for i, x in enumerate(list(leaves)):  # more come while these are looked at
            t = type(x)
            if (t is ndarray or t is np.ndarray) and is_number_dtype(x.dtype):
                self.arrays.append((i, x))
            elif t in _NUMBERS:
                key.append((i, t, str(x) if t is float or t is complex else x))
            elif isinstance(x, np.generic) and is_number_dtype(x.dtype):
                self.arrays.append((i, x))
            elif isinstance(x, (ndarray, np.ndarray)) and depth == 0 and i < self.count:
                got = f"{t.__name__} of {x.dtype}"
                hint = "x.view(tnp.ndarray) for a subclass; others can be static or reached by name"
                raise TypeError(explain("jit: an argument cannot be recorded", got, "an array of numbers", hint))
            else:
                key.append((i, t, id(x)))
                self.keeps.append(x)
                if is_object(x) and depth < DEPTH:
                    self._attributes(x, key, attributes, depth)

    def _attributes(self, x: Any, key: list[Any], attributes: set[str], depth: int) -> None:
        found: list[Any] = []
        first, owner = len(self.leaves), self._number(x)
        for name, value in vars(x).items():
            if name in attributes:
                form = flatten(value, found).key
                key.append((name, form))
                self.sources.append((2, owner, name, form))
        self.leaves.extend(found)
        arrays, self.arrays = self.arrays, []
        self._look(found, key, attributes, depth + 1)
        self.arrays = arrays + [(first + i, y) for i, y in self.arrays]

    def _number(self, x: Any) -> int:
        return next(i for i, y in enumerate(self.leaves) if y is x)

    def _memory(self, key: list[Any]) -> None:
        """Which arrays share memory, and where in it they lie."""
        self.groups: list[tuple[int, int]] = []
        self.spans: list[tuple[int, int]] = []
        arrays: list[Any] = []
        numbers: dict[int, int] = {}
        for k, (i, x) in enumerate(self.arrays):
            if isinstance(x, np.generic):
                key.append((i, x.dtype))
                arrays.append(None)
                continue
            if type(x) is np.ndarray:
                self.arrays[k] = i, hot.wrap(x)
                x = self.arrays[k][1]
            hot.cell_of(x)
            nd = content.settle(x)
            ground = id(hot.root(nd))
            number = numbers.setdefault(ground, len(numbers))
            low, high = np.lib.array_utils.byte_bounds(nd) if nd.size else (0, 0)
            if number == len(self.spans):
                self.spans.append((low, high))
            elif nd.size:
                a, b = self.spans[number]
                self.spans[number] = (low, high) if a == b else (min(a, low), max(b, high))
            arrays.append((number, nd))
        if len(self.spans) > 1:
            arrays = self._merged(arrays)
        for (i, _), found in zip(self.arrays, arrays, strict=True):
            if found is None:
                self.groups.append((-1, 0))
                continue
            number, nd = found
            start = self.spans[number][0]
            self.groups.append((number, start))
            offset = nd.__array_interface__["data"][0] - start if nd.size else 0
            key.append((i, number, offset, nd.shape, nd.strides, nd.dtype, nd.flags.num & _LIES))

    def _merged(self, arrays: list[Any]) -> list[Any]:
        """Memory of which NumPy does not say that it is the same, but addresses do."""
        order = sorted(range(len(self.spans)), key=lambda g: self.spans[g])
        into = list(range(len(self.spans)))
        last = order[0]
        for g in order[1:]:
            if self.spans[g][0] < self.spans[last][1]:
                into[g] = last
                self.spans[last] = self.spans[last][0], max(self.spans[last][1], self.spans[g][1])
            else:
                last = g
        return [None if f is None else (into[f[0]], f[1]) for f in arrays]


def static_values(
    args: tuple[Any, ...], kwargs: dict[str, Any], nums: tuple[int, ...], names: tuple[str, ...]
) -> tuple[Any, tuple[Any, ...], dict[str, Any], Callable[..., Any]]:
    """Take static arguments out: their key, the other arguments, and how to put all together again."""
    if not nums and not names:
        return None, args, kwargs, lambda a, k: (a, k)
    at = sorted({n % len(args) if n < 0 else n for n in nums if -len(args) <= n < len(args)})
    fixed = [(i, args[i]) for i in at] + [(n, kwargs[n]) for n in names if n in kwargs]
    for name, value in fixed:
        try:
            hash(value)
        except TypeError:
            raise TypeError(
                explain(
                    f"jit: static argument {name!r} is not hashable",
                    f"{type(value).__name__}",
                    "a number, a string, a tuple of such, or another hashable object",
                    "tuple(x) for a list; arrays are no static arguments",
                )
            ) from None
    rest = tuple([x for i, x in enumerate(args) if i not in at])
    named = {k: v for k, v in kwargs.items() if k not in names}

    def together(some: Any, others: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        full = list(some)
        for i in at:
            full.insert(i, args[i])
        return tuple(full), {**others, **{k: kwargs[k] for k in names if k in kwargs}}

    return tuple([(n, type(v), v) for n, v in fixed]), rest, named, together
