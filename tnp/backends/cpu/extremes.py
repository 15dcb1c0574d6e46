"""Maximum, minimum, fmax, fmin and clip of floats, emitted where NumPy's answers follow one rule.

Which of two zeros of different sign NumPy returns depends on its instructions, which differ among processors, and may
differ between the vectors and the remainder of an array. Before first use NumPy is asked at every place and layout;
where the answer depends on them there is no emitter, and NumPy's loop runs on blocks cut as NumPy cuts them.
"""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from tnp.backends.base import Step
from tnp.backends.cpu.ir import Code, code_of
from tnp.backends.cpu.reach import SCALAR, UNIT
from tnp.core.primitive import Elementwise

NAMES = frozenset({"maximum", "minimum", "fmax", "fmin", "clip"})
_PROPAGATE = ("maximum", "minimum")  # a NaN wherever there is one; fmax and fmin: only where there is nothing else
_CLIP: Any = getattr(np, "_core", np).umath.clip
_LENGTHS = (*range(1, 10), 17, 19, 35, 131)


@cache
def extreme(name: str, codes: tuple[str, ...], scalars: bool = False) -> "partial[str] | None":
    """Emitter of a loop over these dtypes; None where NumPy's bits follow no rule.

    Parameters
    ----------
    scalars : bool
        Both bounds of clip are scalars. (NumPy has another loop for these.)
    """
    if name not in NAMES or len(set(codes)) > 1 or codes[0] not in ("f4", "f8"):
        return None
    clip = name == "clip"
    rule = _clip_rule if clip else partial(_rule, name)
    with np.errstate(all="ignore"):
        *operands, answer = _answers(_CLIP if clip else getattr(np, name), np.dtype(codes[0]), scalars)
        for tie in ("second", "first"):
            x = rule(tie, *operands)
            if (((np.signbit(x) == np.signbit(answer)) & (x == answer)) | (np.isnan(x) & np.isnan(answer))).all():
                return partial(_emit_clip, tie) if clip else partial(_emit, name, tie)
    return None


def extreme_of(
    name: str, codes: tuple[str, ...], args: tuple[int, ...], reached: Sequence[str]
) -> "partial[str] | None":
    """The same, of a step with these operands; ``reached`` says how its leaves are (see `plan`)."""
    if name != "clip":
        return extreme(name, codes)
    bounds = {UNIT if a >= 0 else reached[~a] for a in args[1:]}
    return extreme(name, codes, bounds == {SCALAR}) if bounds in ({SCALAR}, {UNIT}) else None


def positional(step: Step, leaves: list[Any], shape: tuple[int, ...]) -> bool:
    """Must NumPy's loop get the blocks that a flat array would give it?"""
    ufunc = step.prim.ufunc if isinstance(step.prim, Elementwise) else None
    if ufunc is None or ufunc.__name__ not in NAMES or step.in_dtypes[0].kind not in "fc":
        return False
    codes = tuple(code_of(d) for d in step.in_dtypes)
    reached = [SCALAR if isinstance(a, np.generic) else UNIT if a.shape == shape else "" for a in leaves]
    return None in codes or extreme_of(ufunc.__name__, codes, step.args, reached) is None  # type: ignore[arg-type]


def _emit(name: str, tie: str, c: Code, x: list[str], k: tuple[str, ...]) -> str:
    """The first operand where it is better (or a tie goes to it), or where a NaN decides; otherwise the second."""
    predicate = "o" + ("g" if name in ("maximum", "fmax") else "l") + ("t" if tie == "second" else "e")
    decides = x[0] if name in _PROPAGATE else x[1]
    better, nan = c.compare(predicate, k[0], *x), c.compare("uno", k[0], decides, decides)
    first = c.let(f"or {c.reg('b1')} {better}, {nan}")
    return c.let(f"select {c.reg('b1')} {first}, {c.reg(k[0])} {x[0]}, {c.reg(k[0])} {x[1]}")


def _emit_clip(tie: str, c: Code, x: list[str], k: tuple[str, ...]) -> str:
    return _emit("minimum", tie, c, [_emit("maximum", tie, c, x[:2], k), x[2]], k)


def _rule(name: str, tie: str, a: Any, b: Any) -> Any:
    """What `_emit` computes."""
    strictly, at_least = (
        (np.greater, np.greater_equal) if name in ("maximum", "fmax") else (np.less, np.less_equal)
    )  # fmt: skip
    better = (strictly if tie == "second" else at_least)(a, b)
    return np.where(better | np.isnan(a if name in _PROPAGATE else b), a, b)


def _clip_rule(tie: str, a: Any, low: Any, high: Any) -> Any:
    return _rule("minimum", tie, _rule("maximum", tie, a, low), high)


def _answers(ufunc: Any, dtype: np.dtype[Any], scalars: bool) -> list[Any]:
    """Many operands, each as one long array, and NumPy's results."""
    table: list[list[Any]] = [[] for _ in range(ufunc.nin + 1)]
    for operands in _trials(ufunc.nin, dtype):
        if ufunc.nin == 2 or scalars == all(isinstance(x, np.generic) for x in operands[1:]):
            result = ufunc(*operands)
            for column, x in zip(table, (*operands, result), strict=True):
                column.append(np.full(result.shape, x) if isinstance(x, np.generic) else x)
    return [np.concatenate(column) for column in table]


def _trials(nin: int, dtype: np.dtype[Any]) -> Iterator[list[Any]]:
    """Operands: zeros of both signs at every place of short arrays, in all layouts; then everything with everything."""
    zeros = np.array([0.0, -0.0], dtype).repeat(2 * max(_LENGTHS))
    scalar_sets = [s for s in range((1 << nin) - 1) if nin == 2 or s in (0, 1, 6)]  # of clip: both bounds or none
    for n in _LENGTHS:
        for signs in range(1 << nin):
            values = [zeros[2 * max(_LENGTHS) * (signs >> i & 1) :] for i in range(nin)]
            if n in (3, 8, 35):
                yield [v[: 2 * n : 2] for v in values]
                yield [v[:n][::-1] for v in values]
            for scalars in scalar_sets:
                yield [v[0] if scalars >> i & 1 else v[:n] for i, v in enumerate(values)]
    limits = np.finfo(dtype)
    special = np.array([0.0, -0.0, 1, -1, np.nan, np.inf, -np.inf, limits.tiny, limits.max, 2], dtype)
    grid = [g.reshape(-1) for g in np.meshgrid(*[special] * nin)]
    order = np.random.default_rng(0).permutation(len(grid[0]))
    for shift in (0, 1, 2, 5):
        yield [g[order][shift:] for g in grid]
    for scalars in scalar_sets[1:]:
        for at in order[:: max(1, len(order) // 25)]:
            yield [g[at] if scalars >> i & 1 else g[order] for i, g in enumerate(grid)]
