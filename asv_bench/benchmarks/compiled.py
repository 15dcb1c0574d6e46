"""The function of thirty operations, by NumPy, tnp and `tnp.jit`."""

from typing import Any

import numpy

import tnp
from asv_bench.compiled import SIZES, thirty, thirty_inputs
from asv_bench.pairs import copies


class Thirty:
    params = (list(SIZES), ["numpy", "tnp", "jit"])
    param_names = ("n", "module")

    def setup(self, n: int, module: str) -> None:
        np: Any = numpy if module == "numpy" else tnp
        self.inputs = copies(np, thirty_inputs(n))
        plain = lambda x, y, m: thirty(np, x, y, m)  # noqa: E731
        self.run = tnp.jit(plain) if module == "jit" else plain
        for _ in range(2):
            self.run(*self.inputs)

    def time_call(self, n: int, module: str) -> None:
        self.run(*self.inputs)
