"""`numpy.polynomial.polynomial` on tnp arrays."""

import numpy.polynomial.polynomial as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
