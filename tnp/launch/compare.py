"""``python -m tnp --compare``: the same program under NumPy and under tnp."""

import difflib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from typing import IO

from tnp.launch.options import Options
from tnp.launch.stdin import SharedInput

DIFFERING_LINES = 40


@dataclass
class Outcome:
    """What one run left: its exit status, wall time and what it wrote."""

    status: int
    seconds: float
    stdout: bytes
    stderr: bytes


def compare(options: Options) -> int:
    """Run the program both ways, in processes of their own; print its output, then the comparison.

    Returns
    -------
    int
        0 if both runs wrote the same bytes and ended in the same way, else 1.
    """
    stdin = SharedInput()
    interpreter = [sys.executable, *subprocess._args_from_interpreter_flags()]  # type: ignore[attr-defined]
    numpy = _run([*interpreter, *options.command()], stdin)
    ours = _run([*interpreter, "-m", "tnp", *options.settings(), *options.command()], stdin)
    _write(sys.stdout, numpy.stdout)
    _write(sys.stderr, numpy.stderr)
    print(_verdict(options, numpy, ours))
    return 0 if _same(numpy, ours) else 1


def _run(command: list[str], stdin: SharedInput) -> Outcome:
    # A program that prints a set prints it in the same order both times.
    environment = {"PYTHONHASHSEED": "0", **os.environ}
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=None if stdin.terminal else subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            env=environment,
        )
        if process.stdin is not None:
            stdin.feed(process.stdin)
        try:
            status = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        seconds = time.perf_counter() - began
        return Outcome(status, seconds, _content(stdout), _content(stderr))


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _write(stream: IO[str], content: bytes) -> None:
    stream.flush()
    stream.buffer.write(content)  # type: ignore[attr-defined]
    stream.flush()


def _same(a: Outcome, b: Outcome) -> bool:
    return (a.status, a.stdout, a.stderr) == (b.status, b.stdout, b.stderr)


def _verdict(options: Options, numpy: Outcome, ours: Outcome) -> str:
    name = options.program if options.kind != "code" else "-c"
    lines = [
        f"--- python -m tnp --compare {name}",
        f"numpy  {numpy.seconds:8.3f} s   {_ending(numpy.status)}",
        f"tnp    {ours.seconds:8.3f} s   {_ending(ours.status)}   {numpy.seconds / ours.seconds:.2f} times as fast",
    ]
    if _same(numpy, ours):
        lines.append(f"output identical: {len(numpy.stdout)} bytes on stdout, {len(numpy.stderr)} on stderr")
        return "\n".join(lines)
    lines.append("DIFFERENT")
    if numpy.status != ours.status:
        lines.append(f"exit status: {_ending(numpy.status)} under numpy, {_ending(ours.status)} under tnp")
    lines += _difference("stdout", numpy.stdout, ours.stdout)
    lines += _difference("stderr", numpy.stderr, ours.stderr)
    return "\n".join(lines)


def _ending(status: int) -> str:
    return f"exit {status}" if status >= 0 else f"ended by {signal.Signals(-status).name}"


def _difference(name: str, numpy: bytes, ours: bytes) -> list[str]:
    if numpy == ours:
        return []
    a, b = (content.decode(errors="backslashreplace").splitlines() for content in (numpy, ours))
    difference = list(
        islice(
            difflib.unified_diff(a, b, f"{name} under numpy", f"{name} under tnp", lineterm="", n=1),
            DIFFERING_LINES + 1,
        )
    )
    if not difference:  # line endings, or a missing last one
        return [f"{name}: the same lines, ended differently"]
    if len(difference) > DIFFERING_LINES:
        difference[DIFFERING_LINES:] = ["… and more"]
    return difference
