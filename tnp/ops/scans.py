"""Running sums and products: NumPy's loop, in its order; independent lines on several threads."""

import numpy as _np

from tnp import content
from tnp.core.dtypes import is_number
from tnp.host import native, run
from tnp.hot import ndarray, real
from tnp.ops.memory import THREADED, adopt, cuts, pooled
from tnp.ops.views import look

_ABSENT = _np._NoValue


def scanned(ufunc, a, axis, dtype):
    """``ufunc.accumulate(a, axis, dtype)`` of a large array with several lines; None if NumPy should do it."""
    if type(a) is not ndarray or type(axis) is not int or content.backend.workers() == 1:
        return None
    nd = look(a)
    if nd.ndim < 2 or not -nd.ndim <= axis < nd.ndim or nd.nbytes < THREADED or not nd.flags.c_contiguous:
        return None
    kind = _loop(ufunc, nd.dtype, dtype)
    if kind is None:
        return None
    axis %= nd.ndim
    across = 0 if axis else 1
    lines = nd.shape[across]
    full = pooled(nd.shape, kind) if lines >= content.backend.workers() else None
    if full is None:
        return None
    src, flagged = real(a), []

    def chunk(i):
        with _np.errstate(all="call", call=lambda name, flag: flagged.append(name)):
            ufunc.accumulate(src[i], axis, dtype, full[i])

    content.backend.run_chunks(chunk, cuts(across, lines, nd.nbytes))
    src = None
    if flagged:  # NumPy warns of it, once and in its own words
        return None
    return adopt(full)


def _loop(ufunc, kind, dtype):
    """Dtype of the result."""
    if not is_number(kind) or kind.num >= 256:
        return None
    if dtype is not None:
        wanted = _np.dtype(dtype)
        return wanted if wanted == kind and wanted.char in "lLqQfdFD" else None
    if kind.kind in "biu" and kind.itemsize < 8:
        return _np.dtype(_np.uint if kind.kind == "u" else _np.int_)
    return kind


def _cumulative(ufunc, name):
    raw, method = getattr(_np, name), getattr(_np.ndarray, name)

    def function(a, axis=None, dtype=None, out=None):
        r = None if out is not None else scanned(ufunc, a, axis, dtype)
        return (
            None if r is None and isinstance(out, ndarray) else run(raw, (a, axis, dtype, out), {}) if r is None else r
        )

    def as_method(a, axis=None, dtype=None, out=None):
        return None if out is not None else scanned(ufunc, a, axis, dtype)

    native(function, raw, name)
    return native(as_method, method, name)


METHODS = {"cumsum": _cumulative(_np.add, "cumsum"), "cumprod": _cumulative(_np.multiply, "cumprod")}


def _with_initial(name):
    raw = getattr(_np, name)
    native(lambda *args, **kwargs: run(raw, args, kwargs) if "out" not in kwargs else None, raw, name)


_with_initial("cumulative_sum")
_with_initial("cumulative_prod")
