"""Habits of a program: what is always read alone, and what is always read again.

Operations that are always read alone gain nothing from waiting: after a few times they run at once.

Recording an operation and launching a kernel cost some 20 us, which a fused chain earns back many times over and a
single addition of 100,000 elements does not. Whether an operation becomes part of a chain is a habit of the line
that it stands on, so that is what is remembered: how often in a row a place in the program gave a kernel of its own.
"""

from typing import Any

from tnp.core.cells import Node, Place, Storage
from tnp.core.elementwise import CHEAP
from tnp.core.native import point

BELOW = 1 << 22  # bytes of an operand; above, threads earn the launch back
LIGHT = CHEAP | {"divide"}  # what moves memory, rather than computes
PATIENCE = 3  # kernels of one operation in a row
AGAIN = 64  # every so often such an operation waits once more: habits change

_habits: dict[int, int] = {}  # by place in the program
_below = 0


def set_below(nbytes: int) -> None:
    """Bytes of an operand below which habits count; 0: every operation waits."""
    global _below
    _below = nbytes


def light_below(nbytes: int, workers: int) -> int:
    """The bound `nbytes` for operations of `LIGHT`: two threads do not get more out of the last cache than one."""
    return 2 * nbytes if workers <= 2 else nbytes


def runs_now(nbytes: int) -> bool:
    """Will the operation that the program is at, on memory of so many bytes, run at once, as always?

    If not, `is_lone` says what to do.
    """
    if nbytes >= _below:
        return False
    place = site(point())
    n = _habits.get(place, 0)
    if n < PATIENCE or n % AGAIN == 0:
        return False
    _habits[place] = n + 1
    return True


def site(at: Any) -> int:
    """Which operation of the program is at this `tnp.core.native.point`: a number."""
    if at is None:
        return 0
    code, instruction = id(at[0]), at[1]
    return code ^ (instruction << 40)


def is_lone(place: int) -> bool:
    """Should the operation at `place` run at once?"""
    n = _habits.get(place, 0)
    if n < PATIENCE:
        return False
    _habits[place] = n + 1
    return n % AGAIN != 0


def remember(place: int, alone: bool) -> None:
    """The operation recorded at `place` has run: in a kernel of its own, or with others."""
    if not alone:
        _habits.pop(place, None)
        return
    if len(_habits) > 4096:
        _habits.clear()
    _habits[place] = _habits.get(place, 0) + 1


_again: dict[Any, None] = {}  # operations that were computed twice: an ordered set


def _kind(node: Node) -> Any:
    below: list[Any] = []
    for a in node.args:
        s = a.storage if type(a) is Place else a
        below.append(s.node.prim if type(s) is Storage and s.node is not None else type(a))
    return node.prim, node.shape, node.dtype, *below


def is_read_again(node: Node) -> bool:
    """Is the value of such an operation, named by the program, asked for again after a kernel has used it?"""
    return node.prim.name not in CHEAP and bool(_again) and _kind(node) in _again


def remember_again(node: Node) -> None:
    """The operation was computed a second time: from now on the first kernel keeps what it computes."""
    if node.prim.name not in CHEAP:
        if len(_again) > 512:
            _again.clear()
        _again[_kind(node)] = None
