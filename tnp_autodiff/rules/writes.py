"""Functions that write into an argument, as assignments."""

from typing import Any

import numpy as np

import tnp
from tnp import host
from tnp.core import elementwise
from tnp.core.interpreter import DECLINED, quietly
from tnp_autodiff.recorder import CALLS, PRIMITIVES, Unknown, differentiation, public, record, run, write
from tnp_autodiff.rules.base import composed_of, value_of


def _fill(x, value):
    x[...] = value


def _sort(x, axis=-1, kind=None, order=None):
    x[...] = tnp.sort(x, axis=axis, kind=kind, order=order)


def _partition(x, kth, axis=-1, kind="introselect", order=None):
    x[...] = tnp.partition(x, kth, axis=axis, kind=kind, order=order)


@composed_of(np.put, np.ndarray.put)
def put(a, ind, v, mode="raise"):
    at = np.ravel(value_of(ind))
    if mode != "raise":
        at = np.clip(at, 0, a.size - 1) if mode == "clip" else at % a.size
    if at.size:
        where = np.unravel_index(np.where(at < 0, at + a.size, at), a.shape)
        a[where] = tnp.resize(tnp.asarray(v).astype(a.dtype), at.shape)


@composed_of(np.copyto)
def copyto(dst, src, casting="same_kind", where=True):
    given = src if hasattr(src, "dtype") else tnp.asarray(src)
    if hasattr(src, "dtype") and not np.can_cast(given.dtype, dst.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {given.dtype!r} to {dst.dtype!r} according to the rule '{casting}'"
        )
    dst[...] = src if where is True else tnp.where(where, src, dst)


@composed_of(np.putmask)
def putmask(a, mask, values):
    mask = tnp.asarray(mask).astype(bool)
    a[mask] = tnp.resize(tnp.asarray(values).astype(a.dtype), a.shape)[mask]


@composed_of(np.place)
def place(arr, mask, vals):
    mask = tnp.asarray(mask).astype(bool)
    arr[mask] = tnp.resize(tnp.asarray(vals).astype(arr.dtype), (int(mask.sum()),))


@composed_of(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    marks = np.zeros(a.shape, bool)
    np.fill_diagonal(marks, True, wrap)
    at = np.nonzero(marks)
    a[at] = tnp.resize(tnp.asarray(val).astype(a.dtype), at[0].shape)


def _at(raw: Any, args: Any, kwargs: Any) -> Any:
    """``ufunc.at``: additions accumulate; others go in rounds, in each of which an element has its turn once."""
    a, key, *rest = args
    ufunc = raw.__self__
    if ufunc is np.add or ufunc is np.subtract:
        value = rest[0] if ufunc is np.add else -tnp.asarray(rest[0])
        write(a, key, value, adds=True)
        run(raw, args, kwargs)
        return None
    with quietly():
        at = np.arange(a.size).reshape(a.shape)[host.unwrap(key, [])]
    operands = [tnp.broadcast_to(tnp.asarray(x), at.shape).reshape(-1) for x in rest]
    at = at.reshape(-1)
    turn = _turns(at)
    rounds = [np.flatnonzero(turn == k) for k in range(int(turn.max(initial=-1)) + 1)]
    values = [[x[now] for x in operands] for now in rounds]  # before anything is written: they may share the memory
    for now, xs in zip(rounds, values, strict=True):
        where = np.unravel_index(at[now], a.shape)
        a[where] = _once(raw, a[where], xs)
    return None


def _once(raw: Any, x: Any, values: list[Any]) -> Any:
    """What ``ufunc.at`` makes of `x`, of which it sees each element once; its loops have bits of their own."""
    with quietly():
        made = x.copy()
        public(raw)(made, np.arange(x.size), *values)
    rule = PRIMITIVES.get(elementwise.PRIMITIVES.get(raw.__self__), DECLINED)
    if rule is None:  # flat
        return made
    if rule is DECLINED:
        rule = Unknown(f"numpy.{raw.__self__.__name__}.at")
    return record(rule, [x, *values], made, {})


def _turns(at: Any) -> Any:
    """How often each of these numbers came before."""
    order = np.argsort(at, kind="stable")
    starts = np.flatnonzero(np.diff(at[order], prepend=-1))
    turn = np.empty(at.size, int)
    turn[order] = np.arange(at.size) - np.repeat(starts, np.diff(starts, append=at.size))
    return turn


def _matmul_in_place(raw: Any, args: Any, kwargs: Any) -> Any:
    x = args[0]
    x[...] = tnp.matmul(x, args[1])
    return x


CALLS[np.ndarray.__setitem__] = lambda raw, args, kwargs: DECLINED
differentiation.plain[np.ndarray.__setitem__] = 3
CALLS[np.ndarray.fill] = lambda raw, args, kwargs: _fill(*args, **kwargs)
CALLS[np.ndarray.sort] = lambda raw, args, kwargs: _sort(*args, **kwargs)
CALLS[np.ndarray.partition] = lambda raw, args, kwargs: _partition(*args, **kwargs)
CALLS[np.ndarray.__imatmul__] = _matmul_in_place
for _name in dir(np):
    _ufunc = getattr(np, _name) if not _name.startswith("_") else None
    if isinstance(_ufunc, np.ufunc) and _ufunc.signature is None and _ufunc.nout == 1:
        CALLS[_ufunc.at] = _at
