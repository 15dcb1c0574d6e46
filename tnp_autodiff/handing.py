"""Gradients as the program gets them: its own to write to."""

from typing import Any

import tnp
from tnp import content, hot
from tnp.core import native
from tnp.hot import ndarray
from tnp_autodiff.recorder import is_tracked


def hand_out(found: list[Any], i: int) -> Any:
    """``found[i]``, taken out of the list: a number, or an array whose memory nobody else has."""
    g = found[i] if type(found[i]) is ndarray else tnp.asarray(found[i])
    found[i] = None
    if g.ndim == 0 and not is_tracked(g):
        return g[()]
    return g if _is_alone(g) else g.copy()


def _is_alone(g: ndarray) -> bool:
    """Does only the caller hold the array, and only the array its memory?"""
    if native.references(g) > _alone[0] or g._base is not None:
        return False
    c = hot.cell_of(g)
    return native.references(c) <= _alone[1] and not content.is_shared(c)


_alone = [0, 0]  # references to such an array, and to its cell, as `_is_alone` counts them


def _calibrate() -> None:
    def seen(g: ndarray) -> None:
        _alone[0] = native.references(g)
        c = hot.cell_of(g)
        _alone[1] = native.references(c)

    def called(found: list[Any], i: int) -> None:
        g = found[i] if type(found[i]) is ndarray else tnp.asarray(found[i])
        found[i] = None
        seen(g)

    called([tnp.ones(2) + 1.0], 0)


_calibrate()
