"""Recorded calls as the few things that a backend's program can do; what is none of these stays a call of NumPy's."""

import operator
from typing import Any

import numpy as np

from tnp.backends.base import Step
from tnp.backends.program import Multiply, Place, Reduce
from tnp.core import loops
from tnp.core.elementwise import PRIMITIVES, cast_p, where_p
from tnp.core.primitive import Primitive
from tnp.transforms.record import Made, Op, Record, Ref, Slot, refs_of
from tnp.transforms.steps import Call, Constant, Elementwise, Fold, Product, Scatter, Select

_BOOL = np.dtype(bool)
_NDARRAY = np.ndarray
_START, _APART = 1 << 40, 1 << 44  # where arrays pretend to lie, of which only the geometry is looked at

OPERATORS: dict[Any, np.ufunc] = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply, operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide, operator.mod: np.remainder, operator.pow: np.power, operator.lt: np.less,
    operator.le: np.less_equal, operator.eq: np.equal, operator.ne: np.not_equal, operator.gt: np.greater,
    operator.ge: np.greater_equal, operator.and_: np.bitwise_and, operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor, operator.lshift: np.left_shift, operator.rshift: np.right_shift,
}  # fmt: skip
INPLACE: dict[Any, np.ufunc] = {
    getattr(_NDARRAY, f"__i{f.__name__.strip('_')}__"): u
    for f, u in OPERATORS.items()
    if hasattr(_NDARRAY, f"__i{f.__name__.strip('_')}__")
}
# To numbers these do exactly what they do to arrays
_EXACT = frozenset(
    [
        np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.absolute, np.sqrt, np.square, np.less,
        np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal, np.maximum, np.minimum, np.isfinite,
        np.isnan, np.isinf, np.invert, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_and, np.logical_or,
        np.logical_not, np.conjugate, np.positive, np.sign, np.reciprocal,
    ]
)  # fmt: skip
_FOLDS = {
    np.sum: np.add, _NDARRAY.sum: np.add, np.max: np.maximum, np.amax: np.maximum, _NDARRAY.max: np.maximum,
    np.min: np.minimum, np.amin: np.minimum, _NDARRAY.min: np.minimum, np.prod: np.multiply,
    _NDARRAY.prod: np.multiply,
}  # fmt: skip
_MEANS = (np.mean, _NDARRAY.mean)
_PRODUCTS = (operator.matmul, np.matmul, np.dot, _NDARRAY.dot)
_COPIES = (_NDARRAY.copy, np.copy, np.array, _NDARRAY.astype, np.ascontiguousarray)
_EMPTY = (np.empty, np.empty_like)
_FORMED = (np.zeros_like, np.ones_like, np.full_like)
_PURE = frozenset(
    "arange array asarray asanyarray ascontiguousarray zeros ones full eye identity linspace logspace geomspace tri "
    "indices diag tril triu vander copy".split()
)
_ABSENT = np._NoValue


class _Not(Exception):
    """The call is nothing that a program can do."""


class _Place:
    def __init__(self, ref: Ref) -> None:
        self.__array_interface__ = {
            "data": (_START + ref.slot * _APART + ref.offset, False), "shape": ref.shape, "strides": ref.strides,
            "typestr": ref.dtype.str, "version": 3,
        }  # fmt: skip


def geometry(ref: Ref) -> Any:
    """An array that lies as the reference does, in memory that is not there."""
    nd = np.asarray(_Place(ref))
    if nd.strides != ref.strides:
        nd = np.lib.stride_tricks.as_strided(nd, ref.shape, ref.strides)
    return nd


def overlap(a: Ref, b: Ref) -> bool:
    """May the two have an element in common?"""
    if a.slot != b.slot:
        return False
    (low, high), (first, last) = a.bounds(), b.bounds()
    if high <= first or last <= low:
        return False
    if a.same(b):
        return True
    try:
        return bool(np.shares_memory(geometry(a), geometry(b), max_work=1000))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


class Lowering:
    """Turns calls into what programs can do.

    Parameters
    ----------
    record : Record
    backend : Backend
    selects : bool
        Selections by masks may be the program's.
    """

    def __init__(self, record: Record, backend: Any, selects: bool = True) -> None:
        self.record, self._backend, self._selects = record, backend, selects
        self.steps: list[Any] = []
        self.counts: dict[int, int] = {}  # of slots that are selections
        self.sizes: dict[int, Ref] = {}  # slots that are selections as the program has to hold them
        self._selections = 0
        for i, op in enumerate(record.ops):
            self._number, mark, before = i, len(self.steps), dict(self.counts)
            try:
                self._quiet = op.modes is not None and set(op.modes.values()) == {"ignore"}
                if (op.modes and not self._quiet) or not self._lower(op):
                    raise _Not
            except (_Not, TypeError, ValueError, OverflowError):
                del self.steps[mark:]
                self.counts = before
                self.steps.append(Call(i, op))

    # ---------------------------------------------------------------------------------------- by kind
    def _lower(self, op: Op) -> bool:
        raw, args, kwargs = op.raw, op.args, op.kwargs
        made = op.result.ref if type(op.result) is Made else None
        name = getattr(raw, "__name__", "")
        refs = refs_of((args, kwargs))
        if any([self.record.slots[r.slot].dynamic and r.slot not in self.counts for r in refs]):
            return False
        if not refs and made is not None:
            return self._create(op, made, name)
        if raw in _EMPTY or raw in _FORMED:
            return self._create(op, made, name)
        ufunc = OPERATORS.get(raw, raw if isinstance(raw, np.ufunc) else None)
        if ufunc is not None and ufunc.signature is None:
            return self._ufunc(ufunc, args, kwargs, made, raw is not ufunc)
        if raw in INPLACE:
            return self._apply(INPLACE[raw], args, args[0], raw)
        if raw is _NDARRAY.__setitem__:
            return self._setitem(*args)
        if raw is _NDARRAY.__getitem__ and made is not None:
            return self._getitem(args[0], args[1], made)
        if made is None:
            return False
        if raw is np.where and len(args) == 3 and not kwargs:
            return self._where(*args, made)
        if raw in _COPIES:
            return self._copy(raw, args, kwargs, made)
        if raw in _FOLDS or (name == "reduce" and isinstance(getattr(raw, "__self__", None), np.ufunc)):
            ufunc = _FOLDS[raw] if raw in _FOLDS else raw.__self__  # noqa: SIM401 - functions have none
            return self._fold(ufunc, args, kwargs, made, raw not in _FOLDS)
        if raw in _MEANS:
            return self._mean(args, kwargs, made)
        if raw in _PRODUCTS and not kwargs and len(args) == 2:
            return self._product(raw, args[0], args[1], made)
        if raw is np.hstack or raw is np.concatenate or raw is np.vstack or raw is np.stack:
            return self._join(raw, args, kwargs, made)
        if raw is np.triu or raw is np.tril:
            return self._triangle(raw, made, *args, **kwargs)
        if raw is np.clip or raw is _NDARRAY.clip:
            return self._clip(args, kwargs, made)
        return False

    def _create(self, op: Op, made: Any, name: str) -> bool:
        if made is None:
            return False
        if op.raw in _EMPTY or op.raw is np.ndarray:
            self.steps.append(Constant(self._number, None, made))
            return True
        if op.raw in _FORMED:
            if len(refs_of((op.args[1:], op.kwargs))):
                return False
            args = (geometry(op.args[0]), *op.args[1:])
            value = op.raw(*args, **op.kwargs)
        elif name in _PURE and getattr(op.raw, "__module__", "numpy").partition(".")[0] == "numpy":
            value = op.raw(*op.args, **op.kwargs)
        else:
            return False
        if value.strides != made.strides or value.base is not None:
            return False
        self.steps.append(Constant(self._number, value, made))
        return True

    def _ufunc(self, ufunc: np.ufunc, args: Any, kwargs: Any, made: Any, operates: bool) -> bool:
        out = made
        if len(args) > ufunc.nin:
            if kwargs or len(args) != ufunc.nin + 1:
                return False
            out, args = args[-1], args[:-1]
        elif kwargs:
            if set(kwargs) != {"out"}:
                return False
            out = kwargs["out"][0] if type(kwargs["out"]) is tuple else kwargs["out"]
        if type(out) is not Ref or ufunc.nout != 1:
            return False
        if operates and ufunc is np.power and type(args[1]) in (int, float, complex) and args[1] in (0, 1, 2, -1, 0.5):
            return False
        return self._apply(ufunc, args, out, None, operates)

    def _does_alone(self, prim: Primitive, loop: Any) -> bool:
        """Does a kernel do to a single number what NumPy does?"""
        numbers = tuple([~i for i in range(len(loop[0]))])
        return bool(self._backend.does(Step(prim, numbers, loop[0], loop[1])))

    def _apply(self, ufunc: np.ufunc, args: Any, out: Ref, raw: Any, operates: bool = True) -> bool:
        prim = PRIMITIVES.get(ufunc)
        if prim is None or type(out) is not Ref:
            return False
        if raw is not None and ufunc is np.power and type(args[1]) is not Ref:
            return False
        types = [self._type(a) for a in args]
        loop = loops.find_loop(prim, types)
        if loop is None or not np.can_cast(loop[1], out.dtype, "same_kind"):
            return False
        how = self._backend.supports(prim, loop[0])
        if how is None:
            return False
        fresh = any([a is out for a in args]) or not out.whole
        alone = out.shape in ((), (1,)) or all([type(a) is not Ref or a.value for a in args])
        if how == "loop" and fresh and not _is_dense(out):
            return False  # NumPy's loops may compute otherwise there
        if alone and ufunc not in _EXACT and (operates or not self._does_alone(prim, loop)):
            return False
        if out.dtype.kind == "c" and how != "exact" and alone:
            return False
        refs = [a for a in args if type(a) is Ref and a.shape != ()]
        if how == "loop" and any([not _is_dense(a) or a.shape != out.shape for a in refs]):
            return False
        operands = [a if type(a) is Ref else _scalar(a, d) for a, d in zip(args, loop[0], strict=True)]
        count = self._count(args, out)
        if count is not None:
            operands = [self.sizes.get(a.slot, a) if type(a) is Ref else a for a in operands]
            out = self.sizes[out.slot]
        self._add(prim, operands, loop[0], loop[1], out, count)
        return True

    def _add(self, prim: Any, args: list[Any], in_dtypes: Any, dtype: Any, out: Ref, count: Any = None) -> None:
        if not out.writeable and not out.whole:
            raise _Not
        if count is None:
            for a in args:
                if type(a) is Ref and np.broadcast_shapes(a.shape, out.shape) != out.shape:
                    raise _Not
                if type(a) is Ref and overlap(a, out) and not a.same(out):
                    raise _Not
        self.steps.append(Elementwise(self._number, prim, args, in_dtypes, dtype, out, count, self._quiet))

    def _count(self, args: Any, out: Ref) -> int | None:
        """The selection that the operands are made from."""
        found = {self.counts[a.slot] for a in args if type(a) is Ref and a.slot in self.counts}
        dynamic = self.record.slots[out.slot].dynamic
        if not found and not dynamic:
            return None
        if len(found) != 1 or not dynamic or not out.whole:
            raise _Not
        if any([type(a) is Ref and a.slot not in self.counts and a.shape != () for a in args]):
            raise _Not
        (count,) = found
        length = next(self.sizes[a.slot].shape for a in args if type(a) is Ref and a.slot in self.sizes)
        self._hold(out.slot, length, out.dtype, count)
        return count

    def _hold(self, slot: int, shape: tuple[int, ...], dtype: Any, count: int) -> Ref:
        """Memory for a selection: there may be as many elements as there are at all."""
        held = self._temporary(shape, dtype)
        self.record.slots.pop()
        held.slot = slot
        self.sizes[slot], self.counts[slot] = held, count
        return held

    def _type(self, a: Any) -> Any:
        if type(a) is Ref:
            return a.dtype
        if type(a) in (int, float, complex):
            return type(a)
        if type(a) is bool:
            return _BOOL
        if isinstance(a, np.generic):
            return a.dtype
        raise _Not

    def _setitem(self, x: Ref, key: Any, value: Any) -> bool:
        if self.record.slots[x.slot].dynamic:
            return False
        if type(key) is Ref:
            return self._set_mask(x, key, value)
        if not _is_basic(key):
            return False
        out = self._part(x, key)
        if type(value) is Ref:
            if self.record.slots[value.slot].dynamic:
                return False
            if len(value.shape) > len(out.shape):
                return False
            if not np.can_cast(value.dtype, out.dtype, "same_kind"):
                return False
            if overlap(value, out) and not value.same(out):
                return self._through(value, out)
            if not value.same(out):
                self._add(cast_p, [value], (value.dtype,), out.dtype, out)
            return True
        number = _scalar(value, out.dtype)
        self._add(cast_p, [number], (out.dtype,), out.dtype, out)
        return True

    def _through(self, value: Ref, out: Ref) -> bool:
        """A copy between places that overlap, by way of memory apart."""
        apart = self._temporary(value.shape, value.dtype)
        self._add(cast_p, [value], (value.dtype,), value.dtype, apart)
        self._add(cast_p, [apart], (value.dtype,), out.dtype, out)
        return True

    def _temporary(self, shape: tuple[int, ...], dtype: Any) -> Ref:
        form = (
            np.empty(shape, dtype)
            if np.prod(shape) < 1 << 20
            else np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, _dense(shape, dtype.itemsize))
        )
        slot = Slot("made", len(self.record.slots), 0, int(np.prod(shape)) * dtype.itemsize, None)
        self.record.slots.append(slot)
        return Ref(slot.number, 0, form, False, True)

    def _set_mask(self, x: Ref, mask: Ref, value: Any) -> bool:
        if mask.dtype != _BOOL or mask.shape != x.shape:
            return False
        if type(value) is Ref:
            if value.slot in self.counts:
                if not (_is_dense(x) and _is_dense(mask)) or value.dtype != x.dtype or x.slot == mask.slot:
                    return False
                held = self.sizes[value.slot]
                self.steps.append(Scatter(self._number, held, mask, x, self.counts[value.slot]))
                return True
            if value.shape != () or value.dtype != x.dtype:
                return False
            number: Any = value
        else:
            number = _scalar(value, x.dtype)
        self._add(where_p, [mask, number, x], (_BOOL, x.dtype, x.dtype), x.dtype, x)
        return True

    def _part(self, x: Ref, key: Any) -> Ref:
        """The place ``x[key]``."""
        form = geometry(x)
        keys = key if type(key) is tuple else (key,)
        part = form[keys if any([k is Ellipsis for k in keys]) else (*keys, ...)]
        offset = x.offset + part.__array_interface__["data"][0] - form.__array_interface__["data"][0]
        ref = Ref(x.slot, offset if part.size else 0, part, False, False)
        ref.writeable = x.writeable
        return ref

    def _getitem(self, x: Ref, key: Any, made: Ref) -> bool:
        if type(key) is Ref and key.dtype == _BOOL and key.shape == x.shape and self.record.slots[made.slot].dynamic:
            if not (_is_dense(x) and _is_dense(key)) or x.slot in self.counts:
                return False
            if not self._selects:
                return False
            count = self._selections
            self._selections += 1
            held = self._hold(made.slot, (int(np.prod(x.shape)),), x.dtype, count)
            self.steps.append(Select(self._number, x, key, held, count))
            return True
        if not _is_basic(key):
            return False
        self._add(cast_p, [self._part(x, key)], (x.dtype,), x.dtype, made)
        return True

    def _where(self, c: Any, x: Any, y: Any, made: Ref) -> bool:
        if type(c) is not Ref or made.value or any([type(a) is Ref and a.slot in self.counts for a in (c, x, y)]):
            return False
        if c.dtype != _BOOL:
            return False
        both = [a.dtype if type(a) is Ref else a for a in (x, y)]
        if np.result_type(*both) != made.dtype:
            return False
        args = [a if type(a) is Ref else _scalar(a, made.dtype) for a in (x, y)]
        self._add(where_p, [c, *args], (_BOOL, made.dtype, made.dtype), made.dtype, made)
        return True

    def _clip(self, args: Any, kwargs: Any, made: Ref) -> bool:
        if kwargs or len(args) != 3 or any([a is None for a in args]):
            return False
        return self._apply(np._core.umath.clip, args, made, None)  # type: ignore[attr-defined]

    def _copy(self, raw: Any, args: Any, kwargs: Any, made: Ref) -> bool:
        if kwargs or type(args[0]) is not Ref or args[0].slot in self.counts:
            return False
        if len(args) > (2 if raw is _NDARRAY.astype else 1) or made.value:
            return False
        if args[0].dtype.kind == "c" != made.dtype.kind:
            return False
        self._add(cast_p, [args[0]], (args[0].dtype,), made.dtype, made)
        return True

    def _axes(self, args: Any, kwargs: Any, ndim: int) -> tuple[int, ...]:
        axis = kwargs.get("axis", args[1] if len(args) > 1 else None)
        if len(args) > 2:
            raise _Not
        for name, value in kwargs.items():
            if name != "axis" and not (value is None or value is _ABSENT or (name == "keepdims" and value in (0, 1))):
                raise _Not
        if axis is None:
            return tuple(range(ndim))
        axes = axis if type(axis) is tuple else (axis,)
        return tuple(sorted([a % ndim for a in axes]))

    def _fold(self, ufunc: np.ufunc, args: Any, kwargs: Any, made: Ref, is_method: bool) -> bool:
        x = args[0]
        if type(x) is not Ref or x.slot in self.counts or ufunc not in (np.add, np.maximum, np.minimum, np.multiply):
            return False
        if not x.shape:
            return False
        if "axis" not in kwargs and len(args) < 2 and is_method:
            kwargs = {**kwargs, "axis": 0}
        axes = self._axes(args, kwargs, len(x.shape))
        if x.dtype.kind in "bui" and ufunc in (np.add, np.multiply) and made.dtype != x.dtype:
            wide = self._temporary(x.shape, made.dtype)
            self._add(cast_p, [x], (x.dtype,), made.dtype, wide)
            x = wide
        if x.dtype != made.dtype or x.dtype.char not in "fdFDlLqQiI" or 0 in x.shape:
            return False
        self._add_fold(ufunc, x, axes, made)
        return True

    def _add_fold(self, ufunc: np.ufunc, x: Ref, axes: tuple[int, ...], made: Ref) -> None:
        if not self._backend.does(Reduce(ufunc, _place(x, 0), axes, _place(made, 1), False)):
            raise _Not
        self.steps.append(Fold(self._number, ufunc, x, axes, made, self._quiet))

    def _mean(self, args: Any, kwargs: Any, made: Ref) -> bool:
        x = args[0]
        if type(x) is not Ref or x.dtype != np.float64 or made.dtype != np.float64 or x.slot in self.counts:
            return False
        axes = self._axes(args, kwargs, len(x.shape))
        n = 1
        for a in axes:
            n *= x.shape[a]
        if 0 in x.shape or not x.shape:
            return False
        self._add_fold(np.add, x, axes, made)
        divide = PRIMITIVES[np.true_divide]
        loop = loops.find_loop(divide, [made.dtype, float])
        self._add(divide, [made, np.float64(n)], loop[0], loop[1], made)
        return True

    def _product(self, raw: Any, a: Any, b: Any, made: Ref) -> bool:
        if type(a) is not Ref or type(b) is not Ref or {a.slot, b.slot} & set(self.counts):
            return False
        if a.dtype != b.dtype or a.dtype != made.dtype or a.dtype.char not in "fd":
            return False
        if not 0 < len(a.shape) <= 2 or not 0 < len(b.shape) <= 2 or 0 in (*a.shape, *b.shape):
            return False
        if raw is operator.matmul:
            raw = np.matmul
        if not self._backend.does(Multiply(raw, _place(a, 0), _place(b, 1), _place(made, 2), False)):
            return False
        self.steps.append(Product(self._number, raw, a, b, made, self._quiet))
        return True

    def _join(self, raw: Any, args: Any, kwargs: Any, made: Ref) -> bool:
        parts = args[0]
        if type(parts) not in (list, tuple) or len(args) > 2 or set(kwargs) - {"axis"}:
            return False
        if any([type(p) is not Ref or p.slot in self.counts or not p.shape for p in parts]):
            return False
        axis = kwargs.get("axis", args[1] if len(args) > 1 else 0)
        if raw is np.hstack:
            axis = 0 if len(parts[0].shape) == 1 else 1
        if (raw is np.vstack and len(parts[0].shape) < 2) or type(axis) is not int:
            return False
        axis %= len(made.shape)
        at = 0
        self.steps.append(Constant(self._number, None, made))
        for p in parts:
            n = 1 if raw is np.stack else p.shape[axis]
            index: Any = at if raw is np.stack else slice(at, at + n)
            out = self._part(made, (slice(None),) * axis + (index,))
            out.writeable = True
            self._add(cast_p, [p], (p.dtype,), made.dtype, out)
            at += n
        return True

    def _triangle(self, raw: Any, made: Ref, m: Any, k: Any = 0) -> bool:
        if type(m) is not Ref or type(k) is not int or m.shape != made.shape or len(m.shape) < 2:
            return False
        below: Any = np.tri(m.shape[-2], m.shape[-1], k - 1 if raw is np.triu else k, dtype=bool)
        mask = self._temporary(below.shape, _BOOL)
        self.steps.append(Constant(self._number, below, mask))
        zero = made.dtype.type(0)
        args = [mask, zero, m] if raw is np.triu else [mask, m, zero]
        self._add(where_p, args, (_BOOL, made.dtype, made.dtype), made.dtype, made)
        return True


def _place(ref: Ref, block: int) -> Place:
    """Such a place, somewhere."""
    return Place(block, 0, ref.shape, ref.strides, ref.dtype)


def _is_basic(key: Any) -> bool:
    for k in key if type(key) is tuple else (key,):
        if k is None or k is Ellipsis or type(k) is int:
            continue
        if type(k) is not slice or any([type(v) is Ref for v in (k.start, k.stop, k.step)]):
            return False
    return True


def _dense(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    strides = []
    for n in reversed(shape):
        strides.append(size)
        size *= n
    return tuple(reversed(strides))


def _is_dense(ref: Ref) -> bool:
    """Does it lie in C order without gaps?"""
    size = ref.dtype.itemsize
    for n, s in zip(reversed(ref.shape), reversed(ref.strides), strict=True):
        if n != 1:
            if s != size:
                return False
            size *= n
    return True


def _scalar(x: Any, dtype: Any) -> Any:
    """A number as NumPy converts it for a loop of this dtype."""
    if type(x) not in (bool, int, float, complex) and not isinstance(x, np.generic):
        raise _Not
    kinds = "biufc"
    kind = np.asarray(x).dtype.kind
    if kinds.index(kind) > kinds.index(dtype.kind) and not (kind in "iu" and dtype.kind in "iu"):
        raise _Not
    made = dtype.type(x)
    if type(x) is float and dtype.char in "efF" and np.isinf(made) and abs(x) != float("inf"):
        raise _Not
    return made
