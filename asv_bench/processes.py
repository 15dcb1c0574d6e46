"""What has to be measured in processes of their own: importing, first kernels, scripts of many expressions, memory."""

import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from asv_bench.pairs import Comparison, alternate, summarise

EXPRESSIONS = 300


def seconds_of(code: str, **environment: str) -> float:
    """Run code in a new interpreter; it prints a number of seconds.

    Modules are read from their byte code, as in any program that was started before.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise RuntimeError(f"a measured process failed\n{result.stderr}")
    return float(result.stdout.split()[-1])


def import_time(pairs: int) -> Comparison:
    """Importing numpy, and importing tnp (which imports numpy)."""
    code = "from time import perf_counter as t; t0 = t(); import {}; print(t() - t0)"
    ways = [lambda: seconds_of(code.format("numpy")), lambda: seconds_of(code.format("tnp"))]
    alternate(*ways, 2)
    return summarise(*alternate(*ways, pairs))


FIRST_KERNEL = """
import time
from time import perf_counter as t
import numpy, tnp as np
rng = numpy.random.default_rng(3)
a, b, c = (np.array(rng.uniform(1.0, 2.0, 1_000_000)) for _ in range(3))
def other(): return np.evaluate(a * 3.0 - b * c + 7.0 / a)
def wanted():
    r = a
    for s in {steps}:
        r = (r * s + b) / c - a
    return np.evaluate(r)
for _ in range(20): other()  # the compiler itself is loaded, memory is there
t0 = t(); wanted(); first = t() - t0
time.sleep(0.5)  # the kernel is there, whoever compiled it
again = []
for _ in range(9):
    t0 = t(); wanted(); again.append(t() - t0)
print(first - sorted(again)[4])
"""


@dataclass(frozen=True)
class FirstUse:
    """Seconds that the first use of a kernel of 20 operations takes beyond a later one: medians."""

    cold: float
    from_disk: float
    runs: int


def first_use(runs: int) -> FirstUse:
    code = FIRST_KERNEL.format(steps=(1.25, 0.75, 1.5, 0.5, 1.75))
    cold, warm = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(seconds_of(code, TNP_CACHE_DIR=folder))
            warm.append(seconds_of(code, TNP_CACHE_DIR=folder))
    return FirstUse(sorted(cold)[runs // 2], sorted(warm)[runs // 2], runs)


def expression_script(module: str, size: int) -> str:
    """A program of 300 different expressions of 3 to 12 operations; prints the seconds they take."""
    draw = random.Random(42)
    binary, unary = ["+", "-", "*", "/"], ["sqrt", "abs", "square", "exp", "log"]

    def expression(operations: int) -> str:
        if operations == 0:
            return draw.choice("abcd") if draw.random() < 0.8 else repr(round(draw.uniform(0.5, 2.0), 3))
        if draw.random() < 0.15:
            name = draw.choice(unary)
            inner = expression(operations - 1)
            inner = f"abs({inner})" if name in ("sqrt", "log") else inner
            return f"np.{name}({inner} * 0.1)" if name == "exp" else f"np.{name}({inner})"
        left = draw.randrange(operations)
        return f"({expression(left)} {draw.choice(binary)} {expression(operations - 1 - left)})"

    lines = []
    while len(lines) < EXPRESSIONS:
        text = expression(draw.randint(3, 12))
        if any(f"{name}" in text for name in "abcd"):
            lines.append(f"r = {text} + a * 0.0; total += float(r[0])")
    body = "\n".join(lines)
    return (
        f"from time import perf_counter as t\nimport numpy, {module} as np\n"
        f"rng = numpy.random.default_rng(5)\n"
        f"a, b, c, d = (np.array(rng.uniform(1.0, 2.0, {size})) for _ in range(4))\n"
        f"with np.errstate(all='ignore'):\n    total = 0.0\n    code = compile({body!r}, 'script', 'exec')\n"
        f"    t0 = t(); exec(code); seconds = t() - t0\nprint(seconds)"
    )


def script_times(size: int, pairs: int) -> tuple[Comparison, Comparison]:
    """The script under NumPy and tnp: with an empty kernel cache, and once more with what that run left there."""
    cold: tuple[list[float], list[float]] = ([], [])
    warm: tuple[list[float], list[float]] = ([], [])
    for _ in range(pairs):
        with tempfile.TemporaryDirectory() as folder:
            for times in (cold, warm):
                times[0].append(seconds_of(expression_script("numpy", size)))
                times[1].append(seconds_of(expression_script("tnp", size), TNP_CACHE_DIR=folder))
    return summarise(*cold), summarise(*warm)


MEMORY = """
import numpy, tnp as np
from asv_bench.programs import chain13
def resident(name):  # MiB: VmRSS is now, VmHWM the most since the mark was reset
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1024
small = [np.array(numpy.full(100_000, 1.5)) for _ in range(3)]
for _ in range(9): np.evaluate(chain13(np, *small))  # the compiler's own memory is not the chain's
n = 10_000_000
inputs = [np.array(numpy.full(n, 1.0 + i)) for i in range(3)]
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before = resident("VmRSS")
r = chain13(np, *inputs); np.evaluate(r); r[0]
print(resident("VmHWM") - before - 8 * n / 2**20)
"""


def chain_memory() -> float:
    """MiB that a chain over 10 million elements takes at its peak, beyond its inputs and its output."""
    return seconds_of(MEMORY)
