"""`numpy.dtypes`: NumPy's own objects."""

from numpy.dtypes import *  # noqa: F403
