"""`numpy.random` on tnp arrays: the same generators and streams; results are tnp arrays."""

from typing import Any

import numpy as _np
import numpy.random as _np_random

from tnp.host import call
from tnp.hot import ndarray, writable
from tnp.namespace import mirror

_WRITING = {"shuffle"}


def _method(raw: Any, name: str) -> Any:
    if name in _WRITING:

        def method(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(x, ndarray):
                writable(x)
            return call(raw, (self, x, *args), kwargs)

    else:

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return call(raw, (self, *args), kwargs)

    method.__name__, method.__qualname__, method.__doc__ = name, raw.__qualname__, raw.__doc__
    return method


def _generator(raw: type) -> type:
    body: dict[str, Any] = {"__doc__": raw.__doc__, "__module__": raw.__module__}
    for name in dir(raw):
        value = getattr(raw, name)
        if not name.startswith("_") and callable(value) and name != "spawn":
            body[name] = _method(value, name)
    return type(raw.__name__, (raw,), body)


Generator: Any = _generator(_np_random.Generator)
RandomState: Any = _generator(_np_random.RandomState)


def _spawn(self: Any, n_children: int) -> list[Any]:
    return [Generator(bits) for bits in self.bit_generator.spawn(n_children)]


Generator.spawn = _spawn


def default_rng(seed: Any = None) -> Any:
    """Construct a new Generator with the default BitGenerator (PCG64); streams are NumPy's."""
    rng = call(_np_random.default_rng, (seed,), {})
    if isinstance(rng, Generator) or not isinstance(rng, _np_random.Generator):
        return rng
    return Generator(rng.bit_generator)


def shuffle(x: Any) -> None:
    """Modify a sequence in-place by shuffling its contents (`numpy.random.shuffle`)."""
    if isinstance(x, ndarray):
        writable(x)
    call(_np_random.shuffle, (x,), {})


mirror(_np_random, globals())
del _np
