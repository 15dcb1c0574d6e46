"""`numpy.lib.format` on tnp arrays."""

import numpy.lib.format as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
