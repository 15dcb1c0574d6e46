"""`numpy.polynomial.laguerre` on tnp arrays."""

import numpy.polynomial.laguerre as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
