"""`numpy.strings` on tnp arrays."""

import numpy.strings as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
