"""`numpy.char` on tnp arrays."""

import numpy.char as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
