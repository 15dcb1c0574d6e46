"""`numpy.emath` on tnp arrays."""

import numpy as _np

from tnp.namespace import mirror

mirror(_np.emath, globals())
