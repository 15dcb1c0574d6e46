"""The interpreter stack: who is told what the program does to arrays, before and beside running it.

A transformation enters an `Interpreter` (``with interpreting(i):``) and traces arrays (`tnp.tracing.trace`): their
cells carry the mark TRACED, which sends every operation past the quick paths. From then on the interpreter is told of
three events: a primitive read arrays and made a fresh one; a place was written; something was added to a place. Arrays
that nobody traces cost nothing.

The stack is of the context (`contextvars`): what other threads do is not told.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any


class Interpreter:
    """Base class of interpreters. Every event does nothing until it is overridden."""

    def primitive(self, prim: Any, params: tuple[tuple[str, Any], ...], args: tuple[Any, ...], result: Any) -> None:
        """Learn that ``result`` is ``prim`` of ``args`` (arrays and scalars); the result is traced too."""

    def read(self, array: Any) -> None:
        """Learn that something that is no primitive (a host function, an export) reads all of ``array``."""

    def write(self, array: Any, key: Any, value: Any) -> None:
        """Learn that ``array[key] = value`` is about to happen.

        The value `OPAQUE` stands for what a host function puts there, which can be seen when its call has returned:
        reads by the same call, and further writes of this kind, may be told before.
        """

    def write_add(self, array: Any, key: Any, value: Any) -> None:
        """Learn that ``numpy.add.at(array, key, value)`` is about to happen."""


class _Opaque:
    def __repr__(self) -> str:
        return "OPAQUE"


OPAQUE = _Opaque()
_stack: ContextVar[tuple[Interpreter, ...]] = ContextVar("tnp_interpreters", default=())


def current() -> Interpreter | None:
    """The innermost interpreter of this context, or None."""
    stack = _stack.get()
    return stack[-1] if stack else None


@contextlib.contextmanager
def interpreting(interpreter: Interpreter) -> Iterator[Interpreter]:
    """Tell ``interpreter`` of what is done to traced arrays; those further out are told nothing meanwhile."""
    token = _stack.set((*_stack.get(), interpreter))
    try:
        yield interpreter
    finally:
        _stack.reset(token)


@contextlib.contextmanager
def one_level_down() -> Iterator[None]:
    """What an interpreter does itself is told to the next one further out."""
    token = _stack.set(_stack.get()[:-1])
    try:
        yield
    finally:
        _stack.reset(token)
