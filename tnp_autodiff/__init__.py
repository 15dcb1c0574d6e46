"""Differentiation of ordinary NumPy code, with views, in-place writes, ``out=``, loops and control flow.

>>> import tnp as np
>>> from tnp_autodiff import GradientTape
>>> w = np.array([0.5, -1.0])
>>> with GradientTape() as tape:
...     tape.watch(w)
...     y = np.exp(w)
>>> np.allclose(tape.gradient(np.sum(y), w), np.exp(w))
True
"""

from tnp_autodiff import rules as rules
from tnp_autodiff.checkpoint import recompute_grad
from tnp_autodiff.custom import custom_gradient, stop_gradient
from tnp_autodiff.debugging import debug_nans
from tnp_autodiff.errors import AliasError, LeavingTapeWarning, NotDifferentiableError
from tnp_autodiff.forward import ForwardAccumulator
from tnp_autodiff.functional import grad, jvp, linearize, value_and_grad, vjp
from tnp_autodiff.jacobians import hessian, hvp, jacfwd, jacrev
from tnp_autodiff.tape import GradientTape
from tnp_autodiff.variable import Variable

__all__ = [
    "AliasError",
    "ForwardAccumulator",
    "GradientTape",
    "LeavingTapeWarning",
    "NotDifferentiableError",
    "Variable",
    "custom_gradient",
    "debug_nans",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "recompute_grad",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
