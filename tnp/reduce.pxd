from tnp cimport bind, content, hot, operands
from tnp.core cimport loops, native
from tnp.hot cimport ndarray
from tnp.lazy cimport graph

cdef object _traced_reduce, lock
