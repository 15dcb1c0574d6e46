"""`numpy.lib.array_utils` on tnp arrays."""

import numpy.lib.array_utils as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
