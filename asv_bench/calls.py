"""What a call costs: operators, ufuncs, indexing, views and attributes of small arrays, in loops of many."""

import timeit
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy

import tnp
from asv_bench.pairs import Comparison, alternate, summarise

SIZES = (1, 10, 100, 1000)
LOOP_SECONDS = 0.004


@dataclass(frozen=True)
class Call:
    """A statement with ``np, x, y, z, m, i, n`` in it; the most of NumPy's time it may take, by tnp's build."""

    statement: str
    compiled: float
    pure: float
    sizes: Sequence[int] = SIZES


ARITHMETIC = [
    "x + y", "x * 2.0", "x - y", "x / y", "-x", "x < y", "x += y",
    "np.add(x, y)", "np.sqrt(x)", "np.exp(x)", "np.maximum(x, y)", "np.add(x, y, out=z)",
    "x[i]", "x[i] = 1.5", "m[2, 3]", "m[2, 3] = 1.5", "(x + y)[0]", "float((x * y)[0])",
]  # fmt: skip
VIEWS = [
    "x[1:]", "x[::2]", "x[::-1]", "x[...]", "x[:, None]", "x[..., None]", "m[0]", "m[:, 0]", "m[1:, :-1]",
    "m.T", "m.transpose()",
    "m.reshape(-1)", "m.ravel()", "m.reshape(4, 25)", "x.view()", "x.shape", "x.dtype", "x.ndim", "x.size",
    "x.strides", "x.itemsize", "x.nbytes", "x.flags", "x.base", "x.real", "x.flat", "len(x)", "np.asarray(x)",
    "m.swapaxes(0, 1)", "m.squeeze()", "np.expand_dims(m, 0)", "np.broadcast_to(x, (3, 100))", "m.diagonal()",
]  # fmt: skip
FUNCTIONS = [
    "x.copy()", "np.array(x)", "np.zeros(n)", "np.empty(n)", "np.arange(n)", "x.astype(np.float32)",
    "x.sum()", "x.max()",
    "x.mean()", "x.tolist()", "x.item(0)", "bool(x[0])", "list(x)", "np.dot(x, y)", "np.concatenate((x, y))",
    "np.where(x > y, x, y)", "np.nonzero(x)", "np.sort(x)", "np.median(x)", "np.linalg.norm(x)", "np.outer(x, y)",
    "np.tile(x, 2)", "divmod(x, y)",
]  # fmt: skip
CALLS = [Call(statement, 1.15, 1.8) for statement in ARITHMETIC]
CALLS += [Call(statement, 1.3, 1.8, (100,)) for statement in VIEWS + FUNCTIONS]


def compare_call(statement: str, size: int, pairs: int) -> Comparison:
    """Measure a statement in a loop; the ratio is tnp's time over NumPy's (below 1: tnp is faster)."""
    loops = [timer(np, statement, size) for np in (numpy, tnp)]
    number = 1
    while (seconds := loops[0].timeit(number)) < LOOP_SECONDS:
        number = max(2 * number, int(1.2 * number * LOOP_SECONDS / max(seconds, 1e-9)))
    for loop in loops:
        loop.timeit(number)
    times = alternate(lambda: loops[0].timeit(number), lambda: loops[1].timeit(number), pairs)
    calls = [[seconds / number for seconds in way] for way in times]
    swapped = summarise(calls[1], calls[0])
    return replace(swapped, numpy=swapped.tnp, tnp=swapped.numpy)


def timer(np: Any, statement: str, size: int) -> timeit.Timer:
    rng = numpy.random.default_rng(1)
    x, y, z = (np.array(rng.uniform(1.0, 2.0, size)) for _ in range(3))
    m = np.array(rng.uniform(1.0, 2.0, (10, 10)))
    names = {"np": np, "x": x, "y": y, "z": z, "m": m, "i": size // 2, "n": size}
    if statement == "x += y":  # it must not grow without bounds
        names["y"] = np.zeros(size)
    local = "; ".join(f"{name} = {name}_" for name in names)  # `x += y` needs local names
    return timeit.Timer(statement, local, globals={f"{name}_": value for name, value in names.items()})
