"""Random numbers: each call draws for all examples at once, those of the first example first.

So a function that draws once gives each example what it would get in a loop; one that draws more often gives the second
draw of all examples after the first of all. A generator that the function makes is one for each example, all alike.
"""

import copy
import inspect
from typing import Any

import numpy as np

import tnp
from tnp.core import streams
from tnp.core.interpreter import DECLINED, batches
from tnp.host import call, intercepted
from tnp.hot import ndarray
from tnp.transforms.batching import CREATORS, RULES, Batch
from tnp.transforms.errors import warn_loop
from tnp.transforms.rules.base import shape_of
from tnp.transforms.rules.reductions import operand

# Parameters that are arrays, and how many axes one draw takes of them; the last name is the size
DRAWS = {
    "beta": "a b size", "binomial": "n p size", "chisquare": "df size", "exponential": "scale size",
    "f": "dfnum dfden size", "gamma": "shape scale size", "geometric": "p size", "gumbel": "loc scale size",
    "hypergeometric": "ngood nbad nsample size", "laplace": "loc scale size", "logistic": "loc scale size",
    "lognormal": "mean sigma size", "logseries": "p size", "negative_binomial": "n p size",
    "noncentral_chisquare": "df nonc size", "noncentral_f": "dfnum dfden nonc size", "normal": "loc scale size",
    "pareto": "a size", "poisson": "lam size", "power": "a size", "rayleigh": "scale size",
    "standard_cauchy": "size", "standard_exponential": "size", "standard_gamma": "shape size",
    "standard_normal": "size", "standard_t": "df size", "triangular": "left mode right size",
    "uniform": "low high size", "vonmises": "mu kappa size", "wald": "mean scale size", "weibull": "a size",
    "zipf": "a size", "random": "size", "random_sample": "size", "sample": "size", "ranf": "size",
    "integers": "low high size", "randint": "low high size", "random_integers": "low high size",
    "tomaxint": "size", "choice": "a size", "multivariate_normal": "size",
}  # fmt: skip
DEFAULTS = {"exponential": {"scale": 1.0}, "gamma": {"scale": 1.0}}
WHOLE = ("choice", "multivariate_normal")  # what they draw from is no array of parameters


def draw(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """A call of a generator's method, or of a function of `numpy.random`."""
    name = raw.__name__
    owner, args = _owner(raw, args)
    if getattr(owner, "_batches", 0) >= batch.level:
        return _alike(batch, raw, owner, args, kwargs)
    names = DRAWS.get(name)
    if name in ("rand", "randn"):
        return batch.up(tnp.asarray(_called(batch, raw, owner, (batch.n, *args), {})))
    given = None if names is None else _bound(raw, args, kwargs)
    if given is None or given.get("out") is not None:
        return _one_by_one(batch, raw, owner, args, kwargs)
    if name == "choice" and (given.get("replace") is False or batch.is_batched(given.get("p")) or "axis" in given):
        return _one_by_one(batch, raw, owner, args, kwargs)
    assert names is not None
    size = given.pop("size", None)
    arrays = [] if name in WHOLE else [k for k in names.split()[:-1] if given.get(k) is not None]
    if name in WHOLE and any([batch.is_batched(v) for v in given.values()]):
        return _one_by_one(batch, raw, owner, args, kwargs)
    shapes = [shape_of(given[k]) for k in arrays]
    shape = np.broadcast_shapes(*shapes) if size is None else tuple(size) if np.ndim(size) else (int(size),)
    for k in arrays:
        if type(given[k]) is ndarray:
            given[k] = batch.aligned(given[k], len(shape))
    low = _called(batch, raw, owner, (), {**given, "size": (batch.n, *shape)})
    return batch.up(tnp.asarray(low))


def _owner(raw: Any, args: Any) -> tuple[Any, Any]:
    """The generator whose method is called, if `raw` is not bound to one."""
    return (args[0], args[1:]) if inspect.ismethoddescriptor(raw) else (None, args)


def _called(batch: Batch, raw: Any, owner: Any, args: Any, kwargs: Any) -> Any:
    """The call one level down."""
    args = args if owner is None else (owner, *args)
    around = tuple([b for b in batches.get() if b.level < batch.level])
    token = batches.set(around)
    try:
        return around[-1].create(raw, args, kwargs) if around else _asked(raw, args, kwargs)
    finally:
        batches.reset(token)


def _asked(raw: Any, args: Any, kwargs: Any) -> Any:
    """The call, which differentiation may take over."""
    r = intercepted(raw, args, kwargs)
    return call(raw, args, kwargs) if r is DECLINED else r


def _source(generator: Any) -> Any:
    return generator.bit_generator if isinstance(generator, np.random.Generator) else generator


def _bound(raw: Any, args: Any, kwargs: Any) -> dict[str, Any] | None:
    """Arguments by name."""
    order = PARAMETERS.get(raw.__name__) or DRAWS[raw.__name__].split()
    if len(args) > len(order):
        return None
    return dict(zip(order, args, strict=False)) | kwargs


PARAMETERS = {
    "choice": ["a", "size", "replace", "p"], "multivariate_normal": ["mean", "cov", "size", "check_valid", "tol"],
    "integers": ["low", "high", "size", "dtype", "endpoint"], "randint": ["low", "high", "size", "dtype"],
    "random": ["size", "dtype", "out"], "standard_normal": ["size", "dtype", "out"],
    "standard_exponential": ["size", "dtype", "method", "out"], "standard_gamma": ["shape", "size", "dtype", "out"],
}  # fmt: skip


def _alike(batch: Batch, raw: Any, owner: Any, args: Any, kwargs: Any) -> Any:
    """A draw from a generator that was made for one example: as if each had its own."""
    given = [x for x in (*args, *kwargs.values()) if type(x) is ndarray]
    token = batches.set(())
    try:
        if not any([batch.is_batched(x) for x in given]):
            return _asked(raw, (owner, *args), kwargs)
        if raw.__name__ == "shuffle":
            batch.note_own_write(args[0], ...)
        rows, own = [], owner
        for i in range(batch.n):
            own = copy.deepcopy(owner)
            mine, named = _one(batch, args, kwargs, i)
            rows.append(_asked(raw, (own, *mine), named))
        if own is not owner:
            streams.set_state(_source(owner), streams.state_of(_source(own)))
    finally:
        batches.reset(token)
    if raw.__name__ == "shuffle":
        batch.wrote(args[0])
        return None
    return batch.up(tnp.stack([tnp.asarray(r) for r in rows]))


def _one(batch: Batch, args: Any, kwargs: Any, i: int) -> tuple[Any, Any]:
    """The arguments that example `i` has."""

    def one(x: Any) -> Any:
        return batch.low(x)[i] if type(x) is ndarray and batch.is_batched(x) else x

    return tuple([one(x) for x in args]), {k: one(v) for k, v in kwargs.items()}


def _one_by_one(batch: Batch, raw: Any, owner: Any, args: Any, kwargs: Any) -> Any:
    warn_loop(f"numpy.random.{raw.__name__}")
    if raw.__name__ == "shuffle":
        x = operand(batch, args[0])
        batch.note_own_write(x, ...)
        batch.lift(x)
    rows = []
    for i in range(batch.n):
        rows.append(_called(batch, raw, owner, *_one(batch, args, kwargs, i)))
    if raw.__name__ == "shuffle":
        batch.wrote(args[0])
        return None
    return batch.up(tnp.stack([tnp.asarray(r) for r in rows]))


def _install() -> None:
    others = "rand randn permutation permuted shuffle multinomial dirichlet multivariate_hypergeometric bytes"
    for name in (*DRAWS, *others.split()):
        for where in (np.random, np.random.Generator, np.random.RandomState):
            raw = getattr(where, name, None)
            if raw is not None:
                RULES[raw] = CREATORS[raw] = draw


_install()
