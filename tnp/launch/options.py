"""The command line of ``python -m tnp``.

Read by hand rather than by `argparse`: everything after the program belongs to the program, and start-up counts.
"""

import os
import sys
from dataclasses import dataclass, field
from typing import Literal, NoReturn

import tnp

USAGE = """\
usage: python -m tnp [options] script.py [arguments …]
       python -m tnp [options] -m module [arguments …]
       python -m tnp [options] -c code [arguments …]

Runs an unchanged NumPy program: in its own modules, `import numpy` means tnp.

options:
  --compare     run it under NumPy and under tnp, say whether the output is identical, print both times;
                the exit status is 0 if output and exit status agree, else 1
  --report      at the end, print on stderr where time and memory went
  --threads N   compute with at most N threads
  --device D    compute on this device: cpu
  -h, --help    print this and exit
"""


@dataclass
class Options:
    """What the command line asks for: a program (of a kind), its arguments, and how to run it."""

    kind: Literal["script", "module", "code"] = "script"
    program: str = ""
    arguments: list[str] = field(default_factory=list)
    compare: bool = False
    report: bool = False
    threads: int | None = None
    device: str | None = None

    def command(self) -> list[str]:
        """The arguments by which plain Python runs the same program."""
        flag = {"script": [], "module": ["-m"], "code": ["-c"]}[self.kind]
        return [*flag, self.program, *self.arguments]

    def settings(self) -> list[str]:
        """The arguments by which another ``python -m tnp`` computes in the same way."""
        threads = [] if self.threads is None else ["--threads", str(self.threads)]
        device = [] if self.device is None else ["--device", self.device]
        return threads + device

    def apply(self) -> None:
        """Set threads and device, here and (by the environment) in processes that the program starts."""
        if self.threads is not None:
            tnp.set_num_threads(self.threads)
            os.environ["TNP_THREADS"] = str(self.threads)


def parse(arguments: list[str]) -> Options:
    """Read the command line; leaves the process, with Python's exit status 2, if there is no sense in it."""
    options = Options()
    rest = list(arguments)
    while True:
        word = rest.pop(0) if rest else _refuse("no program to run")
        name, has_value, value = word.partition("=")
        if word in ("-h", "--help"):
            print(USAGE, end="")
            sys.exit(0)
        elif word == "--compare":
            options.compare = True
        elif word == "--report":
            options.report = True
        elif name in ("--threads", "--device"):
            if not has_value:
                value = rest.pop(0) if rest else _refuse(f"{name} needs a value")
            if name == "--threads":
                options.threads = _threads(value)
            else:
                options.device = _device(value)
        elif word in ("-m", "-c"):
            options.kind = "module" if word == "-m" else "code"
            options.program = rest.pop(0) if rest else _refuse(f"{word} needs a value")
            options.arguments = rest
            return options
        elif word.startswith("-") and word != "-":
            _refuse(f"unknown option {word}")
        else:
            options.program, options.arguments = word, rest
            return options


def _threads(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        _refuse(f"--threads: expected a whole number from 1, got {text!r}")
    return int(text)


def _device(text: str) -> str:
    if text != "cpu":
        _refuse(f"--device: expected cpu (no other device is supported yet), got {text!r}")
    return text


def _refuse(message: str) -> NoReturn:
    print(f"{USAGE}\npython -m tnp: error: {message}", file=sys.stderr)
    sys.exit(2)
