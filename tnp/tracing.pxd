cimport cython
from tnp cimport bind, content, hot
from tnp.core.cells cimport Cell
from tnp.core.interpreter cimport current
from tnp.hot cimport ndarray

@cython.locals(a=ndarray)
cdef bint _concerns(object items, int depth)
cdef bint _is_plain(tuple args)
cdef object _told(object prim, tuple params, tuple args, object result)
cdef object _into(object target, object value)
