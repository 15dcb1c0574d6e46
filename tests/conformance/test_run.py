"""The runner: a failure is noticed, a crash loses one file and counts every test of it, samples partition the tests."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from . import baseline, results
from .record import read_record
from .results import CRASHED, PASSED, File, Outcome, Run
from .run import PLUGIN, Settings, all_files, batches, select

GOOD = """
    import numpy as np

    def test_fine():
        assert np.add(1, 1) == 2
"""


def test_a_failing_test_is_noticed(run_tests: Callable[..., Run]) -> None:
    run = run_tests(
        test_good=GOOD,
        test_bad="""
            import numpy as np
            import pytest

            def test_sum():
                assert np.sum([1, 2]) == 3

            def test_setup(no_such_fixture):
                pass

            @pytest.mark.slow
            def test_slow():
                pass
        """,
    )
    assert {name: outcome.result for name, outcome in run.tests()} == {
        "test_good.py::test_fine": "passed",
        "test_bad.py::test_sum": "failed",
        "test_bad.py::test_setup": "error",
    }
    outcome = run.files["test_bad.py"].tests["test_sum"]
    assert outcome.message.startswith("AssertionError: assert ")
    assert outcome.where == "test_bad.py:6 test_sum"


def test_the_place_is_in_the_substitute(run_tests: Callable[..., Run]) -> None:
    run = run_tests(test_deep="import numpy as np\ndef test_it(): np.sum(object)\n")
    (outcome,) = run.files["test_deep.py"].tests.values()
    assert outcome.where == "conformance_substitute.py:19 sum"


LOST = """
    import os, signal, time

    def test_before():
        pass

    def test_dies():
        {death}

    def test_after():
        pass
"""


@pytest.mark.parametrize(
    ("death", "cause"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV in test_dies"),
        ("os._exit(3)", "exit status 3 in test_dies"),
        ("os._exit(0)", "ended early, status 0, in test_dies"),
    ],
)
def test_a_crash_counts_every_test_of_its_file(run_tests: Callable[..., Run], death: str, cause: str) -> None:
    run = run_tests(test_crash=LOST.format(death=death), test_good=GOOD)
    assert run.files["test_good.py"].counts() == {PASSED: 1}
    assert run.files["test_crash.py"].broken == cause
    assert run.files["test_crash.py"].counts() == {CRASHED: 3}


def test_only_the_culprit_is_lost_with_its_process(
    run_tests: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.conformance.run.BATCHES", 1)
    run = run_tests(
        test_a="def test_it(): pass\n",
        test_b=LOST.format(death="os.kill(os.getpid(), signal.SIGSEGV)"),
        test_c="import no_such_module\n",
        test_d="def test_it(): pass\ndef test_other(): assert False\n",
    )
    assert {name: dict(file.counts()) for name, file in run.files.items()} == {
        "test_a.py": {PASSED: 1},
        "test_b.py": {CRASHED: 3},
        "test_c.py": {},
        "test_d.py": {PASSED: 1, "failed": 1},
    }
    assert run.files["test_b.py"].broken == "SIGSEGV in test_dies"
    assert "no_such_module" in run.files["test_c.py"].broken


def test_a_file_that_dies_only_in_company_is_not_lost(
    run_tests: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.conformance.run.BATCHES", 1)
    run = run_tests(
        test_a="import sys\nsys.company = True\ndef test_it(): pass\n",
        test_b="import os, sys\ndef test_it(): hasattr(sys, 'company') and os._exit(3)\n",
    )
    assert run.counts() == {PASSED: 2} and not any(file.broken for file in run.files.values())


def test_batches_are_even_and_names_in_them_distinct() -> None:
    names = [f"{folder}/test_{n}.py" for folder in "ab" for n in range(20)]
    seconds = {name: float(n % 7 + 1) for n, name in enumerate(names)}
    found = batches(names, seconds.__getitem__, 4)
    assert sorted(name for batch in found for name in batch) == sorted(names)
    for batch in found:
        assert len({Path(name).name for name in batch}) == len(batch)
        assert abs(sum(map(seconds.__getitem__, batch)) - sum(seconds.values()) / 4) <= 7
    assert found == batches(names[::-1], seconds.__getitem__, 4)
    assert batches(["a/t.py", "b/t.py", "c/t.py"], lambda name: 1.0, 2) == [["a/t.py"], ["b/t.py"], ["c/t.py"]]


def test_the_time_limit_of_a_file(run_tests: Callable[..., Run]) -> None:
    settings = Settings(file_seconds=20)
    run = run_tests(settings, test_hangs=LOST.format(death="signal.setitimer(0, 0); time.sleep(100)"))
    assert run.files["test_hangs.py"].broken == "time limit of 20 s in test_dies"
    assert run.files["test_hangs.py"].counts() == {CRASHED: 3}


def test_the_time_limit_of_a_test(run_tests: Callable[..., Run]) -> None:
    settings = Settings(test_seconds=1)
    run = run_tests(settings, test_late="import time\ndef test_it(): time.sleep(30)\ndef test_next(): pass\n")
    tests = run.files["test_late.py"].tests
    assert tests["test_it"].result == "failed" and "Timeout (>1.0s)" in tests["test_it"].message
    assert tests["test_next"].result == "passed"


WARNS = """
    import warnings, pytest

    def test_nobody_records():
        assert warnings._showwarnmsg_impl.__module__ == "warnings"

    @pytest.mark.filterwarnings("error:mine:UserWarning")
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_marks():
        with pytest.raises(UserWarning):
            warnings.warn("mine")
        warnings.warn("yours")

    def test_they_hold_for_their_test():
        warnings.warn("mine")
"""


def test_under_stress_nobody_records_warnings(run_tests: Callable[..., Run]) -> None:
    stressed = run_tests(Settings(stress=True), test_warns=WARNS)
    assert stressed.files["test_warns.py"].counts() == {PASSED: 3}


def test_pytest_records_warnings_otherwise(run_tests: Callable[..., Run]) -> None:
    tests = run_tests(test_warns=WARNS).files["test_warns.py"].tests
    assert {name: test.result for name, test in tests.items()} == {
        "test_nobody_records": "failed",
        "test_marks": PASSED,
        "test_they_hold_for_their_test": PASSED,
    }


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python has no distutils")
def test_distutils_are_pythons_own(run_tests: Callable[..., Run]) -> None:
    run = run_tests(
        test_own="""
            import distutils, os

            def test_it():
                assert os.path.dirname(distutils.__file__) == os.path.join(os.path.dirname(os.__file__), "distutils")
        """
    )
    assert run.counts() == {PASSED: 1}


def test_a_file_that_cannot_be_imported(run_tests: Callable[..., Run]) -> None:
    run = run_tests(test_broken="import no_such_module\ndef test_it(): pass\n", test_good=GOOD)
    assert "No module named 'no_such_module'" in run.files["test_broken.py"].broken
    assert not run.files["test_good.py"].broken


def test_a_record_cut_short(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    events = [
        {"collected": {"f.py": 3, "g.py": 1}, "selected": ["f.py::a", "f.py::b", "g.py::a"]},
        {"begin": "f.py::a"},
        {"end": "f.py::a", "result": "passed", "seconds": 0.1, "message": "", "where": ""},
        {"begin": "f.py::b"},
    ]
    text = "\n".join(map(json.dumps, events))
    record.write_text(text + '\n{"end": "f.py::b", "res')
    found = read_record(record, ["f.py", "g.py"], -11, 60)
    assert (found.cause, found.running) == ("SIGSEGV in b", "f.py::b")
    assert not found.complete("f.py") and not found.complete("g.py")
    assert found.files["f.py"].collected == 3 and not found.files["f.py"].broken  # it may pass alone

    events[0] = {"collected": {"f.py": 3}, "selected": ["f.py::a", "f.py::b"]}
    record.write_text("\n".join(map(json.dumps, events)))
    alone = read_record(record, ["f.py"], -11, 60).files["f.py"]
    assert alone.broken == "SIGSEGV in b" and alone.counts() == {CRASHED: 2}
    assert read_record(tmp_path / "none", ["f.py"], 4, 60).files["f.py"].broken == "exit status 4 in no test"


def test_samples_partition_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PLUGIN)
    from npconform.sample import chosen

    names = [f"file.py::test[{n}]" for n in range(5000)]
    tenth = [name for name in names if chosen(name, 10, "7")]
    assert 400 < len(tenth) < 600
    assert tenth == [name for name in reversed(names) if chosen(name, 10, "7")][::-1]
    assert tenth != [name for name in names if chosen(name, 10, "8")]
    assert all(chosen(name, 1, "7") for name in names)


def test_a_sample_runs_only_its_tests(run_tests: Callable[..., Run]) -> None:
    text = "import pytest\n@pytest.mark.parametrize('n', range(40))\ndef test_it(n): pass\n"
    run = run_tests(Settings(fraction=4, seed="1"), test_many=text)
    file = run.files["test_many.py"]
    assert file.collected == 40
    assert 3 <= len(file.tests) <= 20 and file.counts() == {PASSED: len(file.tests)}


def test_the_installed_suite_is_found() -> None:
    names = all_files()
    assert len(names) > 100
    assert "numpy/_core/tests/test_multiarray.py" in names and not any("f2py" in name for name in names)
    assert select(["fft/tests/test_helper"]) == ["numpy/fft/tests/test_helper.py"]
    with pytest.raises(SystemExit, match="no test file"):
        select(["no_such_file"])


def test_results_are_read_back(tmp_path: Path) -> None:
    run = results.new_run("numpy", True, 10, "3")
    run.files["f.py"] = File(2, 1.5, "", {"a": Outcome("passed", 0.1), "b[\xe9]": Outcome("failed", 0.2, "why", "w")})
    for name in ("run.json", "run.json.gz"):
        results.save(run, tmp_path / name)
        assert results.load(tmp_path / name) == run
    assert run.python.endswith(sys.platform) and run.packages["numpy"] == run.numpy


def test_baseline_is_read_back_and_judges(tmp_path: Path) -> None:
    run = results.new_run("numpy", False, 1, "0")
    run.files["f.py"] = File(3, 1.0, "", {"a": Outcome("passed"), "b": Outcome("passed"), "c": Outcome("xfailed")})
    run.files["g.py"] = File(2, 1.0, "", {"a": Outcome("passed"), "b": Outcome("passed")})
    base = baseline.from_run(run)
    baseline.save(base, tmp_path / "baseline.json.gz")
    assert baseline.load(tmp_path / "baseline.json.gz") == base
    assert base.passed == 4 and baseline.judge(run, base).missed == 0

    other = results.new_run("other", False, 1, "0")
    other.files["f.py"] = File(2, 1.0, "", {"a": Outcome("skipped"), "c": Outcome("failed")})
    other.files["g.py"] = File(2, 1.0, "SIGSEGV in a", {"a": Outcome(CRASHED), "b": Outcome(CRASHED)})
    verdict = baseline.judge(other, base)
    assert set(verdict.failing) == {"f.py::a"}
    assert verdict.lost == {"f.py": (1, "not collected"), "g.py": (2, "SIGSEGV in a")}
    assert (verdict.expected, verdict.missed) == (4, 4)


def test_no_baseline_for_this_numpy() -> None:
    with pytest.raises(SystemExit, match=r"no baseline for numpy 1\.0\.0"):
        baseline.find("1.0.0")
