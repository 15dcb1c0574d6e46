"""What plans of recorded functions ask of a backend: instructions on places in memory, and programs of them."""

from typing import Any, NamedTuple, Protocol

from tnp.backends.base import Step


class Place(NamedTuple):
    """A place in the memory of a program.

    Attributes
    ----------
    block : int
        Memory given at each run, by number; ARENA; or CONSTANTS.
    offset : int
        In bytes.
    shape, strides : tuple of int
    dtype : numpy.dtype
    """

    block: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any


ARENA, CONSTANTS = -1, -2


class Launch(NamedTuple):
    """A group of elementwise steps in a program.

    Attributes
    ----------
    steps : list of Step
    leaves : list of (Place or numpy.generic)
        A place without dimensions is a constant for the whole group.
    outputs : list of (int, Place)
    shape : tuple of int
    quiet : bool
        What it raises is nobody's concern; so in the others.
    register : int or None
        The selection that says how many elements there are (of everything one-dimensional and C-contiguous).
    """

    steps: list[Step]
    leaves: list[Any]
    outputs: list[tuple[int, Place]]
    shape: tuple[int, ...]
    register: int | None
    quiet: bool


class Move(NamedTuple):
    """``out[...] = source``, of one dtype, in memory apart from it; `source` broadcasts."""

    source: Place
    out: Place


class Reduce(NamedTuple):
    """``out[...] = ufunc.reduce(source, axes)`` of the same dtype."""

    ufunc: Any
    source: Place
    axes: tuple[int, ...]
    out: Place
    quiet: bool


class Multiply(NamedTuple):
    """``out[...] = raw(a, b)``: `numpy.matmul` or `numpy.dot` of vectors and matrices."""

    raw: Any
    a: Place
    b: Place
    out: Place
    quiet: bool


class Choose(NamedTuple):
    """``out = source[mask]``, all C-contiguous; `register` holds from now on how many there are."""

    source: Place
    mask: Place
    out: Place
    register: int


class Spread(NamedTuple):
    """``out[mask] = source``, all C-contiguous; it does not fit where `register` holds another number."""

    source: Place
    mask: Place
    out: Place
    register: int


class Unfit(Exception):
    """A program that a backend cannot make."""


class Program(Protocol):
    """What `Backend.assemble` makes: instructions that run without Python between them.

    Attributes
    ----------
    arena : numpy.ndarray
        Its own memory, as bytes.
    run_at : callable
        `run`, on addresses that stand in memory at an address. Returns what `flags` makes flags of, or -1 or -2.
    """

    arena: Any
    run_at: Any

    def flags(self, status: int) -> int:
        """What was raised, of what `run_at` returned."""
        ...

    def release(self) -> None:
        """What lies in the arena is not needed any more."""
        ...

    def explain(self) -> list[str]:
        """One line for each instruction."""
        ...

    def run(self, blocks: list[int]) -> int:
        """Run on memory at these addresses, one for each block.

        Until `release` nobody else may run it. Returns the floating-point flags; -1 if it does not fit these values
        (it has run in part), -2 if it is running.
        """
        ...
