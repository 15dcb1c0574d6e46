"""What a run found: outcomes by test, files, and the run as a whole; kept as JSON."""

import dataclasses
import datetime
import gzip
import json
import platform
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PASSED = "passed"
CRASHED = "crashed"


@dataclass
class Outcome:
    """How one test ended: passed, failed, error, skipped, xfailed, xpassed or crashed."""

    result: str
    seconds: float = 0.0
    message: str = ""
    where: str = ""  # deepest frame in the substitute's sources, else in the test


@dataclass
class File:
    """One test file's outcomes, by test id without the file's name."""

    collected: int = 0  # before sampling
    seconds: float = 0.0
    broken: str = ""  # why the file was lost: a crash, the time limit, an error of import
    tests: dict[str, Outcome] = field(default_factory=dict)
    engine: dict[str, int] = field(default_factory=dict)  # counters of the substitute's engine

    def counts(self) -> Counter[str]:
        """How many tests ended in which way."""
        return Counter(test.result for test in self.tests.values())


@dataclass
class Run:
    """A whole run, and under which conditions it was made."""

    module: str
    numpy: str
    stress: bool = False
    fraction: int = 1
    seed: str = "0"
    date: str = ""
    cpu: str = ""
    python: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    files: dict[str, File] = field(default_factory=dict)

    def tests(self) -> Iterator[tuple[str, Outcome]]:
        """Every test with its whole id."""
        for path, file in self.files.items():
            for name, test in file.tests.items():
                yield f"{path}::{name}", test

    def counts(self) -> Counter[str]:
        """How many tests ended in which way."""
        return sum((file.counts() for file in self.files.values()), Counter())

    def engine(self) -> Counter[str]:
        """The counters of the substitute's engine, summed over the files' processes."""
        return sum((Counter(file.engine) for file in self.files.values()), Counter())

    @property
    def minor(self) -> str:
        """NumPy's version without the patch level."""
        return minor(self.numpy)


def minor(full: str) -> str:
    """`2.4` of `2.4.6`."""
    return ".".join(full.split(".")[:2])


def cpu_name() -> str:
    """The CPU's name as Linux gives it, and whether it has AVX2 or AVX-512, on which NumPy's loops depend."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    flags = facts.get("flags", "").split()
    widest = next((label for flag, label in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "no AVX2")
    return f"{facts.get('model name', platform.machine())} ({widest})"


def new_run(module: str, stress: bool, fraction: int, seed: str) -> Run:
    """A run that is about to start, here and now."""
    packages = {}
    for name in ("numpy", "pytest", "hypothesis", module.split(".")[0]):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return Run(
        module=module,
        numpy=version("numpy"),
        stress=stress,
        fraction=fraction,
        seed=seed,
        date=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        cpu=cpu_name(),
        python=platform.python_version() + " " + sys.platform,
        packages=packages,
    )


def save(run: Run, path: Path) -> None:
    """Write a run; a name that ends in .gz is compressed."""
    write_json(dataclasses.asdict(run), path)


def load(path: Path) -> Run:
    """Read a run back."""
    raw = read_json(path)
    files = {
        name: File(**{**file, "tests": {key: Outcome(**test) for key, test in file["tests"].items()}})
        for name, file in raw.pop("files").items()
    }
    return Run(**raw, files=files)


def write_json(value: Any, path: Path) -> None:
    """Write JSON; compressed files are the same bytes for the same value (no time stamp inside)."""
    text = json.dumps(value, indent=None if path.suffix == ".gz" else 1) + "\n"
    data = gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode()
    path.write_bytes(data)


def read_json(path: Path) -> Any:
    """Read JSON, compressed or not."""
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
