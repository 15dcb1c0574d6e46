cimport cython
from tnp cimport bind
from tnp.core.cells cimport Cell
from tnp.hot cimport ndarray

cdef bint _borrows

cpdef bint alike(object a, object b)
cpdef bint is_complex(object x)
@cython.locals(c=Cell)
cdef object _order(ndarray x)
