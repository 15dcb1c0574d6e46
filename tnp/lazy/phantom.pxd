from tnp.core cimport native

cpdef bint is_phantom(object nd)
