"""Measures tnp against NumPy and writes the tables of docs/performance.md: ``python -m asv_bench.table``."""

import argparse
import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy

import tnp
import tnp.core.native
from asv_bench import batches, floors, processes
from asv_bench.calls import CALLS, compare_call
from asv_bench.external import equation_of_state, npbench
from asv_bench.pairs import Comparison, compare
from asv_bench.programs import PROGRAMS, SINGLE, Program

PAGE = Path(__file__).resolve().parent.parent / "docs/performance.md"
SECTIONS = ("programs", "single", "calls", "scripts", "start", "vmap")


@dataclass(frozen=True)
class Row:
    """A line of the tables: what was measured, what came out, what is asked for."""

    work: str
    measured: str
    detail: str
    floor: str
    reached: bool
    least: str | None = None  # the least time that it can take, in the tables that have this column

    def __str__(self) -> str:
        mark = "yes" if self.reached else "**no**"
        columns = [self.work.replace("|", "/"), self.measured, self.detail]
        columns += [] if self.least is None else [self.least]
        return f"| {' | '.join([*columns, self.floor, mark])} |"


def cpu() -> tuple[str, bool]:
    """The processor's name, and whether it has AVX-512."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine(), False
    found = dict(line.split("\t", 1) for line in lines if "\t" in line)
    values = {name: value.lstrip("\t: ") for name, value in found.items()}
    return values.get("model name", platform.machine()), "avx512f" in values.get("flags", "").split()


def program_row(program: Program, pairs: int, avx512: bool) -> Row:
    result = compare(program, pairs)
    floor = program.floor_avx512 if avx512 else program.floor_avx2
    bits = "" if result.same_bits else ", DIFFERENT BITS"
    detail = f"{_quartiles(result)}; {_time(result.numpy)} → {_time(result.tnp)}{bits}"
    reached = result.ratio >= floor and result.same_bits
    least = _least(floors.floor(program, tnp.get_num_threads()))
    return Row(program.name, f"{result.ratio:.2f}x", detail, f"{floor}x", reached, least)


def _least(found: floors.Floor | None) -> str:
    return "not known" if found is None else f"{_time(found.seconds)}, {found.kind}"


def programs(pairs: int, arguments: argparse.Namespace, avx512: bool) -> Iterator[Row]:
    wanted = list(PROGRAMS)
    if arguments.pyhpc:
        wanted.append(equation_of_state(arguments.pyhpc))
    if arguments.npbench:
        wanted += npbench(arguments.npbench)
    for program in wanted:
        yield program_row(program, pairs, avx512)


def single(pairs: int, arguments: argparse.Namespace, avx512: bool) -> Iterator[Row]:
    for program in SINGLE:
        if not arguments.quick or program.name.endswith((", 10k", ", 1M")):
            yield program_row(program, pairs, avx512)


def calls(pairs: int, arguments: argparse.Namespace, avx512: bool) -> Iterator[Row]:
    compiled = tnp.core.native.COMPILED
    for call in CALLS:
        for size in call.sizes:
            if arguments.quick and size not in (1, 100):
                continue
            result = compare_call(call.statement, size, pairs)
            most = call.compiled if compiled else call.pure
            detail = f"{_quartiles(result)}; {_time(result.numpy)} → {_time(result.tnp)}"
            name = f"`{call.statement}`, n = {size}"
            yield Row(name, f"{result.ratio:.2f} of NumPy's time", detail, f"at most {most}", result.ratio <= most)


def scripts(pairs: int, arguments: argparse.Namespace, avx512: bool) -> Iterator[Row]:
    for label, size, cold_floor, warm_floor in [
        ("1k", 1000, 0.9, 0.9),
        ("10k", 10_000, 0.9, 1),
        ("100k", 100_000, 1, 2),
    ]:
        results = processes.script_times(size, pairs)
        for state, result, floor in zip(
            ("cold", "with the disk cache"), results, (cold_floor, warm_floor), strict=True
        ):
            detail = f"{_quartiles(result)}; {_time(result.numpy)} → {_time(result.tnp)}"
            name = f"300 expressions once each, {label} elements, {state}"
            yield Row(name, f"{result.ratio:.2f}x", detail, f"{floor}x", result.ratio >= floor)


def start(pairs: int, arguments: argparse.Namespace, avx512: bool) -> Iterator[Row]:
    most = 60 if avx512 else 80
    result = processes.import_time(pairs)
    extra = 1000 * (result.tnp - result.numpy)
    detail = f"{_time(result.numpy)} → {_time(result.tnp)}"
    yield Row("import tnp, beyond NumPy's import", f"{extra:.0f} ms", detail, f"at most {most} ms", extra <= most)
    used = processes.first_use(max(3, pairs // 3))
    for name, seconds, limit in [
        ("cold", used.cold, 10 if avx512 else 20),
        ("from disk", used.from_disk, 1 if avx512 else 2),
    ]:
        detail = f"median of {used.runs} processes"
        measured = f"{1000 * seconds:.2f} ms"
        work = f"first use of a fused kernel of 20 operations, {name}"
        yield Row(work, measured, detail, f"at most {limit} ms", 1000 * seconds <= limit)
    extra = processes.chain_memory()
    work = "memory of a chain over 10M elements, beyond inputs and output"
    yield Row(work, f"{extra:.0f} MiB", "peak resident", "at most 64 MiB", extra <= 64)


def vmap(pairs: int, arguments: argparse.Namespace, avx512: bool) -> Iterator[Row]:
    result = batches.compare(pairs)
    detail = f"{_quartiles(result)}; {_time(result.numpy)} → {_time(result.tnp)}"
    work = "10 operations with a matmul and two fills on 16 numbers, 10,000 examples: vmap for a loop under NumPy"
    yield Row(work, f"{result.ratio:.0f}x", detail, f"{batches.FLOOR}x", result.ratio >= batches.FLOOR)


def _quartiles(result: Comparison) -> str:
    return f"{result.lower:.2f} to {result.upper:.2f}, {result.pairs} pairs"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1.0:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


TITLES = {
    "programs": "Programs",
    "single": "Single operations",
    "calls": "Calls on small arrays, views, attributes",
    "scripts": "Expressions that run once",
    "start": "Start, first kernels, memory",
    "vmap": "One function for many examples",
}
MEASURE: dict[str, Callable[[int, argparse.Namespace, bool], Iterator[Row]]] = {
    "programs": programs,
    "single": single,
    "calls": calls,
    "scripts": scripts,
    "start": start,
    "vmap": vmap,
}
PREFACE = """\
# Performance

Measured by `python -m asv_bench.table`; each processor and build has its own section, replaced section by section
when it is measured again. Ratios are to NumPy in the same process: alternating pairs, inputs made anew for every
repetition, every result finished and one element read within the measured time; medians, with the quartiles beside
them. "One core" is CPU time with one thread. A row counts as reached only if the results have the same bits.

The floor beside a row is the least time that the machine allows, the larger of two: the bytes of its inputs and
results, each moved once by every statement, over the bandwidth of the level that holds them (L2, L3, memory: a copy of
as many bytes, to a power of two, by as many threads, measured in the same run, read and written together); and its
arithmetic, the vector instructions of an element over what one core starts in a cycle, times cores and the measured
clock. Where only NumPy's own loop gives the bits, the loop's time on a block in the first cache, over the cores, stands
in the place of the arithmetic. The memory of a result counts as there: what the system takes to hand it out is not in
the floor.
"""
NOTHING_YET = "\nNo measurement has been recorded yet.\n"


def write(page: Path, machine: str, section: str, rows: list[Row], conditions: str) -> None:
    """Put the rows in the machine's section of the page, in the place of older ones."""
    text = page.read_text(encoding="utf-8") if page.exists() else PREFACE
    text = text.replace(NOTHING_YET, "")
    begin, end = f"<!-- {section}: {machine} -->", f"<!-- end of {section}: {machine} -->"
    names = ["work", "measured", "quartiles; NumPy → tnp", "asked for", "reached"]
    if any(row.least is not None for row in rows):
        names.insert(3, "floor")
    head = f"| {' | '.join(names)} |\n|{'---|' * len(names)}"
    heading = f"## {TITLES[section]}: {machine}\n\n{conditions}"
    block = "\n".join([begin, heading, "", head, *map(str, rows), end])
    if begin in text:
        before, _, rest = text.partition(begin)
        text = before + block + rest.partition(end)[2]
    else:
        text = f"{text.rstrip()}\n\n{block}\n"
    page.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m asv_bench.table", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 pairs and fewer sizes; prints, writes nothing")
    parser.add_argument("--pairs", type=int, default=15, help="pairs of each measurement, at least 15 to write")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="sections to measure")
    parser.add_argument("--pyhpc", type=Path, help="a clone of github.com/dionhaefner/pyhpc-benchmarks")
    parser.add_argument("--npbench", type=Path, help="a clone of github.com/spcl/npbench")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page to write (default: docs/performance.md)")
    arguments = parser.parse_args()
    pairs = 3 if arguments.quick else arguments.pairs
    if pairs < 15 and not arguments.quick:
        parser.error(f"--pairs: expected at least 15, got {pairs}")

    name, avx512 = cpu()
    machine = f"{name}, {'AVX-512' if avx512 else 'AVX2'}, {'compiled' if tnp.core.native.COMPILED else 'pure Python'}"
    cores = len(os.sched_getaffinity(0))
    conditions = (
        f"{cores} cores, Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"load average {os.getloadavg()[0]:.1f} at the start."
    )
    print(machine, conditions, sep="\n")
    for section in arguments.only:
        print(f"\n{TITLES[section]}")
        rows = []
        for row in MEASURE[section](pairs, arguments, avx512):
            print(row, flush=True)
            rows.append(row)
        if not arguments.quick:
            write(arguments.output, machine, section, rows, conditions)


if __name__ == "__main__":
    main()
