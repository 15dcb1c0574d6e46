"""What is pending, and the kernels that it will become: ``tnp.explain(x)``."""

from typing import Any

from tnp.backends.base import FAST
from tnp.content import pending_whole
from tnp.core.cells import Place, Storage
from tnp.core.primitive import Reduction
from tnp.hot import ndarray, real


class Explanation:
    """The pending graph of an array. Prints as text; notebooks show it as SVG.

    Attributes
    ----------
    kernels : list of list of Storage
        The operations of each kernel, producers first, in the order in which they will run.
    """

    def __init__(self, x: ndarray) -> None:
        self._x = x
        self.kernels: list[list[Storage]] = []
        self._leaves: list[Any] = []
        target = x._place.storage if x._place is not None and x._nd is None else pending_whole(x)
        if target is not None and target.node is not None:
            self._plan(target, set())

    def _plan(self, target: Storage, done: set[Storage]) -> None:
        order: list[Storage] = []
        stack = [(target, False)]
        while stack:
            s, finished = stack.pop()
            if finished:
                order.append(s)
                continue
            if s in done:
                continue
            done.add(s)
            stack.append((s, True))
            for a in s.node.args:
                if type(a) is Storage:
                    if a.node is None:
                        self._leaf(a.full)
                    elif a.node.shape == s.node.shape and not isinstance(a.node.prim, Reduction):
                        stack.append((a, False))
                    elif a not in done:
                        self._plan(a, done)
                elif type(a) is Place:
                    if a.storage.node is not None:
                        if a.storage not in done:
                            self._plan(a.storage, done)
                    else:
                        self._leaf(a.nd)
        self.kernels.append(order)

    def _leaf(self, array: Any) -> None:
        if not any(a is array for a in self._leaves):
            self._leaves.append(array)

    def _names(self) -> dict[Any, str]:
        names: dict[Any, str] = {}
        for kernel in self.kernels:
            for s in kernel:
                names[s] = f"%{len(names)}"
        return names

    def _argument(self, a: Any, names: dict[Any, str]) -> str:
        if type(a) is Storage:
            return names[a] if a in names else self._leaf_name(a.full)
        if type(a) is Place:
            return f"view of {names[a.storage]}" if a.storage in names else self._leaf_name(a.nd)
        return repr(a.item() if hasattr(a, "item") else a)

    def _leaf_name(self, array: Any) -> str:
        for i, a in enumerate(self._leaves):
            if a is array:
                return f"in{i}"
        return "in?"

    def __str__(self) -> str:
        x = self._x
        head = f"{x.dtype} {x.shape}"
        if not self.kernels:
            return f"{head}: nothing is pending"
        count = sum(map(len, self.kernels))
        lines = [f"{head}: {_count(count, 'operation')} pending, {_count(len(self.kernels), 'kernel')}"]
        names = self._names()
        for i, kernel in enumerate(self.kernels):
            node = kernel[-1].node
            lines.append(f"kernel {i + 1}: {node.shape} elements, result {node.dtype}")
            for s in kernel:
                n = s.node
                call = f"{n.prim.name}({', '.join(self._argument(a, names) for a in n.args)})"
                notes = ["fast math"] if n.params is FAST else []
                if n.where is not None:
                    notes.append(f"{n.where.code.co_filename}:{n.where.line}")
                lines.append(f"  {names[s]} = {call}{'   # ' if notes else ''}{', '.join(notes)}")
        for i, a in enumerate(self._leaves):
            lines.append(f"in{i}: {a.dtype} {a.shape}, strides {a.strides}, {a.nbytes:,} bytes")
        return "\n".join(lines)

    __repr__ = __str__

    def svg(self) -> str:
        """The graph as an SVG picture: inputs on the left, one box a kernel."""
        names = self._names()
        wide, high, gap = 150, 24, 12
        place: dict[Any, tuple[int, int]] = {}
        boxes, edges = [], []
        for i, a in enumerate(self._leaves):
            place[id(a)] = (10, 10 + i * (high + gap))
            boxes.append(_box(*place[id(a)], wide, high, f"in{i}: {a.dtype} {a.shape}", "#e8eef7"))
        left, bottom = 10 + wide + 60, 10 + len(self._leaves) * (high + gap)
        for number, kernel in enumerate(self.kernels):
            top = 30
            for s in kernel:
                place[s] = (left, top)
                boxes.append(_box(left, top, wide, high, f"{names[s]} = {s.node.prim.name}", "#fdf3d8"))
                for a in s.node.args:
                    source = a if type(a) is Storage and a in place else a.storage if type(a) is Place else a
                    key = source if source in place else id(a.full if type(a) is Storage else getattr(a, "nd", None))
                    if key in place:
                        x, y = place[key]
                        edges.append(
                            f'<path d="M{x + wide},{y + high // 2} C{x + wide + 30},{y + high // 2} '
                            f'{left - 30},{top + high // 2} {left},{top + high // 2}" fill="none" stroke="#888"/>'
                        )
                top += high + gap
            boxes.insert(
                0,
                f'<rect x="{left - 8}" y="8" width="{wide + 16}" height="{top - 8}" fill="none" stroke="#bbb" '
                f'stroke-dasharray="4"/><text x="{left}" y="24" font-size="11">kernel {number + 1}</text>',
            )
            left, bottom = left + wide + 60, max(bottom, top)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left}" height="{bottom + 20}" '
            f'font-family="sans-serif">{"".join(edges)}{"".join(boxes)}</svg>'
        )

    _repr_svg_ = svg


def _escaped(text: str) -> str:
    """`html.escape`, whose module takes 3 ms to import."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _box(x: int, y: int, wide: int, high: int, text: str, colour: str) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="4" fill="{colour}" stroke="#888"/>'
        f'<text x="{x + 6}" y="{y + 16}" font-size="11">{_escaped(text)}</text>'
    )


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def explain(x: Any) -> Explanation:
    """The operations on which `x` waits, and the kernels that they will become.

    Parameters
    ----------
    x : ndarray

    Returns
    -------
    Explanation
        Its text shows kernels, operations with the lines that recorded them, and inputs; ``.svg()`` draws it.

    >>> import tnp
    >>> with tnp.config(lazy_from=1):
    ...     a = tnp.arange(3.0)
    ...     print(tnp.explain(tnp.maximum(-a, 1)))
    float64 (3,): 2 operations pending, 1 kernel
    kernel 1: (3,) elements, result float64
      %0 = negative(in0)
      %1 = maximum(%0, 1.0)
    in0: float64 (3,), strides (8,), 24 bytes
    """
    if not isinstance(x, ndarray):
        raise TypeError(f"explain: not an array of tnp\n  got:      {type(x).__name__}\n  expected: tnp.ndarray")
    if x._nd is not None:
        real(x)
    return Explanation(x)
