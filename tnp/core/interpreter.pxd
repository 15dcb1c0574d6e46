from tnp.core cimport native

cdef object _stack, _recorder

cpdef object current()
cpdef object recorder()
cpdef object recorded(object raw, tuple args, dict kwargs)

cdef class quietly:
    cdef object _token

cdef class looking(quietly):
    pass
