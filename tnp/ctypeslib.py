"""`numpy.ctypeslib` on tnp arrays."""

import numpy.ctypeslib as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
