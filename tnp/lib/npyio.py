"""`numpy.lib.npyio` on tnp arrays."""

import numpy.lib.npyio as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
