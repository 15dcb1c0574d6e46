"""Operations on traced arrays: done as always, and told to the interpreter (tnp/core/interpreter.py).

Primitives come here from `bind`, `reduce` and `writes`, writes by index from indexing and ufuncs, everything else
through the two gates `read` and `write` that every function passes which looks at an array's memory.
"""

from typing import Any

import numpy as np

from tnp import bind, content, hot, writes
from tnp import reduce as reduce_module
from tnp.core import interpreter, native
from tnp.core.cells import IMMUTABLE, TRACED
from tnp.core.elementwise import REDUCTIONS, cast_p, where_p
from tnp.core.interpreter import DECLINED, OPAQUE, Box, batches, current, recorded, recorder
from tnp.host import function_of, install_intercept, ufunc_of
from tnp.hot import cell_of, ndarray, wrap

# Classes of objects that stand for arrays, and what gives the array: calls with one are offered to the interpreter
stand_ins: dict[type, Any] = {}


def trace(x: Any) -> Any:
    """Have interpreters told of what is done to the memory of ``x``, through whatever view. Returns ``x``."""
    c = cell_of(x)
    if not c.marked & TRACED:
        c.marked |= TRACED
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


# ------------------------------------------------------------------------------------------------ boxes
def box_of(x: Any) -> Box | None:
    """What stands for the values of `x`, if its memory does not hold them."""
    if type(x) is ndarray and x._cell is not None and x._cell.marked & TRACED:
        record = x._cell.record
        if isinstance(record, Box):
            return record
    return None


def keeper(xs: Any) -> Any:
    """The interpreter, of the highest level, that keeps the values of one of these; None: their memory does."""
    found = None
    for x in xs:
        box = box_of(x)
        if box is not None and (found is None or box.interpreter.level > found.level):
            found = box.interpreter
    return found


def beneath(x: Any) -> Any:
    """The array that has the values of `x`, for all examples if it stands for one of many."""
    box: Any = box_of(x)
    while box is not None:
        x = box.interpreter.low(x)
        box = box_of(x)
    return x


# ------------------------------------------------------------------------------------------------ calls
def public(raw: Any) -> Any:
    """What a program under tnp calls that calls `raw` under NumPy."""
    if isinstance(raw, np.ufunc):
        return ufunc_of(raw)
    owner = getattr(raw, "__self__", None)
    if isinstance(owner, np.ufunc):
        return getattr(ufunc_of(owner), raw.__name__)
    if getattr(raw, "__objclass__", None) is np.ndarray:
        return getattr(ndarray, raw.__name__)
    return function_of(raw)


def offer_calls() -> None:
    """From now on offer calls of NumPy's functions on traced arrays to the interpreter."""
    install_intercept(intercept)


def intercept(raw: Any, args: Any, kwargs: dict[str, Any], operator: Any = None) -> Any:
    """What the interpreter makes of the call ``raw(*args, **kwargs)``; DECLINED: it is done as always.

    `operator` is what the program wrote where that is no call of `raw`: to numbers it is something else.
    """
    found = _concerned(args, 0, None)
    if kwargs:
        found = _concerned(kwargs.values(), 0, found)
    around, below = native.value(batches), recorder()
    if around:
        if found is None:
            return around[-1].create(raw, args, kwargs)
        for batch in around:
            batch.note_call(raw, args, kwargs)
    if found is _TRACED:
        i = current()
        if i is not None:
            plain = not kwargs and i.plain.get(raw) == len(args) and _is_plain(args)
            r = DECLINED if plain else i.call(raw, args, kwargs)
            if r is not DECLINED or below is None or i.concerns((args, tuple(kwargs.values()))):
                return r
    elif found is not None:
        if stand_ins:
            args, kwargs = read_stand_ins(tuple(args)), {k: read_stand_ins(v) for k, v in kwargs.items()}
        return found.call(raw, args, kwargs)
    return DECLINED if below is None else below.call(operator or raw, args, kwargs)


def _is_plain(args: Any) -> bool:
    """Are these arrays and Python's numbers alone?"""
    for x in args:
        t = type(x)
        if t is not ndarray and t is not float and t is not int:
            return False
    return True


_TRACED = object()  # an array is traced; whoever is innermost is told


def _concerned(items: Any, depth: int, found: Any) -> Any:
    """Who is to be asked because of traced arrays, or of what stands for one, among these: None is nobody."""
    for x in items:
        t = type(x)
        if t is ndarray:
            if x._cell is not None and x._cell.marked & TRACED:
                record = x._cell.record
                if isinstance(record, Box):
                    i: Any = record.interpreter
                    if found is None or found is _TRACED or i.level > found.level:
                        found = i
                elif found is None:
                    found = _TRACED
        elif (t is list or t is tuple) and depth < 4:
            found = _concerned(x, depth + 1, found)
        elif found is None and t in stand_ins:
            found = _TRACED
    return found


def read_stand_ins(x: Any, depth: int = 0) -> Any:
    """`x` with arrays in place of what stands for them."""
    t = type(x)
    if t in stand_ins:
        return stand_ins[t](x)
    if (t is list or t is tuple) and depth < 4:
        items = [read_stand_ins(y, depth + 1) for y in x]
        return x if all(a is b for a, b in zip(items, x, strict=True)) else t(items)
    return x


def _teller(x: Any, value: Any = None) -> Any:
    """Who is told of what is done to the memory of `x`."""
    i = keeper((x, value))
    return current() if i is None else i


def read(x: Any) -> None:
    """Something that is no primitive reads the traced array ``x``."""
    for batch in native.value(batches):
        batch.note_read(x)
    i = _teller(x)
    if i is not None:
        i.read(x)
    _expose(x)


def _expose(x: Any) -> None:
    """A recorder learns of what no call says."""
    below = recorder()
    if below is not None and not interpreter.is_looking():
        below.read(x)


def element(x: Any, key: Any, value: Any) -> Any:
    """What the program gets for ``x[key]``, which is the number `value`."""
    if native.value(batches) or recorder() is not None or box_of(x) is not None:
        r = intercept(np.ndarray.__getitem__, (x, key), {})
        return value if r is DECLINED else r
    i = current()
    return value if i is None else i.element(x, key, value)


def write(x: Any, key: Any = Ellipsis, value: Any = OPAQUE) -> None:
    """``x[key]`` is about to become ``value``; one of the two is traced, so ``x`` is from now on."""
    for batch in native.value(batches):
        batch.note_write(x, key)
    i = _teller(x, value)
    if i is not None:
        trace(x)
        i.write(x, key, value)
    if value is OPAQUE:
        _expose(x)


def export(x: Any) -> None:
    """Foreign code gets the memory of the traced array ``x``."""
    i = _teller(x)
    if i is not None:
        i.export(x)
    _expose(x)


def write_add(x: Any, key: Any, value: Any) -> None:
    """``value`` is about to be added to ``x[key]``, as often as the key names a place."""
    i = _teller(x, value)
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
    i = keeper((*args, target))
    if i is not None:
        return _into(target, i.call(prim.ufunc, args, {}))
    value = recorded(prim.ufunc, args, {})
    if value is DECLINED:
        value = bind.record_elementwise(prim, args)
    if value is None:
        value = wrap(prim.ufunc(*[_memory(x) for x in args]))
    return _into(target, _told(prim, (), args, value))


def select(c: Any, x: Any, y: Any, target: Any) -> Any:
    """`bind.select` where an operand or the target is traced: never None."""
    i = keeper((c, x, y, target))
    if i is not None:
        return _into(target, i.call(np.where, (c, x, y), {}))
    value = recorded(np.where, (c, x, y), {})
    if value is DECLINED:
        value = bind.record_select(c, x, y)
    if value is None:
        value = wrap(np.where(*[_memory(a) for a in (c, x, y)]))
    return _into(target, _told(where_p, (), (c, x, y), value))


def cast(x: Any, dtype: Any) -> Any:
    """`bind.cast` of a traced array: never None."""
    i = keeper((x,))
    if i is not None:
        return i.call(np.ndarray.astype, (x, dtype), {})
    value = recorded(np.ndarray.astype, (x, dtype), {})
    if value is DECLINED:
        value = bind.record_cast(x, dtype)
    if value is None:
        value = wrap(content.settle(x).astype(dtype))
    return _told(cast_p, (("dtype", dtype),), (x,), value)


def reduce(ufunc: Any, x: Any, axis: Any, keepdims: bool, dtype: Any) -> Any:
    """`tnp.reduce.reduce` of a traced array: never None where the reduction is a primitive."""
    i = keeper((x,))
    if i is not None:
        return i.call(ufunc.reduce, (x, axis, dtype, None, keepdims), {})
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
    if not _fits(np.shape(value), shape) or not np.can_cast(value.dtype, dtype, "same_kind"):
        return None
    if value.dtype != dtype:
        value = cast(value, dtype) if type(value) is ndarray else value.astype(dtype)
    return _into(out, value)


def _fits(shape: tuple[int, ...], out: tuple[int, ...]) -> bool:
    """Does NumPy repeat a result of this shape to fill an output of that?"""
    return len(shape) <= len(out) and all([a in (1, b) for a, b in zip(shape[::-1], out[::-1], strict=False)])


def _into(target: Any, value: Any) -> Any:
    if target is None:
        return value
    target[...] = value
    return target


bind.install_tracing(elementwise, select, cast)
reduce_module.install_tracing(reduce)
writes.install_tracing(into)
hot.install_tracing(read, write)
