"""`numpy.lib.introspect` on tnp arrays."""

import numpy.lib.introspect as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
