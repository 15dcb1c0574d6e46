"""NumPy's functions that NumPy itself writes in Python: their code runs again, on batched arrays."""

from typing import Any

import numpy as np

from tnp.transforms.batching import RULES, Batch
from tnp.transforms.rebound import rebound

NAMES = """
append apply_along_axis apply_over_axes block column_stack corrcoef cov cross cumulative_prod cumulative_sum
delete diag diagflat dstack ediff1d gradient hstack insert kron meshgrid polyval put_along_axis resize select
tensordot trapezoid tri tril triu unwrap vander vstack polyadd polysub polyder polyint allclose array_equal array_equiv
outer
"""


def run_rebound(batch: Batch, raw: Any, args: Any, kwargs: Any) -> Any:
    """NumPy's own code, step by step."""
    return rebound(raw)(*args, **kwargs)


for _name in NAMES.split():
    RULES[getattr(np, _name)] = run_rebound
RULES[type(np.r_).__getitem__] = run_rebound
for _name in "cross outer tensordot".split():
    if hasattr(np.linalg, _name):
        RULES[getattr(np.linalg, _name)] = run_rebound
