# NumPy's inner loops on memory that lies straight, and the operators that call them.

cdef class Loops:
    """The inner loops of a ufunc whose operands have one dtype, by NumPy's number of it."""
    cdef cnp.PyUFuncGenericFunction loop[KINDS]
    cdef void *data[KINDS]
    cdef int out[KINDS]
    cdef PyObject *descr[KINDS]  # NumPy's own dtype objects, which live for ever
    cdef int nin


# Integer powers raise for negative exponents; the others report through other means than flags, or not only so
UNLOOPED = {_np.power, _np.float_power, _np.ldexp}


cdef Loops loops_of(object raw):
    cdef cnp.ufunc u = raw
    cdef Loops found = Loops.__new__(Loops)
    cdef int i, j, t
    found.nin = u.nin if u.nout == 1 and u.nin <= 2 and raw.signature is None and raw not in UNLOOPED else 0
    for t in range(KINDS):
        found.loop[t] = NULL
        found.descr[t] = NULL
        if found.nin == 0 or t in (cnp.NPY_LONGDOUBLE, cnp.NPY_CLONGDOUBLE) or cnp.NPY_CLONGDOUBLE < t < NPY_HALF:
            continue
        for i in range(u.ntypes):
            for j in range(u.nin):
                if u.types[i * u.nargs + j] != t:
                    break
            else:
                if u.types[i * u.nargs + u.nin] <= cnp.NPY_CDOUBLE or u.types[i * u.nargs + u.nin] == NPY_HALF:
                    found.loop[t] = u.functions[i]
                    found.data[t] = u.data[i] if u.data != NULL else NULL
                    found.descr[t] = tnp_own_descr(t)
                    found.out[t] = u.types[i * u.nargs + u.nin]
                break
    return found


cdef inline bint is_shared(PyObject *x) noexcept:
    """Is `x` an array whose memory foreign code sees? Nothing that reads it can wait."""
    if Py_TYPE(<object>x) != ARRAY:
        return False
    c = (<ndarray>x)._cell
    return c is not None and ((<Cell>c).marked & SHARED) != 0


cdef inline PyObject *operand(Loops loops, PyObject *x, bint into, bint now) except? NULL:
    """NumPy's array of `x`, if a loop may run on it (in place, if `into`; at once at any rate, if `now`); else NULL."""
    cdef PyObject *nd = there(x, UNREADABLE)
    cdef cnp.npy_intp n = 1
    cdef int i
    if nd == NULL or not tnp_straight(nd) or not 0 < tnp_ndim(nd) < 8:
        return NULL
    i = tnp_type_num(nd)
    if i >= KINDS or loops.loop[i] == NULL or tnp_descr(nd) != loops.descr[i]:
        return NULL  # results keep dtype objects of another make (metadata)
    for i in range(tnp_ndim(nd)):
        n *= tnp_dims(nd)[i]
    if n <= LOOPED and n < lazy_from:
        return nd
    if into or lazy_from <= LOOPED or tnp_type_num(nd) in (cnp.NPY_CFLOAT, cnp.NPY_CDOUBLE):
        return NULL  # products of complex numbers depend on which operands the program has named
    return nd if n < lazy_from or now or runs_now(n * tnp_itemsize(nd)) else NULL


cdef inline cnp.npy_intp step(PyObject *nd) noexcept:
    return tnp_strides(nd)[0] if tnp_ndim(nd) == 1 else tnp_itemsize(nd)


cdef inline bint alike(PyObject *a, PyObject *b) noexcept:
    """Have two arrays the same shape?"""
    cdef int i, ndim = tnp_ndim(a)
    if ndim != tnp_ndim(b):
        return False
    for i in range(ndim):
        if tnp_dims(a)[i] != tnp_dims(b)[i]:
            return False
    return True


cdef inline bint number(PyObject *x, int t, char *at) noexcept:
    """Write the Python number `x` as an element of dtype `t` to `at`; False if NumPy had better do it."""
    cdef double v
    cdef long long i
    cdef int overflow = 0
    cdef PyTypeObject *kind = Py_TYPE(<object>x)
    if kind == &PyFloat_Type:
        v = PyFloat_AS_DOUBLE(x)
        if t == cnp.NPY_DOUBLE:
            (<double *>at)[0] = v
            return True
        if t == cnp.NPY_FLOAT and -1e38 < v < 1e38 and <double><float>v == v:
            (<float *>at)[0] = <float>v
            return True
        return False
    if kind == FLOAT64 and t == cnp.NPY_DOUBLE:
        (<double *>at)[0] = PyFloat_AS_DOUBLE(x)
        return True
    if kind == &PyLong_Type:
        i = PyLong_AsLongLongAndOverflow(x, &overflow)
        if overflow != 0:
            return False
        if t == cnp.NPY_DOUBLE and -(1LL << 53) <= i <= 1LL << 53:
            (<double *>at)[0] = <double>i
            return True
        if t == cnp.NPY_FLOAT and -(1LL << 24) <= i <= 1LL << 24:
            (<float *>at)[0] = <float>i
            return True
        if t == cnp.NPY_LONG and sizeof(long) == 8:
            (<long long *>at)[0] = i
            return True
    return False


cdef object run(Loops loops, PyObject *like, char *first, cnp.npy_intp first_step, char *second,
                cnp.npy_intp second_step, PyObject *out, PyObject *other):
    """A fresh array with the loop's result, or `out` filled with it; None if a flag was raised.

    `like` is NumPy's array of an operand, `other` that of the second, or `like` again.
    """
    cdef int t = tnp_type_num(like), i
    cdef cnp.npy_intp n = 1
    cdef cnp.npy_intp steps[3]
    cdef char *places[3]
    cdef cnp.ndarray r
    cdef object memory = None
    if out != NULL and t in (cnp.NPY_CFLOAT, cnp.NPY_CDOUBLE):
        return None  # one number in place is computed by other steps
    for i in range(tnp_ndim(like)):
        n *= tnp_dims(like)[i]
    if out == NULL and n * tnp_itemsize(like) >= POOLED:  # fresh memory of the system's would cost more than the loop
        memory = pooled((<object>like).shape, cnp.PyArray_DescrFromType(loops.out[t]))
    r = memory if memory is not None else cnp.PyArray_EMPTY(tnp_ndim(like), tnp_dims(like), loops.out[t], 0)
    places[0], steps[0] = first, first_step
    places[loops.nin] = cnp.PyArray_BYTES(r)
    steps[loops.nin] = cnp.PyArray_STRIDES(r)[0] if cnp.PyArray_NDIM(r) == 1 else cnp.PyArray_ITEMSIZE(r)
    if loops.nin == 2:
        places[1], steps[1] = second, second_step
    tnp_quiet()
    if n <= LOOPED:
        loops.loop[t](places, &n, steps, loops.data[t])
    else:
        Py_INCREF(like)  # other threads may give the program's arrays new content meanwhile
        Py_INCREF(other)
        tnp_run_free(loops.loop[t], places, &n, steps, loops.data[t])
        Py_DECREF(like)
        Py_DECREF(other)
    if tnp_flagged():
        return None  # NumPy does it again, and warns
    if out == NULL:
        return owner(r) if memory is None else adopt(memory)
    memcpy(tnp_data(out), cnp.PyArray_BYTES(r), cnp.PyArray_NBYTES(r))
    return True


cdef inline bint takes(Loops loops, PyObject *like, PyObject *out) noexcept:
    """May the result for operands like `like` be copied to `out`?"""
    return (tnp_type_num(out) == loops.out[tnp_type_num(like)] and tnp_straight(out) and tnp_writeable(out)
            and alike(like, out))


cdef object pair(Loops loops, PyObject *a, PyObject *b, PyObject *out):
    """The operation on two operands, by NumPy's loop; None if that is not for here."""
    cdef PyObject *x
    cdef PyObject *y
    cdef double value[2]
    cdef bint now = is_shared(a) or is_shared(b)
    if Py_TYPE(<object>a) == ARRAY:
        x = operand(loops, a, out != NULL, now)
        if x == NULL or (out != NULL and not takes(loops, x, out)):
            return None
        if Py_TYPE(<object>b) == ARRAY:
            y = there(b, UNREADABLE)
            if y == NULL or not tnp_straight(y) or tnp_descr(x) != tnp_descr(y) or not alike(x, y):
                return None
            return run(loops, x, tnp_data(x), step(x), tnp_data(y), step(y), out, y)
        if number(b, tnp_type_num(x), <char *>value):
            return run(loops, x, tnp_data(x), step(x), <char *>value, 0, out, x)
    elif Py_TYPE(<object>b) == ARRAY:
        y = operand(loops, b, out != NULL, now)
        if y != NULL and (out == NULL or takes(loops, y, out)) and number(a, tnp_type_num(y), <char *>value):
            return run(loops, y, <char *>value, 0, tnp_data(y), step(y), out, y)
    return None


cdef object single(Loops loops, PyObject *a, PyObject *out):
    """The operation on one operand, by NumPy's loop; None if that is not for here."""
    cdef PyObject *x
    if Py_TYPE(<object>a) != ARRAY:
        return None
    x = operand(loops, a, out != NULL, is_shared(a))
    if x == NULL or (out != NULL and not takes(loops, x, out)):
        return None
    return run(loops, x, tnp_data(x), step(x), NULL, 0, out, x)


cdef PyNumberMethods numbers  # the slots as tnp/hot.py has them
cdef PyMappingMethods mapping
cdef comparison compared
cdef one_operand iterated
cdef Loops ADD = loops_of(_np.add)
cdef Loops SUBTRACT = loops_of(_np.subtract)
cdef Loops MULTIPLY = loops_of(_np.multiply)
cdef Loops DIVIDE = loops_of(_np.true_divide)
cdef Loops NEGATIVE = loops_of(_np.negative)
cdef Loops ABSOLUTE = loops_of(_np.absolute)
cdef Loops SQUARE = loops_of(_np.square)
cdef Loops LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL
LESS, LESS_EQUAL, EQUAL = loops_of(_np.less), loops_of(_np.less_equal), loops_of(_np.equal)
NOT_EQUAL, GREATER, GREATER_EQUAL = loops_of(_np.not_equal), loops_of(_np.greater), loops_of(_np.greater_equal)


cdef object add(object a, object b):
    r = pair(ADD, <PyObject *>a, <PyObject *>b, NULL)
    return numbers.nb_add(a, b) if r is None else r


cdef object subtract(object a, object b):
    r = pair(SUBTRACT, <PyObject *>a, <PyObject *>b, NULL)
    return numbers.nb_subtract(a, b) if r is None else r


cdef object multiply(object a, object b):
    r = pair(MULTIPLY, <PyObject *>a, <PyObject *>b, NULL)
    return numbers.nb_multiply(a, b) if r is None else r


cdef object divide(object a, object b):
    r = pair(DIVIDE, <PyObject *>a, <PyObject *>b, NULL)
    return numbers.nb_true_divide(a, b) if r is None else r


cdef inline bint updated(Loops loops, object a, object b):
    """``a op= b``, done here?"""
    cdef PyObject *out = there(<PyObject *>a, BUSY) if Py_TYPE(a) == ARRAY else NULL
    return out != NULL and pair(loops, <PyObject *>a, <PyObject *>b, out) is not None


cdef object there_now(object a, object b):
    """NumPy's array of `a`, if ``a op= b`` on large arrays runs there at once, as always at this place; else None."""
    cdef PyObject *x
    cdef PyObject *y
    cdef cnp.npy_intp n = 1
    cdef int i
    if lazy_from <= LOOPED or Py_TYPE(a) != ARRAY:
        return None
    x = there(<PyObject *>a, BUSY)
    if x == NULL or not tnp_straight(x) or tnp_type_num(x) > cnp.NPY_DOUBLE:
        return None
    for i in range(tnp_ndim(x)):
        n *= tnp_dims(x)[i]
    if n < lazy_from:
        return None
    if Py_TYPE(b) == ARRAY:
        y = there(<PyObject *>b, UNREADABLE)
        if y == NULL or tnp_descr(x) != tnp_descr(y) or not alike(x, y):
            return None
    elif Py_TYPE(b) != &PyFloat_Type:
        return None
    # Threads gain nothing in place while the operands fit the last cache
    return <object>x if runs_now(n * tnp_itemsize(x) // 2) else None


cdef object inplace(Loops loops, two_operands numpys, two_operands ours, object a, object b):
    """``a op= b``: by the inner loop, by NumPy's operator on the memory, or the long way."""
    if updated(loops, a, b):
        return a
    x = there_now(a, b)
    if x is None:
        return ours(a, b)
    numpys(x, <object>there(<PyObject *>b, UNREADABLE) if Py_TYPE(b) == ARRAY else b)
    return a


cdef object inplace_add(object a, object b):
    return inplace(ADD, PyNumber_InPlaceAdd, numbers.nb_inplace_add, a, b)


cdef object inplace_subtract(object a, object b):
    return inplace(SUBTRACT, PyNumber_InPlaceSubtract, numbers.nb_inplace_subtract, a, b)


cdef object inplace_multiply(object a, object b):
    return inplace(MULTIPLY, PyNumber_InPlaceMultiply, numbers.nb_inplace_multiply, a, b)


cdef object inplace_divide(object a, object b):
    return inplace(DIVIDE, PyNumber_InPlaceTrueDivide, numbers.nb_inplace_true_divide, a, b)


cdef object negative(object a):
    r = single(NEGATIVE, <PyObject *>a, NULL)
    return numbers.nb_negative(a) if r is None else r


cdef object absolute(object a):
    r = single(ABSOLUTE, <PyObject *>a, NULL)
    return numbers.nb_absolute(a) if r is None else r


cdef object power(object a, object b, object modulo):
    """Python's 2 as exponent is a square, to NumPy too."""
    cdef int overflow = 0
    if Py_TYPE(b) == &PyLong_Type and Py_TYPE(a) == ARRAY and modulo is None:
        if PyLong_AsLongLongAndOverflow(<PyObject *>b, &overflow) == 2:
            r = single(SQUARE, <PyObject *>a, NULL)
            if r is not None:
                return r
    return numbers.nb_power(a, b, modulo)


cdef object DIVMOD = _np.divmod


cdef object quotients(object a, object b):
    """``divmod(a, b)``"""
    cdef PyObject *both[2]
    both[0], both[1] = <PyObject *>a, <PyObject *>b
    if Py_TYPE(a) == ARRAY and (Py_TYPE(b) == ARRAY or Py_TYPE(b) == &PyFloat_Type or Py_TYPE(b) == &PyLong_Type):
        r = through(<PyObject *>DIVMOD, both, 2, NULL)
        if r is not UNTAKEN:
            return r
    return numbers.nb_divmod(a, b)


cdef object compare(object a, object b, int op):
    cdef Loops loops = (LESS if op == 0 else LESS_EQUAL if op == 1 else EQUAL if op == 2 else NOT_EQUAL if op == 3
                        else GREATER if op == 4 else GREATER_EQUAL)
    r = pair(loops, <PyObject *>a, <PyObject *>b, NULL)
    return compared(a, b, op) if r is None else r
