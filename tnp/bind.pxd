cimport cython
cimport numpy as cnp
from tnp cimport hot
from tnp.core cimport layout, native
from tnp.core.cells cimport Cell, Node, Place, Storage
from tnp.hot cimport ndarray
from tnp.lazy cimport graph, lone, warn

cdef dict _loops
cdef set _numbers
cdef frozenset _WEAK
cdef Py_ssize_t RETAIN, GROUP, BIG
cdef Py_ssize_t _lazy_from, LONE_BELOW
cdef int PENDING, READERS, MOVED, TRACED, SHARED
cdef bint _fast, _limited, COMPILED
cdef list dropped
cdef object _FLOAT, _INT, _COMPLEX, _BOOL, _NDARRAY, _GENERIC, lock

@cython.locals(c=Cell, s=Storage)
cpdef object settle(ndarray x)
@cython.locals(s=Storage)
cpdef object shape_of(ndarray x)
@cython.locals(s=Storage)
cpdef object dtype_of(ndarray x)
@cython.locals(c=Cell)
cpdef object release(ndarray x)
cpdef bint is_shared(Cell c)
@cython.locals(c=Cell, s=Storage, p=Place)
cpdef object look(ndarray x)
@cython.locals(c=Cell, s=Storage)
cpdef Storage pending_whole(ndarray x)
@cython.locals(c=Cell, s=Storage, p=Place)
cpdef object operand(ndarray x)
@cython.locals(p=Place)
cdef Place _place(Storage s, object nd)
@cython.locals(s=Storage, p=Place)
cdef cnp.ndarray _array(object ref)
@cython.locals(s=Storage, nd=cnp.ndarray)
cdef object _dtype(object ref)
@cython.locals(s=Storage, nd=cnp.ndarray)
cdef tuple _shape(object ref)
@cython.locals(s=Storage, nd=cnp.ndarray)
cdef bint _is_large(object ref) except -1
cdef bint _is_ref(object x)
@cython.locals(s=Storage, nd=cnp.ndarray, plain=bint)
cpdef object memory_order(list refs, tuple ins, tuple shape, bint iterated)
@cython.locals(s=Storage, nd=cnp.ndarray)
cdef object _common_axes(list refs, tuple shape)
cdef object _order_by_numpy(list refs, tuple ins, tuple shape, bint iterated)
@cython.locals(a=ndarray)
cdef object point_of(tuple args)
cdef object _traced_elementwise, _traced_select, _traced_cast, _traced_reduce, _traced_into
@cython.locals(a=ndarray, c=Cell)
cpdef bint traced(tuple args, object target)
cpdef object elementwise(object prim, tuple args, object target=*)
@cython.locals(large=bint, refs=list, types=list, loop=tuple)
cpdef object record_elementwise(object prim, tuple args, object target=*)
@cython.locals(i=Py_ssize_t)
cdef bint _the_same(tuple a, list b)
@cython.locals(known=list, entry=tuple)
cdef object find_loop(object prim, object types)
cpdef bint can_warn(object prim, object ins, object dtype)
@cython.locals(value=double, huge=bint)
cdef object _scalar(object x, object dtype)
@cython.locals(shape=tuple, leaf=Py_ssize_t, size=Py_ssize_t, nbytes=Py_ssize_t, i=Py_ssize_t, s=Storage, p=Place, nd=cnp.ndarray)
cdef object _finish(object prim, tuple params, tuple args, list refs, tuple ins, object dtype, bint warns, object target, object point, object site)
@cython.locals(x=ndarray, s=Storage, c=Cell)
cdef object _record(object prim, tuple params, tuple args, tuple refs, tuple ins, object dtype, tuple shape, object order, object where, object target, Py_ssize_t nbytes, object site)
@cython.locals(large=bint, refs=list, types=list)
cpdef object record_select(object c, object x, object y, object target=*)
cpdef object select(object c, object x, object y, object target=*)
@cython.locals(refs=list, s=Storage, nd=cnp.ndarray)
cpdef object record_cast(ndarray x, object dtype)
cdef object _finish_cast(tuple args, list refs, object former, object dtype, object target, object point, object site)
cdef bint _is_number(object dtype) except -1
@cython.locals(c=Cell, s=Storage)
cdef object _order_of(ndarray x)
@cython.locals(c=Cell, old=Storage, nbytes=Py_ssize_t)
cdef object renew(ndarray x, Storage s)
cdef bint _is_one(ndarray x) except -1
cdef object _type_of(object x)
cpdef object inplace(object prim, object a, object b)
cpdef object into(object prim, tuple args, object out)
