cimport cython
from tnp cimport content
from tnp.arrays.operators cimport Operator
from tnp.core cimport layout, native
from tnp.core.cells cimport Cell, Storage
from tnp.hot cimport ndarray

cdef bint _uncounted
cdef Py_ssize_t _first, _second, _number, _single, ELIDED_FROM
cdef object OWNER

@cython.locals(x=ndarray, y=ndarray)
cpdef object over(Operator op, object a, object b, Py_ssize_t first, Py_ssize_t second)
@cython.locals(s=Storage, u=Storage)
cdef bint _lies_alike(ndarray a, ndarray b) except -1
cdef bint _in_c_order(ndarray x) except -1
cpdef bint over_unary(str name, object a, Py_ssize_t count) except -1
@cython.locals(s=Storage)
cdef bint _lies_apart(ndarray a) except -1
cdef bint _is_number(object b, ndarray a) except -1
cpdef bint over_reflected(Operator op, object a, object b, Py_ssize_t count) except -1
cdef bint _fits(str name, ndarray a, ndarray b) except -1
@cython.locals(c=Cell)
cdef bint _is_large_and_own(str name, ndarray a) except -1
