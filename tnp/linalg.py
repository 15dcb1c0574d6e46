"""`numpy.linalg` on tnp arrays."""

import numpy.linalg as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
