cimport cython
cimport numpy as cnp
from tnp.backends.base cimport Group, Step
from tnp.core.cells cimport Node, Place, Storage

@cython.locals(order=list, seen=set, stack=list, s=Storage, b=Storage, p=Place, node=Node, lone=bint, done=bint)
cdef tuple _walk(list targets, object fusible)
@cython.locals(s=Storage, p=Place)
cdef bint _pending(object a)
@cython.locals(nd=cnp.ndarray)
cpdef object view(Place place)
@cython.locals(i=Py_ssize_t)
cdef Py_ssize_t _leaf(cnp.ndarray nd, list leaves)
@cython.locals(i=Py_ssize_t)
cpdef bint is_same(cnp.ndarray a, cnp.ndarray b)
@cython.locals(index=dict, leaves=list, steps=list, s=Storage, node=Node, args=list, step=Step, b=Storage)
cpdef build(list order, dict outputs, object place=*)
