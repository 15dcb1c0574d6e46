"""Elementwise operations: the partial derivative by each operand.

Conventions: `maximum` and `minimum` share a tie, `clip` has derivative 1 inside the closed interval, `absolute` and
`sign` have 0 at 0; ``x**0`` has exactly 0, and ``0**y`` for y > 0 the limit 0.
"""

from math import log, pi
from typing import Any

import numpy as np

import tnp
from tnp.arrays.operators import UFUNCS
from tnp.core import elementwise
from tnp.core.elementwise import CLIP, cast_p, where_p
from tnp.core.interpreter import DECLINED
from tnp.host import ufunc_of
from tnp_autodiff.events import Valueless
from tnp_autodiff.recorder import CALLS, PRIMITIVES, differentiation, run, unknown
from tnp_autodiff.rules.base import MINUS, ONE, Elementwise, into, unbroadcast
from tnp_autodiff.tracks import as_dtype


def _half_at_tie(wins: Any, x: Any, y: Any) -> Any:
    return tnp.where(wins, 1.0, tnp.where(x == y, 0.5, 0.0))


def _power_by_base(x: Any, y: Any) -> Any:
    if isinstance(y, (int, float)):
        return y * x ** (y - 1) if y else 0.0
    return tnp.where(y == 0, 0.0, y * tnp.power(x, tnp.where(y == 0, 1.0, y - 1)))


def _power_by_exponent(x: Any, o: Any) -> Any:
    return o * tnp.log(tnp.where(x == 0, 1.0, x))


def _logaddexp(x: Any, y: Any) -> Any:
    """The share of `x`; half where both are -inf, or both inf."""
    return 1.0 / (1.0 + tnp.exp(tnp.where(x == y, 0.0, y - x)))


def _logaddexp2(x: Any, y: Any) -> Any:
    return 1.0 / (1.0 + tnp.exp2(tnp.where(x == y, 0.0, y - x)))


def _quotient(x: Any, y: Any) -> Any:
    return -tnp.floor_divide(x, y)


def _copysign(x: Any, y: Any) -> Any:
    return tnp.copysign(1.0, x) * tnp.copysign(1.0, y)


def _per_length(a: Any, o: Any) -> Any:
    """Derivative of a length: 0 at the origin."""
    return a / tnp.where(o == 0, 1.0, o)


def _arctan2(x: Any, y: Any) -> Any:
    """``y / (x**2 + y**2)``, without squares that underflow."""
    length = tnp.hypot(x, y)
    return y / length / length


_DEGREE = pi / 180
PARTIALS: dict[str, tuple[Any, ...]] = {
    "add": (ONE, ONE),
    "subtract": (ONE, MINUS),
    "multiply": (lambda y: y, lambda x: x),
    "divide": (lambda y: 1.0 / y, lambda y, o: -o / y),
    "negative": (MINUS,),
    "positive": (ONE,),
    "reciprocal": (lambda o: -o * o,),
    "square": (lambda x: 2.0 * x,),
    "sqrt": (lambda o: 0.5 / o,),
    "cbrt": (lambda o: 1.0 / (3.0 * o * o),),
    "power": (_power_by_base, _power_by_exponent),
    "float_power": (_power_by_base, _power_by_exponent),
    "exp": (lambda o: o,),
    "exp2": (lambda o: o * log(2),),
    "expm1": (lambda o: o + 1.0,),
    "log": (lambda x: 1.0 / x,),
    "log2": (lambda x: (1 / log(2)) / x,),
    "log10": (lambda x: (1 / log(10)) / x,),
    "log1p": (lambda x: 1.0 / (1.0 + x),),
    "logaddexp": (_logaddexp, lambda x, y: _logaddexp(y, x)),
    "logaddexp2": (_logaddexp2, lambda x, y: _logaddexp2(y, x)),
    "sin": (lambda x: tnp.cos(x),),
    "cos": (lambda x: -tnp.sin(x),),
    "tan": (lambda o: 1.0 + o * o,),
    "arcsin": (lambda x: 1.0 / tnp.sqrt(1.0 - x * x),),
    "arccos": (lambda x: -1.0 / tnp.sqrt(1.0 - x * x),),
    "arctan": (lambda x: 1.0 / (1.0 + x * x),),
    "arctan2": (lambda x, y: _arctan2(x, y), lambda x, y: -_arctan2(y, x)),
    "sinh": (lambda x: tnp.cosh(x),),
    "cosh": (lambda x: tnp.sinh(x),),
    "tanh": (lambda o: 1.0 - o * o,),
    "arcsinh": (lambda x: 1.0 / tnp.sqrt(x * x + 1.0),),
    "arccosh": (lambda x: 1.0 / (tnp.sqrt(x - 1.0) * tnp.sqrt(x + 1.0)),),
    "arctanh": (lambda x: 1.0 / (1.0 - x * x),),
    "hypot": (lambda x, o: _per_length(x, o), lambda y, o: _per_length(y, o)),
    "degrees": (1 / _DEGREE,),
    "rad2deg": (1 / _DEGREE,),
    "radians": (_DEGREE,),
    "deg2rad": (_DEGREE,),
    "fabs": (lambda x: tnp.sign(x),),
    "maximum": (lambda x, y: _half_at_tie(x > y, x, y), lambda x, y: _half_at_tie(y > x, x, y)),
    "minimum": (lambda x, y: _half_at_tie(x < y, x, y), lambda x, y: _half_at_tie(y < x, x, y)),
    "fmax": (
        lambda x, y: _half_at_tie((x > y) | tnp.isnan(y), x, y),
        lambda x, y: _half_at_tie((y > x) | tnp.isnan(x), x, y),
    ),
    "fmin": (
        lambda x, y: _half_at_tie((x < y) | tnp.isnan(y), x, y),
        lambda x, y: _half_at_tie((y < x) | tnp.isnan(x), x, y),
    ),
    "remainder": (ONE, _quotient),
    "fmod": (ONE, lambda x, y: -tnp.trunc(x / y)),
    "copysign": (_copysign, None),
    "clip": (
        lambda x, y, z: tnp.where((x >= y) & (x <= z), 1.0, 0.0),
        lambda x, y, z: tnp.where((x < y) & (y <= z), 1.0, 0.0),
        lambda x, y, z: tnp.where((x > z) | (y > z), 1.0, 0.0),
    ),
    "ldexp": (lambda y: tnp.exp2(y.astype(float) if hasattr(y, "astype") else float(y)), None),
}
_FLAT = "rint floor ceil trunc floor_divide heaviside sign signbit spacing"  # their derivative is 0


class Conjugate(Valueless):
    """The rule of `conjugate`: conjugation, both ways."""

    def vjp(self, g: Any, out: Any, want: Any, xs: Any, params: Any) -> list[Any]:
        return [tnp.conjugate(g)]

    def jvp(self, ts: list[Any], out: Any, xs: Any, params: Any) -> Any:
        return tnp.conjugate(ts[0])


class Absolute:
    """The rule of `absolute`: the direction, which is 0 at 0."""

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        return frozenset([0]), False

    def vjp(self, g: Any, out: Any, want: Any, xs: Any, params: Any) -> list[Any]:
        return [g * _direction(xs[0])]

    def jvp(self, ts: list[Any], out: Any, xs: Any, params: Any) -> Any:
        return tnp.real(tnp.conjugate(_direction(xs[0])) * ts[0])


def _direction(x: Any) -> Any:
    if x.dtype.kind != "c":
        return tnp.sign(x)
    length = abs(x)
    return x / tnp.where(length == 0, 1.0, length)


class Sign:
    """The rule of `sign`: 0 for real numbers; a complex one turns with its argument."""

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        return frozenset([0]), False

    def vjp(self, g: Any, out: Any, want: Any, xs: Any, params: Any) -> list[Any]:
        x = xs[0]
        if x.dtype.kind != "c":
            return [None]
        length = abs(x)
        s = _direction(x)
        return [(g - s * tnp.real(tnp.conjugate(s) * g)) / tnp.where(length == 0, 1.0, length)]

    def jvp(self, ts: list[Any], out: Any, xs: Any, params: Any) -> Any:
        return self.vjp(ts[0], out, None, xs, params)[0]  # it is its own transpose


class Cast(Valueless):
    """The rule of `astype`."""

    def vjp(self, g: Any, out: Any, want: Any, xs: Any, params: Any) -> list[Any]:
        return [as_dtype(g, xs[0].dtype)]

    def jvp(self, ts: list[Any], out: Any, xs: Any, params: Any) -> Any:
        return as_dtype(ts[0], out.dtype)


class Where:
    """The rule of `where`: what is not chosen gets exactly 0."""

    def keeps(self, want: list[bool]) -> tuple[frozenset[int], bool]:
        return frozenset([0]), False

    def vjp(self, g: Any, out: Any, want: Any, xs: Any, params: Any) -> list[Any]:
        c, x, y = xs
        zero = tnp.zeros((), g.dtype)
        return [
            None,
            unbroadcast(as_dtype(tnp.where(c, g, zero), x.dtype), x) if want[1] else None,
            unbroadcast(as_dtype(tnp.where(c, zero, g), y.dtype), y) if want[2] else None,
        ]

    def jvp(self, ts: list[Any], out: Any, xs: Any, params: Any) -> Any:
        zero = tnp.zeros((), out.dtype)
        a, b = (zero if t is None else as_dtype(t, out.dtype) for t in ts[1:])
        return tnp.broadcast_to(tnp.where(xs[0], a, b), out.shape)


def _ufunc(raw: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of an elementwise ufunc: plain ones come as primitives; outputs and masks are writes."""
    if len(args) > raw.nin:
        args, kwargs = args[: raw.nin], {**kwargs, "out": args[raw.nin :]}
    if not kwargs:
        return DECLINED
    out, where, casting = kwargs.get("out"), kwargs.get("where", True), kwargs.get("casting", "same_kind")
    if len(args) != raw.nin or kwargs.keys() - {"out", "where", "dtype", "casting", "order", "subok"}:
        return unknown(raw, args, kwargs)
    if type(out) is tuple:
        (out,) = out
    if out is Ellipsis:  # an array is wanted, never a scalar
        out = None
    if "dtype" in kwargs and kwargs["dtype"] is not None:
        args = tuple(tnp.asarray(x).astype(kwargs["dtype"]) for x in args)
    with np.errstate(**({} if where is True else {"all": "ignore"})):  # type: ignore[arg-type]
        r = ufunc_of(raw)(*args)
    if out is None:
        return r if where is True else tnp.where(where, r, tnp.empty_like(r))
    r = r if where is True else tnp.where(where, r, out)
    if np.shape(r) != out.shape and np.broadcast_shapes(np.shape(r), out.shape) == out.shape:
        r = tnp.broadcast_to(r, out.shape)
    return into(out, r, casting)


def _where(raw: Any, args: Any, kwargs: Any) -> Any:
    return DECLINED if len(args) == 3 else run(raw, args, kwargs)


def _declined(raw: Any, args: Any, kwargs: Any) -> Any:
    """In place: an operation and a write, which are told by themselves."""
    return DECLINED


for _prim in elementwise.PRIMITIVES.values():
    _partials = PARTIALS.get(_prim.name)
    if _partials is not None:
        PRIMITIVES[_prim] = Elementwise(*_partials)
    elif _prim.name in _FLAT.split():
        PRIMITIVES[_prim] = None
    if isinstance(_prim.ufunc, np.ufunc):
        CALLS[_prim.ufunc] = _ufunc
        differentiation.plain[_prim.ufunc] = _prim.ufunc.nin
_by_ufunc = elementwise.PRIMITIVES
PRIMITIVES[_by_ufunc[np.conjugate]] = Conjugate()
PRIMITIVES[_by_ufunc[np.absolute]] = Absolute()
PRIMITIVES[_by_ufunc[np.sign]] = Sign()
PRIMITIVES[cast_p] = CAST_RULE = Cast()
CLIP_RULE = PRIMITIVES[_by_ufunc[CLIP]]
PRIMITIVES[where_p] = Where()
CALLS[np.where] = _where
for _name in UFUNCS:
    _inplace = getattr(np.ndarray, f"__i{_name}__", None)
    if _inplace is not None:
        CALLS[_inplace] = _declined
        differentiation.plain[_inplace] = 2
