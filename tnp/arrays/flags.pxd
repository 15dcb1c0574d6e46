cdef class flagsobj:
    cdef public object _array
