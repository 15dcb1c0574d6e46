"""math="fast": `numpy.einsum` as matrix products (BLAS), which add up in another order than its own loop."""

import functools
from typing import Any, NamedTuple

import numpy as _np

from tnp import content
from tnp.host import native, run, unwrap
from tnp.hot import ndarray, writable

_RAW = _np.einsum
_DTYPES = frozenset("fdFD")  # what BLAS multiplies
_LABELS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
LEAST = 40_000  # products of elements: for fewer NumPy's loop is done before a matrix product has begun
LEAST_EACH = 500  # of these in each matrix product of a stack


class Contraction:
    """Two operands as two stacks of matrices.

    Parameters
    ----------
    left, right, result : str
        Labels.
    sizes : dict of str to int

    Attributes
    ----------
    stack, rows, inner, columns : list of str
        Labels that both operands and the result have; the left one and the result; both operands; the right one and
        the result.
    pays : bool
        Is it quicker than NumPy's loop? Also False where this is no product of matrices.
    """

    def __init__(self, left, right, result, sizes):
        both = [x for x in left if x in right]
        self.stack = [x for x in both if x in result]
        self.inner = [x for x in both if x not in result]
        self.rows = [x for x in left if x not in right]
        self.columns = [x for x in right if x not in left]
        wanted = self.stack + self.rows + self.columns
        self._subscripts = f"{left},{right}->{result}"
        self._few = [tuple([slice(2 if x in self.inner else None) for x in labels]) for labels in (left, right)]
        self._left = [left.index(x) for x in self.stack + self.rows + self.inner]
        self._right = [right.index(x) for x in self.stack + self.inner + self.columns]
        self._stacked = [sizes[x] for x in self.stack]
        self._result = [result.index(x) for x in wanted if x in result]
        n = {name: _product(sizes[x] for x in getattr(self, name)) for name in ("stack", "rows", "inner", "columns")}
        self.shape = n["rows"], n["inner"], n["columns"]
        each = _product(self.shape)
        self.pays = (
            all(len(set(labels)) == len(labels) for labels in (left, right, result))
            and set(wanted) == set(result)
            and n["inner"] > 1
            and n["rows"] > 1  # with vectors NumPy's loop is as quick
            and n["columns"] > 1
            and each * n["stack"] >= LEAST
            and (n["stack"] == 1 or each >= LEAST_EACH)
        )

    def __call__(self, a, b, order="K"):
        """The result, in the layout that NumPy gives it."""
        r = _RAW(self._subscripts, a[self._few[0]], b[self._few[1]], order=order)
        rows, inner, columns = self.shape
        a = a.transpose(self._left).reshape(*self._stacked, rows, inner)
        b = b.transpose(self._right).reshape(*self._stacked, inner, columns)
        flat = r.transpose(self._result)
        into = flat.reshape(*self._stacked, rows, columns)
        if _np.may_share_memory(into, r):
            _np.matmul(a, b, into)
        else:  # rows or columns that are not evenly spaced in it
            flat[...] = _np.matmul(a, b).reshape(flat.shape)
        return r


def _product(sizes):
    n = 1
    for size in sizes:
        n *= size
    return n


def parse(subscripts, ndims):
    """Labels of the operands and of the result, with letters in place of ellipses; None: NumPy is to read it."""
    text = subscripts.replace(" ", "")
    inputs, arrow, result = text.partition("->")
    inputs = inputs.split(",")
    if len(inputs) != len(ndims):
        return None
    hidden = ""
    if "." in text:
        missing = [n - len(t) + 3 for t, n in zip(inputs, ndims, strict=True) if "..." in t]
        free = sorted(_LABELS - set(text))
        if not missing or not 0 <= min(missing) <= max(missing) <= len(free):
            return None
        hidden = "".join(free[: max(missing)])
        inputs = [
            t.replace("...", hidden[len(hidden) - (n - len(t) + 3) :]) if "..." in t else t
            for t, n in zip(inputs, ndims, strict=True)
        ]
    everything = "".join(inputs)
    if arrow:
        result = result.replace("...", hidden)
    else:
        result = hidden + "".join(sorted(x for x in set(everything) - set(hidden) if everything.count(x) == 1))
    if any(len(t) != n for t, n in zip(inputs, ndims, strict=True)):
        return None
    if not set(everything) <= _LABELS or not set(result) <= set(everything) or len(set(result)) < len(result):
        return None
    return inputs, result


def _sizes(inputs, shapes):
    """Length of each label; None where an operand is stretched along one."""
    sizes: dict[str, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for x, n in zip(labels, shape, strict=True):
            if sizes.setdefault(x, n) != n:
                return None
    return sizes


class Step(NamedTuple):
    """Operands, by their positions, that become one which goes to the end.

    Attributes
    ----------
    taken : tuple of int
        Descending.
    subscripts : str
    pair : Contraction or None
        None: NumPy's loop does it.
    """

    taken: tuple[int, ...]
    subscripts: str
    pair: Contraction | None


@functools.lru_cache(maxsize=512)
def plan(subscripts, shapes, optimize):
    """The steps; None where NumPy's loop over everything is as quick.

    Parameters
    ----------
    subscripts : str
    shapes : tuple of tuple of int
    optimize
        As for `numpy.einsum`. Of three operands and more the products are always taken two by two.
    """
    parsed = parse(subscripts, [len(shape) for shape in shapes])
    sizes = parsed and _sizes(parsed[0], shapes)
    if not sizes or _product(sizes.values()) < LEAST:
        return None
    inputs, result = parsed
    path = [(0, 1)]
    if len(shapes) > 2:
        stand_ins = [_np.broadcast_to(0.0, shape) for shape in shapes]
        how = "greedy" if optimize is True or optimize is False else optimize
        path = _np.einsum_path(f"{','.join(inputs)}->{result}", *stand_ins, optimize=how)[0][1:]
    steps = []
    for some in path:
        taken = tuple(sorted(some, reverse=True))
        labels = [inputs.pop(i) for i in taken][::-1]
        kept = set(result).union(*inputs)
        target = "".join(dict.fromkeys(x for t in labels for x in t if x in kept)) if inputs else result
        pair = Contraction(labels[0], labels[1], target, sizes) if len(labels) == 2 else None
        steps.append(Step(taken, f"{','.join(labels)}->{target}", pair if pair is not None and pair.pays else None))
        inputs.append(target)
    return steps if len(steps) > 1 or steps[0].pair is not None else None


def _contract(steps, arrays, order):
    arrays, last = list(arrays), len(steps) - 1
    with _np.errstate(all="ignore"):  # einsum never warns
        for k, step in enumerate(steps):
            chosen = [arrays.pop(i) for i in step.taken][::-1]
            layout: Any = order if k == last else "K"
            r = _RAW(step.subscripts, *chosen, order=layout) if step.pair is None else step.pair(*chosen, layout)
            arrays.append(r if k == last else _np.asarray(r))
    return r


def _steps(subscripts, operands, optimize):
    """The plan for these operands of the program."""
    kind = None
    for x in operands:
        if type(x) is not ndarray and type(x) is not _np.ndarray:
            return None
        if kind is None:
            kind = x.dtype
            if kind.char not in _DTYPES or not kind.isnative:
                return None
        elif x.dtype != kind:
            return None
    return plan(subscripts, tuple([x.shape for x in operands]), optimize)


def einsum(*operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    """`numpy.einsum`; None where its bits are wanted, or its loop is as quick."""
    if not content.is_fast() or dtype is not None or casting != "safe" or len(operands) < 3:
        return None
    if type(operands[0]) is not str or type(order) is not str:
        return None
    steps = _steps(operands[0], operands[1:], optimize) if type(optimize) in (bool, str) else None
    if steps is None:
        return None
    if out is None:
        return run(_contract, (steps, operands[1:], order), {})
    if type(out) is not ndarray:
        return None
    r = _contract(steps, unwrap(operands[1:], []), "K")
    nd = writable(out)
    if getattr(r, "shape", None) != nd.shape or r.dtype != nd.dtype or not nd.flags.writeable:
        return None
    nd[...] = r
    return out


native(einsum, _RAW, "einsum")
