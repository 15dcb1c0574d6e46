"""NumPy's interface, NumPy's exact results, many times its speed: ``import tnp as np``.

>>> import tnp as np
>>> a = np.arange(6.0).reshape(2, 3)
>>> (a * 2 + 1).sum(axis=0)
array([ 8., 12., 16.])
"""

import importlib
from typing import Any

import numpy as _np

from tnp import core as core
from tnp import ndarray as _ndarray_module
from tnp.backends.cpu.threads import num_threads as get_num_threads
from tnp.backends.cpu.threads import set_num_threads
from tnp.content import evaluate
from tnp.core.config import config
from tnp.core.dtypes import bfloat16 as _bfloat16
from tnp.core.native import set_type_name
from tnp.explanation import explain
from tnp.hot import ndarray, ufunc
from tnp.namespace import mirror, public
from tnp.reporting import report
from tnp.reporting import show_config as show_config

for _cls in (ndarray, ufunc):
    set_type_name(_cls, f"tnp.{_cls.__name__}")

# NumPy's submodules; each is imported when it is asked for
SUBMODULES = frozenset(
    """
    char ctypeslib dtypes emath exceptions fft lib linalg ma matrix_functions nn polynomial random rec strings testing
    transforms typing
    """.split()
)
# Names beside NumPy's, and the module that has them; each is imported when it is asked for
_NN = """
elu leaky_relu log_sigmoid log_softmax logsumexp relu relu6 selu sigmoid silu softmax softplus softsign swish
"""
EXTRAS = {
    **dict.fromkeys(_NN.split(), "nn"),
    **dict.fromkeys("cond fori_loop scan vectorized_map vmap while_loop".split(), "transforms"),
    "expm": "matrix_functions",
    "jit": "transforms.jit",
}
_plain = {"core", "exceptions", "dtypes", "typing", "f2py", "version"}

del _ndarray_module
mirror(_np, globals())
__version__ = "0.1.0"
__all__ = [
    "config",
    "evaluate",
    "explain",
    "get_num_threads",
    "report",
    "set_num_threads",
    "to_numpy",
]
__all__ += [name for name in _np.__all__ if name not in __all__]


def to_numpy(x: Any) -> Any:
    """The NumPy array that shares the memory of `x`; anything else is returned as it is."""
    return x.to_numpy() if isinstance(x, ndarray) else x


def __getattr__(name: str) -> Any:
    if name in SUBMODULES:
        return importlib.import_module(f"tnp.{name}")
    if name in EXTRAS:
        return getattr(importlib.import_module(f"tnp.{EXTRAS[name]}"), name)
    if name == "bfloat16":
        return _bfloat16()
    if name.startswith("__") or name not in dir(_np):
        raise AttributeError(f"module 'tnp' has no attribute {name!r}")
    return getattr(_np, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *public(_np), *SUBMODULES})
