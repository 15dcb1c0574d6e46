"""NumPy's installed tests, run on tnp: what fails must be on the list.

TNP_CONFORMANCE
    ``tenth`` (the default): one test in ten under the defaults; ``full``: every test; ``stress``: every test under
    TNP_STRESS=1; ``stress-tenth``: one in ten under TNP_STRESS=1.
TNP_CONFORMANCE_SEED
    Which tenth (0).
TNP_CONFORMANCE_RESULTS
    File to keep the results in.
"""

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from . import baseline, failures, results
from .__main__ import progress, summary
from .run import Settings, run_all, select

MODES = ("tenth", "full", "stress", "stress-tenth")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_numpys_own_tests(capfd: pytest.CaptureFixture[str]) -> None:
    mode = os.environ.get("TNP_CONFORMANCE", "tenth")
    assert mode in MODES, f"TNP_CONFORMANCE is one of {', '.join(MODES)}"
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
