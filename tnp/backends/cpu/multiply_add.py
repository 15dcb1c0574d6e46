"""math="fast": a product and the sum that reads it as one instruction, rounded once instead of twice."""

from functools import partial
from typing import NamedTuple

from tnp.backends.base import FAST, Step
from tnp.backends.cpu.ir import Code, code_of
from tnp.backends.cpu.operations import Emitter


class MultiplyAdd(NamedTuple):
    """A sum that computes one of its terms itself.

    Attributes
    ----------
    product : int
        The step of that term.
    operands : tuple of int
        The product's two factors and the other term, as in `Step.args`.
    emit : Emitter
    """

    product: int
    operands: tuple[int, int, int]
    emit: Emitter


def products(steps: list[Step], stored: set[int]) -> dict[int, MultiplyAdd]:
    """The sums and differences of marked steps (`FAST`) that take in a product which nobody else reads.

    Of two products the second is taken, and only where both are squares that are added: ``a*a - b*b`` and
    ``a*d - b*c`` would no longer be zero, nor keep their sign, for equal terms of which one is rounded and the other
    is not.

    Parameters
    ----------
    steps : list of Step
    stored : set of int
        Steps whose values are wanted.
    """
    readers = [0] * len(steps)
    for step in steps:
        for a in step.args:
            if a >= 0:
                readers[a] += 1
    found: dict[int, MultiplyAdd] = {}
    for i, step in enumerate(steps):
        name, code = _name(step), _code(step)
        if name not in ("add", "subtract") or code is None:
            continue
        terms = [a for a in step.args if a >= 0 and _name(steps[a]) in ("multiply", "square")]
        if len(terms) == 2 and not (name == "add" and all(len(set(steps[a].args)) == 1 for a in terms)):
            continue
        for a in reversed(terms):
            if readers[a] == 1 and a not in stored and _code(steps[a]) == code:
                first = step.args[0] == a
                factors = steps[a].args
                found[i] = MultiplyAdd(
                    a,
                    (factors[0], factors[-1], step.args[1 if first else 0]),
                    partial(_emit, name == "subtract" and not first, name == "subtract" and first),
                )
                break
    return found


def _name(step: Step) -> str | None:
    """Of the ufunc of a marked step."""
    ufunc = getattr(step.prim, "ufunc", None)
    return None if ufunc is None or step.params is not FAST else str(ufunc.__name__)


def _code(step: Step) -> str | None:
    """Of the operands and the result; None unless they are all float32, or all float64."""
    codes = set(map(code_of, (*step.in_dtypes, step.dtype)))
    return codes.pop() if codes in ({"f4"}, {"f8"}) else None


def _emit(less: bool, minus: bool, c: Code, x: list[str], k: tuple[str, ...]) -> str:
    """``x0 * x1 + x2``; `less` this product, or `minus` this term."""
    type_ = c.reg(k[0])
    factor = c.let(f"fneg {type_} {x[0]}") if less else x[0]
    term = c.let(f"fneg {type_} {x[2]}") if minus else x[2]
    return c.strict("fma", k[0], factor, x[1], term)
