"""Programs and single operations on large arrays, and NumPy beside them."""

import numpy

import tnp
from asv_bench.pairs import copies, finish
from asv_bench.programs import PROGRAMS, SINGLE, Program

MODULES = {"numpy": numpy, "tnp": tnp}


class _Large:
    """Times one run on fresh inputs: asv calls `setup` before every repetition."""

    programs: dict[str, Program] = {}  # noqa: RUF012
    number = 1
    repeat = (5, 50, 5.0)
    warmup_time = 0.2
    param_names = ("program", "module")

    def setup(self, name: str, module: str) -> None:
        self.program = self.programs[name]
        self.np = MODULES[module]
        self.inputs = copies(self.np, self.program.make(numpy.random.default_rng(17)))

    def time_run(self, name: str, module: str) -> None:
        finish(self.np, self.program.run(self.np, *self.inputs))


class Programs(_Large):
    programs = {program.name: program for program in PROGRAMS}  # noqa: RUF012
    params = (list(programs), list(MODULES))


class SingleOperations(_Large):
    programs = {program.name: program for program in SINGLE}  # noqa: RUF012
    params = (list(programs), list(MODULES))
