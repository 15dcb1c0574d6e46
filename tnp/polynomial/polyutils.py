"""`numpy.polynomial.polyutils` on tnp arrays."""

import numpy.polynomial.polyutils as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
