# Calls of NumPy's functions and methods on the memory of small arrays.

cdef bint plain(PyObject *x, int depth) noexcept:
    """Is `x` an argument that NumPy may see as it is?"""
    cdef PyTypeObject *t = Py_TYPE(<object>x)
    cdef Py_ssize_t i
    if (x == NONE or t == &PyFloat_Type or t == &PyLong_Type or t == &PyBool_Type or t == &PyComplex_Type
            or t == &PySlice_Type or t == &PyEllipsis_Type):
        return True
    if t == &PyTuple_Type and depth < 8:
        for i in range(PyTuple_GET_SIZE(x)):
            if not plain(PyTuple_GET_ITEM(x, i), depth + 1):
                return False
        return True
    if t == &PyList_Type and depth < 8:
        for i in range(PyList_GET_SIZE(x)):
            if not plain(PyList_GET_ITEM(x, i), depth + 1):
                return False
        return True
    if t == &PyUnicode_Type:
        return depth == 0 and <object>x != "O" and <object>x != "object"
    if t == &PyType_Type:
        return (x == <PyObject *>&PyFloat_Type or x == <PyObject *>&PyLong_Type or x == <PyObject *>&PyBool_Type
                or x == <PyObject *>&PyComplex_Type or tnp_is_number_type(x))
    return tnp_is_number(x) or tnp_is_number_dtype(x)


cdef object substituted(PyObject *x, bint wide, PyObject **met, int *count):
    """A list or tuple of arrays and numbers, with NumPy's arrays in it; None if there is anything else."""
    cdef bint is_list = Py_TYPE(<object>x) == &PyList_Type
    cdef Py_ssize_t i, n = PyList_GET_SIZE(x) if is_list else PyTuple_GET_SIZE(x)
    cdef PyObject *y
    cdef PyObject *nd
    items = []
    for i in range(n):
        y = PyList_GET_ITEM(x, i) if is_list else PyTuple_GET_ITEM(x, i)
        if Py_TYPE(<object>y) == ARRAY:
            nd = readable(y) if wide else memory(y, BUSY)
            if nd == NULL or count[0] == MET:
                return None
            met[count[0]] = y
            count[0] += 1
            items.append(<object>nd)
        elif y != NONE and plain(y, 8):
            items.append(<object>y)
        else:
            return None
    return items if is_list else tuple(items)


cdef object through(PyObject *raw, PyObject **args, Py_ssize_t n, PyObject *kwnames, bint wide=False):
    """``raw(*args)`` on the memory of the small arrays among the arguments; UNTAKEN if that is not for here.

    If `wide`, arrays of up to READ elements count as small; `raw` only reads them.
    """
    cdef PyObject *stack[MOST + 1]
    cdef PyObject *met[MET]
    cdef int count = 0
    cdef Py_ssize_t i, total = n + (PyTuple_GET_SIZE(kwnames) if kwnames != NULL else 0)
    cdef PyObject *x
    cdef PyObject *y
    cdef PyTypeObject *t
    cdef object made
    cdef object kept = None
    if total > MOST or lazy_from <= 0:
        return UNTAKEN
    for i in range(total):
        x = args[i]
        t = Py_TYPE(<object>x)
        if t == ARRAY:
            y = readable(x) if wide else memory(x, BUSY)
            if y == NULL or count == MET:
                return UNTAKEN
            met[count] = x
            count += 1
            stack[i + 1] = y
        elif plain(x, 0):
            stack[i + 1] = x
        elif t == &PyList_Type or t == &PyTuple_Type:
            made = substituted(x, wide, met, &count)
            if made is None:
                return UNTAKEN
            if kept is None:
                kept = []
            kept.append(made)
            stack[i + 1] = <PyObject *>made
        else:
            return UNTAKEN
    for i in range(total):
        Py_INCREF(stack[i + 1])
    try:
        r = PyObject_Vectorcall(raw, stack + 1, <size_t>n | (<size_t>1 << (8 * sizeof(size_t) - 1)), kwnames)
    finally:
        for i in range(total):
            Py_DECREF(stack[i + 1])
    made = kept = None  # their references would make the memory look shared
    return as_result(r, met, count)


cdef object packed(PyObject *f, PyObject **args, Py_ssize_t n, PyObject *kwnames, bint bound):
    """The long way: the call with a tuple and a dict."""
    cdef Py_ssize_t i
    positional = tuple([<object>args[i] for i in range(n)])
    named = {}
    if kwnames != NULL:
        for i in range(PyTuple_GET_SIZE(kwnames)):
            named[<object>PyTuple_GET_ITEM(kwnames, i)] = <object>args[n + i]
    return (<object>f)(*positional, **named) if bound else tnp_call_slot(f, positional, named)


cdef inline Py_ssize_t given(size_t nargsf) noexcept:
    return <Py_ssize_t>(nargsf & ~(<size_t>1 << (8 * sizeof(size_t) - 1)))


cdef object call_ufunc(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames):
    cdef Py_ssize_t n = given(nargsf)
    cdef Loops loops = <Loops>(<ufunc>self).loops
    cdef PyObject *out
    if n == loops.nin and kwnames == NULL:
        r = pair(loops, args[0], args[1], NULL) if n == 2 else single(loops, args[0], NULL)
        if r is not None:
            return r
    elif loops.nin and n + (kwnames != NULL) == loops.nin + 1 and Py_TYPE(<object>args[loops.nin]) == ARRAY and (
        n == loops.nin + 1 or (PyTuple_GET_SIZE(kwnames) == 1 and <object>PyTuple_GET_ITEM(kwnames, 0) == "out")
    ):
        out = there(args[loops.nin], BUSY)
        if out != NULL and not (<object>self)._raw in UNPLACED:
            r = pair(loops, args[0], args[1], out) if loops.nin == 2 else single(loops, args[0], out)
            if r is not None:
                return <object>args[loops.nin]
    r = through(<PyObject *>(<ufunc>self)._raw, args, n, kwnames)
    return packed(self, args, n, kwnames, False) if r is UNTAKEN else r


# NumPy deprecates an output given by position for two, and all have other steps for one element in place
UNPLACED = {_np.maximum, _np.minimum, _np.fmax, _np.fmin}


cdef bint is_small_shape(PyObject *x) noexcept:
    """Is `x` the shape of an array that is not worth memory of the pool?"""
    cdef double n = 1
    cdef Py_ssize_t i
    cdef int overflow = 0
    if Py_TYPE(<object>x) == &PyTuple_Type:
        for i in range(PyTuple_GET_SIZE(x)):
            if Py_TYPE(<object>PyTuple_GET_ITEM(x, i)) != &PyLong_Type:
                return False
            n *= PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(x, i), &overflow)
            if overflow != 0:
                return False
    elif Py_TYPE(<object>x) == &PyLong_Type:
        n = PyLong_AsLongLongAndOverflow(x, &overflow)
    else:
        return False
    return overflow == 0 and n < lazy_from


cdef bint is_small_product(PyObject *a, PyObject *b) noexcept:
    """Are there few pairs of an element of the array `a` and one of `b`, an array too, or repetitions that it names?"""
    cdef PyObject *x
    cdef PyObject *y
    cdef double n = 1
    cdef Py_ssize_t i
    cdef int overflow = 0
    if Py_TYPE(<object>a) != ARRAY:
        return False
    x = memory(a, BUSY)
    if x == NULL:
        return False
    for i in range(tnp_ndim(x)):
        n *= tnp_dims(x)[i]
    if Py_TYPE(<object>b) == ARRAY:
        y = memory(b, BUSY)
        if y == NULL:
            return False
        for i in range(tnp_ndim(y)):
            n *= tnp_dims(y)[i]
    elif Py_TYPE(<object>b) == &PyLong_Type:
        n *= PyLong_AsLongLongAndOverflow(b, &overflow)
    elif Py_TYPE(<object>b) == &PyTuple_Type and are_whole(b):
        for i in range(PyTuple_GET_SIZE(b)):
            n *= PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(b, i), &overflow)
            if overflow != 0:
                return False
    else:
        return False
    return overflow == 0 and n < lazy_from


cdef object call_function(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames):
    cdef Py_ssize_t n = given(nargsf)
    cdef int way = (<HostFunction>self).way
    cdef bint taken = way == 1, wide = False
    if way == 2:
        taken = n > 0 and is_small_shape(args[0])
    elif way == 3:
        taken = kwnames == NULL and n <= 2
    elif way == 4:
        taken = True
        wide = kwnames == NULL and n <= 2
    elif way == 6:
        taken = n == 2 and kwnames == NULL and is_small_product(args[0], args[1])
    elif way == 5:
        taken = n > 0 and Py_TYPE(<object>args[0]) == ARRAY
        wide = taken and kwnames == NULL and n <= 3 and runs_at_once(args[0], NONE)
    if taken and not WATCHERS:
        r = through(<PyObject *>(<HostFunction>self)._raw, args, n, kwnames, wide)
        if r is not UNTAKEN:
            return r
    return packed(self, args, n, kwnames, False)


# Results may be large though the arguments are small, or memory stays in other hands
LONG_WAY = frozenset("repeat pad kron frombuffer from_dlpack fromfunction einsum einsum_path".split())
WAYS = dict.fromkeys(["empty", "ones", "full"], 2) | dict.fromkeys(["empty_like", "ones_like", "full_like"], 3)
WAYS |= dict.fromkeys("concatenate stack vstack hstack dstack column_stack append".split(), 4) | {"clip": 5, "outer": 6, "tile": 6}


def arm(f):
    """Let calls of a `HostFunction` or a ufunc come here first."""
    if type(f) is ufunc:
        (<ufunc>f).loops = loops_of((<ufunc>f)._raw)
        (<ufunc>f).vector = <void *>call_ufunc
    else:
        name = f.__name__
        (<HostFunction>f).way = 0 if f._calls is not None or name in LONG_WAY else WAYS.get(name, 1)
        (<HostFunction>f).vector = vector_of((<HostFunction>f)._raw)
    return f


READING = frozenset("all any argmax argmin copy max mean min prod std sum var".split())
cdef enum:
    READ = 1 << 17


cdef inline PyObject *readable(PyObject *x) noexcept:
    """`memory`, for up to READ elements."""
    cdef PyObject *nd = there(x, UNREADABLE)
    cdef cnp.npy_intp n = 1
    cdef int i
    if nd == NULL or lazy_from <= LOOPED:
        return memory(x, UNREADABLE)
    i = tnp_type_num(nd)
    if i > cnp.NPY_CLONGDOUBLE and i != NPY_HALF:
        return NULL
    for i in range(tnp_ndim(nd)):
        n *= tnp_dims(nd)[i]
    return nd if n <= READ else NULL


cdef bint runs_at_once(PyObject *x, PyObject *other) except -1:
    """Does the operation on the array `x`, which is more than small, run at once, as always? `other` has to be plain."""
    cdef PyObject *nd = there(x, UNREADABLE)
    if nd == NULL or lazy_from <= LOOPED or is_small(nd) or tnp_type_num(nd) > cnp.NPY_DOUBLE:
        return False
    if not plain(other, 0):
        return False
    return runs_now(cnp.PyArray_NBYTES(<cnp.ndarray>nd))


ctypedef object (*short_way)(PyObject *nd, PyObject **args, Py_ssize_t n)


cdef class Method:  # a method of the array: NumPy's `raw` on small arrays, otherwise the function `long_way`
    cdef void *vector
    cdef PyObject *function
    cdef short_way short  # the same through NumPy's C interface, for calls without names; NULL where there is none
    cdef object raw
    cdef object long_way
    cdef bint bare  # results are Python's own objects
    cdef bint casts
    cdef bint reads  # to the engine memory as it lies is nothing special: NumPy is as fast up to READ elements
    cdef dict __dict__

    def __init__(self, raw, long_way):
        self.raw = raw
        self.function = <PyObject *>raw
        self.bare = raw in (_np.ndarray.tolist, _np.ndarray.item, _np.ndarray.tobytes)
        self.long_way = long_way
        self.casts, self.reads = raw.__name__ == "astype", raw.__name__ in READING
        self.vector = <void *>call_method
        self.short = short_way_of(raw.__name__)
        for name in ("__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(long_way, name))
        self.__wrapped__ = raw

    def __call__(self, *args, **kwargs):
        return self.long_way(*args, **kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __repr__(self):
        return repr(self.long_way)

    def __reduce__(self):
        return getattr, (ndarray, self.__name__)


cdef object held(PyObject *self, PyObject **stack, Py_ssize_t n):
    """NumPy's method on its array ``stack[0]``: other threads may give the program's array new content meanwhile."""
    cdef PyObject *nd = stack[0]
    Py_INCREF(nd)
    try:
        return PyObject_Vectorcall((<Method>self).function, stack, n, NULL)
    finally:
        Py_DECREF(nd)


cdef object call_method(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames):
    cdef Py_ssize_t n = given(nargsf)
    cdef PyObject *nd
    cdef PyObject *pair[2]
    if n > 0 and Py_TYPE(<object>args[0]) == ARRAY and not WATCHERS:
        if (<Method>self).short != NULL and kwnames == NULL and lazy_from > 0:
            nd = memory(args[0], UNREADABLE)
            if nd != NULL:
                Py_INCREF(nd)
                try:
                    r = (<Method>self).short(nd, args + 1, n - 1)
                finally:
                    Py_DECREF(nd)
                if r is not UNTAKEN:
                    return as_result(r, args, 1)
        if n == 1 and kwnames == NULL:
            nd = memory(args[0], BUSY) if not (<Method>self).reads else readable(args[0])
            if nd != NULL:
                r = held(self, &nd, 1)
                return r if (<Method>self).bare else as_result(r, args, 1)
        elif (<Method>self).casts and n == 2 and kwnames == NULL and runs_at_once(args[0], args[1]):
            pair[0], pair[1] = <PyObject *>(<ndarray>args[0])._nd, args[1]
            return as_result(held(self, pair, 2), args, 1)
        else:
            r = through((<Method>self).function, args, n, kwnames)
            if r is not UNTAKEN:
                return r
    return packed(<PyObject *>(<Method>self).long_way, args, n, kwnames, True)
