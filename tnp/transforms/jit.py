"""`tnp.jit`: a function is recorded once, and then runs as a plan.

The first call for arguments of a kind runs as always, and is recorded below everything else that looks on; later ones
run the plan. What distinguishes kinds is the key (tnp/transforms/signature.py); how a plan runs: plan.py.
"""

import functools
import threading
import types
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tnp import content, hot, tracing
from tnp.core import interpreter
from tnp.hot import ndarray
from tnp.transforms.errors import RetraceWarning, explain
from tnp.transforms.front import Front, matcher
from tnp.transforms.names import Names
from tnp.transforms.plan import Plan, make_plan, plain
from tnp.transforms.recorder import Recorder
from tnp.transforms.signature import Inputs, static_values
from tnp.transforms.structure import flatten

MOST_PLANS = 128  # of one function
NOTICE_AFTER = 32  # recordings of one function

_lock = threading.RLock()
_tracing = 0
_before = 0


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Any:
    """Record `fun` once for each kind of arguments, then run what was recorded as one plan.

    Parameters
    ----------
    fun : callable, optional
        A function of arrays, numbers, and lists, tuples and dicts of these. Left out, a decorator is returned.
    static_argnums : int or sequence of int
    static_argnames : str or sequence of str
        Arguments whose values steer the program: hashable; each value has a plan of its own. Python's numbers and
        strings are static in any case.

    Returns
    -------
    callable
        Gives what `fun` gives, bit for bit, and writes where `fun` writes. ``.lower(*args)`` records without
        running a plan, and ``.lower(*args).explain()`` tells what the plan does.

    Raises
    ------
    ConcretizationError
        `fun` asks an array for its truth value, for a Python number, or for a shape that depends on values.
    TypeError
        A static argument is not hashable.

    See Also
    --------
    docs/jit.md : what is recorded, and what is looked up anew at each call.

    >>> import tnp as np
    >>> @np.jit
    ... def step(x, v):
    ...     v -= 0.1 * np.sin(x)
    ...     x += 0.1 * v
    ...     return (v * v).sum()
    >>> x, v = np.ones(3), np.zeros(3)
    >>> for _ in range(3):
    ...     energy = step(x, v)
    >>> x
    array([0.94974207, 0.94974207, 0.94974207])
    """
    if fun is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames)
    if not callable(fun):
        raise TypeError(explain("jit: no function", repr(fun), "a callable", "@tnp.jit or tnp.jit(f)"))
    nums = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    return Jitted(fun, nums, names)


class Jitted(Front):
    """A function that `jit` returned."""

    def __init__(self, function: Callable[..., Any], nums: tuple[int, ...], names: tuple[str, ...]) -> None:
        super().__init__(*interpreter.variables())
        functools.update_wrapper(self, function)
        self._jitted = function
        self._nums, self._names = nums, names
        self._reached: Names | None = None
        self._plans: OrderedDict[Any, Plan] = OrderedDict()
        self._traces = 0

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"jit({self._jitted!r})"

    def long_way(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call, whatever the arguments are."""
        if not interpreter.is_alone():
            return self._jitted(*args, **kwargs)
        static, rest, named, together = static_values(args, kwargs, self._nums, self._names)
        inputs = self._inputs(static, rest, named)
        if inputs is None:
            return self._jitted(*args, **kwargs)
        plan = self._plans.get(inputs.key)
        if plan is None or not plan.fits(inputs):
            return self._trace(inputs, together)[1]
        self._plans.move_to_end(inputs.key)
        if not kwargs and not self._names:
            fixed = {n % len(args): args[n] for n in self._nums if -len(args) <= n < len(args)}
            m = matcher(plan, inputs, len(args), fixed)
            if m is not None:
                self.add_matcher(m)
        return plan.run(inputs)

    def again(self, plan: Plan, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call after a program had to be undone: NumPy says what is to be said."""
        static, rest, named, _ = static_values(args, kwargs, self._nums, self._names)
        inputs = self._inputs(static, rest, named)
        assert inputs is not None
        return plan.by_hand(inputs)

    def _inputs(self, static: Any, args: Any, kwargs: Any) -> Inputs | None:
        """The inputs of a call; None if somebody wants derivatives of it."""
        if self._reached is None:
            self._reached = Names(self._jitted)
        inputs = Inputs(args, kwargs, self._reached, static)
        base = interpreter.current()
        if base is not None:
            traced = [x for _, x in inputs.arrays if tracing.is_traced(x)]
            if traced and base.concerns(traced):
                return None
        return inputs

    def _trace(self, inputs: Inputs, together: Callable[..., Any]) -> tuple[Plan, Any]:
        """Run the function and record it."""
        self._traces += 1
        if self._traces == NOTICE_AFTER:
            warnings.warn(
                explain(
                    f"jit: {getattr(self, '__qualname__', self._jitted)} was recorded {self._traces} times",
                    "ever new shapes, dtypes, Python numbers or static arguments",
                    "few kinds of arguments",
                    "numpy.float64(x) for numbers that change; arrays padded to a few shapes",
                ),
                RetraceWarning,
                stacklevel=3,
            )
        recorder = Recorder()
        leaves = list(inputs.leaves)
        for k, ((i, x), (piece, _)) in enumerate(zip(inputs.arrays, inputs.groups, strict=True)):
            if isinstance(x, np.generic):
                leaves[i] = recorder.give_number(x, k)
            else:
                recorder.give(x, k, piece, inputs.spans[piece])
                if type(leaves[i]) is np.ndarray:
                    recorder.is_twin(leaves[i], x)
                leaves[i] = x
        args, kwargs = together(*inputs.structure.build(iter(leaves)))
        with _everything_is_told():
            try:
                with interpreter.recording(recorder):
                    result = self._jitted(*args, **kwargs)
                found: list[Any] = []
                structure = flatten(result, found)
                plan = make_plan(recorder, inputs, structure, found, leaves)
                found = [plain(x, leaves, inputs) for x in found]
            finally:
                recorder.release()
        plan.compile(inputs)
        self._plans[inputs.key] = plan
        self._plans.move_to_end(inputs.key)
        if len(self._plans) > MOST_PLANS:
            self._plans.popitem(last=False)
        return plan, structure.build(iter(found))

    def lower(self, *args: Any, **kwargs: Any) -> Plan:
        """Record the function for such arguments, on copies of them, and return its plan.

        >>> import tnp as np
        >>> print(np.jit(lambda x: np.exp(x) + 1).lower(np.ones(3)).explain())  # doctest: +ELLIPSIS
        plan of ...
        """
        static, rest, named, together = static_values(args, kwargs, self._nums, self._names)
        inputs = self._inputs(static, rest, named)
        if inputs is None:
            raise TypeError(explain("jit: lower of tracked arrays", "an array on a tape", "plain arrays", "x.copy()"))
        plan = self._plans.get(inputs.key)
        if plan is None:
            kept = [(x, content.settle(x).copy()) for _, x in inputs.arrays if isinstance(x, ndarray)]
            plan = self._trace(inputs, together)[0]
            for x, before in kept:
                nd = content.release(x)
                if nd.flags.writeable:
                    nd[...] = before
        return plan

    def clear_cache(self) -> None:
        """Forget all plans."""
        self._plans.clear()
        self.drop_matchers()
        self._reached = None


class _everything_is_told:
    """In the block every operation takes the long way, where a recorder is asked."""

    def __enter__(self) -> None:
        global _tracing, _before
        with _lock:
            if _tracing == 0:
                _before = hot.get_lazy_from()
                hot.set_lazy_from(0)
                tracing.offer_calls()
            _tracing += 1

    def __exit__(self, *error: object) -> None:
        global _tracing
        with _lock:
            _tracing -= 1
            if _tracing == 0:
                hot.set_lazy_from(_before)
