"""What the tests of the CPU engine share: primitives, hostile values, and a group's run against NumPy's."""

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tnp.backends.base import Group, Step
from tnp.backends.cpu.engine import CpuBackend
from tnp.core.primitive import Elementwise, cast_p, where_p

DTYPES = [np.dtype(c) for c in "?bBhHiIqQefdFD"]
SIZES = (1, 2, 3, 7, 8, 63, 64, 65, 1023, 1024, 1025, 2500)


def compiling(stress: bool = False) -> CpuBackend:
    """A backend that compiles at first sight."""
    backend = CpuBackend(stress=stress)
    backend.compile_ns = 0
    return backend


@cache
def primitive(ufunc: np.ufunc) -> Elementwise:
    return Elementwise(name=ufunc.__name__, impl=ufunc, ufunc=ufunc)


def step(ufunc: np.ufunc, args: tuple[int, ...], in_dtypes: Sequence[Any]) -> Step:
    """A step of a ufunc, its result dtype as NumPy resolves it."""
    dtypes = tuple(np.dtype(d) for d in in_dtypes)
    return Step(primitive(ufunc), args, dtypes, ufunc.resolve_dtypes((*dtypes, None))[-1])


def cast_step(arg: int, source: Any, target: Any) -> Step:
    return Step(cast_p, (arg,), (np.dtype(source),), np.dtype(target), (("dtype", np.dtype(target)),))


def where_step(args: tuple[int, int, int], dtype: Any) -> Step:
    return Step(where_p, args, (np.dtype(bool), np.dtype(dtype), np.dtype(dtype)), np.dtype(dtype))


def hostile(dtype: np.dtype[Any], size: int, seed: int = 0) -> Any:
    """Values of which many are special, others ordinary."""
    rng = np.random.default_rng(seed + 7919 * size)
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        special = np.array([0, 1, 2, info.min, info.max, info.max - 1, 8 * dtype.itemsize, 3], dtype)
        ordinary = rng.integers(max(info.min, -70), 70, size).astype(dtype)
    elif dtype.kind == "c":
        values = np.empty(size, dtype)
        part = np.dtype(f"f{dtype.itemsize // 2}")
        values.real, values.imag = hostile(part, size, seed + 1), hostile(part, size, seed + 2)
        return values
    else:
        info = np.finfo(dtype)
        small, big = info.smallest_subnormal, info.max
        special = np.array(
            [0, -0.0, np.nan, np.inf, -np.inf, 1, -1, 0.5, 2, big, -big, info.tiny, small, -small, small * 3, 2.5],
            dtype,
        )
        ordinary = (rng.normal(size=size) * 10.0 ** rng.integers(-3, 3, size)).astype(dtype)
    return np.where(rng.random(size) < 0.3, rng.choice(special, size), ordinary).astype(dtype)


def laid_out(values: Any, how: str) -> Any:
    """The same values, in memory as `how` says."""
    if how == "contiguous":
        return values.copy()
    if how == "strided":
        space = np.zeros((*values.shape[:-1], 3 * values.shape[-1]), values.dtype)
        space[..., ::3] = values
        return space[..., ::3]
    if how == "negative":
        return values[..., ::-1].copy()[..., ::-1]
    assert how == "unaligned"
    space = np.zeros(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
    space[...] = values
    return space


class FlagRecorder:
    """What NumPy reports, by its own numbers."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, _text: str, flag: int) -> None:
        self.seen |= flag


def numpy_result(group: Group) -> tuple[list[Any], int]:
    """The outputs' values and the flags, by one call of NumPy for each step."""
    flags, values = FlagRecorder(), []
    with np.errstate(all="call", call=flags):
        for s in group.steps:
            operands = [values[a] if a >= 0 else group.leaves[~a] for a in s.args]
            if s.prim.name == "astype":
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
                    values.append(np.asarray(operands[0]).astype(s.dtype))
            elif s.prim.name == "where":
                values.append(np.where(operands[0], *(np.asarray(x).astype(s.dtype) for x in operands[1:])))
            else:
                values.append(s.prim.ufunc(*operands, signature=(*s.in_dtypes, None), casting="unsafe"))
        results = [np.broadcast_to(np.asarray(values[i]).astype(out.dtype), out.shape) for i, out in group.outputs]
    return results, flags.seen


def same_bits(a: Any, b: Any) -> Any:
    """Per element: equal to the bit, or both NaN."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.dtype.kind == "c":
        part = f"f{a.dtype.itemsize // 2}"
        return same_bits(a.view(part), b.view(part))
    if a.dtype.kind != "f":
        return a == b
    return (a.view(f"u{a.itemsize}") == b.view(f"u{a.itemsize}")) | (np.isnan(a) & np.isnan(b))


def check(backend: CpuBackend, group: Group, what: str = "") -> None:
    """Run a group and compare bits and flags with NumPy's."""
    if 0 in group.shape:
        assert backend.run(group) == 0
        return
    expected, flags = numpy_result(group)
    found = backend.run(group)
    for (i, out), right in zip(group.outputs, expected, strict=True):
        same = same_bits(out, right)
        if not same.all():
            at = int(np.flatnonzero(~same.reshape(-1))[0])
            if out.dtype.kind == "c":
                at //= 2
            operands = [np.broadcast_to(x, group.shape).reshape(-1)[at] for x in group.leaves]
            raise AssertionError(
                f"{what} step {i}: element {at} is {out.reshape(-1)[at]!r}, NumPy's {right.reshape(-1)[at]!r}, "
                f"of {operands!r}; {int((~same).sum())} of {same.size} differ"
            )
    assert found == flags, f"{what}: flags {found:04b}, NumPy's {flags:04b} (invalid, underflow, overflow, divide)"
