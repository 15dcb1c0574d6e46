"""What calls on small arrays cost, in nanoseconds, and NumPy's beside them."""

import numpy

import tnp
from asv_bench.calls import CALLS, timer

MODULES = {"numpy": numpy, "tnp": tnp}
CASES = [f"{call.statement}  # n = {size}" for call in CALLS for size in call.sizes]


class Calls:
    params = (CASES, list(MODULES))
    param_names = ("statement", "module")
    unit = "ns"

    def track_call(self, case: str, module: str) -> float:
        statement, _, size = case.partition("  # n = ")
        loop = timer(MODULES[module], statement, int(size))
        number, _ = loop.autorange()
        return 1e9 * min(loop.repeat(7, number)) / number
