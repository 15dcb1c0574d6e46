"""`numpy.testing` on tnp arrays."""

import numpy.testing as _np_testing

from tnp.namespace import mirror

mirror(_np_testing, globals())
