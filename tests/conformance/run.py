"""Runs NumPy's test files, a few processes for all of them, and gathers what they recorded."""

import contextlib
import importlib.util
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

from .record import NO_TEST, Record, read_record
from .results import File, Run, new_run

PLUGIN = Path(__file__).parent / "plugin"
# Folders whose tests build extensions or call type checkers; no array of a Python program passes through them.
TOOLS = ("numpy/f2py/", "numpy/distutils/", "numpy/typing/", "numpy/_pyinstaller/")
# The same on every machine, so that the same tests are skipped for want of memory.
AVAILABLE_MEMORY = "4 GB"
# Where tnp counts the kernels it made and launched, and the groups that ran without one.
ENGINE = "content.backend.stats"
BATCHES = 8  # processes of a whole run
# Python's own, where it has one: in its place new versions of setuptools put one without modules that NumPy 2.3 imports
DISTUTILS = {"SETUPTOOLS_USE_DISTUTILS": "stdlib"} if sys.version_info < (3, 12) else {}


@dataclass(frozen=True)
class Settings:
    """How to run: what, under which conditions, and how long at most."""

    module: str = "tnp"
    stress: bool = False
    fraction: int = 1
    seed: str = "0"
    jobs: int = 2
    test_seconds: int = 120  # on two busy cores one of the fuzzing tests takes more than 60
    file_seconds: int = 300
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
        **DISTUTILS,
        "TMPDIR": str(folder),
        "NPCONFORM_MODULE": settings.module,
        "NPCONFORM_RECORD": str(folder / "record.jsonl"),
        "NPCONFORM_FRACTION": str(settings.fraction),
        "NPCONFORM_SEED": settings.seed,
        "NPCONFORM_ENGINE": ENGINE,
        "TNP_STRESS": "1" if settings.stress else "0",
        **dict(settings.environment),
    }


def command(paths: Sequence[Path], settings: Settings, root: Path) -> list[str]:
    """The child's command line; node ids are relative to `root`."""
    # a recorder of warnings keeps operations from being pending: under stress the plugin sets the filters (filters.py)
    recorder = ("-p", "no:warnings") if settings.stress else ()
    return [
        *(sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={root}"),
        *recorder,
        *("-p", "npconform", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=native", "--no-header", "--no-summary"),
        *("--continue-on-collection-errors", "-m", "not slow", f"--timeout={settings.test_seconds}"),
        *map(str, paths),
    ]


def run_files(names: Sequence[str], settings: Settings, root: Path) -> dict[str, File]:
    """Run test files in one process; those it does not reach because one of them ends it are run again without that.

    The one that ended the process is run once more alone, so that it is lost only if it is to blame.
    """
    files: dict[str, File] = {}
    groups = [list(names)]
    while groups:
        group = groups.pop()
        record = run_process(group, settings, root)
        if len(group) == 1 or not record.cause:
            files |= record.files
            continue
        culprit = record.running.partition("::")[0]
        done = [name for name in group if culprit and name != culprit and record.complete(name)]
        files |= {name: record.files[name] for name in done}
        rest = [name for name in group if name not in done]
        if culprit:
            groups += [[name for name in rest if name != culprit], [culprit]]
        else:
            groups += [[name] for name in rest]
        groups = [group for group in groups if group]
    return files


def run_process(names: Sequence[str], settings: Settings, root: Path) -> Record:
    """Run test files in a process and an empty folder of its own."""
    with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        work, record = folder / "work", folder / "record.jsonl"
        work.mkdir()
        record.touch()
        began = time.monotonic()
        with open(folder / "output", "wb") as output:
            child = subprocess.Popen(
                command([root / name for name in names], settings, root),
                cwd=work,
                env=environment(settings, folder),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = _wait(child, record, settings.file_seconds)
            finally:
                _end(child)
        found = read_record(record, names, status, settings.file_seconds)
        if found.cause.endswith(NO_TEST):  # it died while starting: what it said then tells why
            found.lose("\n" + (folder / "output").read_text(errors="replace")[-800:])
        if len(names) == 1:
            found.files[names[0]].seconds = round(time.monotonic() - began, 2)
        return found


def _wait(child: "subprocess.Popen[bytes]", record: Path, limit: float) -> int | None:
    """The exit status of a child; None if no test began or ended for `limit` seconds."""
    while True:
        size, deadline = record.stat().st_size, time.monotonic() + limit
        while record.stat().st_size == size:
            try:
                return child.wait(0.5)
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    return None


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Kill what is left of a child and of the processes it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def batches(files: Sequence[str], seconds: Callable[[str], float], count: int) -> list[list[str]]:
    """Files that share a process: few processes, since starting one costs more than most files' tests.

    Each batch is expected to take about as long as the others. Files of one name are never together: NumPy's tests
    folders are not packages, so they would be one module.
    """
    found: list[list[str]] = [[] for _ in range(min(count, len(files)))]
    for name in sorted(files, key=lambda name: (-seconds(name), name)):
        base = Path(name).name
        free = [batch for batch in found if base not in (Path(other).name for other in batch)]
        if free:
            min(free, key=lambda batch: sum(map(seconds, batch))).append(name)
        else:
            found.append([name])
    return found


def run_all(
    files: Sequence[str],
    settings: Settings,
    *,
    root: Path | None = None,
    expected_seconds: dict[str, float] | None = None,
    report: Callable[[int, int, str, File], None] = lambda done, total, name, file: None,
) -> Run:
    """Run `files` (relative to `root`), several side by side."""
    root = root or numpy_home()
    run = new_run(settings.module, settings.stress, settings.fraction, settings.seed)
    expected = expected_seconds or {}
    shared = batches(files, lambda name: expected.get(name) or (root / name).stat().st_size / 1e4, BATCHES)
    began = time.monotonic()
    with ThreadPoolExecutor(settings.jobs) as pool:
        for future in as_completed([pool.submit(run_files, names, settings, root) for names in shared]):
            for name, file in future.result().items():
                run.files[name] = file
                report(len(run.files), len(files), name, file)
    run.files = dict(sorted(run.files.items()))
    run.seconds = round(time.monotonic() - began, 1)
    return run
