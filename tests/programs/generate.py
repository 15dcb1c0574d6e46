"""A whole program: how it is written, how it ends, and in which of several ways it is run."""

import random
from dataclasses import dataclass, replace
from typing import Any

from tests.programs import execute, vocabulary
from tests.programs.writer import Writer


@dataclass(frozen=True)
class Program:
    """Statements and the way to run them.

    Attributes
    ----------
    function : bool
        Names are local variables instead of a module's.
    lazy_from : int or None
        Record operations on arrays of so many elements; None leaves the engine's default.
    """

    statements: list[str]
    function: bool
    lazy_from: int | None
    seed: int | None = None

    @property
    def text(self) -> str:
        """The source."""
        return "\n".join(self.statements) + "\n"

    def of(self, statements: list[str]) -> "Program":
        """The same with other statements."""
        return replace(self, statements=statements)

    def run(self, np: Any) -> execute.Record:
        """What it shows under `np`."""
        return execute.run(self.text, np, function=self.function, lazy_from=self.lazy_from)

    def shown(self) -> str:
        """A script that runs by itself."""
        body = execute.as_function(self.text) if self.function else self.text
        return f"{execute.HEADER}# recorded from: {self.lazy_from} elements\n{body}"


def write(rng: random.Random, *, seed: int | None = None, sizes: str | None = None, statements: int = 22) -> Program:
    """Write one program."""
    if sizes is None:
        sizes = rng.choice(["small", "small", "medium", "medium", "medium", "large"])
    writer = Writer(rng, sizes)
    writer.grow(vocabulary.START, 3)
    writer.grow(vocabulary.STATEMENTS, rng.randrange(4, statements))
    rest = sorted(name for name in writer.names if name[0] in "afv" and name[1:].isdigit())
    rng.shuffle(rest)
    last = [f"saw({name}.copy())" if name[0] == "f" else f"saw({name})" for name in rest]
    return Program(
        [*writer.statements, *last],
        function=rng.randrange(2) == 0,
        lazy_from=rng.choice([None, 1, 1]) if sizes != "large" else None,
        seed=seed,
    )
