from tnp.core cimport native

cdef object _stack

cpdef object current()

cdef class quietly:
    cdef object _token
