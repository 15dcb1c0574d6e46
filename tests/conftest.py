"""What tests of every kind share."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: so would the programs be
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHECKOUT = Path(__file__).resolve().parent.parent
CORE = tuple(str(CHECKOUT / "tests" / name) for name in ("tnp/core", "tnp/lazy", "test_sharp_edges.py"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the subset that continuous integration repeats with the oldest NumPy on the pure-Python build."""
    for item in items:
        if str(item.path).startswith(CORE):
            item.add_marker(pytest.mark.core)


class Python:
    """Runs the interpreter under test on programs in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self, *arguments: str | Path, stdin: str = "", cwd: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, cwd=cwd, **environment)
        return self.finish(process, stdin)

    def start(self, *arguments: str | Path, cwd: Path | None = None, **environment: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [sys.executable, *map(str, arguments)]
        where = cwd or self.folder
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=where, env=self.environment(**environment)
        )

    def finish(self, process: subprocess.Popen[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
        try:
            stdout, stderr = process.communicate(stdin, timeout=120)
        finally:
            process.kill()
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of programs: tnp importable from anywhere, no settings of the test run."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        path = os.pathsep.join(filter(None, [more.pop("PYTHONPATH", ""), str(CHECKOUT)]))
        return {**kept, "PYTHONPATH": path, "PYTHONHASHSEED": "0", **more}

    def write(self, **files: str) -> Path:
        """Write files, named like ``package__module`` for package/module.py; give the first one's path."""
        paths = [self.folder / (name.replace("__", "/") + ".py") for name in files]
        for path, text in zip(paths, files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return paths[0]


@pytest.fixture
def python(tmp_path: Path) -> Python:
    return Python(tmp_path)


@pytest.fixture
def same_as_python(python: Python) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program under plain Python and under ``python -m tnp``; nothing about it may differ."""

    def run(
        *arguments: str | Path, stdin: str = "", cwd: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        started = python.start("-m", "tnp", *arguments, cwd=cwd, **environment)
        plain = python(*arguments, stdin=stdin, cwd=cwd, **environment)
        ours = python.finish(started, stdin)
        assert (ours.stdout, ours.stderr, ours.returncode) == (plain.stdout, plain.stderr, plain.returncode)
        return ours

    return run
