"""`numpy.typing`: NumPy's own objects."""

from numpy.typing import *  # noqa: F403
