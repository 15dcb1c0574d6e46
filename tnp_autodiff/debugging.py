"""The first NaN of a program: which operation made it, and where."""

import sys
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import numpy as np

import tnp
from tnp.core.interpreter import quietly
from tnp_autodiff import recorder, reverse
from tnp_autodiff.errors import explain, program_line

_on: ContextVar[bool] = ContextVar("tnp_autodiff_debug_nans", default=False)


class debug_nans:  # noqa: N801 - called as a function
    """Stop at the first NaN that an operation on tracked arrays, or a gradient of one, makes of numbers that are none.

    As a switch, ``debug_nans()`` and ``debug_nans(False)``, or for a block: ``with debug_nans():``. It holds in its
    own thread or task, and for what is recorded while it is on: a gradient that is asked later is watched too.

    Parameters
    ----------
    on : bool

    Raises
    ------
    FloatingPointError
        From the operation that makes a NaN, or from the gradient that does: it names the operation, and the program's
        line that called it.

    Notes
    -----
    Values are looked at as they are made, so nothing waits to be fused: programs are slower. A branch of `where` that
    is not taken counts: what it makes of numbers out of its domain is a NaN, although it is not used.

    Examples
    --------
    >>> import tnp as np
    >>> from tnp_autodiff import debug_nans, grad
    >>> with debug_nans():
    ...     grad(lambda x: np.sqrt(x * x).sum())(np.zeros(1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    FloatingPointError: debug_nans: the gradient of numpy.multiply is NaN
    ...
    """

    def __init__(self, on: bool = True) -> None:
        self._before = _on.get()
        _on.set(on)
        if on:
            recorder.inspect, reverse.inspect = _checked, _check_sums

    def __enter__(self) -> "debug_nans":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _on.set(self._before)


def _has_nan(x: Any) -> bool:
    """Is there a NaN in it? Of several arrays: in any."""
    if isinstance(x, (tuple, list)):
        return any([_has_nan(y) for y in x])
    if not hasattr(x, "dtype") or not recorder.is_float(x.dtype):
        return False
    with quietly():
        return bool(np.isnan(np.asarray(tnp.to_numpy(tnp.asarray(x)))).any())


def _name(rule: Any, params: dict[str, Any]) -> str:
    """What the program calls the operation."""
    raw = params.get("raw")
    if raw is None:
        prims = [p for p, r in recorder.PRIMITIVES.items() if r is rule]
        raw = prims[0] if prims else _called()
    name = getattr(raw, "name", None) or getattr(raw, "__name__", None)
    return f"numpy.{name}" if name else type(rule).__name__


def _called() -> Any:
    """The function that the program has called, if it is one of NumPy's that has a rule."""
    frame: Any = sys._getframe(1)
    found = None
    while frame is not None:
        if frame.f_code is recorder.Differentiation.call.__code__:
            found = frame.f_locals["raw"]
        frame = frame.f_back
    return found


def _fail(did: str, line: str, got: str, hint: str) -> None:
    raise FloatingPointError(explain(f"debug_nans: {did}", got, "numbers", f"{hint}\n  line:     {line}"))


_SUMS = "infinite gradients of opposite sign were added, or the cotangent that was given has NaN"


class _Checked:
    """A rule whose results are looked at."""

    def __init__(self, rule: Any, name: str, line: str) -> None:
        self._rule, self._name, self._line = rule, name, line

    def keeps(self, want: list[bool]) -> Any:
        return self._rule.keeps(want)

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> Any:
        if _has_nan(g):
            _fail(f"the gradient by the result of {self._name} is NaN", self._line, "NaN before its own rule", _SUMS)
        found = self._rule.vjp(g, out, want, xs, params)
        if _has_nan([f for f in found if f is not None]):
            hint = "an infinite gradient meets a zero: guard the argument, as in f(where(ok, x, 1.0))"
            _fail(f"the gradient of {self._name} is NaN", self._line, "NaN by numbers", hint)
        return found

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        found = self._rule.jvp(ts, out, xs, params)
        if _has_nan(found) and not _has_nan([t for t in ts if t is not None]):
            _fail(f"the tangent of {self._name} is NaN", self._line, "NaN by numbers", "infinite meets zero")
        return found


def _checked(rule: Any, operands: list[Any], result: Any, params: dict[str, Any]) -> Any:
    """The rule to record an operation with: it watches if that is wanted here."""
    if not _on.get() or isinstance(rule, _Checked):
        return rule
    name, (file, number, _) = _name(rule, params), program_line()
    line = f"{file}:{number}"
    if _has_nan(result) and not _has_nan(operands):
        hint = "its arguments lie outside of its domain: where(ok, f(where(ok, x, 1.0)), ...) leaves them out"
        _fail(f"{name} made NaN", line, "NaN of numbers", hint)
    return _Checked(rule, name, line)


def _check_sums(found: list[Any]) -> None:
    """Look at gradients that no rule has looked at: those of sources."""
    if _on.get() and _has_nan([g for g in found if g is not None]):
        file, number, _ = program_line()
        _fail("a gradient is NaN", f"{file}:{number}", "NaN at a source", _SUMS)
