"""Run the text of a program under one module and keep everything it showed."""

import ast
import contextlib
import gc
import io
import linecache
import re
import sys
import textwrap
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from tests.programs import engine
from tests.programs.mutants import Mutant
from tests.programs.observe import observe
from tnp.core.native import COMPILED

CYCLE = re.compile(r"\bdel c\d+\b")  # how programs leave a cycle of references behind

FILE = "<program>"
FOREIGN = re.compile(r"\bf\d*\b|\bnumpy\.")  # what shows NumPy's own arrays, whichever module runs

HEADER = '''\
"""Run me with `numpy` or `tnp` as the argument and compare the two outputs."""
import importlib, sys, threading, warnings
import numpy
np = importlib.import_module(sys.argv[1])
warnings.simplefilter("always")
def saw(*values):
    for v in values:
        print(sys._getframe(1).f_lineno, type(v).__name__, getattr(v, "dtype", ""), getattr(v, "strides", ""), repr(v))
def called(kind, flag):
    print("errstate called", kind, flag)
def in_thread(function):
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start(); thread.join()
    return result[0]

'''


class Record:
    """What one run showed: observations with their lines, and the warnings on the standard error stream."""

    def __init__(self, of: str = "", text: str = "") -> None:
        self.of, self.lines = of, text.splitlines()  # the module under test, the program
        self.seen: list[tuple[int, Any]] = []
        self.warned: list[str] = []

    def saw(self, *values: Any) -> None:
        """Observe values; the programs call this."""
        line = sys._getframe(1).f_lineno
        own = not FOREIGN.search(self.lines[line - 1]) if line <= len(self.lines) else True
        for value in values:
            self.seen.append((line, observe(value, self.of if own else "")))

    def called(self, kind: str, flag: int) -> None:
        """Stand as the function of ``np.errstate(call=...)``."""
        self.seen.append((0, ("called", kind, flag)))


def in_thread(function: Callable[[], Any]) -> Any:
    """Evaluate `function` in another thread, which is over when this returns."""
    result: list[Any] = []

    def target() -> None:
        try:
            result.append(function())
        except Exception as error:
            result.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    return result[0]


def run(program: str, np: Any, *, function: bool = False, lazy_from: int | None = None) -> Record:
    """Run `program` with `np` standing for the module; `function` makes its names local variables."""
    text = as_function(program) if function else program
    record = Record(getattr(np, "__name__", ""), text)
    names = {
        "__name__": "program",
        "np": np,
        "numpy": numpy,
        "warnings": warnings,
        "saw": record.saw,
        "called": record.called,
        "in_thread": in_thread,
    }
    tree = ast.parse(text, FILE)
    code = compile(np.change(tree) if isinstance(np, Mutant) else tree, FILE, "exec")
    stream = io.StringIO()
    with at_rest(stream), numpy.errstate(all="warn"), engine.recorded(np, lazy_from):
        try:
            exec(code, names)
        except Exception as error:
            record.seen.append((_line(error), observe(error, record.of)))
            error.__traceback__ = None
            del error
        names.clear()
        if CYCLE.search(program):
            gc.collect()
        engine.finish(np)
    linecache.cache.pop(FILE, None)
    record.warned = _warnings(stream.getvalue())
    return record


def as_function(program: str) -> str:
    """The same program with its names as local variables, which die one by one as the interpreter lets go of them."""
    return f"def program():\n{textwrap.indent(program, '    ')}\nprogram()\n"


def _line(error: BaseException) -> int:
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _warnings(text: str) -> list[str]:
    """One entry a warning: "line: Category: message".

    NumPy attributes some to its own Python files; those have "elsewhere" for the line. Anything else on the stream
    (an exception in a thread or finalizer) is kept as it is.
    """
    text = re.sub(r"^\S+\.(py|pyx|pxd):\d+:( \w+Warning: .*)\n  .*$", r"elsewhere:\2", text, flags=re.MULTILINE)
    return re.sub(rf"^{re.escape(FILE)}:", "", text, flags=re.MULTILINE).splitlines()


@contextlib.contextmanager
def at_rest(stream: Any) -> Iterator[None]:
    """Warnings go to `stream` as they do without any recorder: an engine may leave operations pending.

    pytest replaces the function that prints warnings by a recorder for the time of each test; this puts the
    original back.
    """
    stderr = sys.stderr
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("always")
        warnings._showwarnmsg_impl = _original_printer()  # type: ignore[attr-defined]
        sys.stderr = stream
        try:
            yield
        finally:
            sys.stderr = stderr


_printer: list[Any] = []


def _original_printer() -> Any:
    """Return ``warnings._showwarnmsg_impl`` as the module defined it."""
    if not _printer:
        _printer.extend(
            f
            for f in (warnings._showwarnmsg_impl, *gc.get_objects())  # type: ignore[attr-defined]
            if isinstance(f, types.FunctionType) and f.__module__ == "warnings" and f.__name__ == "_showwarnmsg_impl"
        )
    return _printer[0]


class Difference:
    """The first thing in which two runs of one program differ.

    Attributes
    ----------
    kind : str
        "value", "dtype, type or layout", "exception", "end", "warnings" or "order of warnings".
    """

    def __init__(self, kind: str, line: int, expected: Any, got: Any) -> None:
        self.kind, self.line, self.expected, self.got = kind, line, expected, got

    def __str__(self) -> str:
        with numpy.printoptions(threshold=20, edgeitems=3):
            return f"{self.kind} differs at line {self.line}\n  NumPy: {self.expected}\n  got:   {self.got}"


def first_difference(theirs: Record, ours: Record) -> Difference | None:
    """Compare NumPy's record with ours."""
    for (line, expected), (our_line, got) in zip(theirs.seen, ours.seen, strict=False):
        if line != our_line:
            return Difference("end", our_line, (line, expected), (our_line, got))
        if expected != got:
            return Difference(_kind(expected, got), line, expected, got)
    if len(theirs.seen) != len(ours.seen):
        shorter = min(len(theirs.seen), len(ours.seen))
        rest = [(record.seen[shorter:] or ["nothing more"])[0] for record in (theirs, ours)]
        return Difference("end", 0, *rest)
    if not _same_warnings(theirs.warned, ours.warned):
        same = sorted(theirs.warned) == sorted(ours.warned)
        return Difference("order of warnings" if same else "warnings", 0, theirs.warned, ours.warned)
    return None


def _same_warnings(theirs: list[str], ours: list[str]) -> bool:
    """The same texts, order and lines; where NumPy names a file of its own, any place will do.

    Arithmetic of NumPy's scalars and the conversion of Python's data are NumPy's own and warn at once
    (docs/decisions/0001-engine.md), so their warnings are compared among themselves.
    """
    return all(
        len(a) == len(b) and all(map(_same_warning, a, b))
        for a, b in zip(_scalars_apart(theirs), _scalars_apart(ours), strict=True)
    )


def _scalars_apart(warned: list[str]) -> tuple[list[str], list[str]]:
    apart = [text for text in warned if "encountered in scalar" in text or "encountered in cast" in text]
    return apart, [text for text in warned if text not in apart]


def _same_warning(a: str, b: str) -> bool:
    # Without a compiler the engine's own functions have frames, and NumPy blames the nearest
    anywhere = a.startswith("elsewhere:") or (not COMPILED and b.startswith("elsewhere:"))
    return a == b or (anywhere and a.partition(":")[2] == b.partition(":")[2])


def _kind(expected: Any, got: Any) -> str:
    if "exception" in (expected[0] if isinstance(expected, tuple) else "", got[0] if isinstance(got, tuple) else ""):
        return "exception"
    keys = [getattr(seen, "key", None) for seen in (expected, got)]
    if None in keys or keys[0][:-1] == keys[1][:-1]:
        return "value"
    return "dtype, type or layout"
