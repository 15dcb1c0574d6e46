"""Random numbers by reparametrisation: a draw is a function of its parameters and of a standard draw, a constant.

The values are NumPy's, from NumPy's stream; the standard draw is had by drawing once more from the same state.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import random as raw_random

import tnp
from tnp.core import streams
from tnp.core.interpreter import quietly
from tnp.host import call
from tnp_autodiff.recorder import CALLS, Unknown, record
from tnp_autodiff.rules.base import Substitute, transposed


class _Family(NamedTuple):
    """A family of distributions.

    Attributes
    ----------
    parameters : str
        Names of its parameters, in NumPy's order, with the defaults that NumPy has.
    standard : str
        The standard draw: a function of NumPy's and its arguments.
    f : callable
        The draw, of the standard one and the parameters.
    """

    parameters: str
    standard: str
    f: Callable[..., Any]


def _triangular(u: Any, left: Any, mode: Any, right: Any) -> Any:
    base = right - left
    below = u <= (mode - left) / base
    rising = left + tnp.sqrt(tnp.where(below, u * base * (mode - left), 1.0))
    falling = right - tnp.sqrt(tnp.where(below, 1.0, (1.0 - u) * base * (right - mode)))
    return tnp.where(below, rising, falling)


_FAMILIES = {
    "normal": _Family("loc=0.0 scale=1.0", "standard_normal", lambda z, loc, scale: loc + scale * z),
    "lognormal": _Family("mean=0.0 sigma=1.0", "standard_normal", lambda z, mean, sigma: tnp.exp(mean + sigma * z)),
    "uniform": _Family("low=0.0 high=1.0", "uniform 0.0 1.0", lambda u, low, high: low + (high - low) * u),
    "exponential": _Family("scale=1.0", "standard_exponential", lambda z, scale: scale * z),
    "laplace": _Family("loc=0.0 scale=1.0", "laplace 0.0 1.0", lambda z, loc, scale: loc + scale * z),
    "gumbel": _Family("loc=0.0 scale=1.0", "gumbel 0.0 1.0", lambda z, loc, scale: loc + scale * z),
    "logistic": _Family("loc=0.0 scale=1.0", "logistic 0.0 1.0", lambda z, loc, scale: loc + scale * z),
    "rayleigh": _Family("scale=1.0", "rayleigh 1.0", lambda z, scale: scale * z),
    "weibull": _Family("a", "standard_exponential", lambda z, a: z ** (1.0 / a)),
    "pareto": _Family("a", "standard_exponential", lambda z, a: tnp.expm1(z / a)),
    "power": _Family("a", "standard_exponential", lambda z, a: (-np.expm1(-z)) ** (1.0 / a)),
    "triangular": _Family("left mode right", "uniform 0.0 1.0", _triangular),
    "gamma": _Family("shape scale=1.0", "standard_gamma shape", lambda z, shape, scale: scale * z),
    "vonmises": _Family("mu kappa", "", lambda z, mu, kappa: mu + z),
}
_SHAPES = {"gamma": 0, "vonmises": 1}  # parameters that no draw is a smooth function of: asked for, they are refused


class _Draw(Substitute):
    """The rule of a draw; `shape` says which parameter has none."""

    def __init__(self, f: Callable[..., Any], shape: int | None, name: str) -> None:
        super().__init__(f)
        self._shape, self._name = shape, name

    def vjp(self, g: Any, out: Any, want: list[bool], xs: list[Any], params: dict[str, Any]) -> list[Any]:
        if self._shape is not None and want[self._shape]:
            Unknown(self._name).vjp()
        return super().vjp(g, out, want, xs, params)

    def jvp(self, ts: list[Any], out: Any, xs: list[Any], params: dict[str, Any]) -> Any:
        return transposed(self, ts, out, xs, params)


def _drawn(name: str, source: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    """The program's call of the method `name`; `method` says how others of that generator are called."""
    family = _FAMILIES[name]
    fields = [p.partition("=") for p in family.parameters.split()]
    given = dict(zip([*[f[0] for f in fields], "size"], args, strict=False)) | kwargs
    operands = [given.pop(field, float(default) if default else None) for field, _, default in fields]
    operands = [tnp.asarray(x) if isinstance(x, (list, tuple)) else x for x in operands]
    if any(x is None for x in operands) or given.keys() - {"size"}:
        return method(name, args, kwargs)  # NumPy says what is wrong
    before = streams.state_of(source)
    result = method(name, operands, given)
    result = np.float64(result) if type(result) is float else result
    after = streams.state_of(source)
    size = np.shape(result) or None
    if family.standard:
        what, *numbers = family.standard.split()
        values = [operands[_SHAPES[name]] if n == "shape" else float(n) for n in numbers]
        streams.set_state(source, before)
        try:
            z = method(what, values, {"size": size})
        finally:
            streams.set_state(source, after)
    else:
        z = 0.0
    rule = _Draw(lambda *operands: _fitted(family.f(z, *operands), np.shape(result)), _SHAPES.get(name), name)
    return record(rule, [x if hasattr(x, "dtype") else np.float64(x) for x in operands], result, {})


def _fitted(y: Any, shape: tuple[int, ...]) -> Any:
    return y if y.shape == shape else tnp.broadcast_to(y, shape)


def _quiet(raw: Any, args: Any, kwargs: Any) -> Any:
    with quietly():
        return call(raw, args, kwargs)


def _of_class(name: str, cls: Any) -> Any:
    def handle(raw: Any, args: Any, kwargs: Any) -> Any:
        self, *rest = args
        source = self.bit_generator if isinstance(self, raw_random.Generator) else self
        return _drawn(name, source, lambda n, a, k: _quiet(getattr(cls, n), (self, *a), k), tuple(rest), kwargs)

    return handle


def _of_module(name: str) -> Any:
    def handle(raw: Any, args: Any, kwargs: Any) -> Any:
        shared = raw_random.mtrand._rand
        return _drawn(name, shared, lambda n, a, k: _quiet(getattr(raw_random, n), tuple(a), k), tuple(args), kwargs)

    return handle


for _name in _FAMILIES:
    CALLS[getattr(raw_random, _name)] = _of_module(_name)
    for _cls in (raw_random.Generator, raw_random.RandomState):
        CALLS[getattr(_cls, _name)] = _of_class(_name, _cls)
