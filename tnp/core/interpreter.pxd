from tnp.core cimport native

cdef object _stack, _base

cpdef object current()

cdef class quietly:
    cdef object _token
