"""Run random programs at length: ``python -m tests.programs --count 20000 [--seed 0] [--stress]``.

Each failing program is printed with as few statements as still make it fail; below the lines that are printed first it
is a runnable script.
"""

import argparse
import faulthandler
import importlib
import os
import random
import sys
import time
from collections import Counter
from typing import Any

import numpy

from tests.programs import execute, mutants
from tests.programs.generate import Program, write
from tests.programs.minimise import minimise


def difference(program: Program, np: Any) -> execute.Difference | None:
    """The first difference between `np` and NumPy in this program."""
    theirs = program.run(numpy)
    return execute.first_difference(theirs, program.run(np))


def report(program: Program, found: execute.Difference, np: Any) -> str:
    """A minimised script and what it should have shown."""

    def fails(statements: list[str]) -> bool:
        again = difference(program.of(statements), np)
        return again is not None and again.kind == found.kind

    short = program.of(minimise(program.statements, fails))
    again = difference(short, np) or found
    lines = str(again).splitlines()
    text = execute.as_function(short.text) if short.function else short.text
    told = [f"seed {program.seed}, recorded from {short.lazy_from} elements: {lines[0]}", *lines[1:]]
    return "\n".join([f"# {line[:300]}" for line in told] + [text])


def main() -> int:
    """Run programs; the exit status is 1 if any differed."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="programs to run")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--stress", action="store_true", help="run under TNP_STRESS=1")
    parser.add_argument("--under", default="tnp", help="module to judge, or a name of tests.programs.mutants")
    parser.add_argument("--kernels", type=int, default=0, help="fail if fewer distinct fused kernels ran")
    parser.add_argument("--failures", type=int, default=10, help="stop after so many failing programs")
    parser.add_argument("--sizes", choices=["small", "medium", "large"], help="only arrays of this size")
    options = parser.parse_args()
    if options.stress and os.environ.get("TNP_STRESS") != "1":
        os.environ["TNP_STRESS"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "tests.programs", *sys.argv[1:]])
    np = mutants.MUTANTS.get(options.under) or importlib.import_module(options.under)
    faulthandler.enable()
    kinds: Counter[str] = Counter()
    print(execute.HEADER)
    start, shown = time.monotonic(), 0.0
    for number in range(options.count):
        program = write(random.Random(options.seed + number), seed=options.seed + number, sizes=options.sizes)
        # a crash of the interpreter says in which frames it happened, so one of them is named after the program
        frame = compile("found = difference(program, np)", f"<seed {program.seed}>", "exec")
        here: dict[str, Any] = {"difference": difference, "program": program, "np": np}
        exec(frame, here)
        found = here["found"]
        if found is not None:
            kinds[found.kind] += 1
            print(f"\r# {'-' * 98}\n{report(program, found, np)}", flush=True)
            if sum(kinds.values()) >= options.failures:
                break
        if sys.stderr.isatty() and time.monotonic() - shown > 0.2:
            shown = time.monotonic()
            print(f"\r{number + 1}/{options.count} programs, {dict(kinds)}", end="", file=sys.stderr, flush=True)
    seconds = time.monotonic() - start
    print(f"{number + 1} programs in {seconds:.0f} s, {sum(kinds.values())} failed {dict(kinds) or ''}")
    if options.kernels:
        ran = execute.engine.counts(np)["distinct kernels"]
        print(f"{ran} distinct fused kernels, {options.kernels} expected at least")
        if ran < options.kernels:
            return 1
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
