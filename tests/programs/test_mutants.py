"""The program tests find what they are meant to find."""

import random

import numpy
import pytest

from tests.programs import execute
from tests.programs.generate import write
from tests.programs.minimise import minimise
from tests.programs.mutants import MUTANTS

# How many programs each fault may hide from: a tenth of what the suite runs, more for the rare ones.
WITHIN = {"ufunc.at counts duplicates once": 150, "zeros_like in C order": 300, "where promotes float32": 150}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_fault_is_found(name):
    for seed in range(WITHIN.get(name, 60)):
        program = write(random.Random(seed), seed=seed, sizes="medium" if seed % 2 else "small")
        if execute.first_difference(program.run(numpy), program.run(MUTANTS[name])):
            return
    pytest.fail(f"no program noticed: {name}")


def test_numpy_agrees_with_itself():
    for seed in range(60):
        program = write(random.Random(seed), seed=seed)
        assert execute.first_difference(program.run(numpy), program.run(numpy)) is None, program.text


def fails_with(program, np):
    return execute.first_difference(program.run(numpy), program.run(np)) is not None


def test_a_failing_program_becomes_short():
    mutant = MUTANTS["in-place operators rebind"]
    programs = (write(random.Random(seed), sizes="small") for seed in range(99))
    start = next(program for program in programs if fails_with(program, mutant))
    short = minimise(start.statements, lambda statements: fails_with(start.of(statements), mutant))
    assert fails_with(start.of(short), mutant)
    assert len(short) < len(start.statements)
    for k in range(len(short)):
        assert not fails_with(start.of(short[:k] + short[k + 1 :]), mutant)
    compile(start.of(short).shown(), "script", "exec")
