ctypedef void (*task)(void *context, Py_ssize_t piece) noexcept nogil

cdef int share_out(task work, void *context, Py_ssize_t pieces, Py_ssize_t helpers) except -1
