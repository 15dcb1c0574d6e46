cdef class Step:
    cdef public object prim
    cdef public tuple args
    cdef public object in_dtypes
    cdef public object dtype
    cdef public object params

cdef class Group:
    cdef public list steps
    cdef public list leaves
    cdef public list outputs
    cdef public tuple shape
    cdef public object watched
    cdef public list undone
    cdef public bint spare
    cdef public bint told
