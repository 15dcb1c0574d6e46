"""`numpy.lib.scimath` on tnp arrays."""

import numpy.lib.scimath as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
