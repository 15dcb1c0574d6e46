cimport cython
from tnp cimport bind, content, hot
from tnp.core cimport native
from tnp.core.cells cimport Cell
from tnp.core.interpreter cimport current, recorded, recorder
from tnp.hot cimport ndarray

@cython.locals(a=ndarray)
cpdef object box_of(object x)
cpdef object keeper(object xs)
cpdef object beneath(object x)
cdef object _concerned(object items, int depth, object found)
cdef bint _is_plain(object args)
cdef object _told(object prim, tuple params, tuple args, object result)
cdef object _into(object target, object value)
