"""Functions of neural networks, beside NumPy's names: `tnp.sigmoid` is `tnp.nn.sigmoid`.

Each is made of NumPy's functions, so dtypes, broadcasting and differentiation follow; none overflows on the way to a
result that does not.
"""

from typing import Any

import numpy as _np

from tnp.core.interpreter import quietly
from tnp.host import function_of, ufunc_of

__all__ = [
    "elu",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
    "swish",
]

_asarray, _where, _sum = (function_of(f) for f in (_np.asarray, _np.where, _np.sum))
_exp, _log, _tanh, _expm1 = (ufunc_of(f) for f in (_np.exp, _np.log, _np.tanh, _np.expm1))
_logaddexp, _absolute = ufunc_of(_np.logaddexp), ufunc_of(_np.absolute)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)).

    Parameters
    ----------
    x : array_like

    Returns
    -------
    array of the shape of `x`

    >>> import tnp
    >>> tnp.sigmoid([-1000.0, 0.0, 1000.0])
    array([0. , 0.5, 1. ])
    """
    return 0.5 * _tanh(0.5 * _asarray(x)) + 0.5


def log_sigmoid(x: Any) -> Any:
    """The logarithm of `sigmoid`, finite where that rounds to 0.

    >>> import tnp
    >>> tnp.log_sigmoid([-1000.0, 0.0])
    array([-1.00000000e+03, -6.93147181e-01])
    """
    return -softplus(-_asarray(x))


def relu(x: Any) -> Any:
    """The positive part; its derivative at 0 is 0.

    >>> import tnp
    >>> tnp.relu([-2.0, 0.0, 3.0])
    array([0., 0., 3.])
    """
    x = _asarray(x)
    return _where(x <= 0, _np.zeros((), x.dtype), x)


def relu6(x: Any) -> Any:
    """`relu`, at most 6.

    >>> import tnp
    >>> tnp.relu6([-2.0, 5.0, 8.0])
    array([0., 5., 6.])
    """
    x = relu(x)
    return _where(x >= 6, _np.full((), 6, x.dtype), x)


def leaky_relu(x: Any, alpha: float = 0.2) -> Any:
    """`x` where it is positive, ``alpha * x`` elsewhere.

    >>> import tnp
    >>> tnp.leaky_relu([-1.0, 2.0])
    array([-0.2,  2. ])
    """
    x = _asarray(x)
    return _where(x > 0, x, alpha * x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` where it is positive, ``alpha * (exp(x) - 1)`` elsewhere.

    >>> import tnp
    >>> tnp.elu([0.0, 2.0])
    array([0., 2.])
    """
    x = _asarray(x)
    negative = x <= 0
    return _where(negative, alpha * _expm1(_where(negative, x, _np.zeros((), x.dtype))), x)


def selu(x: Any) -> Any:
    """`elu` with the two constants that keep mean and variance.

    >>> import tnp
    >>> tnp.selu([0.0, 1.0])
    array([0.        , 1.05070099])
    """
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def softplus(x: Any) -> Any:
    """log(1 + exp(x)).

    >>> import tnp
    >>> tnp.softplus([-1000.0, 1000.0])
    array([   0., 1000.])
    """
    return _logaddexp(_asarray(x), 0.0)


def softsign(x: Any) -> Any:
    """x / (1 + abs(x)).

    >>> import tnp
    >>> tnp.softsign([-1.0, 3.0])
    array([-0.5 ,  0.75])
    """
    x = _asarray(x)
    return x / (1.0 + _absolute(x))


def silu(x: Any) -> Any:
    """x * sigmoid(x).

    >>> import tnp
    >>> tnp.silu([0.0, 1000.0])
    array([   0., 1000.])
    """
    x = _asarray(x)
    return x * sigmoid(x)


swish = silu


def _shift(x: Any, axis: Any) -> Any:
    """The largest element, which cancels in what it is used for: no derivative."""
    with quietly():
        m = x.max(axis=axis, keepdims=True)
        return _where(abs(m) == _np.inf, _np.zeros((), x.dtype), m)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))) along `axis`; flat where all elements are -inf.

    >>> import tnp
    >>> tnp.logsumexp([1000.0, 1000.0])
    np.float64(1000.6931471805599)
    """
    x = _asarray(x)
    m = _shift(x, axis)
    total = _sum(_exp(x - m), axis=axis, keepdims=keepdims)
    none = total == 0
    log = _where(none, -_np.inf, _log(_where(none, _np.ones((), x.dtype), total)))
    return log + (m if keepdims else m.reshape(_reduced(x, axis)))


def _reduced(x: Any, axis: Any) -> tuple[int, ...]:
    return _np.empty(x.shape, bool).any(axis=axis).shape


def softmax(x: Any, axis: Any = -1) -> Any:
    """exp(x) divided by its sum along `axis`.

    >>> import tnp
    >>> tnp.softmax([1000.0, 1000.0])
    array([0.5, 0.5])
    """
    x = _asarray(x)
    e = _exp(x - _shift(x, axis))
    return e / _sum(e, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = -1) -> Any:
    """The logarithm of `softmax`, finite where that rounds to 0.

    >>> import tnp
    >>> tnp.log_softmax([0.0, 1000.0])
    array([-1000.,     0.])
    """
    x = _asarray(x)
    x = x - _shift(x, axis)
    return x - _log(_sum(_exp(x), axis=axis, keepdims=True))
