"""Programs repeated for a long time must leave memory flat: ``python -m tests.soak --seconds 600 --svg rss.svg``.

A round runs every example and some random programs, in this process, and what they print must be the same each time.
After it the process's memory is read, and what the engine holds is counted. An hour of a user's work is a few minutes
here: arrays are as small as the engine takes them, and nothing waits.
"""

import argparse
import contextlib
import gc
import io
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tnp
from tests.programs.generate import write
from tnp import content
from tnp.backends.cpu import memory
from tnp.core.cells import Cell, Node, Storage

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = {
    "heat2d": "--size 250 --steps 40",
    "image_filter": "--size 200",
    "kmeans": "--size 15000",
    "mandelbrot": "--size 150",
    "monte_carlo": "--size 2000",
    "nbody": "--size 100 --steps 10",
    "option_pricing": "--size 100000",
    "pagerank": "--size 2000",
    "softmax_regression": "--size 5000 --epochs 1",
    "spectral_filter": "--size 2",
}
PROGRAMS = 60  # random ones in a round
WARM_UP = 3  # rounds in which every kernel is compiled at once
GROWTH = 6.0  # MiB that resident memory may gain from the middle of the run to its end


@dataclass(frozen=True)
class Held:
    """What there is after a round: MiB resident, and what the engine keeps."""

    seconds: float
    resident: float
    storages: int
    nodes: int
    cells: int
    pool_in_use: int
    pool_held: int
    kernels: int

    def __str__(self) -> str:
        pool = f"{self.pool_in_use / 2**20:.1f} of {self.pool_held / 2**20:.1f} MiB in use"
        live = f"{self.storages} storages, {self.nodes} nodes, {self.cells} cells"
        return f"{self.seconds:7.1f} s  {self.resident:8.1f} MiB  {live}; pool {pool}; {self.kernels} kernels"


def resident() -> float:
    """MiB of memory that the process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def held(began: float) -> Held:
    gc.collect()
    tnp.evaluate()
    memory.trim()
    count = {Storage: 0, Node: 0, Cell: 0}
    for thing in gc.get_objects():
        if type(thing) in count:
            count[type(thing)] += 1
    pool = memory.stats()
    return Held(
        time.monotonic() - began,
        resident(),
        count[Storage],
        count[Node],
        count[Cell],
        pool["in_use"] + pool["apart"],
        pool["held"],
        content.backend.held_kernels(),
    )


def run_example(name: str, code: Any) -> str:
    """What the example prints."""
    before, sys.argv = sys.argv, [name, *EXAMPLES[name].split()]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, {"__name__": "__main__"})
    finally:
        sys.argv = before
    return printed.getvalue()


def compiled_examples() -> dict[str, Any]:
    made = {}
    for name in EXAMPLES:
        path = ROOT / "examples" / f"{name}.py"
        text = path.read_text()
        assert text.count("import numpy as np\n") == 1, f"{path} imports numpy in another way"
        made[name] = compile(text.replace("import numpy as np\n", "import tnp as np\n"), path, "exec")
    return made


def rounds(seed: int) -> Iterator[None]:
    """Run the same work again and again; AssertionError where it does not show the same."""
    examples = compiled_examples()
    programs = [write(random.Random(seed + i), seed=seed + i) for i in range(PROGRAMS)]
    first: dict[str, Any] = {}
    while True:
        for name, code in examples.items():
            shown = run_example(name, code)
            assert first.setdefault(name, shown) == shown, f"{name} printed something else:\n{shown}"
        for i, program in enumerate(programs):
            seen = repr(program.run(tnp).seen)
            assert first.setdefault(f"program {i}", seen) == seen, f"other values:\n{program.shown()}"
        yield


def grown(history: list[Held]) -> list[str]:
    """What is not flat in the second half of the run, in words."""
    later = history[len(history) // 2 :]
    wrong = []
    for name in ("storages", "nodes", "cells", "pool_in_use", "kernels"):
        values = [getattr(h, name) for h in later]
        if values[-1] > values[0] and values == sorted(values):
            wrong.append(f"{name} grew: {values}")
    third = max(1, len(later) // 3)
    early, late = (sorted(h.resident for h in part)[third // 2] for part in (later[:third], later[-third:]))
    if late - early > GROWTH:
        wrong.append(f"resident memory grew by {late - early:.1f} MiB: {[round(h.resident, 1) for h in later]}")
    return wrong


def svg(history: list[Held]) -> str:
    """Resident memory over time."""
    width, height, edge = 640, 240, 45
    last, top = history[-1].seconds, max(h.resident for h in history) * 1.1
    x = [edge + (width - 2 * edge) * h.seconds / last for h in history]
    y = [height - edge - (height - 2 * edge) * h.resident / top for h in history]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    end = height - edge
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/>'
        f'<path d="M{edge},{edge} V{end} H{width - edge}" fill="none" stroke="#888"/>'
        f'<polyline points="{line}" fill="none" stroke="#2563ad" stroke-width="2"/>'
        f'<text x="{edge}" y="{edge - 10}">resident memory: {history[-1].resident:.0f} MiB at the end</text>'
        f'<text x="{width - edge}" y="{end + 18}" text-anchor="end">{last:.0f} s, {len(history)} rounds</text></svg>\n'
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="begin no round later")
    parser.add_argument("--least", type=int, default=6, help="rounds, however long they take")
    parser.add_argument("--seed", type=int, default=0, help="of the random programs")
    parser.add_argument("--svg", type=Path, help="draw resident memory over time to this file")
    arguments = parser.parse_args()
    began = time.monotonic()
    history: list[Held] = []
    usual, content.backend.compile_ns = content.backend.compile_ns, 0.0  # at first all is compiled that ever will be
    for _ in rounds(arguments.seed):
        history.append(held(began))
        if len(history) == WARM_UP:
            content.backend.compile_ns = usual
        print(history[-1], flush=True)
        if len(history) >= arguments.least and history[-1].seconds >= arguments.seconds:
            break
    if arguments.svg:
        arguments.svg.write_text(svg(history), encoding="utf-8")
    wrong = grown(history)
    print("\n".join(wrong) or f"flat over {len(history)} rounds")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
