"""Operations that are always read alone gain nothing from waiting: after a few times they run at once.

Recording an operation and launching a kernel cost some 20 us, which a fused chain earns back many times over and a
single addition of 100,000 elements does not. Whether an operation becomes part of a chain is a habit of the line
that it stands on, so that is what is remembered: how often in a row a place in the program gave a kernel of its own.
"""

import sys

BELOW = 1 << 19  # elements; above, threads earn the launch back
PATIENCE = 3  # kernels of one operation in a row
AGAIN = 64  # every so often such an operation waits once more: habits change

_habits: dict[int, int] = {}  # by place in the program


def site() -> int:
    """Which operation of the program this is: a number."""
    frame = sys._getframe()
    return id(frame.f_code) ^ (frame.f_lasti << 40)


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
