cdef class Wrapped:
    pass

cdef class HostFunction(Wrapped):
    cdef public object _raw
    cdef public object _writes
    cdef public object _binds
    cdef public object _calls
    cdef public object native
    cdef public object creates
    cdef int way
    cdef void *vector
    cdef dict __dict__
    cdef object __weakref__
