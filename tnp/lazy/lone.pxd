cimport cython
cdef dict _habits
cdef Py_ssize_t PATIENCE, AGAIN
cpdef object site()
@cython.locals(n=Py_ssize_t)
cpdef bint is_lone(object place)
