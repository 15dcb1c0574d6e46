"""Which plans can be entered the short way (_front.pyx), and what that has to know of them."""

import os
from typing import Any

import numpy as np

from tnp.hot import ndarray
from tnp.transforms.plan import Plan
from tnp.transforms.program import Part
from tnp.transforms.signature import Inputs

try:
    if os.environ.get("TNP_PURE"):
        raise ImportError("TNP_PURE is set")
    from tnp.transforms._front import Front, Matcher
except ImportError:
    Matcher = None  # type: ignore[assignment,misc]

    class Front:  # type: ignore[no-redef]
        """A function that has the long way only."""

        def __init__(self, *variables: Any) -> None:
            pass

        def add_matcher(self, m: Any) -> None:
            pass

        def drop_matchers(self) -> None:
            pass

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return self.long_way(args, kwargs)  # type: ignore[attr-defined]


ARRAY, NUMBER, SAME = range(3)
INPUT, VALUE, FRESH, CONSTANT = range(4)
_DIMS = 8
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))


def matcher(plan: Plan, inputs: Inputs, nargs: int, fixed: dict[int, Any]) -> Any:
    """How to recognise inputs for which `plan` was made; None: they take the long way.

    Parameters
    ----------
    fixed : dict of int to object
        Static arguments, by position.
    """
    parts = plan.parts
    if Matcher is None or parts is None or plan.held:
        return None
    if len(parts.parts) != 1 or type(parts.parts[0]) is not Part:
        return None
    arrays = {i: k for k, (i, _) in enumerate(inputs.arrays)}
    sources, leaves = list(inputs.sources), list[Any]()
    for i, x in enumerate(inputs.leaves):
        if i not in arrays:
            leaves.append((SAME, x))
            continue
        if isinstance(x, np.generic):
            leaves.append((NUMBER, type(x)))
            continue
        nd, (piece, start) = inputs.arrays[arrays[i]][1]._nd, inputs.groups[arrays[i]]
        if type(x) is not ndarray or nd is None or nd.ndim > _DIMS or not nd.size or not nd.flags.aligned:
            return None
        offset = nd.__array_interface__["data"][0] - start
        leaves.append((ARRAY, nd.dtype, nd.shape, nd.strides, nd.flags.writeable, piece, offset))
    others = [i for i in range(nargs) if i not in fixed]
    sources = [(0, others[s[1]], None, s[3]) if s[0] == 0 else s for s in sources]
    for i, value in fixed.items():
        sources.append((0, i, None, None))
        leaves.append((SAME, value))
    if any([x[0] == SAME and type(x[1]) is complex for x in leaves]):
        return None
    found = _blocks(plan, inputs)
    results = _results(plan, inputs)
    if found is None or results is None:
        return None
    blocks, fresh = found
    key = plan.structure.key
    form = 0 if key is None else 1 if type(key) is tuple and key[0] is tuple and set(key[1:]) <= {None} else 2
    sizes = [max(0, stop - start) for start, stop in inputs.spans]
    program = parts.parts[0].program
    return Matcher(
        plan, program.run_at, plan.asks, sources, leaves, sizes, blocks, fresh, results, form, plan.structure.build,
        nargs,
    )  # fmt: skip


def _blocks(plan: Plan, inputs: Inputs) -> Any:
    parts = plan.parts
    assert parts is not None
    given = {slot: (piece, k) for slot, piece, k in plan.given}
    order = [n for n, _ in parts.fresh]
    blocks, fresh = [], []
    for n in parts.blocks:
        if n in given:
            piece, k = given[n]
            blocks.append((1, inputs.arrays[k][0]) if piece is None else (0, piece))
        elif n in order:
            blocks.append((2, order.index(n)))
        else:
            return None
    for _, ref in parts.fresh:
        form = np.empty(ref.shape, ref.dtype)
        is_fortran = form.strides != ref.strides
        if (is_fortran and np.empty(ref.shape, ref.dtype, "F").strides != ref.strides) or len(ref.shape) > _DIMS:
            return None
        if not ref.dtype.isnative or ref.dtype.num > 23:
            return None
        fresh.append((ref.shape, ref.dtype.num, is_fortran))
    return blocks, fresh


def _results(plan: Plan, inputs: Inputs) -> Any:
    parts = plan.parts
    assert parts is not None
    order = {n: i for i, (n, _) in enumerate(parts.fresh)}
    seen: set[int] = set()
    results: list[tuple[int, Any]] = []
    for kind, x in plan.results:
        if kind == "leaf":
            results.append((INPUT, x))
        elif kind == "constant":
            results.append((CONSTANT, x))
        elif kind == "value" and x.slot in parts.places:
            at = parts.places[x.slot] + x.offset
            results.append((VALUE, np.ndarray((), x.dtype, parts.arena, at)))
        elif kind == "made" and x.slot in order and x.slot not in seen and x.same(plan.record.made[x.slot]):
            seen.add(x.slot)
            results.append((FRESH, order[x.slot]))
        else:
            return None
    return results
