"""Functions of matrices, beside NumPy's names: `tnp.expm` is `tnp.matrix_functions.expm`.

Made of NumPy's functions, so they are differentiated as any program is.
"""

from typing import Any

import numpy as _np

from tnp.core.interpreter import quietly
from tnp.host import function_of, ufunc_of
from tnp.tracing import box_of

__all__ = ["expm"]

_asarray, _where, _solve, _to_float = (function_of(f) for f in (_np.asarray, _np.where, _np.linalg.solve, _np.astype))
_matmul = ufunc_of(_np.matmul)
# The numerator of the Padé approximant of exp of degree 13, and the 1-norm up to which it has double precision
_PADE = """
64764752532480000 32382376266240000 7771770303897600 1187353796428800 129060195264000 10559470521600 670442572800
33522128640 1323241920 40840800 960960 16380 182 1
"""
_COEFFICIENTS = [float(b) for b in _PADE.split()]
_LARGEST = 5.371920351148152


def expm(a: Any) -> Any:
    """The exponential of square matrices, by scaling, a Padé approximant, and squaring.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
        Of any numbers but float16; integers count as float64.

    Returns
    -------
    array of the shape of `a`

    Raises
    ------
    numpy.linalg.LinAlgError
        The last two axes are not of one length.

    References
    ----------
    N. J. Higham, The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26
    (2005), 1179-1193.

    >>> import tnp
    >>> tnp.expm([[0.0, 1.0], [0.0, 0.0]])
    array([[1., 1.],
           [0., 1.]])
    """
    box: Any = box_of(a)
    if box is not None:  # it stands for many: they are a stack
        return box.interpreter.up(expm(box.interpreter.every(a)))
    a = _asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise _np.linalg.LinAlgError(f"expm: an array of shape {a.shape}, expected square matrices")
    if a.dtype.kind not in "fc":
        a = _to_float(a, _np.float64)
    halvings = _halvings(a)
    a = a * (0.5**halvings)[..., None, None].astype(a.real.dtype)
    r = _pade(a)
    for k in range(int(halvings.max(initial=0))):
        r = _where((k < halvings)[..., None, None], _matmul(r, r), r)
    return r


def _halvings(a: Any) -> Any:
    """How often each matrix is halved to be small enough: a constant to the derivative."""
    with quietly():
        norms = _np.asarray(abs(a).sum(axis=-2).max(axis=-1, initial=0.0), dtype=float)
    with _np.errstate(divide="ignore"):
        steps = _np.ceil(_np.log2(norms / _LARGEST))
    return _np.where(_np.isfinite(norms), _np.maximum(steps, 0.0), 0.0)


def _pade(a: Any) -> Any:
    b = _COEFFICIENTS
    one = _np.eye(a.shape[-1], dtype=a.dtype)
    a2 = _matmul(a, a)
    a4 = _matmul(a2, a2)
    a6 = _matmul(a4, a2)
    odd = _matmul(a6, b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one
    even = _matmul(a6, b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    odd = _matmul(a, odd)
    return _solve(even - odd, even + odd)
