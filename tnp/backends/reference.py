"""The oracle: each step by plain NumPy, unfused, on devices that exist in name only ("ref:0", "ref:1", ...)."""

from collections.abc import Callable, Iterable
from math import prod
from typing import Any

import numpy as np

from tnp.backends.base import DIVIDE, FAST, INVALID, OVERFLOW, UNDERFLOW, Group, Step
from tnp.core.config import Config, config
from tnp.core.primitive import Elementwise, Primitive, Reduction, cast_p


class _Flags:
    """NumPy's floating-point errors while it is entered, collected instead of reported."""

    def __init__(self) -> None:
        self.raised = 0
        self._state = np.errstate(all="call", call=self._collect)

    def _collect(self, _text: str, flags: int) -> None:
        self.raised |= flags & (DIVIDE | OVERFLOW | UNDERFLOW | INVALID)

    def __enter__(self) -> "_Flags":
        self._state.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._state.__exit__(*exc)


class ReferenceBackend:
    """The `Backend` that plain NumPy is.

    Parameters
    ----------
    index : int
        Of the virtual device.
    """

    def __init__(self, index: int = 0) -> None:
        self.name = f"ref:{index}"

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], order: Any = "C") -> np.ndarray[Any, Any]:
        """Uninitialised memory."""
        return np.empty(shape, dtype, order)

    def fusible(self, prim: Primitive, in_dtypes: tuple[Any, ...], operand: np.ndarray[Any, Any]) -> bool:
        """Always: NumPy itself reads the leaf as it lies."""
        return True

    def is_sole(self, nd: np.ndarray[Any, Any]) -> bool:
        """Does it own its memory?"""
        return nd.flags.owndata

    def configure(self, settings: Config) -> None:
        """Nothing can be set."""

    def room(self) -> int:
        """The settings say."""
        return config.memory()

    def workers(self) -> int:
        """The calling thread."""
        return 1

    def run_chunks(self, fn: Callable[[Any], object], chunks: Iterable[Any]) -> None:
        """One after another."""
        for chunk in chunks:
            fn(chunk)

    def memory_report(self) -> str:
        """NumPy keeps no account of its memory."""
        return "NumPy's own"

    def run(self, group: Group) -> int:
        """Compute the outputs, return the floating-point flags."""
        values: list[Any] = []
        with _Flags() as flags:
            for step in group.steps:
                operands = [values[i] if i >= 0 else group.leaves[~i] for i in step.args]
                values.append(_run(step, operands))
            results = [_cast(values[i], out.dtype) for i, out in group.outputs]
        group.undone = []
        kept = [out for _, out in group.outputs if _lies_on(out, group.leaves)] if flags.raised & group.watched else []
        if kept:
            group.undone = [(0, prod(group.shape))]
        for (_, out), result in zip(group.outputs, results, strict=True):
            if not any(out is k for k in kept):
                out[...] = result
        return flags.raised


def _lies_on(out: Any, leaves: list[Any]) -> bool:
    return any(isinstance(a, np.ndarray) and np.may_share_memory(out, a) for a in leaves)


def _run(step: Step, operands: list[Any]) -> Any:
    params = {} if step.params is FAST else dict(step.params)  # exact is close enough
    if step.prim is cast_p:
        return _cast(operands[0], step.dtype)
    if isinstance(step.prim, Reduction):
        # The cast is a part of the reduction: NumPy does it buffer by buffer, and adds up each buffer by itself.
        result = step.prim.ufunc.reduce(operands[0], dtype=step.dtype, **params)
    elif isinstance(step.prim, Elementwise) and step.prim.ufunc is not None and not params:
        # NumPy casts buffer by buffer, and some loops compute otherwise there (complex products)
        operands = [x.real if _loses_imaginary(x, d) else x for x, d in zip(operands, step.in_dtypes, strict=True)]
        result = step.prim.ufunc(*operands, signature=(*map(type, step.in_dtypes), None), casting="unsafe")
    else:
        operands = [_cast(x, dtype) for x, dtype in zip(operands, step.in_dtypes, strict=True)]
        result = step.prim.impl(*operands, **params)
    assert result.dtype == step.dtype, f"{step.prim.name}: the step says {step.dtype}, NumPy {result.dtype}"
    return result


def _cast(x: Any, dtype: Any) -> Any:
    """As assignment casts. No warning of a lost imaginary part: that was the caller's, when the cast was recorded."""
    if x.dtype == dtype:
        return x
    return (x.real if _loses_imaginary(x, dtype) else x).astype(dtype)


def _loses_imaginary(x: Any, dtype: Any) -> bool:
    return bool(x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb")
