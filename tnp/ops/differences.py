"""Differences of neighbours and outer products, recorded."""

import numpy as _np

from tnp import bind
from tnp.core.elementwise import PRIMITIVES
from tnp.host import native, run
from tnp.hot import ndarray
from tnp.ops.views import look

_ABSENT = _np._NoValue


def _difference(a, axis):
    """``a[1:] - a[:-1]`` along an axis, recorded (`!=` for booleans); None if it has to run at once."""
    prim = PRIMITIVES[_np.not_equal if look(a).dtype.char == "?" else _np.subtract]
    lead = (slice(None),) * axis
    return bind.elementwise(prim, (a[(*lead, slice(1, None))], a[(*lead, slice(None, -1))]))


def _diff(a, n=1, axis=-1, prepend=_ABSENT, append=_ABSENT):
    if type(a) is ndarray and prepend is _ABSENT and append is _ABSENT and type(n) is int and type(axis) is int:
        nd = look(a)
        ndim = nd.ndim
        # (strides along an axis of one element depend on how NumPy came by them)
        if n > 0 and -ndim <= axis < ndim and (nd.flags.c_contiguous or nd.shape[axis] > n + 1):
            r = a
            for done in range(n):
                shorter = _difference(r, axis % ndim)
                if shorter is None:  # what is recorded will warn: only the rest is left to NumPy
                    return run(_np.diff, (r, n - done, axis), {})
                r = shorter
            return r
    return run(_np.diff, (a, n, axis, prepend, append), {})


def _ediff1d(ary, to_end=None, to_begin=None):
    if type(ary) is ndarray and to_end is None and to_begin is None:
        flat = ary.ravel()
        r = None
        if type(flat) is ndarray and look(flat).size > 1:
            r = bind.elementwise(PRIMITIVES[_np.subtract], (flat[1:], flat[:-1]))
        if r is not None:
            return r
    return run(_np.ediff1d, (ary, to_end, to_begin), {})


def _outer(a, b, out=None):
    """`numpy.outer`: every product of an element of one and an element of the other."""
    if out is not None or type(a) is not ndarray or type(b) is not ndarray:
        return None
    return bind.elementwise(PRIMITIVES[_np.multiply], (a.ravel()[:, None], b.ravel()[None, :]))


native(_outer, _np.outer, "outer")
native(_diff, _np.diff, "diff")
native(_ediff1d, _np.ediff1d, "ediff1d")
