from tnp cimport bind, content, writes
from tnp.arrays cimport temporaries
from tnp.core cimport native

cdef class Operator:
    cdef readonly str name
    cdef readonly object plain
    cdef readonly object reflected
    cdef readonly object inplace
    cdef readonly object prim, function
    cdef readonly object ufunc
    cdef readonly bint commutes
    cdef readonly bint elided

cpdef object binary(Operator op, object a, object b)
cpdef object reflected(Operator op, object a, object b)
cpdef object unary(Operator op, object a)
