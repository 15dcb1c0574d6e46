cimport cython

cdef class Node
cdef class Storage:
    cdef public object full
    cdef public Node node
    cdef public list readers
    cdef public bint live
    cdef public Py_ssize_t uses
    cdef public object export
    cdef object __weakref__

cdef class Cell:
    cdef public Storage storage
    cdef public int marked
    cdef public object starts
    cdef public object record
    cdef object __weakref__

cdef class Node:
    cdef public object prim
    cdef public object params
    cdef public tuple args
    cdef public object in_dtypes
    cdef public object dtype
    cdef public tuple shape
    cdef public object order
    cdef public Py_ssize_t count
    cdef public object where
    cdef public Py_ssize_t serial
    cdef public Py_ssize_t first
    cdef public object site
    cdef public bint version
    cdef public bint warns
    cdef public bint ran
    cdef public Py_ssize_t mark
    cdef public Py_ssize_t index

cdef class Place:
    cdef public object nd
    cdef public Storage storage

@cython.locals(p=Place)
cpdef Storage storage_of(object operand)
