cimport cython
from tnp cimport content, hot
from tnp.core cimport layout, native
from tnp.core.cells cimport Cell, Node
from tnp cimport tracing
from tnp.hot cimport ndarray

cdef class Key:
    cdef public object nbytes
    cdef public object dtype

cdef class Strided:
    cdef public object offset
    cdef public tuple shape
    cdef public tuple strides
    cdef public object dtype
    cdef object _axes
    cpdef bint alike(self, object other)
    cpdef bint is_whole(self, Key key)
    cpdef of(self, object buffer)
    cdef _element(self, object buffer)
    cpdef add(self, object buffer, object g)
    cpdef get(self, object buffer)
    cpdef set(self, object buffer, object value)

cdef class Scattered:
    cdef public object at
    cdef public object dtype

@cython.locals(place=Strided)
cpdef Strided strided(object offset, tuple shape, tuple strides, object dtype)
cpdef bint is_same_kind(object a, object b)
@cython.locals(c=Cell)
cpdef tuple geometry(ndarray x)
