"""Running a group without compiling it: NumPy's ufuncs, step by step."""

from typing import Any

import numpy as np

from tnp.backends.base import Group


class Flags:
    """Collects the floating-point flags that NumPy reports."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, _text: str, flag: int) -> None:
        self.seen |= flag


def run_steps(group: Group) -> int:
    """Compute the outputs of a group of elementwise steps; returns the flags."""
    flags = Flags()
    with np.errstate(all="call", call=flags):
        values: list[Any] = []
        for step in group.steps:
            operands = [values[a] if a >= 0 else group.leaves[~a] for a in step.args]
            values.append(evaluate(step, operands))
        for i, out in group.outputs:
            np.copyto(out, values[i], casting="unsafe")
    return flags.seen


def evaluate(step: Any, operands: list[Any]) -> Any:
    """The value of one step."""
    params = dict(step.params)
    if step.prim.ufunc is None:
        if step.prim.name == "astype":
            return np.asarray(operands[0]).astype(step.dtype)
        condition, *choices = operands
        choices = [np.asarray(x).astype(step.dtype, copy=False) for x in choices]
        return np.where(condition, *choices)
    return step.prim.ufunc(*operands, signature=(*step.in_dtypes, None), casting="unsafe", **params)
