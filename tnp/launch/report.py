"""``python -m tnp --report``: at the end of the program, where time and memory went."""

import atexit
import os
import sys
import time

import tnp

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]


def report_at_exit() -> None:
    """Measure from here on; print the report on stderr after everything the program does at its exit."""
    began = time.perf_counter()
    used = os.times()
    process = os.getpid()

    def write() -> None:
        if os.getpid() == process:  # not in forked children
            now = os.times()
            cpu = now.user + now.system - used.user - used.system
            print(_report(time.perf_counter() - began, cpu), file=sys.stderr)

    atexit.register(write)


def _report(seconds: float, cpu: float) -> str:
    lines = [
        "--- python -m tnp --report",
        f"wall time    {seconds:10.3f} s",
        f"CPU time     {cpu:10.3f} s",
    ]
    if resource is not None:
        lines.append(f"memory peak  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:10.1f} MiB")
    engine = getattr(tnp, "report", None)
    return "\n".join(lines if engine is None else [*lines, str(engine())])
