cimport cython
from tnp cimport hot
from tnp.core cimport layout, native
from tnp.core.cells cimport Cell, Node, Place, Storage
from tnp.hot cimport ndarray

cdef Py_ssize_t lazy_from, light_below, lone_below
cdef bint fast, limited
cdef Py_ssize_t GROUP, BIG
cdef int PENDING, READERS, MOVED, SHARED
cdef list dropped
cdef object _NDARRAY, lock

@cython.locals(c=Cell, s=Storage)
cpdef object settle(ndarray x)
cdef object former_place(Cell c, object nd)
@cython.locals(c=Cell)
cpdef object release(ndarray x)
cpdef bint is_shared(Cell c)
@cython.locals(c=Cell, p=Place, node=Node)
cpdef object look(ndarray x)
@cython.locals(node=Node)
cpdef object shape_of(ndarray x)
@cython.locals(node=Node)
cpdef object dtype_of(ndarray x)
@cython.locals(c=Cell, s=Storage)
cpdef Storage pending_whole(ndarray x)
@cython.locals(s=Storage)
cpdef Node pending_node(ndarray x)
@cython.locals(c=Cell, node=Node)
cdef object order_of(ndarray x)
@cython.locals(c=Cell, old=Storage, nbytes=Py_ssize_t)
cdef object renew(ndarray x, Storage s)
cdef bint is_due(Storage s, Py_ssize_t nbytes) except -1
