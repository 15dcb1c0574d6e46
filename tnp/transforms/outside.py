"""Arrays that the examples share because they were there before: which of their elements are read, and written.

A loop over the examples leaves in them what the last one wrote, and so does `vmap`; where an element is read before it
is written, each example would see what the one before has left, which cannot be batched. Such arrays are those that the
function reaches by name: its arguments, what it closes over, globals, and what these hold.
"""

import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from tnp import content, hot
from tnp.arrays.indexing import basic
from tnp.core import native
from tnp.core.cells import TRACED, Cell
from tnp.core.interpreter import quietly
from tnp.host import unwrap
from tnp.hot import ndarray
from tnp.tracing import box_of
from tnp.transforms.errors import LoopCarriedError, explain, here

MOST = 4096  # objects that are looked at
_NO_READ = frozenset(  # these write to their first argument and read it not
    [
        np.ndarray.__setitem__,
        np.ndarray.fill,
        np.copyto,
        np.put,
        np.place,
        np.putmask,
        np.put_along_axis,
        np.fill_diagonal,
    ]
)


class Outside:
    """What the examples do to arrays from outside."""

    def __init__(self, roots: list[Any]) -> None:
        self._seen: dict[int, _Seen] = {}
        self._arguments: set[int] = set()  # cells that were written through an argument
        for x in _reached(roots):
            cell = hot.cell_of(x)
            if id(cell) not in self._seen:
                self._seen[id(cell)] = _Seen(cell)
                cell.marked |= TRACED

    def wrote_argument(self, cell: Cell) -> None:
        """Something was written to the memory of `cell` through an argument, whose slices are the examples'."""
        if id(cell) not in self._arguments:
            self._arguments.add(id(cell))
            if id(cell) in self._seen and self._seen[id(cell)].is_touched():
                _refuse("an argument is written that the function also reaches by another name")

    def has(self, cell: Cell) -> bool:
        return id(cell) in self._seen

    def _of(self, x: Any) -> "_Seen | None":
        if type(x) is not ndarray or x._cell is None:
            return None
        seen = self._seen.get(id(x._cell))
        if seen is not None and id(x._cell) in self._arguments:
            _refuse("an array is met that was written through an argument")
        return seen

    def note_call(self, raw: Any, args: Any, kwargs: Any) -> None:
        if not self._seen:
            return
        if raw is np.ndarray.__getitem__:
            seen = self._of(args[0])
            if seen is not None:
                seen.read(args[0], args[1])
            self._note(args[1:], 0)
            return
        self._note(args[1:] if raw in _NO_READ else args, 0)
        if kwargs:
            self._note([v for k, v in kwargs.items() if k != "out"], 0)

    def _note(self, items: Any, depth: int) -> None:
        for x in items:
            t = type(x)
            if t is ndarray:
                if x._cell is not None and id(x._cell) in self._seen:
                    self.note_read(x)
            elif (t is list or t is tuple) and depth < 4:
                self._note(x, depth + 1)

    def note_read(self, x: Any) -> None:
        seen = self._of(x)
        if seen is not None:
            seen.read(x)

    def note_write(self, x: Any, key: Any) -> None:
        seen = self._of(x)
        if seen is not None:
            seen.write(x, key)

    def written(self, cell: Cell) -> Any:
        """Which elements of the whole memory were written, as an array of truth values of its shape."""
        return self._seen[id(cell)].written_part()

    def close(self) -> None:
        for seen in self._seen.values():
            seen.close()
        self._seen = {}


class _Seen:
    """One block of memory: which elements were read before any example wrote them, and which were written."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self._was_traced = bool(cell.marked & TRACED)
        self._all_read = False
        self._read_first: Any = None
        self._written: Any = None
        self._first = 0

    def _masks(self) -> None:
        if self._written is None:
            full = self._cell.storage.full
            self._first, last = np.lib.array_utils.byte_bounds(full) if full.size else (native.address(full),) * 2
            self._step = max(full.itemsize, 1)
            count = (last - self._first) // self._step
            self._written, self._read_first = np.zeros(count, bool), np.zeros(count, bool)

    def _place(self, mask: Any, nd: Any) -> Any:
        """What of the mask belongs to the elements of `nd`."""
        offset = (native.address(nd) - self._first) // self._step if nd.size else 0
        return np.ndarray(nd.shape, bool, mask, offset, [s // self._step for s in nd.strides])

    def _geometry(self, x: Any) -> Any:
        return x._nd if x._nd is not None else content.settle(x)

    def read(self, x: Any, key: Any = Ellipsis) -> None:
        if self._all_read:
            return
        if self._written is None and key is Ellipsis and (x._nd is None or x._nd.size == self._cell.storage.full.size):
            self._all_read = True
            return
        nd = self._geometry(x)
        self._masks()
        read, written = self._place(self._read_first, nd), self._place(self._written, nd)
        key = _static(key)
        read[key] |= ~written[key]

    def write(self, x: Any, key: Any) -> None:
        nd = self._geometry(x)
        self._masks()
        read, written = self._place(self._read_first, nd), self._place(self._written, nd)
        key = _static(key)
        if nd.size and (self._all_read or np.any(read[key])):
            _refuse("an element is written that was read before: each example would see what the last one left")
        written[key] = True

    def is_touched(self) -> bool:
        return self._all_read or self._written is not None

    def written_part(self) -> Any:
        return None if self._written is None else self._place(self._written, self._cell.storage.full)

    def close(self) -> None:
        if not self._was_traced and self._cell.record is None:
            self._cell.marked &= ~TRACED


def _refuse(what: str) -> None:
    raise LoopCarriedError(
        explain(
            f"vmap: {what}",
            f"an array from outside, at {here()}",
            "examples that do not depend on one another",
            "return the value, then sum over the batch",
        )
    )


def _static(key: Any) -> Any:
    """A key as NumPy takes it; what differs between the examples may be anywhere."""
    if key is Ellipsis or basic(key):
        return key
    keys = key if type(key) is tuple else (key,)
    if any([box_of(k) is not None for k in keys]):
        return Ellipsis
    with quietly():
        return unwrap(key, [])


def _reached(roots: list[Any]) -> Iterator[ndarray]:
    """Arrays that are held by these, and by the functions among them."""
    seen: set[int] = set()
    stack = list(roots)
    while stack and len(seen) < MOST:
        x = stack.pop()
        if id(x) in seen or isinstance(
            x, (str, bytes, int, float, complex, type, types.ModuleType, np.ndarray, type(None))
        ):
            continue
        seen.add(id(x))
        if isinstance(x, ndarray):
            if type(x) is ndarray:
                yield x
        elif isinstance(x, types.FunctionType):
            stack += _of_function(x)
        elif isinstance(x, types.MethodType):
            stack += [x.__self__, x.__func__]
        elif isinstance(x, functools.partial):
            stack += [x.func, *x.args, *x.keywords.values()]
        elif isinstance(x, (list, tuple, set, frozenset)):
            stack += x
        elif isinstance(x, dict):
            stack += x.values()
        else:
            stack += getattr(x, "__dict__", {}).values()
            slots = getattr(type(x), "__slots__", ())
            if type(x).__module__.split(".")[0] not in ("numpy", "tnp", "builtins"):
                stack += [getattr(x, s) for s in ([slots] if isinstance(slots, str) else slots) if hasattr(x, s)]


def _of_function(f: types.FunctionType) -> list[Any]:
    found: list[Any] = [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    for cell in f.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    if not f.__module__ or f.__module__.split(".")[0] not in ("numpy", "tnp", "tnp_autodiff"):
        names = set(_names(f.__code__))
        found += [f.__globals__[n] for n in names if n in f.__globals__]
    return found


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from _names(c)
