cpdef bint is_phantom(object nd)
