"""What a derivative rule is.

A rule turns the cotangent of a result into those of the operands (`vjp`). It is linear in the cotangent, so tangents
are pushed forward by transposing it once more (`transposed`), unless the rule has a shorter way.

Complex numbers: the cotangent of z = x + iy is df/dx + i df/dy. A holomorphic operation multiplies it by the conjugate
of its derivative, a tangent by the derivative itself.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy._core._exceptions import _UFuncOutputCastingError

import tnp
from tnp import content
from tnp.core import native
from tnp.core.interpreter import DECLINED, quietly, recorder
from tnp.hot import ndarray
from tnp_autodiff import reverse
from tnp_autodiff.events import watch
from tnp_autodiff.recorder import CALLS, is_float, paused, public, record, run, unknown
from tnp_autodiff.tracks import Recording, as_dtype

_CHECKED = 1 << 12  # elements up to which a factor is looked at


def is_array(x: Any) -> bool:
    return type(x) is ndarray


def value_of(x: Any) -> Any:
    """NumPy's array with the values of `x`, for decisions that are constants to the derivative."""
    with quietly():
        return tnp.to_numpy(tnp.asarray(x))


def conj(x: Any) -> Any:
    """The conjugate; real arrays are their own."""
    kind = x.dtype.kind if hasattr(x, "dtype") else "c" if isinstance(x, complex) else "f"
    return tnp.conjugate(x) if kind == "c" else x


def times(g: Any, factor: Any) -> Any:
    """``g * factor``, where no infinite or undefined factor meets a `g` of zero: what is not wanted costs nothing.

    The derivative by `g` is the factor wherever that is finite, also at zero.
    """
    if not isinstance(factor, ndarray):
        if math.isfinite(factor) if isinstance(factor, (float, np.floating)) else np.isfinite(factor).all():
            return g * factor
    elif factor.size <= _CHECKED and recorder() is None and native.is_finite(content.settle(factor)):
        return g * factor
    return g * tnp.where((g == 0) & ~tnp.isfinite(factor), 0.0, factor)


def pushed(t: Any, factor: Any) -> Any:
    """``t * factor`` for a tangent: an infinite one, of an infinite slope before, meets a slope of zero in zero."""
    r = times(t, factor)
    if t.size <= _CHECKED:
        with np.errstate(all="ignore"):
            if np.isfinite(content.settle(t) if isinstance(t, ndarray) else t).all():
                return r
    return tnp.where((factor == 0) & ~tnp.isfinite(t), 0.0, r)


def unbroadcast(g: Any, like: Any) -> Any:
    """Sum `g` over the axes along which an operand with the shape of `like` was stretched."""
    shape = like.shape
    if g.shape == shape:
        return g
    lead = g.ndim - len(shape)
    axes = (*range(lead), *[lead + i for i, n in enumerate(shape) if n == 1 and g.shape[lead + i] != 1])
    return tnp.sum(g, axis=axes).reshape(shape) if axes else g.reshape(shape)


def total(terms: list[Any]) -> Any:
    """The sum of those that are not None; None if there are none."""
    found = None
    for t in terms:
        if t is not None:
            found = t if found is None else found + t
    return found


def transposed(rule: Any, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
    """The tangent of the result: the transpose of ``g -> rule.vjp(g)`` at the tangents `ts` of the operands."""
    outs = out if isinstance(out, tuple) else (out,)
    recording = Recording()
    gs = []
    for y in outs:
        g = tnp.zeros(np.shape(y), y.dtype if is_float(y.dtype) else float)
        watch(g, recording)
        gs.append(g)
    want = [t is not None for t in ts]
    try:
        found = rule.vjp(gs[0] if len(gs) == 1 else tuple(gs), out, want, xs, params)
        seeds = [(v, as_dtype(t, v.dtype)) for v, t in zip(found, ts, strict=True) if v is not None and t is not None]
        with paused(recording):
            tangents = reverse.gradient(recording, seeds, gs, False)
    finally:
        recording.alive = False
    return tangents[0] if len(gs) == 1 else tuple(tangents)


class Elementwise:
    """The rule of an elementwise operation.

    Parameters
    ----------
    *partials
        For each operand the derivative by it: a function whose parameters say what it reads (``x``, ``y``, ``z``: the
        operands, ``o``: the result), a number, or None where it is zero.
    """

    NAMES = "xyz"

    def __init__(self, *partials: Any) -> None:
        self._partials = partials
        self._kept: dict[tuple[bool, ...], tuple[frozenset[int], bool]] = {}
        self._reads = [p.__code__.co_varnames[: p.__code__.co_argcount] if callable(p) else () for p in partials]
        self._at = [tuple([-1 if n == "o" else self.NAMES.index(n) for n in reads]) for reads in self._reads]

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        key = tuple(want)
        kept = self._kept.get(key)
        if kept is None:
            names = {n for wanted, reads in zip(want, self._reads, strict=False) if wanted for n in reads}
            kept = self._kept[key] = frozenset(self.NAMES.index(n) for n in names - {"o"}), "o" in names
        return kept

    def _partial(self, i: int, out: Any, xs: list[Any]) -> Any:
        p = self._partials[i]
        if not callable(p):
            return p
        return p(*[out if k < 0 else xs[k] for k in self._at[i]])

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        found: list[Any] = []
        for i, wanted in enumerate(want):
            p = self._partial(i, out, xs) if wanted else None
            if p is None:
                found.append(None)
                continue
            gx = g if p is ONE else -g if p is MINUS else times(g, conj(p))
            x = xs[i]
            if not (gx.dtype is x.dtype and gx.shape == x.shape):
                gx = unbroadcast(as_dtype(gx, x.dtype) if x.dtype.kind != "c" else gx, x)
            found.append(gx)
        return found

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        terms = []
        for i, t in enumerate(ts):
            p = None if t is None else self._partial(i, out, xs)
            if p is not None:
                terms.append(t if p is ONE else -t if p is MINUS else pushed(t, p))
        found = total(terms)
        return None if found is None else tnp.broadcast_to(found, out.shape)


ONE, MINUS = 1.0, -1.0


class Substitute:
    """The rule of a function that another program computes too, up to rounding: the derivatives of that one.

    Parameters
    ----------
    f : callable
        ``f(*operands, **params)``, written with tnp's functions.
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        self._f = f

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        return frozenset(range(len(want))), False

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        recording = Recording()
        sources = [x.copy() if wanted else x for x, wanted in zip(xs, want, strict=True)]
        for x, wanted in zip(sources, want, strict=True):
            if wanted:
                watch(x, recording)
        try:
            y = self._f(*sources, **params)
            with paused(recording):
                return reverse.gradient(recording, [(y, as_dtype(g, y.dtype))], sources, False)
        finally:
            recording.alive = False

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        return transposed(self, ts, out, xs, params)


def adjoint(x: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    return conj(tnp.swapaxes(x, -1, -2))


class Rule:
    """The rule of a function of NumPy's.

    Parameters
    ----------
    vjp : callable
        ``vjp(g, out, want, *operands, **params)`` gives a cotangent, or None, for each operand; `want` says which are
        asked for. What follows `want` are NumPy's parameters: the operands, then the others.
    operands : int
        How many parameters are arrays. Zero: the first is a sequence of arrays.
    keeps : str
        Which values the rule reads, as in `Elementwise`: of the others it gets shape and dtype. For more than one
        operand, "y|x" says that the first operand's cotangent needs the second one and the other way round.
    jvp : callable, optional
        ``jvp(ts, out, *operands, **params)``.
    linear : bool
        Is the function linear in its operands together? Then it maps tangents as it maps values.
    """

    def __init__(
        self, vjp: Callable[..., Any], operands: int, keeps: str, jvp: Callable[..., Any] | None, linear: bool
    ) -> None:
        self._vjp, self._operands, self._jvp, self._linear = vjp, operands, jvp, linear
        self._keeps = keeps.split("|")
        parameters = list(inspect.signature(vjp).parameters.values())[3:]
        self._signature = inspect.Signature(parameters)
        self._names = [p.name for p in parameters]

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        parts = self._keeps if len(self._keeps) > 1 else self._keeps * len(want)
        names = "".join(p for p, wanted in zip(parts, want, strict=False) if wanted)
        if "*" in names:
            return frozenset(range(len(want))), "o" in names
        return frozenset(Elementwise.NAMES.index(n) for n in names if n in "xyz"), "o" in names

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        named = {k: v for k, v in params.items() if k != "raw"}
        if self._operands:
            found = self._vjp(g, out, want, *xs, **named)
        else:
            found = self._vjp(g, out, want, xs, **named)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        return [
            as_dtype(f, x.dtype) if wanted and f is not None and x.dtype.kind != "c" else f
            for f, x, wanted in zip(found, xs, want, strict=True)
        ]

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        if self._linear:
            named = {k: v for k, v in params.items() if k != "raw"}
            filled = [tnp.zeros_like(x) if t is None else t for t, x in zip(ts, xs, strict=True)]
            return public(params["raw"])(*(filled if self._operands else [filled]), **named)
        if self._jvp is not None:
            named = {k: v for k, v in params.items() if k != "raw"}
            return self._jvp(ts, out, *xs, **named)
        return transposed(self, ts, out, xs, params)

    def __call__(self, raw: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The program's call of the function."""
        out = kwargs.get("out")
        if "out" in kwargs:
            kwargs = {k: v for k, v in kwargs.items() if k != "out"}
        try:
            bound = self._signature.bind(*args, **kwargs).arguments
        except TypeError:
            return unknown(raw, args, kwargs if out is None else {**kwargs, "out": out})
        out = bound.pop("out_", out)
        if out is not None:
            return into(out, self._called(raw, bound))
        return self._called(raw, bound)

    def _called(self, raw: Any, bound: dict[str, Any]) -> Any:
        count = max(self._operands, 1)
        operands = [bound.pop(n) for n in self._names[:count] if n in bound]
        params = {k: v for k, v in bound.items() if k not in ("args", "kwargs")}
        params |= bound.get("kwargs", {})
        given = operands if self._operands else list(operands[0])
        result = run(raw, operands, params)
        params["raw"] = raw
        return record(self, [x if hasattr(x, "dtype") else _as_number(x) for x in given], result, params)


def _as_number(x: Any) -> Any:
    """An operand that is no array: a list becomes one."""
    return tnp.asarray(x) if isinstance(x, (list, tuple)) else np.asarray(x)[()]


def into(out: Any, value: Any, casting: Any = "same_kind") -> Any:
    """`value` is written to what the program gave as ``out=``."""
    if type(out) is tuple:
        (out,) = out
    if not np.can_cast(value.dtype, out.dtype, casting):
        raise _UFuncOutputCastingError(np.positive, "same_kind", value.dtype, out.dtype, 0)
    if np.shape(value) != out.shape:
        raise ValueError(f"output parameter has shape {out.shape}, the result has {np.shape(value)}")
    out[...] = value
    return out


def rule(*raws: Any, operands: int = 1, keeps: str = "", jvp: Any = None, linear: bool = False) -> Any:
    """Make the function below the rule of NumPy's functions `raws`: see `Rule`."""

    def install(vjp: Callable[..., Any]) -> Rule:
        made = Rule(vjp, operands, keeps, jvp, linear)
        for raw in raws:
            CALLS[raw] = made
        return made

    return install


def composed_of(*raws: Any) -> Any:
    """Calls of NumPy's functions `raws` are calls of the function below, which is written with tnp's functions."""

    def install(f: Callable[..., Any]) -> Callable[..., Any]:
        for raw in raws:
            CALLS[raw] = lambda raw, args, kwargs: f(*args, **kwargs)
        return f

    return install


def handled_by(handler: Callable[[Any, Any, Any], Any], *raws: Any) -> None:
    """Calls of NumPy's functions `raws` are calls of ``handler(raw, args, kwargs)``."""
    for raw in raws:
        CALLS[raw] = handler


def constant(*raws: Any) -> None:
    """The results of NumPy's functions `raws` depend on no values, or are constant almost everywhere."""
    for raw in raws:
        CALLS[raw] = run


def methods(names: str) -> None:
    """NumPy's methods of these names take the array first and are otherwise NumPy's functions."""
    for name in names.split():
        CALLS[getattr(np.ndarray, name)] = _Method(getattr(np, name))


class _Method:
    """A method does what the function of the same name does."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __call__(self, raw: Any, args: Any, kwargs: Any) -> Any:
        r = CALLS[self._raw](self._raw, args, kwargs)
        return run(raw, args, kwargs) if r is DECLINED else r
