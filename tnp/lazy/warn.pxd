cimport cython
from tnp.core cimport native
cdef dict _names
cdef object _state, _seen_state, _seen_filters, _seen_first, _modes, _snapshot, _show, _print
cdef Py_ssize_t _seen_length
cdef bint _asks

cdef class Where:
    cdef public object code
    cdef public object globals
    cdef public object modes
    cdef public object filters
    cdef int _instruction


cpdef object error_modes()
cdef bint _printing()
@cython.locals(w=Where)
cpdef object here(object modes, tuple point)
