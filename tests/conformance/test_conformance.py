"""NumPy's installed tests, run on tnp: what fails must be on the list.

TNP_CONFORMANCE
    Which runs, separated by spaces: ``tenth`` and ``stress-tenth`` (the default), one test in ten under the defaults
    and under TNP_STRESS=1; ``full`` and ``stress``, every test.
TNP_CONFORMANCE_SEED
    Which tenth (0).
TNP_CONFORMANCE_RESULTS
    File to keep the results of the last run in.
"""

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from . import baseline, failures, results
from .__main__ import progress, summary
from .run import Settings, run_all, select

# Under stress, fewer different kernels than this would mean that operations were not left pending
DISTINCT_KERNELS = {"tenth": 0, "stress-tenth": 300, "full": 0, "stress": 2000}


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("mode", os.environ.get("TNP_CONFORMANCE", "tenth stress-tenth").split())
def test_numpys_own_tests(mode: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert mode in DISTINCT_KERNELS, f"TNP_CONFORMANCE names runs among {', '.join(DISTINCT_KERNELS)}"
    settings = Settings(
        stress=mode.startswith("stress"),
        fraction=10 if mode.endswith("tenth") else 1,
        seed=os.environ.get("TNP_CONFORMANCE_SEED", "0"),
    )
    base = baseline.find(version("numpy"))
    seconds = {name: counts.seconds for name, counts in base.files.items()}
    with capfd.disabled():
        run = run_all(select([]), settings, expected_seconds=seconds, report=progress)
    verdict = baseline.judge(run, base)
    text = summary(run, verdict)
    with capfd.disabled():
        print("\n" + text)
    if "TNP_CONFORMANCE_RESULTS" in os.environ:
        results.save(run, Path(os.environ["TNP_CONFORMANCE_RESULTS"]))
    found = failures.compare(run, verdict, failures.read())
    unlisted = "\n".join(f"{name}\n    {what.splitlines()[0]}" for name, what in found.new.items())
    assert not found.new, f"{len(found.new)} failures that failures.txt does not list:\n{unlisted}"
    assert len(run.files) > 100 and verdict.expected > 1000  # the suite was there
    assert run.engine()["distinct"] >= DISTINCT_KERNELS[mode]
