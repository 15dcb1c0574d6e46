"""The interpreter stack: who is told what the program does to arrays, before and beside running it.

A transformation enters an `Interpreter` (``with interpreting(i):``) and traces arrays (`tnp.tracing.trace`): their
cells carry the mark TRACED, which sends every operation past the quick paths. From then on the interpreter is told of
three events: a primitive read arrays and made a fresh one; a place was written; something was added to a place. It may
take over calls of NumPy's functions that are no primitives. Arrays that nobody traces cost nothing.

The stack is of the context (`contextvars`): what other threads do is not told. Below it lies one interpreter for all
(`install_base`): differentiation, which hangs what it knows on the arrays and so needs no block.

An array may also stand for many, which an interpreter keeps elsewhere (vmap): then its cell's record is a `Box`, and
whatever is done to it is that interpreter's to do, on the stack or not.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from tnp.core import native


class Interpreter:
    """Base class of interpreters. Every event does nothing until it is overridden.

    Attributes
    ----------
    plain : dict
        Functions whose calls with so many arrays and Python numbers, and nothing else, are told as primitives and not
        offered to `call`.
    """

    plain: dict[Any, int] = {}  # noqa: RUF012

    def primitive(self, prim: Any, params: tuple[tuple[str, Any], ...], args: tuple[Any, ...], result: Any) -> Any:
        """Learn that ``result`` is ``prim`` of ``args`` (arrays and scalars); the result is traced too.

        What is returned, if not None, is the result that the program gets, traced or not.
        """

    def call(self, raw: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Take over a call of ``raw`` (NumPy's function, method or ufunc) on traced arrays, or return DECLINED."""
        return DECLINED

    def element(self, array: Any, key: Any, value: Any) -> Any:
        """Learn that ``array[key]`` with a basic key was read, a number; what is returned the program gets."""
        r = self.call(np.ndarray.__getitem__, (array, key), {})
        return value if r is DECLINED else r

    def read(self, array: Any) -> None:
        """Learn that something that is no primitive (a host function, an export) reads all of ``array``."""

    def write(self, array: Any, key: Any, value: Any) -> None:
        """Learn that ``array[key] = value`` is about to happen.

        The value `OPAQUE` stands for what a host function puts there, which can be seen when its call has returned:
        reads by the same call, and further writes of this kind, may be told before.
        """

    def export(self, array: Any) -> None:
        """Learn that foreign code gets the memory of ``array``, to read and to write."""
        self.write(array, Ellipsis, OPAQUE)

    def write_add(self, array: Any, key: Any, value: Any) -> None:
        """Learn that ``numpy.add.at(array, key, value)`` is about to happen."""


class Box:
    """What `Cell.record` is where the memory holds nothing: the values are with an interpreter.

    Attributes
    ----------
    interpreter : Interpreter
        With a `level`: of several the highest is asked.
    """

    __slots__ = ("interpreter",)

    def __init__(self, interpreter: Any) -> None:
        self.interpreter = interpreter


class _Named:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


OPAQUE = _Named("OPAQUE")
DECLINED = _Named("DECLINED")
_stack: ContextVar[tuple[Interpreter | None, ...]] = ContextVar("tnp_interpreters", default=())
_base: Interpreter | None = None
# Blocks in which functions written for one example run for many, the outermost first (tnp/transforms/batching.py)
batches: ContextVar[tuple[Any, ...]] = ContextVar("tnp_batches", default=())


def install_base(interpreter: Interpreter) -> None:
    """Have ``interpreter`` told wherever no other is on the stack."""
    global _base
    _base = interpreter


def current() -> Interpreter | None:
    """The innermost interpreter of this context, or None."""
    stack = native.value(_stack)
    return stack[-1] if stack else _base


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


class quietly:
    """In this block nobody is told anything: ``with quietly():``."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _stack.set((None,))

    def __exit__(self, *error: object) -> None:
        _stack.reset(self._token)
