"""`numpy.polynomial.legendre` on tnp arrays."""

import numpy.polynomial.legendre as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
