"""Command line: ``python -m tests.conformance run|baseline|check|update|classify``."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from . import baseline as baselines
from . import classify, failures, results
from .results import File, Run
from .run import Settings, run_all, select

RESULTS = Path("conformance-results.json")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description="NumPy's own tests, run on tnp")
    commands = parser.add_subparsers(dest="command", required=True)

    run = commands.add_parser("run", help="run the tests and write the results")
    check = commands.add_parser("check", help="exit 1 if a test fails that failures.txt does not list")
    update = commands.add_parser("update", help="take tests that pass now off failures.txt")
    base = commands.add_parser("baseline", help="run the tests on NumPy itself and record which pass")
    group = commands.add_parser("classify", help="group the failures of a run by cause")

    for command in (run, base):
        command.add_argument("--jobs", type=int, default=2, help="test files side by side (2)")
        command.add_argument("--test-seconds", type=int, default=120, help="time limit of a test (120)")
        command.add_argument("--file-seconds", type=int, default=300, help="limit without progress (300)")
        command.add_argument("--output", type=Path, default=None, help="where the results go (.gz: compressed)")
    run.add_argument("--module", default="tnp", help="the module that stands for numpy (tnp)")
    run.add_argument("--stress", action="store_true", help="under TNP_STRESS=1")
    run.add_argument("--fraction", type=int, default=1, metavar="N", help="one test in N")
    run.add_argument("--seed", default="0", help="which one in N")
    run.add_argument("files", nargs="*", metavar="FILE", help="files whose path contains this (all)")
    for command in (check, update, group):
        command.add_argument("results", type=Path, nargs="?", default=RESULTS, help=f"({RESULTS})")
    for command in (check, update):
        command.add_argument("--list", type=Path, default=failures.PATH, help="the list of failures")
    update.add_argument("--grow", action="store_true", help="allow entries that were not there")
    group.add_argument("--examples", type=int, default=2, help="examples for each cause (2)")
    return parser


def progress(done: int, total: int, name: str, file: File) -> None:
    """One line for each file that is done."""
    counts = ", ".join(f"{count} {result}" for result, count in sorted(file.counts().items()))
    cause = f"  {file.broken.strip().splitlines()[-1]}" if file.broken else ""
    print(f"[{done:3d}/{total}] {file.seconds:6.1f} s  {name}  {counts}{cause}", file=sys.stderr, flush=True)


def summary(run: Run, verdict: baselines.Verdict) -> str:
    """Counts by folder of NumPy, and the share of the baseline that passes."""
    kinds = ("passed", "failed", "error", "crashed", "skipped", "xfailed", "xpassed")
    table: dict[str, Counter[str]] = {}
    for path, file in run.files.items():
        table.setdefault(path.rpartition("/tests/")[0], Counter()).update(file.counts())
    width = max(map(len, [*table, "folder"]))
    lines = [f"{'folder':{width}}" + "".join(f"{kind:>9}" for kind in kinds)]
    for folder, counts in [*sorted(table.items()), ("total", run.counts())]:
        lines.append(f"{folder:{width}}" + "".join(f"{counts[kind]:9d}" for kind in kinds))
    lines.append("")
    sample = f", one test in {run.fraction} (seed {run.seed})" if run.fraction > 1 else ""
    mode = " under TNP_STRESS=1" if run.stress else ""
    lines.append(
        f"{run.module}{mode}, numpy {run.numpy}, Python {run.python}, {run.cpu}{sample}: {run.seconds:.0f} s; "
        f"{verdict.expected - verdict.missed} of {verdict.expected} tests that pass on NumPy pass ({verdict.share:.2%})"
    )
    engine = run.engine()
    if engine:
        lines.append("engine: " + ", ".join(f"{name} {count}" for name, count in sorted(engine.items())))
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> int:
    base = baselines.find(version("numpy"))
    settings = Settings(
        module=options.module,
        stress=options.stress,
        fraction=options.fraction,
        seed=options.seed,
        jobs=options.jobs,
        test_seconds=options.test_seconds,
        file_seconds=options.file_seconds,
    )
    seconds = {name: counts.seconds for name, counts in base.files.items()}
    run = run_all(select(options.files), settings, expected_seconds=seconds, report=progress)
    results.save(run, options.output or RESULTS)
    print(summary(run, baselines.judge(run, base)))
    return 0


def _baseline(options: argparse.Namespace) -> int:
    settings = Settings(
        module="numpy", jobs=options.jobs, test_seconds=options.test_seconds, file_seconds=options.file_seconds
    )
    run = run_all(select([]), settings, report=progress)
    if options.output is not None:
        results.save(run, options.output)
    base = baselines.from_run(run)
    baselines.save(base, baselines.path_of(run.numpy))
    print(summary(run, baselines.judge(run, base)))
    return 0


def _judged(path: Path) -> tuple[Run, baselines.Verdict]:
    run = results.load(path)
    return run, baselines.judge(run, baselines.find(run.numpy))


def _check(options: argparse.Namespace) -> int:
    run, verdict = _judged(options.results)
    found = failures.compare(run, verdict, failures.read(options.list))
    print(summary(run, verdict))
    if found.passing:
        print(f"{len(found.passing)} listed tests pass now (`update` takes them off the list):")
        print(*(f"  {entry.name}" for entry in found.passing[:20]), sep="\n")
    if found.new:
        print(f"{len(found.new)} failures are not listed in {options.list.name}:")
        print(*(f"  {name}\n      {what.splitlines()[0]}" for name, what in found.new.items()), sep="\n")
    return 1 if found.new else 0


def _update(options: argparse.Namespace) -> int:
    run, verdict = _judged(options.results)
    old = failures.read(options.list)
    found = failures.compare(run, verdict, old)
    if found.new and not options.grow:
        print(f"conformance: the list may only shrink, and {len(found.new)} failures are not on it (--grow adds them):")
        print(*(f"  {name}" for name in list(found.new)[:20]), sep="\n")
        return 1
    new = failures.updated(run, verdict, old, classify.category)
    failures.write(new, options.list)
    print(f"{options.list.name}: {len(old)} entries before, {len(set(new))} now")
    return 0


def _classify(options: argparse.Namespace) -> int:
    _, verdict = _judged(options.results)
    print(classify.report(verdict.failing, verdict.lost, options.examples))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status is returned."""
    options = _parser().parse_args(arguments)
    commands = {"run": _run, "baseline": _baseline, "check": _check, "update": _update, "classify": _classify}
    return commands[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
