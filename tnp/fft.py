"""`numpy.fft` on tnp arrays."""

import numpy.fft as _np_module

from tnp.namespace import mirror

mirror(_np_module, globals())
