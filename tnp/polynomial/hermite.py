"""`numpy.polynomial.hermite` on tnp arrays."""

import numpy.polynomial.hermite as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
