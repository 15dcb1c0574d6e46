"""`numpy.lib.mixins` on tnp arrays."""

import numpy.lib.mixins as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
