"""Products of matrices and tensors."""

from typing import Any

import numpy as np

import tnp
from tnp_autodiff.recorder import CALLS, record, run
from tnp_autodiff.rules.base import Substitute, composed_of, conj, into, rule, unbroadcast


def _swapped(x: Any) -> Any:
    return tnp.swapaxes(x, -1, -2)


@rule(np.matmul, operands=2, keeps="y|x")
def matmul(g, out, want, x1, x2, out_=None):
    rows, columns = x1.ndim == 1, x2.ndim == 1
    g = g[..., None] if columns else g
    g = g[..., None, :] if rows else g
    a = b = None
    if want[0]:
        y = x2[:, None] if columns else x2
        a = tnp.matmul(g, conj(_swapped(y)))
        a = unbroadcast(a[..., 0, :] if rows else a, x1)
    if want[1]:
        x = x1[None] if rows else x1
        b = tnp.matmul(conj(_swapped(x)), g)
        b = unbroadcast(b[..., 0] if columns else b, x2)
    return a, b


def _contracted(g: Any, want: Any, x: Any, y: Any, axis: int) -> tuple[Any, Any]:
    """Of a product that sums over the last axis of `x` and over `axis` of `y`, other axes in order."""
    left, right = x.ndim - 1, y.ndim - 1
    a = b = None
    if want[0]:
        others = [i for i in range(y.ndim) if i != axis % y.ndim]
        a = tnp.tensordot(g, conj(y), (list(range(left, left + right)), others))
    if want[1]:
        b = tnp.tensordot(conj(x), g, (list(range(left)), list(range(left))))
        b = tnp.moveaxis(b, 0, axis)
    return a, b


@rule(np.dot, operands=2, keeps="y|x")
def dot(g, out, want, a, b, out_=None):
    return _contracted(g, want, a, b, -1 if b.ndim == 1 else -2)


@rule(np.inner, operands=2, keeps="y|x")
def inner(g, out, want, a, b, /):
    return _contracted(g, want, a, b, -1)


def _scalar_or(general: Any) -> Any:
    """With an operand without dimensions it is a product of elements."""

    def handle(raw: Any, args: Any, kwargs: Any) -> Any:
        if len(args) >= 2 and (np.ndim(args[0]) == 0 or np.ndim(args[1]) == 0):
            r = tnp.multiply(args[0], args[1])
            out = kwargs.get("out", args[2] if len(args) > 2 else None)
            return r if out is None else into(out, r)
        return general(raw, args, kwargs)

    return handle


CALLS[np.dot], CALLS[np.inner] = _scalar_or(dot), _scalar_or(inner)
CALLS[np.ndarray.dot] = lambda raw, args, kwargs: CALLS[np.dot](np.dot, args, kwargs)


@rule(np.vdot, operands=2, keeps="y|x")
def vdot(g, out, want, a, b, /):
    return (
        (conj(g) * b).reshape(a.shape) if want[0] else None,
        (g * a).reshape(b.shape) if want[1] else None,
    )


@rule(np.vecdot, operands=2, keeps="y|x")
def vecdot(g, out, want, x1, x2, out_=None, *, axis=-1):
    g = tnp.expand_dims(g, axis)
    return (
        unbroadcast(conj(g) * x2, x1) if want[0] else None,
        unbroadcast(g * x1, x2) if want[1] else None,
    )


@composed_of(np.matvec)
def matvec(x1, x2):
    return _as_matmul(np.matvec, x1, x2)


@composed_of(np.vecmat)
def vecmat(x1, x2):
    return _as_matmul(np.vecmat, x1, x2)


def _as_matmul(raw: Any, a: Any, b: Any) -> Any:
    """NumPy's value; derivatives as those of `matmul`."""
    a, b = tnp.asarray(a), tnp.asarray(b)
    return record(_MATVEC if raw is np.matvec else _VECMAT, [a, b], run(raw, (a, b), {}), {})


_MATVEC = Substitute(lambda a, b: tnp.matmul(a, b[..., None])[..., 0])
_VECMAT = Substitute(lambda a, b: tnp.matmul(conj(a)[..., None, :], b)[..., 0, :])


def _expand(subscripts: str, ndims: list[int]) -> tuple[list[str], str]:
    """Labels of operands and result, with letters in place of ellipses."""
    text = subscripts.replace(" ", "")
    left, arrow, result = text.partition("->")
    inputs = left.split(",")
    free = [c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text]
    hidden = ""
    for labels, n in zip(inputs, ndims, strict=True):
        if "..." in labels:
            more = n - len(labels) + 3
            if more > len(hidden):
                hidden = "".join(free[:more])
    inputs = [
        t.replace("...", hidden[len(hidden) - (n - len(t) + 3) :]) if "..." in t else t
        for t, n in zip(inputs, ndims, strict=True)
    ]
    if not arrow:
        every = "".join(inputs)
        result = hidden + "".join(sorted(c for c in set(every) - set(hidden) if every.count(c) == 1))
    return inputs, result.replace("...", hidden)


class Einsum:
    """The rule of `einsum`: for each operand again an `einsum`."""

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        only = want.index(True) if sum(want) == 1 else None
        return frozenset(i for i in range(len(want)) if i != only), False

    def vjp(self, g: Any, out: Any, want: Any, xs: Any, params: Any) -> list[Any]:
        inputs, result = params["inputs"], params["result"]
        return [_einsum_vjp(g, i, xs, inputs, result) if wanted else None for i, wanted in enumerate(want)]

    def jvp(self, ts: list[Any], out: Any, xs: Any, params: Any) -> Any:
        text = ",".join(params["inputs"]) + "->" + params["result"]
        found = None
        for i, t in enumerate(ts):
            if t is not None:
                term = tnp.einsum(text, *xs[:i], t, *xs[i + 1 :])
                found = term if found is None else found + term
        return found


def _einsum_vjp(g: Any, i: int, xs: Any, inputs: list[str], result: str) -> Any:
    own, shape = inputs[i], xs[i].shape
    others = [(labels, conj(x)) for j, (labels, x) in enumerate(zip(inputs, xs, strict=True)) if j != i]
    sizes = dict(zip(own, shape, strict=True))
    known = set(result).union(*[labels for labels, _ in others])
    once = "".join(dict.fromkeys(own))
    stretched = [c for c in once if c in known and sizes[c] == 1]  # length one against longer ones: summed
    kept = "".join(c for c in once if c in known and c not in stretched)
    text = ",".join([result, *[labels for labels, _ in others]]) + "->" + kept
    r = tnp.einsum(text, g, *[x for _, x in others])
    found = dict(zip(kept, r.shape, strict=True))  # also one, against longer axes of this operand
    r = r.reshape([found.get(c, 1) for c in once])
    r = tnp.broadcast_to(r, [sizes[c] for c in once])
    if len(own) > len(once):  # a label twice: the diagonal
        first = {c: own.index(c) for c in once}
        r = r.reshape([sizes[c] if first[c] == k else 1 for k, c in enumerate(own)])
        for k, c in enumerate(own):
            if first[c] != k:
                one = np.eye(sizes[c]).reshape([sizes[c] if m in (k, first[c]) else 1 for m in range(len(own))])
                r = r * one
        r = tnp.broadcast_to(r, shape)
    return r


EINSUM = Einsum()


def einsum(raw: Any, args: Any, kwargs: Any) -> Any:
    if not isinstance(args[0], str):
        return _by_lists(args, kwargs)
    out = kwargs.pop("out", None)
    operands = [tnp.asarray(x) for x in args[1:]]
    inputs, result = _expand(args[0], [x.ndim for x in operands])
    r = run(raw, (args[0], *operands), kwargs)
    if hasattr(r, "base") and any(getattr(r, "_cell", None) is x._cell and x._cell is not None for x in operands):
        return r  # a view of the operand
    r = record(EINSUM, operands, r, {"inputs": inputs, "result": result})
    return r if out is None else into(out, r)


def _by_lists(args: Any, kwargs: Any) -> Any:
    """``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def spelled(labels: Any) -> str:
        return "".join("..." if k is Ellipsis else letters[k] for k in labels)

    pairs = len(args) // 2
    text = ",".join(spelled(args[2 * i + 1]) for i in range(pairs))
    if len(args) % 2:
        text += "->" + spelled(args[-1])
    return tnp.einsum(text, *[args[2 * i] for i in range(pairs)], **kwargs)


CALLS[np.einsum] = einsum
