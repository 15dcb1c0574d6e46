"""`cond` and `while_loop` where `jit` records: one step of the plan each, which runs their functions at every call."""

from collections.abc import Callable
from typing import Any

import numpy as np

import tnp
from tnp.core.interpreter import current, recorder, recording
from tnp.core.pytree import flatten
from tnp.hot import ndarray
from tnp.tracing import is_traced
from tnp.transforms.errors import explain


class Step:
    """``run(functions, value)`` as a function of NumPy's arrays, which must always give the same kinds of them.

    Parameters
    ----------
    name : str
    run : callable
    build : callable
        Of a list of leaves: the value.
    """

    def __init__(self, name: str, run: Callable[..., Any], build: Callable[[list[Any]], Any]) -> None:
        self.__name__, self._run, self._build = name, run, build
        self._kinds: Any = None
        self.result: Any = None  # of a list of leaves: what the first call gave

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        functions = [x for x in args if callable(x)]
        with recording(None):
            leaves = [_own(x) if hasattr(x, "dtype") else x for x in args if not callable(x)]
        found, build = flatten(self._run(functions, self._build(leaves)))
        with recording(None):
            arrays = tuple([np.array(tnp.to_numpy(tnp.asarray(x))) for x in found])
        kinds = [(x.shape, x.dtype) for x in arrays]
        if self._kinds is None:
            self._kinds, self.result = kinds, build
        elif kinds != self._kinds:
            raise ValueError(
                explain(
                    f"jit: {self.__name__} gives something else",
                    str(kinds),
                    f"{self._kinds}, as when it was recorded",
                    "branches and steps that give the same shapes and dtypes",
                )
            )
        return arrays


def _own(x: Any) -> Any:
    """An array for the functions alone, who may not write to it: nobody would see that."""
    x = np.array(x)
    x.flags.writeable = False
    return tnp.asarray(x) if x.ndim else tnp.asarray(x)[()]


def recorded(name: str, run: Callable[..., Any], functions: tuple[Callable[..., Any], ...], value: Any) -> Any:
    """What a recorder gives for ``run(functions, value)``; None: nobody records, or derivatives of it are wanted.

    The functions get all arrays by `value`: one that they close over is refused.
    """
    below: Any = recorder()
    leaves, build = flatten(value)
    arrays = [x for x in leaves if type(x) is ndarray and is_traced(x)]
    if below is None or not arrays:
        return None
    base = current()
    if base is not None and base.concerns(tuple(arrays)):
        return None
    step = Step(name, run, build)
    found = below.call(step, (*functions, *leaves), {})
    return (step.result(list(found)),)
