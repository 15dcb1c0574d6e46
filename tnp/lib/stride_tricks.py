"""`numpy.lib.stride_tricks` on tnp arrays."""

import numpy.lib.stride_tricks as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
