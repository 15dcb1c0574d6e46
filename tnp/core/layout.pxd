cimport cython
cimport numpy as cnp

@cython.locals(n=Py_ssize_t, k=Py_ssize_t)
cpdef Py_ssize_t size_of(tuple shape) except? -1
@cython.locals(i=Py_ssize_t, k=Py_ssize_t)
cpdef bint has_shape(cnp.ndarray nd, tuple shape) except -1
@cython.locals(lead=Py_ssize_t, i=Py_ssize_t, n=Py_ssize_t, m=Py_ssize_t, out=list)
cpdef tuple broadcast(tuple a, tuple b)
@cython.locals(i=Py_ssize_t, n=Py_ssize_t, s=Py_ssize_t, last=Py_ssize_t)
cpdef bint is_in_c_order(cnp.ndarray nd) except -1
@cython.locals(axes=list, steps=list)
cpdef bint may_meet_itself(cnp.ndarray nd) except -1
@cython.locals(i=Py_ssize_t, a=Py_ssize_t, n=Py_ssize_t, s=Py_ssize_t, extent=Py_ssize_t)
cdef bint _steps_over(cnp.ndarray nd, list axes) except -1
@cython.locals(i=Py_ssize_t, s=Py_ssize_t, last=Py_ssize_t)
cpdef bint copied_in_order(cnp.ndarray nd) except -1
@cython.locals(i=Py_ssize_t, j=Py_ssize_t, a=Py_ssize_t, b=Py_ssize_t, axes=list)
cpdef tuple axes_by_stride(cnp.ndarray nd)
@cython.locals(i=Py_ssize_t, a=Py_ssize_t, s=Py_ssize_t, last=Py_ssize_t)
cpdef bint lies_along(cnp.ndarray nd, tuple axes) except -1
