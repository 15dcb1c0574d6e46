"""Runs NumPy's test files, one process each, and gathers what they recorded."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from .results import CRASHED, File, Outcome, Run, new_run

PLUGIN = Path(__file__).parent / "plugin"
# Folders whose tests build extensions or call type checkers; no array of a Python program passes through them.
TOOLS = ("numpy/f2py/", "numpy/distutils/", "numpy/typing/", "numpy/_pyinstaller/")
# The same on every machine, so that the same tests are skipped for want of memory.
AVAILABLE_MEMORY = "4 GB"
# Where tnp counts the kernels it made and launched, and the groups that ran without one.
ENGINE = "bind.backend.stats"
_NO_TEST = "no test"


@dataclass(frozen=True)
class Settings:
    """How to run: what, under which conditions, and how long at most."""

    module: str = "tnp"
    stress: bool = False
    fraction: int = 1
    seed: str = "0"
    jobs: int = 2
    test_seconds: int = 60
    file_seconds: int = 900
    environment: tuple[tuple[str, str], ...] = ()


def numpy_home() -> Path:
    """The folder that holds the installed `numpy` folder."""
    spec = importlib.util.find_spec("numpy")
    if spec is None or spec.origin is None:
        raise SystemExit("conformance: numpy is not installed")
    return Path(spec.origin).parent.parent


def all_files() -> list[str]:
    """Every test file of the installed NumPy, as `numpy/…/test_x.py`."""
    home = numpy_home()
    found = (path.relative_to(home).as_posix() for path in home.glob("numpy/**/tests/test_*.py"))
    return sorted(name for name in found if not name.startswith(TOOLS))


def select(patterns: Sequence[str]) -> list[str]:
    """The test files whose path contains one of the patterns; all of them without a pattern."""
    every = all_files()
    for pattern in patterns:
        if not any(pattern in name for name in every):
            raise SystemExit(f"conformance: no test file of NumPy matches {pattern!r}")
    return [name for name in every if not patterns or any(pattern in name for pattern in patterns)]


def environment(settings: Settings, folder: Path) -> dict[str, str]:
    """The child's environment: the plugin and the substitute can be imported, temporary files stay in `folder`."""
    spec = importlib.util.find_spec(settings.module)
    if spec is None or spec.origin is None:
        raise SystemExit(f"conformance: no module named {settings.module!r}")
    depth = settings.module.count(".") + (Path(spec.origin).name == "__init__.py")
    home = Path(spec.origin).parents[depth]
    paths = [str(PLUGIN), str(home), os.environ.get("PYTHONPATH", "")]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "NPY_AVAILABLE_MEM": AVAILABLE_MEMORY,
        "TMPDIR": str(folder),
        "NPCONFORM_MODULE": settings.module,
        "NPCONFORM_RECORD": str(folder / "record.jsonl"),
        "NPCONFORM_FRACTION": str(settings.fraction),
        "NPCONFORM_SEED": settings.seed,
        "NPCONFORM_ENGINE": ENGINE,
        "TNP_STRESS": "1" if settings.stress else "0",
        **dict(settings.environment),
    }


def command(path: Path, settings: Settings, root: Path) -> list[str]:
    """The child's command line; node ids are relative to `root`."""
    # a recorder of warnings keeps operations from being pending: under stress the plugin sets the filters (filters.py)
    recorder = ("-p", "no:warnings") if settings.stress else ()
    return [
        *(sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={root}"),
        *recorder,
        *("-p", "npconform", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=native", "--no-header", "--no-summary"),
        *("--continue-on-collection-errors", "-m", "not slow", f"--timeout={settings.test_seconds}", str(path)),
    ]


def run_file(path: Path, settings: Settings, root: Path) -> File:
    """Run one test file in a process and an empty folder of its own."""
    with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        work = folder / "work"
        work.mkdir()
        began = time.monotonic()
        with open(folder / "output", "wb") as output:
            child = subprocess.Popen(
                command(path, settings, root),
                cwd=work,
                env=environment(settings, folder),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status: int | None = child.wait(settings.file_seconds)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                _end(child)
        file = read_record(folder / "record.jsonl", status, settings.file_seconds)
        if file.broken.endswith(_NO_TEST):  # it died while starting: what it said then tells why
            file.broken += "\n" + (folder / "output").read_text(errors="replace")[-800:]
        file.seconds = round(time.monotonic() - began, 2)
        return file


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Kill what is left of a child and of the processes it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def read_record(record: Path, status: int | None, limit: float) -> File:
    """A file's outcomes from its record and the exit status of its process (None: it ran into the time limit).

    A process that ended by itself, in pytest's own way, has recorded every test.  Otherwise the file is lost, and every
    test of it counts as crashed.
    """
    file, selected, running = File(), [], ""
    for line in record.read_text(encoding="utf-8").splitlines() if record.exists() else ():
        try:
            event = json.loads(line)
        except ValueError:
            break  # the line that was being written when the process died
        if "collected" in event:
            file.collected = event["collected"]
            selected = [nodeid.partition("::")[2] for nodeid in event["selected"]]
        elif "broken" in event:
            file.broken = event["broken"]
        elif "engine" in event:
            file.engine = event["engine"]
        elif "begin" in event:
            running = event["begin"].partition("::")[2]
        else:
            name = event.pop("end").partition("::")[2]
            file.tests[name] = Outcome(**event)
            running = ""
    if status not in (0, 1, 2, 5):  # pytest's codes: fine, failures, errors of collection, nothing selected
        file.broken = f"{_cause(status, limit)} in {running or _NO_TEST}"
    elif len(file.tests) < len(selected):
        file.broken = f"ended early, status {status}, in {running or _NO_TEST}"
    if file.broken:
        file.tests = {name: Outcome(CRASHED, message=file.broken) for name in selected}
    return file


def _cause(status: int | None, limit: float) -> str:
    if status is None:
        return f"time limit of {limit:g} s"
    if status < 0:
        return signal.Signals(-status).name
    return f"exit status {status}"


def run_all(
    files: Sequence[str],
    settings: Settings,
    *,
    root: Path | None = None,
    expected_seconds: dict[str, float] | None = None,
    report: Callable[[int, int, str, File], None] = lambda done, total, name, file: None,
) -> Run:
    """Run `files` (relative to `root`), several side by side; the longest go first, so that none is waited for."""
    root = root or numpy_home()
    run = new_run(settings.module, settings.stress, settings.fraction, settings.seed)
    expected = expected_seconds or {}
    order = sorted(files, key=lambda name: (-expected.get(name, (root / name).stat().st_size / 1e4), name))
    began = time.monotonic()
    with ThreadPoolExecutor(settings.jobs) as pool:
        pending = {pool.submit(run_file, root / name, settings, root): name for name in order}
        for done, future in enumerate(as_completed(pending), 1):
            name = pending[future]
            run.files[name] = future.result()
            report(done, len(order), name, run.files[name])
    run.files = dict(sorted(run.files.items()))
    run.seconds = round(time.monotonic() - began, 1)
    return run
