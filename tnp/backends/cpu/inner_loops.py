"""NumPy's own inner loops, to be called on blocks from inside kernels.

Their bits cannot be had otherwise: which exp or power NumPy uses depends on its build and on the CPU. Each loop is
compared with its ufunc on a few hundred values before its first use; one that differs is never used.
"""

import ctypes
from copy import copy
from typing import Any

import numpy as np

from tnp.backends.cpu.compile import Compiled, once
from tnp.backends.cpu.exponential import exp_loop

BLOCK = 1024  # elements handed to a loop at a time: a few such blocks fit the first-level cache
# Vector and remainder elements of these choose differently among signed zeros, so their blocks must lie as in NumPy
POSITIONAL = frozenset({"maximum", "minimum", "fmax", "fmin", "clip"})

_CAPSULE_NAME = b"numpy_1.24_ufunc_call_info"
_LOOP_TYPE = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 5)
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _CallInfo(ctypes.Structure):
    _fields_ = (
        ("loop", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("auxdata", ctypes.c_void_p),
        ("needs_python", ctypes.c_ubyte),
        ("no_flags", ctypes.c_ubyte),
    )


class Loop:
    """One verified inner loop.

    Attributes
    ----------
    function, context, auxdata : int
        ``function(context, pointers, &n, strides, auxdata)``; returns 0.
    positional : bool
        An element's bits depend on its place in the array: call it only on blocks cut as NumPy's own.
    flags : bool
        Does NumPy look at the floating-point status after it?
    dtype : dtype
        Of the result.
    """

    __slots__ = ("_keep", "auxdata", "context", "dtype", "flags", "function", "positional")

    def __init__(self, capsule: Any, info: _CallInfo, positional: bool, dtype: np.dtype[Any]) -> None:
        self.function, self.context, self.auxdata = info.loop, info.context or 0, info.auxdata or 0
        self.positional, self.flags, self.dtype = positional, not info.no_flags, dtype
        self._keep: list[object] = [capsule]

    def instead(self, code: Compiled, name: str) -> "Loop":
        """The same with a function of ours that gives the same bits."""
        other = copy(self)
        other.function, other._keep = code.addresses[name], [*self._keep, code]
        return other


@once
def find_loop(ufunc: np.ufunc, in_dtypes: tuple[np.dtype[Any], ...]) -> Loop | None:
    """The loop of ``ufunc`` for these operand dtypes, or one of ours; None if it cannot be called from a kernel."""
    loop = numpys_loop(ufunc, in_dtypes)
    if ufunc is np.exp and in_dtypes[0] == np.float64 and loop is not None and (code := exp_loop()) is not None:
        return loop.instead(code, "exp_loop")
    return loop


@once
def numpys_loop(ufunc: np.ufunc, in_dtypes: tuple[np.dtype[Any], ...]) -> Loop | None:
    """NumPy's own loop."""
    if ufunc.nout != 1 or (ufunc is np.power and in_dtypes[0].kind in "iu"):  # raises errors
        return None
    if ufunc.signature is not None or any(d.kind not in "biufc" or not d.isnative for d in in_dtypes):
        return None
    try:
        dtypes, capsule = ufunc._resolve_dtypes_and_context((*in_dtypes, None))  # type: ignore[attr-defined]
        if dtypes[:-1] != in_dtypes:
            return None
        ufunc._get_strided_loop(capsule, fixed_strides=tuple(d.itemsize for d in dtypes))  # type: ignore[attr-defined]
        info = _CallInfo.from_address(_pointer_of(capsule, _CAPSULE_NAME))
    except (AttributeError, TypeError, ValueError):  # this NumPy has no such entry, or no such loop
        return None
    if info.needs_python or not info.loop:
        return None
    run = _Runner(info, dtypes[-1])
    with np.errstate(all="ignore"):
        operands = [_sample(d, i) for i, d in enumerate(in_dtypes)]
        if not _same_bits(run(operands, len(operands[0])), ufunc(*operands)):
            return None
        for i in range(len(operands)) if len(operands) > 1 else ():  # scalars: stride 0, where some loops branch
            for k in (0, 5, 40):
                mixed = [a[k : k + 1] if i == j else a for j, a in enumerate(operands)]
                exact = ufunc(*(a[0] if len(a) == 1 else a for a in mixed))
                if not _same_bits(run(mixed, len(operands[0])), exact):
                    return None
        positional = ufunc.__name__ in POSITIONAL or not _same_bits(run(operands, 7), ufunc(*operands))
    return Loop(capsule, info, positional and in_dtypes[0].kind in "fc", dtypes[-1])


@once
def find_gufunc(ufunc: np.ufunc, in_dtypes: tuple[np.dtype[Any], ...]) -> Loop | None:
    """NumPy's inner loop of a generalised ufunc; whoever uses it compares what it does with what NumPy does."""
    try:
        dtypes, capsule = ufunc._resolve_dtypes_and_context((*in_dtypes, None))  # type: ignore[attr-defined]
        if dtypes[:-1] != in_dtypes:
            return None
        ufunc._get_strided_loop(capsule)  # type: ignore[attr-defined]
        info = _CallInfo.from_address(_pointer_of(capsule, _CAPSULE_NAME))
    except (AttributeError, TypeError, ValueError):
        return None
    return None if info.needs_python or not info.loop else Loop(capsule, info, False, dtypes[-1])


class _Runner:
    """Calls a loop from Python, ``step`` elements at a time."""

    def __init__(self, info: _CallInfo, dtype: np.dtype[Any]) -> None:
        self.function = _LOOP_TYPE(info.loop)
        self.context, self.auxdata, self.dtype = info.context, info.auxdata, dtype

    def __call__(self, operands: list[Any], step: int) -> Any:
        size = max(len(a) for a in operands)
        out = np.empty(size, self.dtype)
        arrays = [*operands, out]
        strides = [0 if len(a) == 1 else a.itemsize for a in arrays]
        for start in range(0, size, step):
            pointers = [a.ctypes.data + start * s for a, s in zip(arrays, strides, strict=True)]
            self.function(
                self.context,
                (ctypes.c_void_p * len(arrays))(*pointers),
                ctypes.byref(ctypes.c_ssize_t(min(step, size - start))),
                (ctypes.c_ssize_t * len(arrays))(*strides),
                self.auxdata,
            )
        return out


def _sample(dtype: np.dtype[Any], seed: int) -> Any:
    """A few hundred values, hostile ones included; every seed orders them differently."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, 323).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        small = rng.integers(0 if dtype.kind == "u" else -9, 9, 200)
        values = np.concatenate([small.astype(dtype), rng.integers(info.min, info.max, 117, dtype=dtype)])
        values = np.append(values, np.array([info.min, info.max, 0, 1, 2, info.max - 1], dtype))
        return rng.permutation(values)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        values = np.empty(323, dtype)
        values.real, values.imag = _sample(part, seed + 10), _sample(part, seed + 20)
        return values
    limits = np.finfo(dtype)
    special = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        limits.max,
        limits.min,
        limits.tiny,
        limits.smallest_subnormal,
        1,
        -1,
        2,
        0.5,
    ]
    values = np.concatenate(
        [special, rng.normal(size=150), rng.uniform(-30, 30, 100), np.exp(rng.uniform(-10, 10, 60))]
    )
    return rng.permutation(values.astype(dtype))


def _same_bits(a: Any, b: Any) -> bool:
    """Equal to the bit, NaN for any NaN."""
    if a.dtype != b.dtype:
        return False
    if a.dtype.kind == "c":
        a, b = (x.view(f"f{x.itemsize // 2}") for x in (a, b))
    if a.dtype.kind != "f":
        return bool((a == b).all())
    nan = np.isnan(a)
    return bool((nan == np.isnan(b)).all() and ((a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")) | nan).all())
