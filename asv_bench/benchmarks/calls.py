"""What calls on small arrays cost, in nanoseconds, and NumPy's beside them."""

import numpy

import tnp
from asv_bench.calls import CALLS, loop

MODULES = {"numpy": numpy, "tnp": tnp}
CASES = [f"{call.statement}  # n = {size}" for call in CALLS for size in call.sizes]


class Calls:
    params = (CASES, list(MODULES))
    param_names = ("statement", "module")
    unit = "ns"

    def track_call(self, case: str, module: str) -> float:
        statement, _, size = case.partition("  # n = ")
        timer = loop(MODULES[module], statement, int(size))
        number, _ = timer.autorange()
        return 1e9 * min(timer.repeat(7, number)) / number
