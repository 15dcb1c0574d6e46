"""Compiled functions against NumPy: ``python -m asv_bench.compiled [--npbench CLONE]``.

The function of thirty operations was fixed before anything was tuned for it: eight transcendental functions, two
reductions, two slices written in place, one small product of matrices, the rest arithmetic.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy

import tnp
from asv_bench.external import load
from asv_bench.pairs import copies, identical
from asv_bench.table import cpu

SIZES = {10: 4.0, 100: 4.0, 1000: 2.5}
NPBENCH = {"nbody": 3.0, "cavity_flow": 4.0, "build_up_b": 4.0, "pressure_poisson_periodic": 4.0, "azimint": 2.0}


def thirty(np: Any, x: Any, y: Any, m: Any) -> Any:
    """Thirty operations on arrays of one size, and a product of two 4x4 matrices."""
    a = np.sin(x) * y
    b = np.cos(y) + a
    c = np.exp(-b * b)
    d = np.log(c + 1.5)
    e = np.tanh(d - x)
    f = np.arctan(e * 2.0)
    s = f.mean()
    g = np.log1p(f * f)
    h = np.expm1(g - s)
    h[1:] = a[:-1] * 0.5
    x[:-1] += h[1:]
    k = m @ m
    t = np.where(h > 0.0, h, f)
    u = t * 0.25 + (x - y) / (1.0 + g)
    return u, u.sum(), k


def thirty_inputs(n: int) -> tuple[Any, ...]:
    rng = numpy.random.default_rng(17)
    return rng.normal(size=n), rng.normal(size=n), rng.normal(size=(4, 4))


def ratio(
    theirs: Callable[..., Any], ours: Callable[..., Any], inputs: tuple[Any, ...], pairs: int, number: int
) -> tuple[float, float, float]:
    """Medians of seconds for a call of each, `number` times on the same copy, and of the ratios of neighbours."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs):
        for way in (0, 1) if pair % 2 == 0 else (1, 0):
            call, fresh = (theirs, ours)[way], copies((numpy, tnp)[way], inputs)
            began = time.perf_counter()
            for _ in range(number):
                call(*fresh)
            seconds[way].append((time.perf_counter() - began) / number)
    middle = statistics.median([a / b for a, b in zip(*seconds, strict=True)])
    return statistics.median(seconds[0]), statistics.median(seconds[1]), middle


def small_rows(pairs: int) -> Iterator[tuple[str, float, float, float, float, bool]]:
    for n, floor in SIZES.items():
        inputs = thirty_inputs(n)
        compiled = tnp.jit(lambda x, y, m: thirty(tnp, x, y, m))
        a, b = copies(numpy, inputs), copies(tnp, inputs)
        same = True
        for _ in range(3):
            same = same and identical(thirty(numpy, *a), compiled(*b)) and identical(tuple(a), tuple(b))
        found = ratio(lambda x, y, m: thirty(numpy, x, y, m), compiled, inputs, pairs, 100)
        yield f"30 operations, n = {n}", *found, floor, same


def _azimint(np: Any) -> Callable[..., Any]:
    """NPBench's azimint_naive with `where` in place of its mask."""

    def azimint(data: Any, radius: Any, npt: int) -> Any:
        rmax = radius.max()
        res = np.zeros(npt, dtype=np.float64)
        for i in range(npt):
            r1 = rmax * i / npt
            r2 = rmax * (i + 1) / npt
            mask_r12 = np.logical_and((r1 <= radius), (radius < r2))
            res[i] = np.where(mask_r12, data, 0.0).sum() / mask_r12.sum()
        return res

    return azimint


def npbench_rows(clone: Path, pairs: int) -> Iterator[tuple[str, float, float, float, float, bool]]:
    benchmarks, rng = clone / "npbench/benchmarks", numpy.random.default_rng(17)
    flow = _sizes(clone, "cavity_flow")
    ny, nx, nit = flow["ny"], flow["nx"], flow["nit"]
    dx, dy, dt = 2 / (nx - 1), 2 / (ny - 1), 0.1 / ((nx - 1) * (ny - 1))
    u, v, p, b = (rng.random((ny, nx)) for _ in range(4))
    zero = numpy.zeros((ny, nx))
    bodies = _sizes(clone, "nbody")
    n = bodies["N"]
    steps = int(numpy.ceil(bodies["tEnd"] / bodies["dt"]))
    mass, pos, vel = 20.0 * numpy.ones((n, 1)) / n, rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    cavity, channel = "cavity_flow/cavity_flow_numpy.py", "channel_flow/channel_flow_numpy.py"
    work: list[tuple[str, str, tuple[Any, ...]]] = [
        ("nbody", "nbody/nbody_numpy.py", (mass, pos, vel, n, steps, bodies["dt"], bodies["G"], bodies["softening"])),
        ("cavity_flow", cavity, (nx, ny, flow["nt"], nit, zero, zero, dt, dx, dy, zero, flow["rho"], flow["nu"])),
        ("build_up_b", channel, (flow["rho"], dt, dx, dy, u, v)),
        ("pressure_poisson_periodic", channel, (nit, p, dx, dy, b)),
    ]
    for name, file, inputs in work:
        theirs, ours = (getattr(load(benchmarks / file, np=np), name) for np in (numpy, tnp))
        yield _program_row(name, theirs, ours, inputs, pairs)
    data, radius = rng.random(1_000_000), rng.random(1_000_000)
    yield _program_row("azimint", _azimint(numpy), _azimint(tnp), (data, radius, 20), pairs)


def _sizes(clone: Path, name: str) -> Any:
    return json.loads((clone / f"bench_info/{name}.json").read_text())["benchmark"]["parameters"]["M"]


def _program_row(
    name: str, theirs: Any, ours: Any, inputs: tuple[Any, ...], pairs: int
) -> tuple[str, float, float, float, float, bool]:
    compiled = tnp.jit(ours)
    a, b = copies(numpy, inputs), copies(tnp, inputs)
    same = True
    for _ in range(2):
        want, got = theirs(*a), compiled(*b)
        same = same and (want is got is None or identical(want, got))
    same = same and all(identical(x, y) for x, y in zip(a, b, strict=True))
    return f"NPBench {name}, one core", *ratio(theirs, compiled, inputs, pairs, 1), NPBENCH[name], same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--npbench", type=Path, help="a clone of github.com/spcl/npbench")
    parser.add_argument("--pairs", type=int, default=15)
    arguments = parser.parse_args()
    tnp.set_num_threads(1)
    print(f"{cpu()[0]}; NumPy {numpy.__version__}\n")
    print("| work | NumPy | jit | ratio | at least | same bits |\n|---|---|---|---|---|---|")
    rows = list(small_rows(arguments.pairs))
    if arguments.npbench:
        rows += npbench_rows(arguments.npbench, arguments.pairs)
    for name, numpys, ours, found, floor, same in rows:
        print(f"| {name} | {1e6 * numpys:.1f} µs | {1e6 * ours:.1f} µs | {found:.2f}x | {floor}x | {same} |")


if __name__ == "__main__":
    main()
