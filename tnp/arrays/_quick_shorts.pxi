# Methods and functions through NumPy's C interface: no names to look up, no arguments to parse.

cdef inline bint whole(PyObject *x, cnp.npy_intp *n) noexcept:
    """Write the Python integer `x` to `n`; False if it is none or too large."""
    cdef int overflow = 0
    if Py_TYPE(<object>x) != &PyLong_Type:
        return False
    n[0] = PyLong_AsLongLongAndOverflow(x, &overflow)
    return overflow == 0


cdef object short_view(PyObject *nd, PyObject **args, Py_ssize_t n):
    return tnp_whole_view(nd) if n == 0 else UNTAKEN


cdef object short_copy(PyObject *nd, PyObject **args, Py_ssize_t n):
    return cnp.PyArray_NewCopy(<cnp.ndarray>nd, cnp.NPY_CORDER) if n == 0 else UNTAKEN


cdef object short_flatten(PyObject *nd, PyObject **args, Py_ssize_t n):
    return cnp.PyArray_Flatten(<cnp.ndarray>nd, cnp.NPY_CORDER) if n == 0 else UNTAKEN


cdef object short_ravel(PyObject *nd, PyObject **args, Py_ssize_t n):
    return cnp.PyArray_Ravel(<cnp.ndarray>nd, cnp.NPY_CORDER) if n == 0 else UNTAKEN


cdef object short_transpose(PyObject *nd, PyObject **args, Py_ssize_t n):
    return cnp.PyArray_Transpose(<cnp.ndarray>nd, NULL) if n == 0 else UNTAKEN


cdef object short_squeeze(PyObject *nd, PyObject **args, Py_ssize_t n):
    return cnp.PyArray_Squeeze(<cnp.ndarray>nd) if n == 0 else UNTAKEN


cdef object short_diagonal(PyObject *nd, PyObject **args, Py_ssize_t n):
    return cnp.PyArray_Diagonal(<cnp.ndarray>nd, 0, 0, 1) if n == 0 else UNTAKEN


cdef object short_swapaxes(PyObject *nd, PyObject **args, Py_ssize_t n):
    cdef cnp.npy_intp a, b
    if n != 2 or not whole(args[0], &a) or not whole(args[1], &b) or not -99 < a < 99 or not -99 < b < 99:
        return UNTAKEN
    return cnp.PyArray_SwapAxes(<cnp.ndarray>nd, <int>a, <int>b)


cdef int sizes(PyObject **args, Py_ssize_t n, cnp.npy_intp *dims) noexcept:
    """Write a shape, given as integers or as one tuple of them, to `dims` and return its length; -1 if it is not."""
    cdef Py_ssize_t i
    cdef bint packed_ = n == 1 and Py_TYPE(<object>args[0]) == &PyTuple_Type
    cdef PyObject *shape = args[0] if packed_ else NULL
    if packed_:
        n = PyTuple_GET_SIZE(shape)
    if not 0 <= n <= 16:
        return -1
    for i in range(n):
        if not whole(PyTuple_GET_ITEM(shape, i) if packed_ else args[i], dims + i):
            return -1
    return <int>n


cdef object short_reshape(PyObject *nd, PyObject **args, Py_ssize_t n):
    cdef cnp.npy_intp dims[16]
    cdef cnp.PyArray_Dims shape
    if n == 0:
        return UNTAKEN
    shape.ptr, shape.len = dims, sizes(args, n, dims)
    return cnp.PyArray_Newshape(<cnp.ndarray>nd, &shape, cnp.NPY_CORDER) if shape.len >= 0 else UNTAKEN


cdef short_way short_way_of(str name) except *:
    """The short way of the array's method `name`; NULL if it has none."""
    if name == "view":
        return short_view
    if name == "copy":
        return short_copy
    if name == "flatten":
        return short_flatten
    if name == "ravel":
        return short_ravel
    if name == "transpose":
        return short_transpose
    if name == "squeeze":
        return short_squeeze
    if name == "diagonal":
        return short_diagonal
    if name == "swapaxes":
        return short_swapaxes
    if name == "reshape":
        return short_reshape
    return NULL


# ------------------------------------------------------------------------------------------------ creation
cdef inline bint is_small_count(cnp.npy_intp *dims, int n) noexcept:
    cdef double count = 1
    cdef int i
    for i in range(n):
        if dims[i] < 0:
            return False
        count *= dims[i]
    return count < lazy_from


cdef object call_zeros(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames):
    cdef cnp.npy_intp dims[16]
    cdef int n
    if given(nargsf) == 1 and kwnames == NULL and not WATCHERS:
        n = sizes(args, 1, dims)
        if n >= 0 and is_small_count(dims, n):
            return owner(cnp.PyArray_ZEROS(n, dims, cnp.NPY_DOUBLE, 0))
    return call_function(self, args, nargsf, kwnames)


cdef object call_empty(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames):
    cdef cnp.npy_intp dims[16]
    cdef int n
    if given(nargsf) == 1 and kwnames == NULL and not WATCHERS:
        n = sizes(args, 1, dims)
        if n >= 0 and is_small_count(dims, n):
            return owner(cnp.PyArray_EMPTY(n, dims, cnp.NPY_DOUBLE, 0))
    return call_function(self, args, nargsf, kwnames)


cdef object call_asarray(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames):
    """An array is itself, whatever its content waits for."""
    if given(nargsf) == 1 and kwnames == NULL and Py_TYPE(<object>args[0]) == ARRAY:
        return <object>args[0]
    return call_function(self, args, nargsf, kwnames)


cdef void *vector_of(object raw) except *:
    """How calls of NumPy's function `raw` come in (others have its name: `numpy.ma.asarray`)."""
    if raw is _np.zeros:
        return <void *>call_zeros
    if raw is _np.empty:
        return <void *>call_empty
    if raw is _np.asarray or raw is _np.asanyarray:
        return <void *>call_asarray
    return <void *>call_function
