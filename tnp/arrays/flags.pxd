cimport cython


# Without the collector, as NumPy's: an array does not know its flags
@cython.no_gc
@cython.freelist(8)
cdef class flagsobj:
    cdef public object _array


@cython.no_gc
@cython.freelist(8)
cdef class flatiter:
    cdef public object base
    cdef object _iterator


cdef object _started(flatiter it)
