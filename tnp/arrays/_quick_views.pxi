# Elements and views for plain keys; writes through them.

cdef object part(object x, PyObject *nd, PyObject **keys, Py_ssize_t n):
    """The element or view of `nd`, the memory of `x`, at integers, slices, None, one Ellipsis; UNTAKEN otherwise."""
    cdef cnp.npy_intp dims[16]
    cdef cnp.npy_intp strides[16]
    cdef char *data = tnp_data(nd)
    cdef Py_ssize_t i, stop, by, k
    cdef cnp.npy_intp size
    cdef int axis = 0, made = 0, ndim = tnp_ndim(nd), rest
    cdef bint dots = False
    cdef PyTypeObject *t
    if n + ndim > 16:
        return UNTAKEN
    for k in range(n):
        t = Py_TYPE(<object>keys[k])
        if keys[k] == NONE:
            dims[made], strides[made] = 1, 0
            made += 1
            continue
        if t == &PyEllipsis_Type:
            if dots:
                return UNTAKEN
            dots = True
            rest = ndim - axis
            for i in range(k + 1, n):
                rest -= keys[i] != NONE
            if rest < 0:
                return UNTAKEN
            while rest > 0:
                dims[made], strides[made] = tnp_dims(nd)[axis], tnp_strides(nd)[axis]
                made, axis, rest = made + 1, axis + 1, rest - 1
            continue
        if axis == ndim:
            return UNTAKEN
        size = tnp_dims(nd)[axis]
        if t == &PyLong_Type:
            try:
                i = PyLong_AsSsize_t(keys[k])
            except OverflowError:
                return UNTAKEN
            if i < 0:
                i += size
            if not 0 <= i < size:
                return UNTAKEN
        elif t == &PySlice_Type:
            try:
                PySlice_Unpack(keys[k], &i, &stop, &by)
            except (TypeError, ValueError):  # a wrong key may follow, which NumPy finds first
                return UNTAKEN
            size = PySlice_AdjustIndices(size, &i, &stop, by)
            if size <= 0:
                size, i, by = 0, 0, 1
            dims[made], strides[made] = size, tnp_strides(nd)[axis] * by
            made += 1
        else:
            return UNTAKEN
        data += i * tnp_strides(nd)[axis]
        axis += 1
    if axis == ndim and made == 0 and not dots:
        return tnp_element(nd, data)
    while axis < ndim:
        dims[made], strides[made] = tnp_dims(nd)[axis], tnp_strides(nd)[axis]
        made += 1
        axis += 1
    return view(x, tnp_part(nd, made, dims, strides, data))


cdef object subscript(object x, object key):
    cdef PyObject *keys[16]
    cdef PyObject *nd
    cdef PyObject *other
    cdef PyObject *whole = <PyObject *>x
    cdef Py_ssize_t i, n
    cdef PyTypeObject *t = Py_TYPE(key)
    if Py_TYPE(x) != ARRAY:
        return mapping.mp_subscript(x, key)
    nd = there(whole, UNREADABLE)
    if nd == NULL or tnp_ndim(nd) == 0 or tnp_type_num(nd) > cnp.NPY_CLONGDOUBLE:
        return mapping.mp_subscript(x, key)
    r = UNTAKEN
    if t == &PyTuple_Type:
        n = PyTuple_GET_SIZE(<PyObject *>key)
        if n <= 8:
            for i in range(n):
                keys[i] = PyTuple_GET_ITEM(<PyObject *>key, i)
            r = part(x, nd, keys, n)
    elif t == &PyLong_Type or t == &PySlice_Type or key is None:
        keys[0] = <PyObject *>key
        r = part(x, nd, keys, 1)
    elif t == &PyEllipsis_Type:
        r = part(x, nd, keys, 0)
    elif t == ARRAY and is_small(nd):
        other = memory(<PyObject *>key, UNREADABLE)
        if other != NULL and tnp_ndim(other) > 0:
            return as_result(PyObject_GetItem(nd, other), &whole, 1)
    return mapping.mp_subscript(x, key) if r is UNTAKEN else r


cdef bint put(PyObject *nd, PyObject *key, PyObject *value) noexcept:
    """Write a number to the element of `nd` at a tuple of integers; False if NumPy had better do it."""
    cdef cnp.npy_intp at
    cdef char *data = tnp_data(nd)
    cdef double element[2]
    cdef int axis
    if PyTuple_GET_SIZE(key) != tnp_ndim(nd) or tnp_type_num(nd) not in (cnp.NPY_DOUBLE, cnp.NPY_LONG) or not (
        tnp_writeable(nd) and tnp_flag(nd, cnp.NPY_ARRAY_ALIGNED) and cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray>nd)
    ):
        return False
    for axis in range(tnp_ndim(nd)):
        if not whole(PyTuple_GET_ITEM(key, axis), &at):
            return False
        if at < 0:
            at += tnp_dims(nd)[axis]
        if not 0 <= at < tnp_dims(nd)[axis]:
            return False
        data += at * tnp_strides(nd)[axis]
    if not number(value, tnp_type_num(nd), <char *>element):
        return False
    memcpy(data, element, 8)
    return True


cdef int assign(PyObject *x, PyObject *key, PyObject *value) except -1:
    """``x[key] = value``; `value` is NULL for ``del``."""
    cdef PyObject *nd
    cdef PyObject *k
    cdef PyObject *v
    cdef PyTypeObject *t = Py_TYPE(<object>key)
    cdef Py_ssize_t i
    cdef double element[2]
    if value == NULL or Py_TYPE(<object>x) != ARRAY:
        return mapping.mp_ass_subscript(x, key, value)
    nd = there(x, BUSY)
    if nd == NULL or not is_small(nd):
        return mapping.mp_ass_subscript(x, key, value)
    if t == &PyLong_Type and tnp_ndim(nd) == 1:
        if tnp_type_num(nd) in (cnp.NPY_DOUBLE, cnp.NPY_LONG) and number(value, tnp_type_num(nd), <char *>element):
            try:
                i = PyLong_AsSsize_t(key)
            except OverflowError:
                return mapping.mp_ass_subscript(x, key, value)
            if i < 0:
                i += tnp_dims(nd)[0]
            if 0 <= i < tnp_dims(nd)[0] and tnp_writeable(nd) and tnp_flag(nd, cnp.NPY_ARRAY_ALIGNED) and (
                cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray>nd)
            ):
                memcpy(tnp_data(nd) + i * tnp_strides(nd)[0], element, 8)
                return 0
        return mapping.mp_ass_subscript(x, key, value)
    k = key
    if t == ARRAY:
        k = memory(key, UNREADABLE)
        if k == NULL:
            return mapping.mp_ass_subscript(x, key, value)
    elif t == &PyTuple_Type:
        if put(nd, key, value):
            return 0
        return mapping.mp_ass_subscript(x, key, value)
    elif t != &PySlice_Type and t != &PyEllipsis_Type:
        return mapping.mp_ass_subscript(x, key, value)
    v = value
    if Py_TYPE(<object>value) == ARRAY:
        v = memory(value, UNREADABLE)
        if v == NULL:
            return mapping.mp_ass_subscript(x, key, value)
    elif Py_TYPE(<object>value) != &PyFloat_Type and Py_TYPE(<object>value) != &PyLong_Type:
        return mapping.mp_ass_subscript(x, key, value)
    if tnp_type_num(nd) > cnp.NPY_CLONGDOUBLE:
        return mapping.mp_ass_subscript(x, key, value)
    return PyObject_SetItem(nd, k, v)


cdef object iterate(object x):
    cdef PyObject *nd = memory(<PyObject *>x, UNREADABLE) if Py_TYPE(x) == ARRAY else NULL
    if nd == NULL or tnp_ndim(nd) == 0:
        return iterated(x)
    return PyObject_GetIter(nd) if tnp_ndim(nd) == 1 else PySeqIter_New(x)
