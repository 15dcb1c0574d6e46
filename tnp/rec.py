"""`numpy.rec` on tnp arrays."""

import numpy.rec as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
