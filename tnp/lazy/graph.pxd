cimport cython
from tnp.core cimport native
from tnp.core.cells cimport Node, Storage, storage_of

cdef Py_ssize_t _serial


@cython.locals(count=Py_ssize_t, first=Py_ssize_t, warns=bint, s=Storage, node=Node, out=Storage, n=Py_ssize_t, readers=list)
cpdef Storage record(object prim, tuple params, tuple args, tuple in_dtypes, object dtype, tuple shape, object order, object where)
@cython.locals(s=Storage, n=Py_ssize_t, readers=list)
cdef object _enlist(object me, tuple args)
@cython.locals(old=Node, node=Node)
cpdef object reread(Storage storage, object prim, tuple params, tuple args, tuple in_dtypes)
cdef bint _reads(Node node, Storage storage)
