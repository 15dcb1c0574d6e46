cimport cython
cimport numpy as cnp
from tnp cimport content, hot
from tnp.core cimport layout, native
from tnp.core.cells cimport Cell, Node, Place, Storage
from tnp.hot cimport ndarray

cdef int PENDING, MOVED, SHARED

@cython.locals(c=Cell, s=Storage, p=Place)
cpdef object operand(ndarray x)
@cython.locals(p=Place)
cdef Place _place(Storage s, object nd)
@cython.locals(s=Storage, p=Place)
cdef cnp.ndarray ref_array(object ref)
@cython.locals(s=Storage, nd=cnp.ndarray)
cdef object ref_dtype(object ref)
@cython.locals(s=Storage, nd=cnp.ndarray)
cdef tuple ref_shape(object ref)
@cython.locals(s=Storage, nd=cnp.ndarray)
cdef bint is_large(object ref) except -1
cdef bint is_ref(object x)
@cython.locals(s=Storage, nd=cnp.ndarray, plain=bint)
cpdef object memory_order(list refs, tuple ins, tuple shape, bint iterated)
@cython.locals(s=Storage, nd=cnp.ndarray)
cdef object _common_axes(list refs, tuple shape)
cdef object _order_by_numpy(list refs, tuple ins, tuple shape, bint iterated)
