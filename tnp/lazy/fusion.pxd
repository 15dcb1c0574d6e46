cimport cython
from tnp.backends.base cimport Group, Step
from tnp.core.cells cimport Node, Place, Storage

@cython.locals(order=list, seen=set, stack=list, s=Storage, b=Storage, p=Place, node=Node, lone=bint, done=bint)
cdef tuple _walk(list targets, object fusible)
@cython.locals(s=Storage, p=Place)
cdef bint _pending(object a)
@cython.locals(index=dict, leaves=list, steps=list, s=Storage, node=Node, args=list, step=Step, b=Storage)
cpdef build(list order, dict outputs, object place=*)
