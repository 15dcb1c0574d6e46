"""Operations on traced arrays: done as always, and told to the interpreter (tnp/core/interpreter.py).

Primitives come here from `bind`, `reduce` and `writes`, writes by index from indexing and ufuncs, everything else
through the two gates `read` and `write` that every function passes which looks at an array's memory.
"""

from typing import Any

import numpy as np

from tnp import bind, content, hot, writes
from tnp import reduce as reduce_module
from tnp.core import interpreter
from tnp.core.cells import IMMUTABLE, TRACED
from tnp.core.elementwise import REDUCTIONS, cast_p, where_p
from tnp.core.interpreter import DECLINED, OPAQUE, current, recorded, recorder
from tnp.host import install_intercept
from tnp.hot import cell_of, ndarray, wrap

stand_ins: set[type] = set()  # classes of objects that stand for arrays: calls with one are offered to the interpreter


def trace(x: Any) -> Any:
    """Have interpreters told of what is done to the memory of ``x``, through whatever view. Returns ``x``."""
    cell_of(x).marked |= TRACED
    offer_calls()
    return x


def trace_value(x: Any) -> Any:
    """Trace ``x``, an array without dimensions, as a scalar: nothing changes it in place. Returns ``x``."""
    cell_of(x).marked |= TRACED | IMMUTABLE
    return x


def untrace(x: Any) -> Any:
    """End `trace`. Returns ``x``."""
    cell_of(x).marked &= ~TRACED
    return x


def is_traced(x: Any) -> bool:
    """Is ``x`` an array whose memory is traced?"""
    return isinstance(x, ndarray) and x._cell is not None and bool(x._cell.marked & TRACED)


def is_value(x: Any) -> bool:
    """Is ``x`` a traced scalar, which nothing changes in place?"""
    return isinstance(x, ndarray) and x._cell is not None and bool(x._cell.marked & IMMUTABLE)


# ------------------------------------------------------------------------------------------------ calls
def offer_calls() -> None:
    """From now on offer calls of NumPy's functions on traced arrays to the interpreter."""
    install_intercept(intercept)


def intercept(raw: Any, args: Any, kwargs: dict[str, Any], operator: Any = None) -> Any:
    """What the interpreter makes of the call ``raw(*args, **kwargs)``; DECLINED: it is done as always.

    `operator` is what the program wrote where that is no call of `raw`: to numbers it is something else.
    """
    i, below = current(), recorder()
    if i is not None and (_concerns(args, 0) or (kwargs and _concerns(kwargs.values(), 0))):
        r = i.call(raw, args, kwargs)
        if r is not DECLINED or below is None or i.concerns((args, tuple(kwargs.values()))):
            return r
    return DECLINED if below is None else below.call(operator or raw, args, kwargs)


def _concerns(items: Any, depth: int) -> bool:
    """Is there a traced array, or what stands for one, among these?"""
    for x in items:
        t = type(x)
        if t is ndarray:
            if x._cell is not None and x._cell.marked & TRACED:
                return True
        elif ((t is list or t is tuple) and depth < 4 and _concerns(x, depth + 1)) or t in stand_ins:
            return True
    return False


def read(x: Any) -> None:
    """Something that is no primitive reads the traced array ``x``."""
    i = current()
    if i is not None:
        i.read(x)
    _expose(x)


def _expose(x: Any) -> None:
    """A recorder learns of what no call says."""
    below = recorder()
    if below is not None and not interpreter.is_looking():
        below.read(x)


def write(x: Any, key: Any = Ellipsis, value: Any = OPAQUE) -> None:
    """``x[key]`` is about to become ``value``; one of the two is traced, so ``x`` is from now on."""
    i = current()
    if i is not None:
        trace(x)
        i.write(x, key, value)
    if value is OPAQUE:
        _expose(x)


def export(x: Any) -> None:
    """Foreign code gets the memory of the traced array ``x``."""
    i = current()
    if i is not None:
        i.export(x)
    _expose(x)


def write_add(x: Any, key: Any, value: Any) -> None:
    """``value`` is about to be added to ``x[key]``, as often as the key names a place."""
    i = current()
    if i is not None:
        trace(x)
        i.write_add(x, key, value)


def _memory(x: Any) -> Any:
    return content.settle(x) if isinstance(x, ndarray) else x


def _told(prim: Any, params: tuple[tuple[str, Any], ...], args: tuple[Any, ...], result: Any) -> Any:
    i = current()
    if i is not None:
        mine = i.primitive(prim, params, args, result)
        if mine is not None:
            return mine
        if type(result) is ndarray:
            trace(result)
    return result


def elementwise(prim: Any, args: tuple[Any, ...], target: Any) -> Any:
    """`bind.elementwise` where an operand or the target is traced: never None."""
    value = recorded(prim.ufunc, args, {})
    if value is DECLINED:
        value = bind.record_elementwise(prim, args)
    if value is None:
        value = wrap(prim.ufunc(*[_memory(x) for x in args]))
    return _into(target, _told(prim, (), args, value))


def select(c: Any, x: Any, y: Any, target: Any) -> Any:
    """`bind.select` where an operand or the target is traced: never None."""
    value = recorded(np.where, (c, x, y), {})
    if value is DECLINED:
        value = bind.record_select(c, x, y)
    if value is None:
        value = wrap(np.where(*[_memory(a) for a in (c, x, y)]))
    return _into(target, _told(where_p, (), (c, x, y), value))


def cast(x: Any, dtype: Any) -> Any:
    """`bind.cast` of a traced array: never None."""
    value = recorded(np.ndarray.astype, (x, dtype), {})
    if value is DECLINED:
        value = bind.record_cast(x, dtype)
    if value is None:
        value = wrap(content.settle(x).astype(dtype))
    return _told(cast_p, (("dtype", dtype),), (x,), value)


def reduce(ufunc: Any, x: Any, axis: Any, keepdims: bool, dtype: Any) -> Any:
    """`tnp.reduce.reduce` of a traced array: never None where the reduction is a primitive."""
    value = recorded(ufunc.reduce, (x, axis), {"dtype": dtype, "keepdims": bool(keepdims)})
    if value is DECLINED:
        value = reduce_module.run_reduce(ufunc, x, axis, keepdims, dtype)
    if value is None:
        value = wrap(ufunc.reduce(content.settle(x), axis, dtype=dtype, keepdims=bool(keepdims)))
    return _told(REDUCTIONS[ufunc], (("axis", axis), ("keepdims", bool(keepdims))), (x,), value)


def into(prim: Any, args: tuple[Any, ...], out: Any) -> Any:
    """`writes.into` where an operand or ``out`` is traced; None where NumPy has to refuse it."""
    value = elementwise(prim, args, None)
    shape, dtype = content.shape_of(out), content.dtype_of(out)
    if np.shape(value) != shape or not np.can_cast(value.dtype, dtype, "same_kind"):
        return None
    if value.dtype != dtype:
        value = cast(value, dtype) if type(value) is ndarray else value.astype(dtype)
    return _into(out, value)


def _into(target: Any, value: Any) -> Any:
    if target is None:
        return value
    target[...] = value
    return target


bind.install_tracing(elementwise, select, cast)
reduce_module.install_tracing(reduce)
writes.install_tracing(into)
hot.install_tracing(read, write)
