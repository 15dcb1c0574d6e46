"""In which order NumPy combines the elements of a reduction's operand.

That follows from where they lie in memory. So the operand's axes are put in the order of falling strides, and
neighbours that are both kept or both reduced are merged. What remains is a short pattern, outermost first:

    R, KR, RKR    results are folds of whole rows (pairwise for floats), outer rows one after the other
    RK, KRK       rows are added to rows
"""

from itertools import pairwise
from typing import Any

import numpy as np

from tnp.backends.base import Group
from tnp.backends.cpu.folds import Fold, fold_of
from tnp.backends.cpu.interpret import evaluate
from tnp.backends.cpu.ir import code_of
from tnp.backends.cpu.plan import Unplannable
from tnp.core.primitive import Reduction

ENDLESS = 1 << 60


class Job:
    """One reduction of a group.

    Attributes
    ----------
    output : int
        Which of the group's outputs it is.
    fold : Fold
    operand : int
        Step or leaf (as `Step.args`).
    loop : dtype
        What the operand is cast to.
    order : tuple of int
        The operand's axes, outermost in memory first.
    pattern : tuple of (bool, int)
        Reduced or kept, and length, outermost first.
    segment : int
        Elements that NumPy would add up at a time.
    index, axes : tuple
        ``out[index].transpose(axes)`` has the kept axes in `order`.
    direct : bool
        That view is where the walk can write.
    """

    __slots__ = ("axes", "direct", "fold", "index", "loop", "operand", "order", "output", "pattern", "segment")

    def __init__(self, output: int, fold: Fold, operand: int, loop: Any, order: tuple[int, ...]) -> None:
        self.output, self.fold, self.operand, self.loop, self.order = output, fold, operand, loop, order
        self.pattern: tuple[tuple[bool, int], ...] = ()
        self.segment = ENDLESS
        self.index: tuple[Any, ...] = ()
        self.axes: list[int] = []
        self.direct = False

    @property
    def key(self) -> Any:
        """Jobs of one key are done in one pass."""
        return self.order, self.pattern, self.segment, self.fold.parts, self.fold.strict_order

    @property
    def letters(self) -> str:
        return "".join("KR"[reduced] for reduced, _ in self.pattern)

    @property
    def worth_threads(self) -> bool:
        """Several threads reduce memory as it lies faster than NumPy does."""
        size = 1
        for _, n in self.pattern:
            size *= n
        quits = self.fold.kind in ("and", "or")  # NumPy's any and all stop as soon as they know
        return size >= 1 << 18 and self.pattern[-1] >= (True, 64) and not quits

    def target(self, group: Group) -> Any:
        return group.outputs[self.output][1][self.index].transpose(self.axes)


def order_of(group: Group, operand: int) -> tuple[int, ...]:
    """Axes of an operand as it would lie in memory under NumPy, outermost first."""
    natural = tuple(range(len(group.shape)))
    if len(natural) < 2:
        return natural
    if operand < 0:
        strides = group.leaves[~operand].strides
    elif all(_falling(a) for a in group.leaves):
        return natural
    else:  # NumPy itself says it, on a corner of the operands
        corner = [
            a[tuple(slice(0, 2) for _ in range(a.ndim))] if isinstance(a, np.ndarray) else a for a in group.leaves
        ]
        values: list[Any] = []
        with np.errstate(all="ignore"):
            for step in group.steps[: operand + 1]:
                if isinstance(step.prim, Reduction):
                    values.append(None)
                    continue
                values.append(evaluate(step, [values[a] if a >= 0 else corner[~a] for a in step.args]))
        strides = values[operand].strides
    return tuple(sorted(natural, key=lambda d: -abs(strides[d])))


def _falling(a: Any) -> bool:
    if not isinstance(a, np.ndarray):
        return True
    steps = [s for n, s in zip(a.shape, a.strides, strict=True) if n > 1]
    return all(s > 0 for s in steps) and all(s >= t for s, t in pairwise(steps))


def job_of(group: Group, output: int) -> Job:
    """How a reduction is done. Raises Unplannable where NumPy must do it."""
    i, out = group.outputs[output]
    step = group.steps[i]
    assert isinstance(step.prim, Reduction)
    params, (operand,), loop = dict(step.params), step.args, step.in_dtypes[-1]
    code = code_of(loop)
    fold = fold_of(step.prim.ufunc.__name__, code) if code else None
    if fold is None or not set(params) <= {"axis", "keepdims"}:
        raise Unplannable(step.prim.name)
    source = group.steps[operand].dtype if operand >= 0 else group.leaves[~operand].dtype
    order = order_of(group, operand)
    job = Job(output, fold, operand, loop, order)
    axis = params.get("axis")
    axes = set(range(len(group.shape)) if axis is None else (axis,) if isinstance(axis, int) else axis)
    pattern: list[tuple[bool, int]] = []
    for d in order:
        if group.shape[d] != 1:
            if pattern and pattern[-1][0] == (d in axes):
                pattern[-1] = pattern[-1][0], pattern[-1][1] * group.shape[d]
            else:
                pattern.append((d in axes, group.shape[d]))
    job.pattern = tuple(pattern)
    letters = job.letters
    if letters not in ("R", "KR", "RKR", "RK", "KRK"):
        raise Unplannable(letters)
    if letters[-1] == "K" and fold.signs:
        raise Unplannable("signs of zeros")
    if fold.tree and source != loop and code != "bf2":
        if letters == "RKR":
            raise Unplannable("buffered in pieces of rows")
        job.segment = np.getbufsize()
    if operand < 0:
        leaf = group.leaves[~operand].transpose(order)
        if leaf.shape != tuple(group.shape[d] for d in order) or not leaf.flags.c_contiguous or not leaf.flags.aligned:
            raise Unplannable("a view")
    keep = bool(params.get("keepdims"))
    job.index = (*(0 if keep and d in axes else slice(None) for d in range(out.ndim)), ...)
    kept = sorted(set(range(len(group.shape))) - axes)
    job.axes = [kept.index(d) for d in order if d not in axes]
    target = job.target(group)
    job.direct = target.dtype == fold.dtype and target.flags.c_contiguous and target.flags.aligned
    return job
