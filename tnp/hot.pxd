cimport cython
cimport numpy as cnp
from tnp.core cimport native
from tnp.core.cells cimport Cell, Storage

cdef int BUSY
cdef int UNREADABLE
cdef int TRACED
cdef int SHARED
cdef object _NDARRAY
cdef object _FLOAT64, _VOID
cdef object SLOW, OWNER
cdef Py_ssize_t lazy_from, ELIDED_FROM
cdef object slow_binary, slow_reflected, slow_inplace, slow_unary, slow_power, slow_getitem, slow_setitem
cdef object slow_call, settle, release, slow_method, tell_read, tell_write
cdef object ADD, SUB, MUL, TRUEDIV, FLOORDIV, MOD, LSHIFT, RSHIFT, AND, OR, XOR, MATMUL, POW
cdef object LT, LE, EQ, NE, GT, GE, NEG, POS, ABS, INVERT
cdef Py_ssize_t ALONE, ALONE_BASE

cdef class ndarray:
    cdef public object _nd
    cdef public Cell _cell
    cdef public object _place
    cdef public object _base
    cdef object __weakref__

cdef class ufunc:
    cdef public object _raw
    cdef object loops
    cdef void *vector
    cdef object __weakref__

cdef bint is_small(cnp.ndarray nd)
@cython.locals(c=Cell)
cdef bint ready(ndarray x)
@cython.locals(t=object)
cdef object quick(ndarray x, object other)
@cython.locals(c=Cell)
cdef object quick_inplace(ndarray x, object other)
@cython.locals(c=Cell)
cpdef object real(ndarray x)
@cython.locals(c=Cell)
cpdef object writable(ndarray x)
@cython.locals(x=ndarray)
cpdef object wrap(object r)
cpdef ndarray new(object cls)
cpdef object root(object nd)
@cython.locals(c=Cell, exclusive=bint)
cpdef Cell cell_of(ndarray x)
cdef bint sole_owner(object base)
@cython.locals(y=ndarray)
cpdef ndarray view_of(ndarray x, object r)
cpdef ndarray base_for(ndarray x)
@cython.locals(owner=ndarray)
cpdef ndarray owner_of(ndarray x)
cpdef _as_view(ndarray x, object r)
@cython.locals(c=Cell)
cpdef object quick_view(ndarray x, object raw, tuple args)
cdef bint plain_key(object key)
@cython.locals(exclusive=bint)
cdef cell_of_viewed(ndarray x)
cdef Py_ssize_t probe(ndarray x) except -1
cdef Py_ssize_t probe_base(ndarray x) except -1
cdef Py_ssize_t probe_count(object base) except -1
