"""Importing, first kernels, memory, scripts whose expressions run once."""

import tempfile

from asv_bench import processes

CODE = "from time import perf_counter as t; t0 = t(); import {}; print(t() - t0)"


class Import:
    params = ("numpy", "tnp")
    unit = "s"

    def track_import(self, module: str) -> float:
        return min(processes.seconds_of(CODE.format(module)) for _ in range(5))


class FirstKernel:
    unit = "s"
    timeout = 300

    def track_cold(self) -> float:
        return processes.first_use(3).cold

    def track_from_disk(self) -> float:
        return processes.first_use(3).from_disk


class Memory:
    unit = "MiB"

    def track_chain(self) -> float:
        return processes.chain_memory()


class Script:
    params = ([1000, 10_000, 100_000], ["numpy", "tnp"])
    param_names = ("size", "module")
    unit = "s"
    timeout = 300

    def track_cold(self, size: int, module: str) -> float:
        with tempfile.TemporaryDirectory() as folder:
            return processes.seconds_of(processes.expression_script(module, size), TNP_CACHE_DIR=folder)
