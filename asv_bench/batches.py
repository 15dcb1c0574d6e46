"""A function of one example: for 10,000 of them in a loop under NumPy, and at once by `tnp.vmap`."""

import time
from typing import Any

import numpy

import tnp
from asv_bench.pairs import WARM_UP, Comparison, alternate, summarise

EXAMPLES, LENGTH = 10_000, 16
FLOOR = 100  # times as fast as the loop


def example(np: Any, x: Any, w: Any) -> Any:
    """Ten operations, a product with a matrix and two fills in place among them."""
    h = np.maximum(x @ w, 0.0)
    a = np.zeros(LENGTH)
    a[:8] = h[:8] * x[8:]
    a[8:] = x[:8] + h[8:]
    a += 1.0
    y = a / (1.0 + np.abs(h))
    return (y - x) * 0.5


def make() -> tuple[Any, Any]:
    """The examples, and the matrix that they share."""
    rng = numpy.random.default_rng(17)
    return rng.standard_normal((EXAMPLES, LENGTH)), rng.standard_normal((LENGTH, LENGTH))


def loop(x: Any, w: Any) -> Any:
    result = numpy.empty_like(x)
    for i in range(len(x)):
        result[i] = example(numpy, x[i], w)
    return result


def at_once(x: Any, w: Any) -> Any:
    return tnp.evaluate(tnp.vmap(lambda x: example(tnp, x, w))(x))


def compare(pairs: int) -> Comparison:
    """The loop's time over that of vmap; the last bits may differ, BLAS chooses its order by shape."""
    x, w = make()
    ours = tnp.array(x), tnp.array(w)
    began = time.perf_counter()
    while time.perf_counter() - began < WARM_UP:
        at_once(*ours)

    def seconds(run: Any, *arguments: Any) -> float:
        began = time.perf_counter()
        run(*arguments)
        return time.perf_counter() - began

    return summarise(*alternate(lambda: seconds(loop, x, w), lambda: seconds(at_once, *ours), pairs))
