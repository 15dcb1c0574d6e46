"""The checked-in list of tests that do not pass yet.  It may only shrink.

One entry a line, sorted, three columns separated by tabs: test id, condition, reason.  An entry for ``file::*`` stands
for so many tests of a file that breaks as a whole, or that are not collected.  A condition, such as ``stress`` or
``2.3``, names the only kind of run an entry holds for: TNP_STRESS=1, a NumPy other than the newest one with a baseline.
An entry whose reason begins with ``flaky`` is neither missed when it passes nor removed by an update.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .baseline import Verdict, recorded
from .results import PASSED, Outcome, Run, minor

PATH = Path(__file__).parent / "failures.txt"
HEADER = (
    "# NumPy's tests that pass on NumPy and not yet on tnp.  May only shrink: python -m tests.conformance update\n"
    "# test id <tab> condition <tab> reason\n"
)
_COUNT = re.compile(r"(\d+) tests?\b")


@dataclass(frozen=True)
class Entry:
    """One line of the list."""

    name: str
    condition: str = ""
    reason: str = ""

    @property
    def whole_file(self) -> bool:
        """Whether it stands for tests of a file that are lost together."""
        return self.name.endswith("::*")

    @property
    def weight(self) -> int:
        """How many tests it stands for."""
        count = _COUNT.match(self.reason) if self.whole_file else None
        return int(count.group(1)) if count else 1

    def holds(self, condition: str) -> bool:
        """Whether it holds for a run under `condition`."""
        return set(self.condition.split()) <= set(condition.split())


def condition_of(run: Run) -> str:
    """The condition under which entries for this run are kept ("" for an ordinary run)."""
    versions = recorded()
    newest = not versions or run.minor == minor(versions[-1])
    return " ".join(filter(None, ("" if newest else run.minor, "stress" if run.stress else "")))


def read(path: Path = PATH) -> list[Entry]:
    """The entries of the list; none if there is no list."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    entries = []
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 3:
            raise SystemExit(f"{path.name}:{number}: expected 3 columns separated by tabs, got {len(columns)}")
        entries.append(Entry(*columns))
    return entries


def write(entries: Iterable[Entry], path: Path = PATH) -> None:
    """Write the list, sorted."""
    ordered = sorted(set(entries), key=lambda entry: (entry.name, entry.condition))
    lines = (f"{entry.name}\t{entry.condition}\t{entry.reason}\n" for entry in ordered)
    path.write_text(HEADER + "".join(lines), encoding="utf-8")


@dataclass
class Comparison:
    """A run's failures beside the list."""

    new: dict[str, str] = field(default_factory=dict)  # test id or file::* -> what happened
    passing: list[Entry] = field(default_factory=list)  # listed, and pass now
    listed: int = 0  # failures that the list knows


def compare(run: Run, verdict: Verdict, entries: Iterable[Entry]) -> Comparison:
    """Which failures are not listed, and which listed ones pass."""
    condition = condition_of(run)
    valid = [entry for entry in entries if entry.holds(condition)]
    by_name = {entry.name: entry for entry in valid}
    result = Comparison()
    for name, test in verdict.failing.items():
        if name in by_name or name.partition("::")[0] + "::*" in by_name:
            result.listed += 1
        else:
            result.new[name] = f"{test.result}: {test.message}"
    for path, (count, why) in verdict.lost.items():
        known = sum(entry.weight for entry in valid if entry.name == f"{path}::*" or entry.name.startswith(f"{path}::"))
        if count <= known:
            result.listed += count
        else:
            result.new[f"{path}::*"] = f"{count} tests lost ({known} listed): {why}"
    ran = dict(run.tests())
    result.passing = [entry for entry in valid if _passes(entry, run, ran, verdict) and not _flaky(entry)]
    return result


def _flaky(entry: Entry) -> bool:
    return entry.reason.startswith("flaky")


def _passes(entry: Entry, run: Run, ran: dict[str, Outcome], verdict: Verdict) -> bool:
    path = entry.name.partition("::")[0]
    if path not in run.files:
        return False
    if entry.whole_file:
        return path not in verdict.lost
    return entry.name in ran and ran[entry.name].result == PASSED


def updated(run: Run, verdict: Verdict, entries: Iterable[Entry], reason: Callable[[str, Outcome], str]) -> list[Entry]:
    """The list as this run would have it: only entries of what ran, under this run's condition, change."""
    condition = condition_of(run)
    entries = list(entries)
    ran = dict(run.tests())
    known = {entry.name: entry for entry in entries if entry.holds(condition)}

    def outdated(entry: Entry) -> bool:
        path = entry.name.partition("::")[0]
        if entry.condition != condition or _flaky(entry) or path not in run.files:
            return False
        if entry.whole_file or path in verdict.lost:
            return True  # written again below, if it still holds
        complete = run.fraction == 1 and not run.files[path].broken
        return entry.name not in verdict.failing and (complete or entry.name in ran)

    kept = [entry for entry in entries if not outdated(entry)]
    names = {entry.name for entry in kept if entry.holds(condition)}
    for name, test in verdict.failing.items():
        if name not in names:
            kept.append(known.get(name) or Entry(name, condition, reason(name, test)))
    for path, (count, why) in verdict.lost.items():
        kept.append(Entry(f"{path}::*", condition, f"{count} tests: {why}"))
    return kept
