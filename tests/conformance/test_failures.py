"""The list of failures may only shrink."""

from pathlib import Path

import pytest

from . import baseline, failures, results
from .__main__ import main
from .baseline import Baseline, FileCounts, judge
from .classify import category, report, signature
from .failures import Entry
from .results import CRASHED, File, Outcome, Run


@pytest.fixture(autouse=True)
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Baseline:
    """A baseline of two files with three tests each, in place of the recorded ones."""
    base = Baseline("9.9.0", "", "", "", {"f.py": FileCounts(3, 3, 1.0), "g.py": FileCounts(3, 3, 1.0)}, {})
    monkeypatch.setattr(baseline, "FOLDER", tmp_path)
    baseline.save(base, tmp_path / "baseline-9.9.0.json.gz")
    return base


def a_run(f: str = "ppp", g: str = "ppp", *, stress: bool = False, numpy: str = "9.9.0", fraction: int = 1) -> Run:
    """A run by letters: passed, failed, crashed (the file is lost), - (not in the sample)."""
    run = Run("tnp", numpy, stress=stress, fraction=fraction)
    kinds = {"p": "passed", "f": "failed", "c": CRASHED}
    for path, letters in (("f.py", f), ("g.py", g)):
        tests = {f"t{n}": Outcome(kinds[letter]) for n, letter in enumerate(letters) if letter != "-"}
        run.files[path] = File(3, 1.0, "SIGSEGV in t0" if "c" in letters else "", tests)
    return run


def command(name: str, run: Run, folder: Path, *options: str) -> int:
    results.save(run, folder / "run.json")
    return main([name, str(folder / "run.json"), "--list", str(folder / "list.txt"), *options])


def listed(folder: Path) -> list[str]:
    return [f"{entry.name} {entry.condition}".strip() for entry in failures.read(folder / "list.txt")]


def test_check_wants_every_failure_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("check", a_run(), tmp_path) == 0
    assert command("check", a_run("pfp"), tmp_path) == 1
    assert "f.py::t1" in capsys.readouterr().out
    failures.write([Entry("f.py::t1", "", "values")], tmp_path / "list.txt")
    assert command("check", a_run("pfp"), tmp_path) == 0
    assert command("check", a_run("pff"), tmp_path) == 1


def test_check_tells_what_passes_now(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failures.write([Entry("f.py::t1"), Entry("f.py::t2", "", "flaky: time")], tmp_path / "list.txt")
    assert command("check", a_run(), tmp_path) == 0
    out = capsys.readouterr().out
    assert "1 listed tests pass now" in out and "f.py::t1" in out and "f.py::t2" not in out


def test_update_shrinks_and_refuses_to_grow(tmp_path: Path) -> None:
    failures.write([Entry("f.py::t0"), Entry("f.py::t1", "", "by hand"), Entry("g.py::t0")], tmp_path / "list.txt")
    assert command("update", a_run("pfp", "fpf"), tmp_path) == 1
    assert listed(tmp_path) == ["f.py::t0", "f.py::t1", "g.py::t0"]
    assert command("update", a_run("pfp", "fpp"), tmp_path) == 0
    assert listed(tmp_path) == ["f.py::t1", "g.py::t0"]
    assert failures.read(tmp_path / "list.txt")[0].reason == "by hand"
    assert command("update", a_run("pfp", "fpf"), tmp_path, "--grow") == 0
    assert listed(tmp_path) == ["f.py::t1", "g.py::t0", "g.py::t2"]


def test_update_leaves_what_did_not_run(tmp_path: Path) -> None:
    failures.write([Entry("f.py::t0"), Entry("f.py::t1"), Entry("g.py::t0"), Entry("h.py::t0")], tmp_path / "list.txt")
    assert command("update", a_run("p--", "--p", fraction=3), tmp_path) == 0
    assert listed(tmp_path) == ["f.py::t1", "g.py::t0", "h.py::t0"]


def test_update_drops_tests_that_are_gone(tmp_path: Path) -> None:
    failures.write([Entry("f.py::renamed")], tmp_path / "list.txt")
    assert command("update", a_run(), tmp_path) == 0
    assert listed(tmp_path) == []


def test_a_crash_weighs_as_much_as_its_file(tmp_path: Path) -> None:
    failures.write([Entry("f.py::t0"), Entry("f.py::t1")], tmp_path / "list.txt")
    assert command("check", a_run("ccc"), tmp_path) == 1
    assert command("update", a_run("ccc"), tmp_path, "--grow") == 0
    assert failures.read(tmp_path / "list.txt") == [Entry("f.py::*", "", "3 tests: SIGSEGV in t0")]
    assert command("check", a_run("ccc"), tmp_path) == 0
    assert command("check", a_run("ppf"), tmp_path) == 0  # fewer fail than before
    assert command("check", a_run("ccc", "pfp"), tmp_path) == 1
    assert command("update", a_run("ppf"), tmp_path) == 0
    assert listed(tmp_path) == ["f.py::t2"]


def test_tests_that_are_not_collected_count(tmp_path: Path) -> None:
    run = a_run("pp")
    run.files["f.py"].collected = 2
    assert command("check", run, tmp_path) == 1
    assert command("update", run, tmp_path, "--grow") == 0
    assert listed(tmp_path) == ["f.py::*"]
    assert command("update", a_run(), tmp_path) == 0
    assert listed(tmp_path) == []


def test_stress_and_other_versions_have_their_own_entries(tmp_path: Path, base: Baseline) -> None:
    baseline.save(base, tmp_path / "baseline-9.8.0.json.gz")
    failures.write([Entry("f.py::t0")], tmp_path / "list.txt")
    stress = a_run("fff", stress=True)
    assert command("check", stress, tmp_path) == 1
    assert command("update", stress, tmp_path, "--grow") == 0
    assert command("update", a_run("fpp", "fpp", numpy="9.8.0"), tmp_path, "--grow") == 0
    assert listed(tmp_path) == ["f.py::t0", "f.py::t1 stress", "f.py::t2 stress", "g.py::t0 9.8"]
    assert command("check", a_run("ffp"), tmp_path) == 1
    assert command("check", stress, tmp_path) == 0
    assert command("update", a_run("ppp", stress=True), tmp_path) == 0
    assert listed(tmp_path) == ["f.py::t0", "g.py::t0 9.8"]


def test_a_malformed_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("f.py::t0 without tabs\n")
    with pytest.raises(SystemExit, match=r"list\.txt:1: expected 3 columns"):
        failures.read(tmp_path / "list.txt")


def test_the_checked_in_list_is_sorted() -> None:
    entries = failures.read()
    assert entries == sorted(entries, key=lambda entry: (entry.name, entry.condition))
    assert len({(entry.name, entry.condition) for entry in entries}) == len(entries)


def test_failures_are_grouped_by_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run("fff", "ccc")
    for n, test in enumerate(run.files["f.py"].tests.values()):
        test.message, test.where = f"TypeError: Cannot convert 'x{n}' to numpy.ndarray", "ndarray.py:3 go"
    results.save(run, tmp_path / "run.json")
    assert main(["classify", str(tmp_path / "run.json")]) == 0
    out = capsys.readouterr().out
    assert "3 tests fail; 3 more are lost" in out and "3 lost  g.py: SIGSEGV in t0" in out
    assert "TypeError: Cannot convert … to numpy.ndarray  @ ndarray.py:3 go" in out


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Failed: Timeout (>60.0s) from pytest-timeout.", "time limit of the test"),
        ("NotImplementedError: npconform: missing name absolute", "missing name"),
        ("Failed: DID NOT RAISE <class 'ValueError'>", "exceptions: none, or another"),
        ("Failed: DID NOT WARN. No warnings of type", "warnings: none, or too many"),
        ("AssertionError: assert 3 == 4", "values"),
        ("KeyError: 3", "other"),
    ],
)
def test_causes(message: str, expected: str) -> None:
    assert category("f.py::t", Outcome("failed", message=message)) == expected


def test_signature_leaves_out_what_varies() -> None:
    first, second = (Outcome("failed", message=f"E: got {n} at 0x{n}abc\nmore", where="a.py:1 f") for n in (1, 2))
    assert signature(first) == signature(second) == "E: got … at …  @ a.py:1 f"


def test_judging_needs_only_what_ran(base: Baseline) -> None:
    run = a_run("pf-", "---", fraction=3)
    verdict = judge(run, base)
    assert (verdict.expected, verdict.missed) == (2, 1)
    assert "1 tests fail" in report(verdict.failing, verdict.lost)
