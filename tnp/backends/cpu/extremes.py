"""Maximum, minimum, fmax, fmin and clip of floats, emitted where NumPy's answers follow one rule.

Which of two zeros of different sign NumPy returns depends on its instructions, which differ among processors, and may
differ between the vectors and the remainder of an array. Before first use NumPy is asked at every place and layout;
where the answer depends on them there is no emitter, and NumPy's loop runs on blocks cut as NumPy cuts them.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from tnp.backends.base import Step
from tnp.backends.cpu.ir import Code, code_of
from tnp.core.primitive import Elementwise

NAMES = frozenset({"maximum", "minimum", "fmax", "fmin", "clip"})
_PROPAGATE = ("maximum", "minimum")  # a NaN wherever there is one; fmax and fmin: only where there is nothing else
_CLIP: Any = getattr(np, "_core", np).umath.clip
_LENGTHS = (*range(1, 20), 31, 32, 33, 63, 64, 65, 131)


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
    ufunc = _CLIP if name == "clip" else getattr(np, name)
    rule = _clip_rule if name == "clip" else partial(_rule, name)
    trials = [t for t in _trials(ufunc.nin, np.dtype(codes[0])) if name != "clip" or scalars == _bounds_are_scalars(t)]
    for tie in ("second", "first"):
        if _follows(ufunc, partial(rule, tie), trials):
            return partial(_emit_clip, tie) if name == "clip" else partial(_emit, name, tie)
    return None


def extreme_of(step: Step, leaves: list[Any]) -> "partial[str] | None":
    """Emitter of a step that reads these leaves (of which only the scalars matter), if it is one of `NAMES`."""
    ufunc = step.prim.ufunc if isinstance(step.prim, Elementwise) else None
    codes = tuple(code_of(d) for d in step.in_dtypes)
    if ufunc is None or ufunc.__name__ not in NAMES or None in codes:
        return None
    bounds = [a < 0 and isinstance(leaves[~a], np.generic) for a in step.args[1:]]
    if ufunc.__name__ == "clip" and any(bounds) and not all(bounds):
        return None
    return extreme(ufunc.__name__, codes, ufunc.__name__ == "clip" and all(bounds))  # type: ignore[arg-type]


def positional(step: Step, leaves: list[Any]) -> bool:
    """Must NumPy's loop get the blocks that a flat array would give it?"""
    ufunc = step.prim.ufunc if isinstance(step.prim, Elementwise) else None
    if ufunc is None or ufunc.__name__ not in NAMES or step.in_dtypes[0].kind not in "fc":
        return False
    return extreme_of(step, leaves) is None


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


def _follows(ufunc: Any, rule: Callable[..., Any], trials: list[list[Any]]) -> bool:
    """Does NumPy give the rule's bits?"""
    with np.errstate(all="ignore"):
        results = [ufunc(*t) for t in trials]
        operands = zip(*([np.broadcast_to(x, r.shape) for x in t] for t, r in zip(trials, results, strict=True)),
                       strict=True)  # fmt: skip
        a, b = np.concatenate(results), rule(*map(np.concatenate, operands))
        return bool(((np.signbit(a) == np.signbit(b)) & (a == b) | np.isnan(a) & np.isnan(b)).all())


def _bounds_are_scalars(operands: list[Any]) -> bool:
    return all(isinstance(x, np.generic) for x in operands[1:])


def _trials(nin: int, dtype: np.dtype[Any]) -> Iterator[list[Any]]:
    """Operands: zeros of both signs at every place of short arrays, in every layout; then everything with everything."""
    zeros = np.array([0.0, -0.0], dtype).repeat(2 * max(_LENGTHS))
    scalar_sets = [s for s in range((1 << nin) - 1) if nin == 2 or s in (0, 1, 6)]  # of clip: both bounds or none
    for n in _LENGTHS:
        for signs in range(1 << nin):
            values = [zeros[2 * max(_LENGTHS) * (signs >> i & 1) :] for i in range(nin)]
            yield [v[: 2 * n : 2] for v in values]
            yield [v[:n][::-1] for v in values]
            for scalars in scalar_sets:
                yield [v[0] if scalars >> i & 1 else v[:n] for i, v in enumerate(values)]
    limits = np.finfo(dtype)
    special = np.array([0.0, -0.0, 1, -1, np.nan, np.inf, -np.inf, limits.tiny, limits.max, 2], dtype)
    grid = [g.reshape(-1) for g in np.meshgrid(*[special] * nin)]
    order = np.random.default_rng(0).permutation(len(grid[0]))
    for shift in range(9):
        yield [g[order][shift:] for g in grid]
    for scalars in scalar_sets[1:]:
        for at in order[:: max(1, len(order) // 60)]:
            yield [g[at] if scalars >> i & 1 else g[order] for i, g in enumerate(grid)]
