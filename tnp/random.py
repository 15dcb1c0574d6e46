"""`numpy.random` on tnp arrays: the same generators and streams; seeds may be tnp arrays, results are."""

from typing import Any

import numpy as _np
import numpy.random as _np_random
from numpy.random import bit_generator as _interfaces

from tnp.core.interpreter import DECLINED, batches, recorder, recording
from tnp.core.streams import drawn, note
from tnp.host import call, intercepted, rewrap, unwrap
from tnp.hot import ndarray, writable
from tnp.namespace import mirror

_WRITING = {"shuffle"}
_BITS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def _offered(raw: Any, args: Any, kwargs: Any) -> Any:
    """What the call gives where each example of a batch is to get numbers of its own, or it is recorded."""
    return intercepted(raw, args, kwargs) if batches.get() or recorder() is not None else DECLINED


def _method(raw: Any, name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if drawn.get():
            note(self)
        r = intercepted(raw, (self, *args), kwargs)
        return call(raw, (self, *args), kwargs) if r is DECLINED else r

    def writing(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        if drawn.get():
            note(self)
        r = _offered(raw, (self, x, *args), kwargs)
        if r is not DECLINED:
            return r
        if isinstance(x, ndarray):
            writable(x)
        return call(raw, (self, x, *args), kwargs)

    made: Any = writing if name in _WRITING else method
    made.__name__, made.__qualname__, made.__doc__ = name, raw.__qualname__, raw.__doc__
    return made


def _attribute(raw: Any) -> Any:
    """An attribute that may hold arrays, read and set on tnp arrays."""
    return property(
        lambda self: rewrap(raw.__get__(self), []),
        lambda self, value: raw.__set__(self, unwrap(value, [])),
        doc=raw.__doc__,
    )


def _proxy(raw: type, attributes: tuple[str, ...] = (), plain: tuple[str, ...] = ()) -> type:
    """A subclass of NumPy's class `raw` whose methods take and return tnp arrays."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        raw.__init__(self, *unwrap(args, []), **unwrap(kwargs, []))  # type: ignore[misc]
        self._batches = len(batches.get())  # made for one example: each has one like it

    body: dict[str, Any] = {"__doc__": raw.__doc__, "__module__": "tnp.random", "__init__": __init__}
    for name in dir(raw):
        value = getattr(raw, name)
        if not name.startswith("_") and callable(value) and name not in plain:
            body[name] = _method(value, name)
    for name in attributes:
        body[name] = _attribute(getattr(raw, name))
    return type(raw.__name__, (raw,), body)


SeedSequence: Any = _proxy(_np_random.SeedSequence, ("entropy", "spawn_key", "state", "pool"), plain=("spawn",))


class _Seeds(_interfaces.ISeedSequence):
    """A seed sequence of the program as NumPy's bit generators need it: they read the state as a NumPy array."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def generate_state(self, n_words: int, dtype: Any = _np.uint32) -> Any:
        return unwrap(self.program.generate_state(n_words, dtype), [])


class _SpawnableSeeds(_Seeds, _interfaces.ISpawnableSeedSequence):
    def spawn(self, n_children: int) -> Any:
        return self.program.spawn(n_children)


def _bit_generator(name: str) -> Any:
    raw = getattr(_np_random, name)
    cls: Any = _proxy(raw, ("state",), plain=("spawn",))

    def __init__(self: Any, seed: Any = None, *args: Any, **kwargs: Any) -> None:
        seed, args, kwargs = (unwrap(x, []) for x in (seed, args, kwargs))
        if not args and kwargs.get("key") is None:
            if not isinstance(seed, _interfaces.ISeedSequence):
                seed = SeedSequence(seed)
            spawns = isinstance(seed, _interfaces.ISpawnableSeedSequence)
            seed = _SpawnableSeeds(seed) if spawns else _Seeds(seed)
        raw.__init__(self, seed, *args, **kwargs)

    cls.__init__ = __init__
    cls.__getstate__ = lambda self: (self.state, self.seed_seq)
    cls.seed_seq = property(lambda self: getattr(self._seed_seq, "program", self._seed_seq), doc=raw.seed_seq.__doc__)
    return cls


MT19937, PCG64, PCG64DXSM, Philox, SFC64 = (_bit_generator(name) for name in _BITS)
Generator: Any = _proxy(_np_random.Generator, plain=("spawn",))
RandomState: Any = _proxy(_np_random.RandomState)


def _spawn(self: Any, n_children: int) -> list[Any]:
    return [Generator(bits) for bits in self.bit_generator.spawn(n_children)]


Generator.spawn = _spawn
Generator.__reduce__ = lambda self: (Generator, (self.bit_generator,), None)
RandomState.__reduce__ = lambda self: (RandomState, (self._bit_generator,), self.get_state(legacy=False))


def default_rng(seed: Any = None) -> Any:
    """Construct a new Generator with the default BitGenerator (PCG64); streams are NumPy's."""
    if isinstance(seed, _np_random.Generator):
        return seed
    if isinstance(seed, _np_random.BitGenerator):
        return Generator(seed)
    if isinstance(seed, _np_random.RandomState):
        return Generator(seed._bit_generator)
    below: Any = recorder()
    if below is None:
        return Generator(PCG64(seed))
    with recording(None):
        made = Generator(PCG64(seed))
    below.object_made(default_rng, (seed,), {}, made)
    return made


def shuffle(x: Any) -> None:
    """Modify a sequence in-place by shuffling its contents (`numpy.random.shuffle`)."""
    if _offered(_np_random.shuffle, (x,), {}) is not DECLINED:
        return
    if isinstance(x, ndarray):
        writable(x)
    call(_np_random.shuffle, (x,), {})


mirror(_np_random, globals())
