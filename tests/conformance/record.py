"""Reads what the process of some test files recorded, and says which of them are lost if it did not end well."""

import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .results import CRASHED, File, Outcome

NO_TEST = "no test"
FINE = (0, 1, 2, 5)  # pytest's exit codes: fine, failures, errors of collection, nothing selected


@dataclass
class Record:
    """What one process made of its files."""

    files: dict[str, File]
    selected: dict[str, list[str]]  # the tests each file was to run
    running: str = ""  # the test that had begun and not ended
    cause: str = ""  # why tests are missing, "" if none is
    engine: dict[str, int] = field(default_factory=dict)

    def complete(self, name: str) -> bool:
        """Whether every test of a file has ended."""
        file = self.files[name]
        return len(file.tests) == len(self.selected[name]) and bool(file.collected or file.broken)

    def lose(self, more: str = "") -> None:
        """Count every test of every file as crashed."""
        for name, file in self.files.items():
            file.broken = self.cause + more
            file.tests = {test: Outcome(CRASHED, message=file.broken) for test in self.selected[name]}


def read_record(record: Path, names: Sequence[str], status: int | None, limit: float) -> Record:
    """Outcomes from a record and the exit status of its process (None: it ran into the time limit).

    A process that ended by itself, in pytest's own way, has recorded every test. Otherwise some tests are missing, and
    a process of one file has lost all of that file's.
    """
    found = Record({name: File() for name in names}, {name: [] for name in names})
    for line in record.read_text(encoding="utf-8").splitlines() if record.exists() else ():
        try:
            event = json.loads(line)
        except ValueError:
            break  # the line that was being written when the process died
        _read(event, found)
    if status not in FINE:
        found.cause = f"{_reason(status, limit)} in {found.running.partition('::')[2] or NO_TEST}"
    elif any(len(found.files[name].tests) < len(tests) for name, tests in found.selected.items()):
        found.cause = f"ended early, status {status}, in {found.running.partition('::')[2] or NO_TEST}"
    if len(names) == 1 and found.cause:
        found.lose()
    found.files[names[0]].engine = found.engine  # the counters are the process's
    return found


def _read(event: dict[str, Any], found: Record) -> None:
    if "collected" in event:
        for name, count in event["collected"].items():
            found.files[name].collected = count
        for nodeid in event["selected"]:
            name, _, test = nodeid.partition("::")
            found.selected[name].append(test)
    elif "broken" in event:
        for name in found.files:  # a class that cannot be collected loses its file, a folder all files below it
            if name.startswith(event["broken"].partition("::")[0]):
                found.files[name].broken = event["message"]
    elif "engine" in event:
        found.engine = event["engine"]
    elif "begin" in event:
        found.running = event["begin"]
    else:
        name, _, test = event.pop("end").partition("::")
        found.files[name].tests[test] = Outcome(**event)
        file = found.files[name]
        file.seconds = round(file.seconds + event["seconds"], 2)
        found.running = ""


def _reason(status: int | None, limit: float) -> str:
    if status is None:
        return f"time limit of {limit:g} s"
    if status < 0:
        return signal.Signals(-status).name
    return f"exit status {status}"
