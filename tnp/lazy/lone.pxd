cimport cython
cdef dict _habits
cdef Py_ssize_t PATIENCE, AGAIN, _below
@cython.locals(n=Py_ssize_t)
cpdef bint runs_now(Py_ssize_t nbytes)
@cython.locals(code=size_t, instruction=size_t)
cpdef size_t site(tuple at) except? 1
@cython.locals(n=Py_ssize_t)
cpdef bint is_lone(object place)
