"""Random programs show the same under tnp as under NumPy: bits, dtypes, layouts, types, warnings, exceptions."""

import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tnp
from tests.programs import execute
from tests.programs.generate import write

ROOT = Path(__file__).parents[2]
DISTINCT_KERNELS = 500  # what 300 programs under TNP_STRESS=1 must have run at least, or laziness was not tested


def in_a_process(*arguments):
    """Run programs where no test runner records warnings, so that operations stay pending as in a user's script."""
    command = [sys.executable, "-m", "tests.programs", "--failures", "3", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-4000:]}"


def test_programs():
    in_a_process("--count", "300")


def test_programs_under_stress():
    in_a_process("--count", "300", "--seed", "300", "--stress", "--kernels", str(DISTINCT_KERNELS))


@pytest.mark.parametrize("sizes", ["small", "medium"])
def test_shrinkable_programs(sizes):
    """The same, drawn by Hypothesis, which finds the shortest failing program by itself."""

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(st.randoms(use_true_random=False))
    def check(rng):
        program = write(rng, sizes=sizes, statements=12)
        difference = execute.first_difference(program.run(numpy), program.run(tnp))
        assert difference is None, f"\n{program.shown()}\n{difference}"

    check()
