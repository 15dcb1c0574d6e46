"""The interpreter stack: who is told what the program does to arrays, before and beside running it.

A transformation enters an `Interpreter` (``with interpreting(i):``) and traces arrays (`tnp.tracing.trace`): their
cells carry the mark TRACED, which sends every operation past the quick paths. From then on the interpreter is told of
three events: a primitive read arrays and made a fresh one; a place was written; something was added to a place. It may
take over calls of NumPy's functions that are no primitives. Arrays that nobody traces cost nothing.

The stack is of the context (`contextvars`): what other threads do is not told. Below it lies one interpreter for all
(`install_base`): differentiation, which hangs what it knows on the arrays and so needs no block. Below that one a
recorder (`recording`) takes over every call that is left, on traced arrays or not: what those above do themselves too.

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

    def concerns(self, args: Any) -> bool:
        """Is there, among the arguments of a call, a traced array of which this interpreter wants to know?"""
        return True


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
_recorder: ContextVar[Interpreter | None] = ContextVar("tnp_recorder", default=None)
_base: Interpreter | None = None
# Blocks in which functions written for one example run for many, the outermost first (tnp/transforms/batching.py)
batches: ContextVar[tuple[Any, ...]] = ContextVar("tnp_batches", default=())


def variables() -> tuple[ContextVar[Any], ...]:
    """Where a context says who records, who is on the stack, and for which examples functions run."""
    return _recorder, _stack, batches


def is_alone() -> bool:
    """Does nobody record, interpret or run for many examples, in this context?"""
    return recorder() is None and not is_interpreted() and not batches.get()


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


@contextlib.contextmanager
def recording(interpreter: Interpreter | None) -> Iterator[None]:
    """``interpreter.call`` takes over, in this context, every call on arrays that those above leave or make."""
    token = _recorder.set(interpreter)
    try:
        yield
    finally:
        _recorder.reset(token)


def recorder() -> Interpreter | None:
    """The interpreter below all others, in this context."""
    return native.value(_recorder)


def recorded(raw: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a recorder makes of a call of which all others have been told; DECLINED: there is none."""
    below = native.value(_recorder)
    return DECLINED if below is None else below.call(raw, args, kwargs)


def is_interpreted() -> bool:
    """Is an interpreter on the stack, in this context?"""
    return any([i is not None for i in _stack.get()])


def is_looking() -> bool:
    """Is the program in a block of `looking`?"""
    stack = _stack.get()
    return len(stack) == 2 and stack[0] is _LOOKING


class quietly:
    """In this block nobody but a recorder is told anything: ``with quietly():``."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _stack.set((None,))

    def __exit__(self, *error: object) -> None:
        _stack.reset(self._token)


class looking(quietly):
    """`quietly`, and a recorder has no say either: what is read decides nothing (a form is looked at, text printed)."""

    __slots__ = ()

    def __enter__(self) -> None:
        self._token = _stack.set((_LOOKING, None))


_LOOKING = Interpreter()
