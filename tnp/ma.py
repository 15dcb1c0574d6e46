"""`numpy.ma`: NumPy's own masked arrays, which take tnp arrays as data."""

import numpy.ma as _np_ma

from tnp.namespace import mirror

mirror(_np_ma, globals())
