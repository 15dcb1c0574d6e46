"""`numpy.ma.mrecords`: NumPy's own masked records, which take tnp arrays as data."""

import numpy.ma.mrecords as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
