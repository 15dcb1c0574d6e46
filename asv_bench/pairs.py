"""Alternating measurements of two ways to do one thing, in one process.

Both ways run right after each other, the order changing from pair to pair, so that what slows the machine down slows
both; what counts is the median of the pairs' ratios, beside its quartiles.
"""

import gc
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy

import tnp
from asv_bench.programs import Program

WARM_UP = 0.5  # seconds of pairs, at least two of them: kernels are compiled meanwhile, which other rows measure


@dataclass(frozen=True)
class Comparison:
    """Medians of the pairs: seconds under NumPy and under tnp, and the ratio (above 1: tnp is faster)."""

    numpy: float
    tnp: float
    ratio: float
    lower: float
    upper: float
    pairs: int
    same_bits: bool = True


def summarise(numpy_seconds: list[float], tnp_seconds: list[float], same_bits: bool = True) -> Comparison:
    ratios = numpy.divide(numpy_seconds, tnp_seconds)
    lower, middle, upper = (float(q) for q in numpy.percentile(ratios, [25, 50, 75]))
    medians = float(numpy.median(numpy_seconds)), float(numpy.median(tnp_seconds))
    return Comparison(*medians, middle, lower, upper, len(ratios), same_bits)


def alternate(
    numpy_way: Callable[[], float], tnp_way: Callable[[], float], pairs: int
) -> tuple[list[float], list[float]]:
    """Seconds of each way, from functions that do the thing once and say how long it took."""
    ways = [numpy_way, tnp_way]
    seconds: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs):
        for way in (0, 1) if pair % 2 == 0 else (1, 0):
            seconds[way].append(ways[way]())
    return seconds


def finish(np: Any, result: Any) -> float:
    """Compute what is pending, and read an element of every result."""
    results = result if isinstance(result, tuple) else (result,)
    if np is tnp:
        tnp.evaluate(*results)
    return sum(float(array[(0,) * array.ndim]) for array in results)


def copies(np: Any, inputs: Iterable[Any]) -> list[Any]:
    """The inputs as new arrays of this module; numbers as they are."""
    return [np.array(x) if isinstance(x, numpy.ndarray) else x for x in inputs]


def compare(program: Program, pairs: int) -> Comparison:
    """Measure a program on fresh inputs each time; every result is finished and read inside the timed region."""
    rng = numpy.random.default_rng(17)
    inputs = program.make(rng)
    clock = time.process_time if program.one_core else time.perf_counter

    def measure(np: Any) -> float:
        fresh = copies(np, inputs)
        began = clock()
        result = program.run(np, *fresh)
        finish(np, result)
        return clock() - began

    expected = program.run(numpy, *copies(numpy, inputs))
    if program.one_core:
        threads = tnp.get_num_threads()
        tnp.set_num_threads(1)
    gc.collect()
    gc.disable()
    try:
        same = identical(expected, program.run(tnp, *copies(tnp, inputs)))
        del expected
        until = time.perf_counter() + WARM_UP
        alternate(lambda: measure(numpy), lambda: measure(tnp), 2)
        while time.perf_counter() < until:
            alternate(lambda: measure(numpy), lambda: measure(tnp), 2)
        times = alternate(lambda: measure(numpy), lambda: measure(tnp), pairs)
        # Late in the measurement the kernels are compiled; what they give must be the same still.
        again = program.run(numpy, *copies(numpy, inputs))
        same = same and identical(again, program.run(tnp, *copies(tnp, inputs)))
    finally:
        gc.enable()
        if program.one_core:
            tnp.set_num_threads(threads)
    return summarise(*times, same)


def identical(expected: Any, got: Any) -> bool:
    if isinstance(expected, tuple):
        return len(expected) == len(got) and all(map(identical, expected, got))
    a, b = numpy.asarray(expected), numpy.asarray(got)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
