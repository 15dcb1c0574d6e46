"""`numpy.lib.recfunctions` on tnp arrays."""

import numpy.lib.recfunctions as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
