cimport cython
cimport numpy as cnp
from tnp.backends.base cimport Group, Step
from tnp.core cimport layout, native
from tnp.core.cells cimport Node, Place, Storage, storage_of

cdef object _NDARRAY
cdef Py_ssize_t _walks

@cython.locals(order=list, stack=list, s=Storage, b=Storage, p=Place, node=Node, lone=bint, entered=Py_ssize_t, left=Py_ssize_t, reduced=Storage, writes=bint)
cdef tuple _walk(list targets, object fusible)
@cython.locals(s=Storage)
cdef bint _pending(object a)
@cython.locals(nd=cnp.ndarray)
cpdef object view(Place place)
@cython.locals(i=Py_ssize_t)
cdef Py_ssize_t _leaf(cnp.ndarray nd, list leaves)
@cython.locals(i=Py_ssize_t)
cpdef bint is_same(cnp.ndarray a, cnp.ndarray b)
@cython.locals(known=dict, leaves=list, steps=list, s=Storage, node=Node, args=list, step=Step, b=Storage)
cpdef build(list order, dict outputs, object place=*)
