cimport cython

cdef dict _loops
cdef set NUMBERS

@cython.locals(known=list, entry=tuple)
cpdef object find_loop(object prim, object types)
cpdef bint can_warn(object prim, object ins, object dtype)
@cython.locals(i=Py_ssize_t)
cdef bint _the_same(tuple a, list b)
cpdef bint is_numeric(object dtype) except -1
