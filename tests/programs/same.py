"""Short programs written by hand that must show the same under NumPy and tnp."""

import ast
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy

import tnp
from tests.programs import execute


def prompt(text: str) -> str:
    """The program that a session at the interactive prompt is: values of expressions are shown, exceptions too."""
    text = textwrap.dedent(text).strip()
    statements = []
    for node in ast.parse(text).body:
        source = ast.get_source_segment(text, node) or ""
        if isinstance(node, ast.Expr) and not source.startswith("saw("):
            source = f"saw({source})"
        body = textwrap.indent(source, "    ")
        statements.append(f"try:\n{body}\nexcept Exception as error:\n    saw(error)")
    return "\n".join(statements) + "\n"


def same(
    text: str,
    *,
    lazy_from: tuple[int | None, ...] = (None, 1),
    functions: tuple[bool, ...] = (False, True),
    under: Any = tnp,
) -> None:
    """Run a session under both modules; nothing that it shows may differ.

    It runs with every threshold of recording in `lazy_from`, as a module and as a function's body.
    """
    program = prompt(text)
    for threshold in lazy_from:
        for function in functions:
            theirs = execute.run(program, numpy, function=function, lazy_from=threshold)
            ours = execute.run(program, under, function=function, lazy_from=threshold)
            assert theirs.seen or theirs.warned, "the program shows nothing"
            told = list(_differences(program, theirs, ours, shift=int(function)))
            where = "a function" if function else "a module"
            assert not told, "\n".join([f"in {where}, recorded from {threshold} elements:", *told])


def _differences(program: str, theirs: execute.Record, ours: execute.Record, shift: int) -> Iterator[str]:
    """Every observation that differs, with its line; a session goes on after an exception."""
    lines = program.splitlines()
    seen: list[dict[int, list[Any]]] = []
    for record in (theirs, ours):
        by_line: dict[int, list[Any]] = {}
        for line, value in record.seen:
            if isinstance(value, tuple) and value[0] == "exception" and "saw(error)" in lines[line - 1 - shift]:
                line -= 2  # of its statement
            by_line.setdefault(line - shift, []).append(value)
        seen.append(by_line)
    for line in sorted(seen[0].keys() | seen[1].keys()):
        expected, got = (by_line.get(line, "nothing") for by_line in seen)
        if expected != got:
            yield f"{lines[line - 1].strip()}\n  NumPy: {expected}\n  got:   {got}"
    difference = execute.first_difference(theirs, ours)
    if difference is not None and "warnings" in difference.kind:
        yield str(difference)
