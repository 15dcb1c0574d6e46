"""`numpy.exceptions`: NumPy's own objects."""

from numpy.exceptions import *  # noqa: F403
