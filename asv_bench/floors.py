"""The least time a program can take here: what its bytes or its arithmetic need, from rates measured in this run."""

import ctypes
import time
from bisect import insort
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy

from asv_bench.arithmetic import BLOCK, count
from asv_bench.programs import Program
from tnp.backends.cpu.compile import compiler

SAMPLES = 7  # the best counts: a floor is what nothing disturbs
_LEVELS = {"2": "L2", "3": "L3"}
_CACHE = Path("/sys/devices/system/cpu/cpu0/cache")
_CHAIN = 64  # additions, each waiting for the one before: a cycle each
_CLOCK = f"""
define void @wait(i64 %n) {{
entry:
 br label %loop
loop:
 %i = phi i64 [ 0, %entry ], [ %next, %loop ]
 call void asm sideeffect "{"addq $$1, %rax;" * _CHAIN}", "~{{rax}},~{{flags}}"()
 %next = add i64 %i, 1
 %more = icmp ult i64 %next, %n
 br i1 %more, label %loop, label %done
done:
 ret void
}}
"""


@dataclass(frozen=True)
class Floor:
    """Seconds, and what needs them: a level of the memory, or arithmetic."""

    seconds: float
    kind: str


def size_in_bytes(text: str) -> int:
    """What the system's files call a size: ``512K``, ``32M``."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    text = text.strip()
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


@cache
def caches() -> dict[str, int]:
    """Bytes of the caches behind the first, by name; common sizes where the system does not say."""
    found = {"L2": 512 << 10, "L3": 16 << 20}
    for folder in sorted(_CACHE.glob("index*")):
        level = _LEVELS.get((folder / "level").read_text().strip())
        if level:
            found[level] = size_in_bytes((folder / "size").read_text())
    return found


def level_of(working_set: float, cores: int, sizes: dict[str, int]) -> str:
    """Where so many bytes stay: each core has an L2 of its own, and all share the L3."""
    if working_set <= sizes["L2"] * cores:
        return "L2"
    return "L3" if working_set <= sizes["L3"] else "memory"


def bandwidth(working_set: float, cores: int) -> float:
    """Bytes a second, read and written together, of a copy by so many threads in arrays of about so many bytes."""
    largest = max(256 << 20, 4 * caches()["L3"])
    return _copied(min(1 << (max(1, int(working_set)) - 1).bit_length(), largest), cores)


@cache
def _copied(total: int, cores: int) -> float:
    count = max(1, total // 16 // cores)
    times = max(1, (32 << 20) // (16 * count))
    arrays = [(numpy.zeros(count), numpy.ones(count)) for _ in range(cores)]

    def copy(pair: tuple[Any, Any]) -> None:
        for _ in range(times):
            numpy.copyto(*pair)

    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(copy, arrays))
        return 16.0 * count * cores * times / best(lambda: list(pool.map(copy, arrays)))


def register_bytes() -> int:
    """Of the widest vectors in use."""
    return compiler().register_bytes


@cache
def clock() -> float:
    """Cycles a second, from additions that wait for each other."""
    code = compiler().compile(_CLOCK.encode(), lambda: _CLOCK, ("wait",))
    wait = ctypes.CFUNCTYPE(None, ctypes.c_int64)(code.addresses["wait"])
    return 100_000 * _CHAIN / best(lambda: wait(100_000))


def best(run: Callable[[], object]) -> float:
    """Seconds of the quickest of some runs: of so many that another is about as quick, for much disturbs a machine."""
    seconds: list[float] = []
    while len(seconds) < SAMPLES or (seconds[1] > 1.05 * seconds[0] and len(seconds) < 20 * SAMPLES):
        began = time.perf_counter()
        run()
        insort(seconds, time.perf_counter() - began)
    return seconds[0]


def loop_seconds(program: Program) -> float:
    """Of NumPy's own loop for an element, on a block in the first cache: where nothing else gives these bits."""
    inputs = program.make(numpy.random.default_rng(17))
    block, one = ([x[:n] for x in inputs] for n in (BLOCK, 1))

    def repeated(arguments: list[Any]) -> Callable[[], None]:
        def run() -> None:
            for _ in range(20):
                program.run(numpy, *arguments)

        return run

    return max(0.0, best(repeated(block)) - best(repeated(one))) / (20 * (BLOCK - 1))


def counted_seconds(program: Program) -> float:
    """Of one core, for all that a program computes."""
    work = count(program)
    seconds = work.cycles / clock() / (register_bytes() / 32)
    for ufunc, elements in work.elements.items():
        operands = work.blocks[ufunc]
        out = ufunc(*operands)
        seconds += elements * best(lambda ufunc=ufunc, operands=operands, out=out: ufunc(*operands, out)) / out.size
    return seconds


def floor(program: Program, cores: int) -> Floor | None:
    """The larger of what the bytes and the arithmetic need; None where the program does not say what it moves."""
    if not program.elements:
        return None
    cores = 1 if program.one_core else cores
    held, computed = program.elements * (program.held or program.moved), program.elements * program.passes
    level = level_of(held, cores, caches())
    moving = Floor(computed * program.moved / bandwidth(held, cores), level)
    if program.own_loop:
        computing = Floor(computed * loop_seconds(program) / cores, "NumPy's loop")
    elif program.counted:
        computing = Floor(counted_seconds(program) / cores, "arithmetic")
    elif program.cycles:
        abreast = 1.0 if program.serial else cores * register_bytes() / 32
        computing = Floor(computed * program.cycles / clock() / abreast, "arithmetic")
    else:
        return moving
    return max(moving, computing, key=lambda f: f.seconds)
