"""`numpy.polynomial.hermite_e` on tnp arrays."""

import numpy.polynomial.hermite_e as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
