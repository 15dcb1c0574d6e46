"""The programs on large arrays: written once, for NumPy and tnp alike.

A program makes its inputs with NumPy and computes with the module it is given. Its floor is what tnp has to reach:
how many times as fast as NumPy, on a CPU with AVX-512 and on one with AVX2 only. What it moves and computes for an
element stands with it, for the least time that it can take (see `floors`).
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy


@dataclass(frozen=True)
class Program:
    """Something to compute, on how much, and what is asked of it.

    Attributes
    ----------
    elements : int
        Of its arrays; 0: not known.
    passes : int
        How often each is computed, one pass after the other.
    moved : float
        Bytes read and written for an element when each input and result passes once.
    held : float
        Bytes that an element takes in all arrays, if some pass several times; 0: as many as are moved.
    cycles : float
        Of one core, for the arithmetic of an element in vectors of 32 bytes; 0: less than moving it takes.
    serial : bool
        Each element waits for the one before, so that one core has to do it.
    own_loop : bool
        Only NumPy's own loop gives these bits: its time is measured.
    counted : bool
        Its arithmetic is found by running it once (see `arithmetic`).
    """

    name: str
    make: Callable[[numpy.random.Generator], tuple[Any, ...]]
    run: Callable[..., Any]
    floor_avx512: float
    floor_avx2: float
    one_core: bool = False  # measured by CPU time, with one thread
    elements: int = 0
    passes: int = 1
    moved: float = 0.0
    held: float = 0.0
    cycles: float = 0.0
    serial: bool = False
    own_loop: bool = False
    counted: bool = False


# Cycles for a float64 in vectors of four: two additions, products or comparisons start in a cycle, a division every
# five and a square root every nine; an exponential is about 28 instructions. An addition that waits takes three.
PLAIN, DIVISION, ROOT, EXPONENTIAL, WAITING = 1 / 8, 5 / 4, 9 / 4, 28 / 8, 3.0


def chain13(np: Any, a: Any, b: Any, c: Any) -> Any:
    return (a * b + c) * (a - c) / (b * b + 1) + np.sqrt(a * a + b * b) * 0.5


def gauss(np: Any, a: Any, b: Any, c: Any) -> Any:
    s = 1.7
    return np.exp(-((a - b) ** 2) / (2 * s * s)) * c + 1


def squared_differences(np: Any, a: Any, b: Any) -> Any:
    return ((a - b) ** 2).sum()


def row_softmax(np: Any, x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def stencil(np: Any, u: Any) -> Any:
    for _ in range(4):
        u[1:-1, 1:-1] += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1])
    return u


def standard(*shape: int, count: int) -> Callable[[numpy.random.Generator], tuple[Any, ...]]:
    return lambda rng: tuple(rng.standard_normal(shape) for _ in range(count))


PROGRAMS: Sequence[Program] = [
    Program(
        "13-operation chain, 100k", standard(100_000, count=3), chain13, 5, 8, elements=100_000, moved=32, counted=True
    ),
    Program(
        "13-operation chain, 1M",
        standard(1_000_000, count=3),
        chain13,
        10,
        11,
        elements=1_000_000,
        moved=32,
        counted=True,
    ),
    Program(
        "13-operation chain, 10M",
        standard(10_000_000, count=3),
        chain13,
        9,
        8,
        elements=10_000_000,
        moved=32,
        counted=True,
    ),
    Program(
        "exp(-(a-b)**2/(2*s*s))*c+1, 1M",
        standard(1_000_000, count=3),
        gauss,
        4,
        3,
        elements=1_000_000,
        moved=32,
        counted=True,
    ),
    Program(
        "sum of squared differences, 1M",
        standard(1_000_000, count=2),
        squared_differences,
        4,
        3,
        elements=1_000_000,
        moved=16,
        counted=True,
    ),
    Program(
        "row softmax, 10000x100",
        standard(10_000, 100, count=1),
        row_softmax,
        3,
        2.5,
        elements=1_000_000,
        moved=16,
        counted=True,
    ),
    Program(
        "5-point stencil in place, 1000x1000, 4 steps",
        standard(1000, 1000, count=1),
        stencil,
        3,
        3,
        elements=998 * 998,
        passes=4,
        moved=16,
        counted=True,
    ),
]


def positive(dtype: str, size: int, count: int) -> Callable[[numpy.random.Generator], tuple[Any, ...]]:
    return lambda rng: tuple(rng.uniform(1.0, 9.0, size).astype(dtype) for _ in range(count))


OPERATIONS: dict[str, tuple[str, int, Callable[..., Any]]] = {
    "x + y float64": ("f8", 2, lambda np, x, y: x + y),
    "x * y float32": ("f4", 2, lambda np, x, y: x * y),
    "x / y float64": ("f8", 2, lambda np, x, y: x / y),
    "x + y int32": ("i4", 2, lambda np, x, y: x + y),
    "x // y int64": ("i8", 2, lambda np, x, y: x // y),
    "x > y float64": ("f8", 2, lambda np, x, y: x > y),
    "sqrt(x) float64": ("f8", 1, lambda np, x: np.sqrt(x)),
    "exp(x) float64": ("f8", 1, lambda np, x: np.exp(x)),
    "exp(x) float32": ("f4", 1, lambda np, x: np.exp(x)),
    "sin(x) float64": ("f8", 1, lambda np, x: np.sin(x)),
    "x ** 2 float64": ("f8", 1, lambda np, x: x**2),
    "x ** y float64": ("f8", 2, lambda np, x, y: x**y),
    "abs(x) float64": ("f8", 1, lambda np, x: abs(x)),
    "astype(float32)": ("f8", 1, lambda np, x: x.astype(np.float32)),
    "where(x > 5, x, y)": ("f8", 2, lambda np, x, y: np.where(x > 5.0, x, y)),
    "x.sum() float64": ("f8", 1, lambda np, x: x.sum()),
    "x.mean() float32": ("f4", 1, lambda np, x: x.mean()),
    "x.max() float64": ("f8", 1, lambda np, x: x.max()),
    "x.std() float64": ("f8", 1, lambda np, x: x.std()),
    "x.argmax() float64": ("f8", 1, lambda np, x: x.argmax()),
    "cumsum(x) float64": ("f8", 1, lambda np, x: np.cumsum(x)),
    "sort(x) float64": ("f8", 1, lambda np, x: np.sort(x)),
    "x.copy() float64": ("f8", 1, lambda np, x: x.copy()),
    "x[::-1] + y float64": ("f8", 2, lambda np, x, y: x[::-1] + y),
    "x[x > 5] float64": ("f8", 1, lambda np, x: x[x > 5.0]),
    "x += y float64": ("f8", 2, lambda np, x, y: operator.iadd(x, y)),
    "clip(x, 2, 7) float64": ("f8", 1, lambda np, x: np.clip(x, 2.0, 7.0)),
    "concatenate((x, y))": ("f8", 2, lambda np, x, y: np.concatenate((x, y))),
}
# Bytes moved for an element, and what is computed where that takes longer
NEEDS: dict[str, dict[str, Any]] = {
    "x + y float64": {"moved": 24},
    "x * y float32": {"moved": 12},
    "x / y float64": {"moved": 24, "cycles": DIVISION},
    "x + y int32": {"moved": 12},
    "x // y int64": {"moved": 24, "own_loop": True},
    "x > y float64": {"moved": 17},
    "sqrt(x) float64": {"moved": 16, "cycles": ROOT},
    "exp(x) float64": {"moved": 16, "cycles": EXPONENTIAL},
    "exp(x) float32": {"moved": 8, "own_loop": True},
    "sin(x) float64": {"moved": 16, "own_loop": True},
    "x ** 2 float64": {"moved": 16},
    "x ** y float64": {"moved": 24, "own_loop": True},
    "abs(x) float64": {"moved": 16},
    "astype(float32)": {"moved": 12},
    "where(x > 5, x, y)": {"moved": 24},
    "x.sum() float64": {"moved": 8},
    "x.mean() float32": {"moved": 4},
    "x.max() float64": {"moved": 8},
    "x.std() float64": {"moved": 8},
    "x.argmax() float64": {"moved": 8},
    "cumsum(x) float64": {"moved": 16, "cycles": WAITING, "serial": True},
    "sort(x) float64": {"moved": 16},
    "x.copy() float64": {"moved": 16},
    "x[::-1] + y float64": {"moved": 24},
    "x[x > 5] float64": {"moved": 12},
    "x += y float64": {"moved": 24},
    "clip(x, 2, 7) float64": {"moved": 16},
    "concatenate((x, y))": {"moved": 32},
}
SIZES = {"10k": 10_000, "100k": 100_000, "1M": 1_000_000, "10M": 10_000_000}
NEVER_BELOW = 0.97

SINGLE: Sequence[Program] = [
    Program(
        f"{name}, {label}", positive(dtype, size, count), run, NEVER_BELOW, NEVER_BELOW, elements=size, **NEEDS[name]
    )
    for name, (dtype, count, run) in OPERATIONS.items()
    for label, size in SIZES.items()
]
