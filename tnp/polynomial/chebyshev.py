"""`numpy.polynomial.chebyshev` on tnp arrays."""

import numpy.polynomial.chebyshev as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
