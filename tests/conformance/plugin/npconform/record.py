"""Records outcomes as they happen, so that a crash loses nothing but what was running.

One JSON object a line:

    {"collected": {file: N}, "selected": [node ids]}    before the first test
    {"broken": file, "message": …}                  a file that could not be imported
    {"begin": node id}
    {"engine": {counter: number}}                   what the substitute's engine did, at the end
    {"end": node id, "result": …, "seconds": …, "message": …, "where": …}
"""

import json
import os
import re
from collections.abc import Generator, Sequence
from types import ModuleType, TracebackType
from typing import Any

import pytest

from .names import walk

LONGEST_MESSAGE = 400
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


def stable(nodeid: str) -> str:
    """A node id without addresses, which change from run to run, and in one line of ASCII."""
    return _ADDRESS.sub("0x", nodeid).encode("unicode_escape").decode("ascii")


def deepest(traceback: TracebackType | None, folders: Sequence[str]) -> str:
    """`file:line function` of the deepest frame inside `folders`, or "" if there is none."""
    where = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        for folder in folders:
            if code.co_filename.startswith(folder):
                where = f"{code.co_filename[len(folder) :]}:{traceback.tb_lineno} {code.co_name}"
        traceback = traceback.tb_next
    return where


def engine_counters(substitute: ModuleType, path: str) -> dict[str, int]:
    """The whole numbers among the attributes of the object at `path` in the substitute; none if it is not there."""
    try:
        stats = walk(substitute, path)
    except AttributeError:
        return {}
    values = {name: getattr(stats, name) for name in dir(stats) if not name.startswith("_")}
    return {name: value for name, value in values.items() if type(value) is int}


class Recorder:
    """Writes one file's record."""

    def __init__(self, target: str, substitute: ModuleType) -> None:
        self._file = open(target, "w", encoding="utf-8", buffering=1)  # noqa: SIM115  open as long as the run
        # compiled modules name their sources relative to where they were built
        self._folders = (os.path.dirname(substitute.__file__ or "") + os.sep, substitute.__name__ + os.sep)
        self._substitute = substitute
        self._test: dict[str, Any] = {}

    def _write(self, **event: Any) -> None:
        self._file.write(json.dumps(event) + "\n")

    def collected(self, found: dict[str, int], selected: list[str]) -> None:
        """Note how many tests each file has, and which are to run."""
        self._write(collected=found, selected=[stable(nodeid) for nodeid in selected])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported, or is skipped as a whole."""
        if report.failed:
            self._write(broken=report.nodeid, message=str(report.longrepr)[-3 * LONGEST_MESSAGE :])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self._test = {"end": stable(nodeid), "result": "passed", "seconds": 0.0, "message": "", "where": ""}
        self._write(begin=stable(nodeid))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Set-up, call and tear-down each report; the worst counts."""
        report = yield
        test = self._test
        test["seconds"] = round(test["seconds"] + report.duration, 4)
        if hasattr(report, "wasxfail"):
            test.update(result="xfailed" if report.skipped else "xpassed", message=str(report.wasxfail))
        elif report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            test.update(result="skipped", message=reason[:LONGEST_MESSAGE])
        elif report.failed:
            test["result"] = "failed" if report.when == "call" else "error"
            if call.excinfo is not None:
                text = f"{call.excinfo.typename}: {call.excinfo.value}"
                test["message"] = text[:LONGEST_MESSAGE]
                test_folder = os.path.dirname(str(item.path)) + os.sep
                # an assertion is the test's verdict, though numpy.testing may have passed through the substitute
                judged = isinstance(call.excinfo.value, AssertionError)
                inside = "" if judged else deepest(call.excinfo.tb, self._folders)
                test["where"] = inside or deepest(call.excinfo.tb, [test_folder])
            else:
                test["message"] = str(report.longrepr)[:LONGEST_MESSAGE]
        return report

    def pytest_runtest_logfinish(self) -> None:
        """A test has ended."""
        self._write(**self._test)

    def pytest_sessionfinish(self) -> None:
        """The last test has ended."""
        if "NPCONFORM_ENGINE" in os.environ:
            self._write(engine=engine_counters(self._substitute, os.environ["NPCONFORM_ENGINE"]))
