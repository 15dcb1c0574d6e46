from tnp cimport bind, content, hot, operands
from tnp.core cimport layout, loops
from tnp.hot cimport ndarray

cdef frozenset WEAK
cdef int READERS
cdef object _BOOL, _GENERIC, _NDARRAY, lock
cdef object _traced_into

cpdef object inplace(object prim, object a, object b)
cpdef object into(object prim, tuple args, object out)
cdef object _type_of(object x)
cdef bint _is_one(ndarray x) except -1
