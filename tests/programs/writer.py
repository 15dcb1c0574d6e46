"""Writes random programs, statement by statement, running each under NumPy to know what may come next."""

import contextlib
import random
import textwrap
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from tests.programs import execute

Test = Callable[["numpy.ndarray[Any, Any]"], bool]

SIZES: dict[str, list[tuple[int, ...]]] = {
    "small": [(5,), (9,), (1,), (0,), (3, 4), (4, 4), (2, 1), (2, 3, 2), (6, 5)],
    "medium": [(63,), (65,), (128,), (200,), (1000,), (7, 37), (16, 16), (3, 130), (5, 6, 7), (33, 9)],
    "large": [(5000,), (20_011,), (70, 90), (3, 7001), (257, 129), (20, 30, 25)],
}


class UnavailableError(Exception):
    """No live array fits the statement that was being written."""


class Writer:
    """A program that grows.

    Parameters
    ----------
    rng : random.Random
        Decides everything; Hypothesis passes one whose choices it can shrink.
    sizes : str
        A key of `SIZES`: how large the arrays are.

    Attributes
    ----------
    statements : list of str
        The program so far.
    names : dict
        The program's namespace after those statements, under NumPy.
    """

    def __init__(self, rng: random.Random, sizes: str) -> None:
        self.rng = rng
        self.base = rng.choice(SIZES[sizes])
        self.limit = 6 * max(int(numpy.prod(self.base)), 8)
        self.statements: list[str] = []
        self.count = 0
        record = execute.Record()
        self.names: dict[str, Any] = {
            "np": numpy,
            "numpy": numpy,
            "warnings": warnings,
            "saw": lambda *values: None,
            "called": record.called,
            "in_thread": execute.in_thread,
        }

    # ------------------------------------------------------------------------------------------------ choosing
    def choice(self, options: Sequence[Any]) -> Any:
        """One of `options`."""
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        """True in `percent` of all cases."""
        return self.rng.randrange(100) < percent

    def new(self, prefix: str = "a") -> str:
        """A fresh name; the prefix tells what it is: a array, f foreign, i indices, m memoryview, c cycle, v value."""
        self.count += 1
        return f"{prefix}{self.count}"

    def live(self, test: Test | None = None, prefix: str = "a") -> list[str]:
        """Names of the live arrays that pass `test`."""
        return [
            name
            for name, value in self.names.items()
            if name[0] == prefix
            and name[1:].isdigit()
            and isinstance(value, numpy.ndarray)
            and (not test or test(value))
        ]

    def pick(self, test: Test | None = None, prefix: str = "a") -> str:
        """A live array that passes `test`, recent ones more often."""
        names = self.live(test, prefix)
        if not names:
            raise UnavailableError
        if len(names) > 2 and self.chance(40):
            names = names[-2:]
        return self.choice(names)

    def numeric(self, test: Test | None = None) -> str:
        """A live array of a bool, integer, floating or complex dtype."""
        return self.pick(lambda a: a.dtype.kind in "biufc" and (not test or test(a)))

    def writable(self, test: Test | None = None) -> str:
        """A live numeric array that may be written."""
        return self.numeric(lambda a: a.flags.writeable and (not test or test(a)))

    def value(self, text: str) -> Any:
        """What an expression is now, under NumPy. Raises UnavailableError where NumPy raises."""
        with self._quiet():
            try:
                return eval(text, self.names)
            except Exception as error:
                raise UnavailableError from error

    def like(self, shape: tuple[int, ...], test: Test | None = None) -> list[str]:
        """Expressions, names and views of live numeric arrays, that broadcast to `shape`."""
        found = []
        for name in self.live(lambda a: a.dtype.kind in "biufc" and (not test or test(a))):
            a = self.names[name]
            if a.shape == shape:
                found += [name, name]
                if a.ndim:
                    found.append(f"{name}[::-1]")
                if a.ndim == 2 and shape[0] == shape[1]:
                    found.append(f"{name}.T")
            elif broadcasts(a.shape, shape):
                found.append(name)
            elif a.ndim == 2 and a.T.shape == shape:
                found.append(f"{name}.T")
            elif a.ndim > len(shape) and a.size and broadcasts(a.shape[a.ndim - len(shape) :], shape):
                found.append(f"{name}[{', '.join(['-1'] * (a.ndim - len(shape)))}]")
        return found

    # ------------------------------------------------------------------------------------------------ growing
    def add(self, statement: str) -> None:
        """Append a statement; one that raises under NumPy gets a handler that observes the exception."""
        with self._quiet():
            try:
                exec(statement, self.names)
            except Exception:
                body = textwrap.indent(statement, "    ")
                statement = f"try:\n{body}\nexcept Exception as error:\n    saw(error)"
        self.statements.append(statement)

    @contextlib.contextmanager
    def _quiet(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with numpy.errstate(all="warn"):
                yield

    def grow(self, vocabulary: Sequence[tuple[int, Callable[["Writer"], str]]], count: int) -> None:
        """Append `count` statements drawn from weighted writers."""
        total = sum(weight for weight, _ in vocabulary)
        tries = 0
        while count and tries < 1000:
            tries += 1
            number = self.rng.randrange(total)
            at = 0
            while number >= vocabulary[at][0]:
                number -= vocabulary[at][0]
                at += 1
            try:
                statement = vocabulary[at][1](self)
            except UnavailableError:
                continue
            self.add(statement)
            count -= 1
            self._bound()

    def _bound(self) -> None:
        """Keep at most eight arrays, none of them huge."""
        for name in self.live():
            if self.names[name].size > self.limit:
                self.add(f"del {name}")
        names = self.live()
        if len(names) > 8:
            self.add(f"del {self.choice(names[:4])}")

    def text(self) -> str:
        """The program."""
        return "\n".join(self.statements) + "\n"


def broadcasts(small: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Does an array of shape `small` broadcast to exactly `to`?"""
    try:
        return numpy.broadcast_shapes(small, to) == to
    except ValueError:
        return False
