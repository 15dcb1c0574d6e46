"""Which of NumPy's tests pass on NumPy itself, and what a run against another module amounts to beside that.

A baseline belongs to one NumPy version.  It stays small: counts by file, and the few tests that do not pass.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from .results import PASSED, Outcome, Run, minor, read_json, write_json

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class FileCounts:
    """What NumPy itself makes of one file."""

    collected: int
    passed: int
    seconds: float


@dataclass
class Baseline:
    """NumPy's tests under NumPy itself."""

    numpy: str
    date: str
    cpu: str
    python: str
    files: dict[str, FileCounts]
    not_passing: dict[str, str]  # test id -> how it ended

    @property
    def passed(self) -> int:
        """How many tests pass on NumPy itself."""
        return sum(file.passed for file in self.files.values())


def path_of(version: str) -> Path:
    """Where the baseline of a NumPy version is kept."""
    return FOLDER / f"baseline-{version}.json.gz"


def from_run(run: Run) -> Baseline:
    """The baseline that an identity run shows."""
    files = {
        name: FileCounts(file.collected, file.counts()[PASSED], round(file.seconds, 1))
        for name, file in run.files.items()
    }
    not_passing = {name: test.result for name, test in run.tests() if test.result != PASSED}
    return Baseline(run.numpy, run.date, run.cpu, run.python, files, not_passing)


def save(baseline: Baseline, path: Path) -> None:
    """Write a baseline; ids are grouped by how the tests ended, which keeps it small."""
    groups: dict[str, list[str]] = {}
    for name, result in sorted(baseline.not_passing.items()):
        groups.setdefault(result, []).append(name)
    files = {name: [file.collected, file.passed, file.seconds] for name, file in baseline.files.items()}
    write_json({**vars(baseline), "files": files, "not_passing": groups}, path)


def load(path: Path) -> Baseline:
    """Read a baseline back."""
    raw = read_json(path)
    files = {name: FileCounts(*counts) for name, counts in raw.pop("files").items()}
    not_passing = {name: result for result, names in raw.pop("not_passing").items() for name in names}
    return Baseline(**raw, files=files, not_passing=not_passing)


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def recorded() -> list[str]:
    """The NumPy versions a baseline is recorded of, oldest first."""
    found = (path.name.removeprefix("baseline-").removesuffix(".json.gz") for path in FOLDER.glob("baseline-*.json.gz"))
    return sorted(found, key=_order)


def find(version: str) -> Baseline:
    """The baseline for a NumPy version: its own, else the newest of the same minor version."""
    versions = recorded()
    if version in versions:
        return load(path_of(version))
    near = [known for known in versions if minor(known) == minor(version)]
    if not near:
        raise SystemExit(
            f"conformance: no baseline for numpy {version}\n"
            f"  got:      baselines of {', '.join(versions) or 'no version'}\n"
            f"  hint:     python -m tests.conformance baseline"
        )
    return load(path_of(near[-1]))


@dataclass
class Verdict:
    """A run beside the baseline: of the tests that pass on NumPy, which do not pass."""

    ran: int = 0  # tests that pass on NumPy, in files that are not lost
    failing: dict[str, Outcome] = field(default_factory=dict)
    lost: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Files of which tests were not collected, or which broke as a whole: how many tests of NumPy's, and why."""
    fraction: int = 1  # of a sample, lost files count as much as their tests would

    @property
    def _lost(self) -> int:
        return round(sum(count for count, _ in self.lost.values()) / self.fraction)

    @property
    def expected(self) -> int:
        """How many tests of the run pass on NumPy."""
        return self.ran + self._lost

    @property
    def missed(self) -> int:
        """How many tests that pass on NumPy do not pass."""
        return len(self.failing) + self._lost

    @property
    def share(self) -> float:
        """The share of the baseline that passes."""
        return 1.0 - self.missed / self.expected if self.expected else 1.0


def judge(run: Run, baseline: Baseline) -> Verdict:
    """Compare a run, whole or sampled, with the baseline of its NumPy version."""
    verdict = Verdict(fraction=run.fraction)
    for path, file in run.files.items():
        counts = baseline.files.get(path, FileCounts(file.collected, 0, 0.0))
        if file.broken:
            verdict.lost[path] = counts.passed, file.broken.strip().splitlines()[-1]
            continue
        for name, test in file.tests.items():
            whole = f"{path}::{name}"
            if whole in baseline.not_passing:
                continue
            verdict.ran += 1
            if test.result != PASSED:
                verdict.failing[whole] = test
        absent = counts.collected - file.collected
        if absent > 0:
            verdict.lost[path] = absent, "not collected"
    verdict.lost = {path: value for path, value in verdict.lost.items() if value[0]}
    return verdict
