cimport cython
cimport numpy as cnp
from tnp cimport content, hot, operands
from tnp.core cimport layout, loops, native
from tnp.core.cells cimport Cell, Node, Place, Storage, storage_of
from tnp.hot cimport ndarray
from tnp.lazy cimport graph, lone, warn

cdef frozenset WEAK
cdef Py_ssize_t RETAIN
cdef int PENDING, READERS, TRACED
cdef bint COMPILED
cdef list dropped
cdef object _FLOAT, _INT, _COMPLEX, _BOOL, _GENERIC, lock

cdef object _traced_elementwise, _traced_select, _traced_cast
@cython.locals(a=ndarray, c=Cell)
cpdef bint traced(tuple args, object target)
cpdef object elementwise(object prim, tuple args, object target=*)
@cython.locals(large=bint, refs=list, types=list, loop=tuple)
cpdef object record_elementwise(object prim, tuple args, object target=*)
cpdef object select(object c, object x, object y, object target=*)
@cython.locals(large=bint, refs=list, types=list)
cpdef object record_select(object c, object x, object y, object target=*)
@cython.locals(refs=list, s=Storage, nd=cnp.ndarray)
cpdef object record_cast(ndarray x, object dtype)
@cython.locals(refs=list, s=Storage, nd=cnp.ndarray)
cpdef object record_copy(ndarray x)
cdef object record_as(tuple args, list refs, object former, object dtype, object target, object point, object site)
@cython.locals(a=ndarray)
cdef object point_of(tuple args, Py_ssize_t below)
@cython.locals(value=double, huge=bint)
cdef object _scalar(object x, object dtype)
@cython.locals(shape=tuple, leaf=Py_ssize_t, size=Py_ssize_t, nbytes=Py_ssize_t, i=Py_ssize_t, s=Storage, p=Place, nd=cnp.ndarray)
cdef object record(object prim, tuple params, tuple args, list refs, tuple ins, object dtype, bint warns, object target, object point, object site)
@cython.locals(x=ndarray, s=Storage, c=Cell, i=Py_ssize_t)
cdef object _add_to_graph(object prim, tuple params, tuple args, tuple refs, tuple ins, object dtype, tuple shape, object order, object where, object target, Py_ssize_t nbytes, object site)
