cimport cython
from tnp.core.cells cimport Node, Place, Storage, storage_of
from tnp.lazy.warn cimport Where

@cython.locals(s=Storage, node=Node, alone=bint)
cpdef object note(list order)
@cython.locals(s=Storage, p=Storage, i=Py_ssize_t, touched=set, clash=bint, same=bint)
cpdef tuple overwritten(list order, Storage dest, object place)
@cython.locals(s=Storage, node=Node, kept=list)
cpdef list wanted(list order, set touched)
@cython.locals(s=Storage)
cpdef object settle(dict outputs)
cdef dict _masks
@cython.locals(s=Storage, w=Where, flags=int, known=tuple)
cpdef int watched(list order)
