"""The interpreter that records: every call on arrays, in the program's order, while the program runs as always.

It lies below differentiation: what the rules of derivatives do is recorded, not that somebody wants derivatives.
"""

import weakref
from typing import Any

import numpy as np

from tnp import content, host, hot, tracing
from tnp.arrays.methods import OUTPUT_FROM
from tnp.core import interpreter, native
from tnp.core.cells import IMMUTABLE, TRACED
from tnp.core.interpreter import DECLINED, Interpreter
from tnp.hot import ndarray
from tnp.transforms.errors import concrete
from tnp.transforms.record import Kept, Made, Op, Record, Ref, Slot, is_number_dtype, refs_of
from tnp.transforms.replay import Lines

_NDARRAY = np.ndarray

# They look at shapes and dtypes only
FORMAL = frozenset(
    [
        np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj, np.broadcast_shapes,
        np.may_share_memory, np.shares_memory, np.common_type, np.min_scalar_type, np.isfortran, np.isscalar,
        np.iterable,
    ]
)  # fmt: skip
_NONZERO = "numpy.where(condition, x, y) keeps the shape; a mask may be assigned to: a[mask] = value"
# How many elements come out depends on values
SHAPING = {
    "nonzero": _NONZERO, "flatnonzero": _NONZERO, "argwhere": _NONZERO, "extract": _NONZERO, "compress": _NONZERO,
    "unique": "numpy.sort keeps the shape", "unique_values": "numpy.sort keeps the shape",
    "unique_counts": "numpy.sort keeps the shape", "unique_inverse": "numpy.sort keeps the shape",
    "unique_all": "numpy.sort keeps the shape", "union1d": "numpy.sort keeps the shape",
    "intersect1d": "numpy.isin keeps the shape", "setdiff1d": "numpy.isin keeps the shape",
    "setxor1d": "numpy.isin keeps the shape", "trim_zeros": _NONZERO,
}  # fmt: skip
_WHERE = (
    "numpy.where or numpy.select for values; tnp.cond, tnp.while_loop or a static argument (static_argnums) for what "
    "steers the program"
)
_WRITING = frozenset("fill partition put sort setfield byteswap itemset shuffle __setitem__ at".split())
_UNDETERMINED = frozenset(["empty", "empty_like"])
_INPLACE = frozenset(
    f"__i{n}__" for n in "add sub mul truediv floordiv mod pow and or xor lshift rshift matmul".split()
)


class Selected(ndarray):
    """Elements that a mask has chosen: how many there are is not known while a function is recorded."""

    __slots__ = ()

    def _refuse(self, *args: Any) -> Any:
        raise concrete("the shape of elements chosen by a mask depends on values", _NONZERO)

    shape = property(_refuse)  # type: ignore[assignment]
    size = property(_refuse)  # type: ignore[assignment]
    nbytes = property(_refuse)  # type: ignore[assignment]
    __len__ = __iter__ = __getitem__ = reshape = _refuse  # type: ignore[assignment]


class Recorder(Interpreter):
    """Keeps what `call` is told.

    Attributes
    ----------
    record : Record
    sources : dict
        For each slot that was given its piece of the inputs' memory, None for a number, and the number of an input.
    """

    def __init__(self) -> None:
        self.record = Record()
        self._cells: dict[int, Slot] = {}
        self._marked: list[Any] = []
        self._twins: dict[int, tuple[Any, ndarray]] = {}  # of NumPy's arrays
        self._objects: dict[int, tuple[int, Any]] = {}
        self._modes = np.geterr()
        self._constant: set[int] = set()  # slots whose content every call makes the same
        self._pieces: dict[int, Slot] = {}
        self.sources: dict[int, tuple[int | None, int]] = {}

    # ---------------------------------------------------------------------------------------- memory
    def give(self, x: ndarray, k: int, piece: int, span: tuple[int, int]) -> None:
        """The memory of the input array number `k` is a slot; several may lie in one piece."""
        cell = hot.cell_of(x)
        slot = self._pieces.get(piece)
        if slot is None:
            slot = self._pieces[piece] = self._slot("given", span[0], span[1] - span[0], cell)
            self.sources[slot.number] = piece, k
        self._cells[id(cell)] = slot
        self._mark(cell, TRACED)

    def give_number(self, x: np.generic, k: int) -> ndarray:
        """The NumPy scalar `x`, input number `k`, as the function gets it."""
        y = hot.wrap(np.array(x))
        cell = hot.cell_of(y)
        slot = self._cells[id(cell)] = self._slot("given", native.address(y._nd), y._nd.nbytes, cell)
        self.sources[slot.number] = None, k
        self._mark(cell, TRACED | IMMUTABLE)
        return y

    def is_twin(self, x: Any, y: ndarray) -> None:
        """`y` shares the memory of NumPy's array `x`."""
        self._twins[id(x)] = x, y

    def object_slot(self, x: Any) -> int | None:
        """The slot of an object that a call has made."""
        known = self._objects.get(id(x))
        return None if known is None or known[1] is not x else known[0]

    def twin(self, x: Any) -> ndarray:
        """The array of tnp's that shares the memory of NumPy's array `x`."""
        known = self._twins.get(id(x))
        if known is None:
            known = self._twins[id(x)] = x, hot.wrap(x)
        return known[1]

    def knows(self, x: ndarray) -> bool:
        """Is it an array of what is recorded?"""
        slot = None if x._cell is None else self._cells.get(id(x._cell))
        return slot is not None and self._knows(slot, x._cell) and slot.number not in self._constant

    @staticmethod
    def _knows(slot: Slot, cell: Any) -> bool:
        """Is it the slot of that very cell? Another may have its address."""
        return slot.kind != "made" or slot.cell() is cell

    def _slot(self, kind: str, start: int, nbytes: int, cell: Any) -> Slot:
        slot = Slot(kind, len(self.record.slots), start, nbytes, cell)
        self.record.slots.append(slot)
        return slot

    def _mark(self, cell: Any, bits: int) -> None:
        if not cell.marked & TRACED:
            self._marked.append(weakref.ref(cell))
        cell.marked |= bits

    def release(self) -> None:
        """The arrays that are still there are plain ones again."""
        for r in self._marked:
            cell = r()
            if cell is not None and cell.record is None:
                cell.marked &= ~(TRACED | IMMUTABLE)

    def ref(self, x: ndarray) -> Ref:
        """The place of an array."""
        cell = hot.cell_of(x)
        nd = content.settle(x)
        slot = self._cells.get(id(cell))
        if slot is None or not self._knows(slot, cell):
            if not is_number_dtype(nd.dtype):
                raise TypeError(f"jit: arrays of dtype {nd.dtype} cannot take part in a recorded function")
            full = hot.root(nd)
            start, stop = np.lib.array_utils.byte_bounds(full)
            slot = self._cells[id(cell)] = self._slot("held", start, stop - start, cell)
            self._mark(cell, TRACED)
        offset = native.address(nd) - slot.start if nd.size else 0
        ref = Ref(slot.number, offset, nd, tracing.is_value(x), False)
        low, high = ref.bounds()
        if low < 0 or high > slot.nbytes:
            raise concrete("memory beyond that of the arguments is reached", "pass the array itself")
        return ref

    # ---------------------------------------------------------------------------------------- arguments
    def _argument(self, x: Any, seen: list[Any]) -> tuple[Any, Any]:
        """What is recorded of an argument, and what NumPy gets."""
        t = type(x)
        if t is ndarray or isinstance(x, ndarray):
            if t is not ndarray and t is not Selected:
                raise TypeError(f"jit: an array of the class {t.__name__} cannot take part in a recorded function")
            ref = self.ref(x)
            if self.record.slots[ref.slot].dynamic:
                if t is not Selected:
                    raise concrete("a part of elements chosen by a mask depends on values", _NONZERO)
                ref.whole = True
            seen.append(x)
            nd = content.settle(x)
            return ref, (nd[()] if ref.value else nd)
        if t is list or t is tuple:
            pairs = [self._argument(y, seen) for y in x]
            return t([p[0] for p in pairs]), t([p[1] for p in pairs])
        if t is dict:
            items = {k: self._argument(y, seen) for k, y in x.items()}
            return {k: p[0] for k, p in items.items()}, {k: p[1] for k, p in items.items()}
        if t is _NDARRAY:
            if not is_number_dtype(x.dtype):
                return x, x
            return self._argument(self.twin(x), seen)
        kept = self.object_slot(x)
        if kept is not None:
            return Kept(kept), x
        if t is hot.ufunc or isinstance(x, host.Wrapped) or x is ndarray:
            x = host.unwrap(x, [])
            return x, x
        if callable(x) and not isinstance(x, (type, np.ufunc, np.dtype)) and hasattr(x, "__code__"):
            called = _apart(host.callback(x), self)
            return called, called
        return x, x

    # ---------------------------------------------------------------------------------------- events
    def call(self, raw: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the call and record it."""
        seen: list[Any] = []
        noted, given = self._argument(tuple(args), seen)
        named, keywords = self._argument(dict(kwargs), seen) if kwargs else ({}, {})
        if raw in FORMAL if _hashable(raw) else False:
            return host.rewrap(raw(*given, **keywords), seen)
        name = getattr(raw, "__name__", "")
        if seen and (name in SHAPING or (raw is np.where and len(args) == 1)):
            raise concrete(f"the shape of {name}'s result depends on values", SHAPING.get(name, _NONZERO))
        self._check_key(raw, args)
        written = self._written(raw, name, args, kwargs)
        for x in written:
            content.release(x)
        given = self._as_method(raw, given, noted)
        point = native.point()
        with Lines(point):
            result = raw(*given, **keywords)
        given = keywords = None  # type: ignore[assignment] # their references would make the memory look shared
        if not seen and isinstance(raw, np.ufunc) and type(result) is not _NDARRAY:
            return result  # of constants
        made: list[Made] = []
        dynamic = self._is_dynamic(raw, name, args, noted)
        random = type(getattr(raw, "__self__", args[0] if args else None)).__module__.startswith(
            ("numpy.random", "tnp.random")
        )
        out, shape = self._result(result, seen, made, name, dynamic, random)
        self._constant.difference_update([self.ref(x).slot for x in written])
        if not (written or random or dynamic) and name not in _UNDETERMINED and self._is_constant((noted, named)):
            self._constant.update([m.slot for m in made])
        if made or written or not self._views(result):
            modes = np.geterr()
            self.record.ops.append(
                Op(
                    raw, noted, named, shape, [self.ref(x) for x in written], point,
                    None if modes == self._modes else modes,
                )
            )  # fmt: skip
        return out

    def read(self, array: Any) -> None:
        cell = hot.cell_of(array)
        slot = self._cells.get(id(cell))
        if slot is not None and self._knows(slot, cell) and slot.number in self._constant:
            return
        raise concrete("a value is asked for that another call may have otherwise", _WHERE)

    def write(self, array: Any, key: Any, value: Any) -> None:
        raise concrete("memory is handed to code that cannot be recorded", "numpy's functions and assignments")

    export = read

    def constructed(self, x: ndarray, args: tuple[Any, ...]) -> None:
        """``numpy.ndarray(*args)`` was made."""
        noted, _ = self._argument(tuple(args), [])
        cell, nd = hot.cell_of(x), content.settle(x)
        if cell.marked & TRACED:
            return
        slot = self._made(nd, cell, False)
        ref = self.record.made[slot.number] = Ref(slot.number, 0, nd, False, True)
        made = Made(slot.number, ref)
        self.record.ops.append(Op(np.ndarray, noted, {}, made, [], native.point(), None))

    # ---------------------------------------------------------------------------------------- details
    def _is_constant(self, noted: Any) -> bool:
        """Are arguments the same at every call?"""
        if type(noted) is Ref:
            return noted.slot in self._constant
        if type(noted) is tuple or type(noted) is list:
            return all([self._is_constant(x) for x in noted])
        if type(noted) is dict:
            return all([self._is_constant(x) for x in noted.values()])
        return type(noted) is not Kept and not hasattr(noted, "__code__")

    def _check_key(self, raw: Any, args: tuple[Any, ...]) -> None:
        """Indices that are arrays of integers keep their number; those of truth values need a place of their own."""
        if raw is _NDARRAY.__getitem__ and _masks(args[1]) and (type(args[1]) is tuple and len(args[1]) > 1):
            raise concrete("the shape of a selection by a mask among other indices depends on values", _NONZERO)

    def _is_dynamic(self, raw: Any, name: str, args: Any, noted: Any) -> bool:
        if raw is _NDARRAY.__getitem__:
            return _masks(args[1])
        if not any([self.record.slots[r.slot].dynamic for r in refs_of(noted)]):
            return False
        return name not in ("__setitem__", "at")

    def _as_method(self, raw: Any, given: Any, noted: Any) -> Any:
        """A method's array is an array, even if it is a number to operators."""
        first = noted[0] if noted else None
        if type(first) is Ref and first.value and getattr(raw, "__objclass__", None) is _NDARRAY:
            return (np.asarray(given[0]), *given[1:])
        return given

    def _written(self, raw: Any, name: str, args: Any, kwargs: Any) -> list[ndarray]:
        """Arrays that the call writes to."""
        found: list[Any] = []
        if name in _WRITING or name in _INPLACE:
            owner = type(getattr(raw, "__self__", None)).__module__
            method_of_generator = name == "shuffle" and hasattr(raw, "__objclass__")
            found.append(args[1] if method_of_generator and not owner.startswith("numpy.random") else args[0])
        out = kwargs.get("out")
        if out is not None and out is not Ellipsis:
            found += out if type(out) is tuple else [out]
        if isinstance(raw, np.ufunc):
            found += args[raw.nin :]
        elif hasattr(raw, "__objclass__") or not callable(raw):
            first = OUTPUT_FROM.get(name)
            if first is not None:
                found += args[first:]
        else:
            for i, parameter in host.writes_of(raw, name) or ():
                x = kwargs.get(parameter, args[i] if i < len(args) else None)
                if name != "nan_to_num" or kwargs.get("copy", args[1] if len(args) > 1 else True) is False:
                    found.append(x)
        arrays = [self.twin(x) if type(x) is _NDARRAY else x for x in found]
        unique = {id(x): x for x in arrays if isinstance(x, ndarray)}
        return list(unique.values())

    def _made(self, nd: Any, cell: Any, dynamic: bool) -> Slot:
        full = hot.root(nd)
        start, stop = np.lib.array_utils.byte_bounds(full) if full.size else (native.address(full), 0)
        slot = self._cells[id(cell)] = self._slot("made", start, max(stop - start, 0), weakref.ref(cell))
        slot.dynamic = dynamic
        return slot

    def _result(
        self, r: Any, seen: list[Any], made: list[Made], name: str, dynamic: bool, random: bool
    ) -> tuple[Any, Any]:
        """What the program gets, and what is recorded of it."""
        t = type(r)
        if random and t in (float, int, bool):
            r = np.asarray(r)[()]
        if t is _NDARRAY:
            known = next((x for x in seen if x._nd is r), None)
            if known is not None:
                return known, None
            y = host.rewrap(r, seen)
            cell = hot.cell_of(y)
            slot = self._cells.get(id(cell))
            if slot is not None and self._knows(slot, cell):
                return y, None
            if not is_number_dtype(r.dtype):
                return y, None
            slot = self._made(r, cell, dynamic)
            self._mark(cell, TRACED)
            if dynamic:
                z = hot.new(Selected)
                z._nd, z._cell, z._base = y._nd, y._cell, y._base
                y = z
            ref = self.record.made[slot.number] = Ref(slot.number, native.address(r) - slot.start, r, False, True)
            ref.dynamic = dynamic
            made.append(Made(slot.number, ref))
            return y, made[-1]
        if isinstance(r, np.generic) and is_number_dtype(r.dtype):
            y = hot.wrap(np.array(r))
            cell = hot.cell_of(y)
            slot = self._made(y._nd, cell, False)
            self._mark(cell, TRACED | IMMUTABLE)
            made.append(Made(slot.number, Ref(slot.number, 0, y._nd, True, True)))
            return y, made[-1]
        if isinstance(r, tuple) or t is list:
            pairs = [self._result(x, seen, made, name, dynamic, random) for x in r]
            items, shapes = [p[0] for p in pairs], tuple([p[1] for p in pairs])
            return (t(*items) if hasattr(t, "_fields") else t(items)), shapes
        if r is None or isinstance(r, (np.dtype, type)) or not seen or r is NotImplemented:
            if random and r is not None and t not in (str, bytes):
                return self._object(r, made)
            return r, None
        if t in (bool, int, float, complex, str, bytes):
            raise concrete(f"{name} gives a number of Python's", _WHERE)
        return self._object(r, made)

    def _object(self, r: Any, made: list[Made]) -> tuple[Any, Any]:
        slot = self._slot("object", 0, 0, None)
        self._objects[id(r)] = slot.number, r
        made.append(Made(slot.number, None))
        return r, made[-1]

    def object_made(self, raw: Any, args: tuple[Any, ...], kwargs: dict[str, Any], r: Any) -> None:
        """A call has made an object that is no array, and has a state: a random generator."""
        made: list[Made] = []
        noted, named = self._argument(tuple(args), [])[0], self._argument(dict(kwargs), [])[0]
        self._object(r, made)
        self.record.ops.append(Op(raw, noted, named, made[0], [], native.point(), None))

    def _views(self, result: Any) -> bool:
        """Is the result nothing but views of memory that is known?"""
        if type(result) is tuple or type(result) is list:
            return all([self._views(x) for x in result])
        return type(result) is _NDARRAY or isinstance(result, (np.dtype, type)) or result is NotImplemented


def _masks(key: Any) -> bool:
    """Is there a mask among the indices?"""
    if type(key) is tuple:
        return any([_masks(k) for k in key])
    if isinstance(key, (ndarray, _NDARRAY)):
        return key.dtype.char == "?" and key.ndim > 0
    return type(key) is list and bool(key) and all([type(k) is bool for k in key])


def _hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


class _Apart(Interpreter):
    """In a callback, which runs again at every call: arrays of the function around it would be those of the first."""

    def __init__(self, around: Recorder) -> None:
        self._around = around

    def call(self, raw: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._check((args, tuple(kwargs.values())))
        return DECLINED

    def read(self, array: Any) -> None:
        self._check(array)

    def write(self, array: Any, key: Any, value: Any) -> None:
        self._check(array)

    export = read

    def constructed(self, x: ndarray, args: tuple[Any, ...]) -> None:
        """Nobody wants to know."""

    def object_made(self, raw: Any, args: tuple[Any, ...], kwargs: dict[str, Any], r: Any) -> None:
        """Nobody wants to know."""

    def _check(self, x: Any) -> None:
        if isinstance(x, (list, tuple)):
            for y in x:
                self._check(y)
        elif isinstance(x, ndarray) and self._around.knows(x):
            raise concrete("a callback uses an array of the function around it", "an argument of the callback")


def _apart(function: Any, around: Recorder) -> Any:
    """The function, which is not recorded."""
    apart = _Apart(around)

    def called(*args: Any, **kwargs: Any) -> Any:
        if interpreter.recorder() is None:  # the plan runs
            return function(*args, **kwargs)
        with interpreter.recording(apart):
            return function(*args, **kwargs)

    return called
