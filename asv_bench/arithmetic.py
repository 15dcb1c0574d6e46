"""The arithmetic of a program, found by running it once on arrays that count."""

from dataclasses import dataclass, field
from typing import Any

import numpy

from asv_bench.programs import DIVISION, EXPONENTIAL, PLAIN, ROOT, Program

BLOCK = 2048  # elements: in the first cache, and long enough for a call not to count
CYCLES = {
    **dict.fromkeys(("add", "subtract", "multiply", "negative", "square", "absolute", "maximum", "minimum"), PLAIN),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), PLAIN),
    "exp": EXPONENTIAL,
}
DIVIDER = {**dict.fromkeys(("divide", "reciprocal"), DIVISION), "sqrt": ROOT}  # a unit of its own, beside the others


@dataclass
class Work:
    """Cycles in vectors of 32 bytes, and what only NumPy's own loops do: elements and a block of operands of each.

    The divider works beside the other units, so the longer of the two counts.
    """

    plain: float = 0.0
    divider: float = 0.0
    elements: dict[numpy.ufunc, int] = field(default_factory=dict)
    blocks: dict[numpy.ufunc, list[Any]] = field(default_factory=dict)

    @property
    def cycles(self) -> float:
        return max(self.plain, self.divider)

    def add(self, ufunc: numpy.ufunc, operands: list[Any]) -> None:
        size = numpy.broadcast(*operands).size if len(operands) > 1 else numpy.size(operands[0])
        name = ufunc.__name__
        if name in CYCLES or name in DIVIDER:
            self.plain += CYCLES.get(name, 0.0) * size
            self.divider += DIVIDER.get(name, 0.0) * size
            return
        self.elements[ufunc] = self.elements.get(ufunc, 0) + size
        if ufunc not in self.blocks:
            self.blocks[ufunc] = [x.flat[:BLOCK] for x in numpy.broadcast_arrays(*operands)]


def count(program: Program) -> Work:
    """What a program computes, every operation that it writes once for each element."""
    work = Work()

    class Counting(numpy.ndarray[Any, Any]):
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **more: Any) -> Any:
            operands = [_plain(x) for x in inputs]
            if out:
                more["out"] = tuple(_plain(x) for x in out)
            result = getattr(ufunc, method)(*operands, **more)
            work.add(ufunc, operands)
            return out[0] if out else _counting(result)

        def __array_function__(self, *call: Any) -> Any:
            return _counting(super().__array_function__(*call))

    def _counting(x: Any) -> Any:
        return x.view(Counting) if isinstance(x, numpy.ndarray) else x

    program.run(numpy, *map(_counting, program.make(numpy.random.default_rng(17))))
    return work


def _plain(x: Any) -> Any:
    return x.view(numpy.ndarray) if isinstance(x, numpy.ndarray) else x
