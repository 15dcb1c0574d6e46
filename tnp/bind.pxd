cimport cython
cimport numpy as cnp
from tnp.core.cells cimport Cell, Node, Place, Storage
from tnp.hot cimport ndarray
from tnp.lazy cimport graph, lone, warn

cdef class Operand:
    cdef public object array
    cdef public object ref
    cdef public object order
    cdef public object type
    cdef public tuple shape
    cdef public Py_ssize_t size

cdef dict _loops
cdef Py_ssize_t RETAIN, GROUP, BIG
cdef Py_ssize_t _lazy_from, LONE_BELOW
cdef object _FLOAT, _INT, _COMPLEX, _BOOL, _NDARRAY, _GENERIC, lock

@cython.locals(c=Cell, s=Storage)
cpdef object settle(ndarray x)
@cython.locals(c=Cell)
cpdef object release(ndarray x)
cpdef bint is_shared(Cell c)
@cython.locals(c=Cell, s=Storage, p=Place)
cpdef object look(ndarray x)
@cython.locals(c=Cell, s=Storage)
cpdef Storage pending_whole(ndarray x)
@cython.locals(o=Operand, c=Cell, s=Storage, node=Node)
cpdef Operand operand(ndarray x)
@cython.locals(n=Py_ssize_t)
cdef Py_ssize_t _size(tuple shape)
@cython.locals(lead=Py_ssize_t, i=Py_ssize_t)
cpdef tuple broadcast(tuple a, tuple b)
@cython.locals(o=Operand)
cpdef object memory_order(list operands, tuple ins, tuple shape, bint iterated)
@cython.locals(a=ndarray)
cpdef object habit(tuple args)
@cython.locals(n=Py_ssize_t, i=int)
cdef Py_ssize_t _numel(cnp.ndarray nd)
cdef object _traced_elementwise, _traced_select, _traced_cast, _traced_reduce, _traced_into
@cython.locals(a=ndarray, c=Cell)
cpdef bint traced(tuple args, object target)
cpdef object elementwise(object prim, tuple args, object target=*)
@cython.locals(o=Operand, large=bint, s=Storage)
cpdef object record_elementwise(object prim, tuple args, object target=*)
cdef bint _the_same(tuple a, tuple b)
@cython.locals(known=list, entry=tuple)
cpdef object find_loop(object prim, tuple types)
cpdef bint can_warn(object prim, tuple ins, object dtype)
@cython.locals(a=Operand, shape=tuple, leaf=Py_ssize_t, size=Py_ssize_t, nbytes=Py_ssize_t, i=Py_ssize_t, s=Storage, full=cnp.ndarray, refs=list)
cdef object _finish(object prim, tuple params, list operands, tuple ins, object dtype, object target)
@cython.locals(a=Operand, x=ndarray, s=Storage, c=Cell)
cdef object _record(object prim, tuple params, list operands, tuple refs, tuple ins, object dtype, tuple shape, object order, object where, object target, Py_ssize_t nbytes)
