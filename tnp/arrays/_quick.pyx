# cython: language_level=3, nonecheck=False, boundscheck=False, wraparound=False
"""Small calls, in C: what a call costs beyond NumPy's own time.

Only what is small, there, of numbers and of exact classes is done here; everything else goes the way that the Python
sources say (tnp/hot.py, tnp/host.py, tnp/arrays), which the build without a compiler always goes. Three means:

- `pair` and `single` call NumPy's own inner loop on memory that lies straight, without the ufunc machinery around it.
  If it raises a floating-point flag, the result is thrown away and NumPy does it, with its warnings.
- `through` calls a NumPy function or method with the arrays' own memory in place of the arrays, without packing.
- `subscript` makes views and elements for plain keys; attributes ask NumPy's own getters.
"""
cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from tnp.arrays.flags cimport flagsobj
from tnp.core.cells cimport Cell
from tnp.host cimport HostFunction
from tnp.hot cimport _as_view, lazy_from, ndarray, real, ufunc

import types

import numpy as _np

from tnp.core.native import set_type_attribute
from tnp.host import rewrap, watchers
from tnp.hot import OWNER

cnp.import_array()
cnp.import_ufunc()

cdef extern from *:
    """
    #include <fenv.h>
    #include <stddef.h>
    #include "numpy/arrayscalars.h"
    #define TNP_FLAGS (FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID)
    static inline void tnp_quiet(void) { if (fetestexcept(TNP_FLAGS)) feclearexcept(TNP_FLAGS); }
    static inline int tnp_flagged(void) { return fetestexcept(TNP_FLAGS); }
    static PyObject *tnp_element(PyObject *a, char *p) {
        return PyArray_Scalar(p, PyArray_DESCR((PyArrayObject *)a), a);
    }
    static PyObject *tnp_part(PyObject *a, int nd, npy_intp *dims, npy_intp *strides, char *data) {
        PyArray_Descr *d = PyArray_DESCR((PyArrayObject *)a);
        Py_INCREF(d);
        PyObject *r = PyArray_NewFromDescr(&PyArray_Type, d, nd, dims, strides, data,
                                           PyArray_FLAGS((PyArrayObject *)a), NULL);
        if (r == NULL) return NULL;
        Py_INCREF(a);
        if (PyArray_SetBaseObject((PyArrayObject *)r, a) < 0) { Py_DECREF(r); return NULL; }
        return r;
    }
    static inline int tnp_straight(PyObject *a) {
        int want = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
        return (PyArray_FLAGS((PyArrayObject *)a) & want) == want && PyArray_ISNOTSWAPPED((PyArrayObject *)a);
    }
    static inline int tnp_writeable(PyObject *a) {
        return (PyArray_FLAGS((PyArrayObject *)a) & NPY_ARRAY_WRITEABLE) &&
               !(PyArray_FLAGS((PyArrayObject *)a) & (1u << 31));  /* NumPy warns */
    }
    static inline int tnp_type_num(PyObject *a) { return PyArray_TYPE((PyArrayObject *)a); }
    static PyObject *tnp_own_descr(int type) { return (PyObject *)PyArray_DescrFromType(type); }
    static inline PyObject *tnp_descr(PyObject *a) { return (PyObject *)PyArray_DESCR((PyArrayObject *)a); }
    static inline int tnp_ndim(PyObject *a) { return PyArray_NDIM((PyArrayObject *)a); }
    static inline npy_intp *tnp_dims(PyObject *a) { return PyArray_DIMS((PyArrayObject *)a); }
    static inline npy_intp *tnp_strides(PyObject *a) { return PyArray_STRIDES((PyArrayObject *)a); }
    static inline npy_intp tnp_itemsize(PyObject *a) { return PyArray_ITEMSIZE((PyArrayObject *)a); }
    static inline char *tnp_data(PyObject *a) { return PyArray_BYTES((PyArrayObject *)a); }
    static inline PyObject *tnp_base(PyObject *a) { return PyArray_BASE((PyArrayObject *)a); }
    static inline int tnp_flag(PyObject *a, int flag) { return PyArray_CHKFLAGS((PyArrayObject *)a, flag); }
    static inline int tnp_is_number(PyObject *x) { return PyArray_IsScalar(x, Number) || PyArray_IsScalar(x, Bool); }
    static inline int tnp_is_number_type(PyObject *t) {
        return PyType_IsSubtype((PyTypeObject *)t, &PyNumberArrType_Type) || t == (PyObject *)&PyBoolArrType_Type;
    }
    static inline int tnp_is_number_dtype(PyObject *x) {
        return PyArray_DescrCheck(x) && ((PyArray_Descr *)x)->type_num <= NPY_CLONGDOUBLE;
    }
    typedef PyObject *(*tnp_vectorcall)(PyObject *, PyObject *const *, size_t, PyObject *);
    static void tnp_set_vectorcall(PyTypeObject *t, Py_ssize_t offset, int method) {
        t->tp_vectorcall_offset = offset;
        t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | (method ? Py_TPFLAGS_METHOD_DESCRIPTOR : 0);
        PyType_Modified(t);
    }
    static PyGetSetDef *tnp_getset(PyTypeObject *t, const char *name) {
        for (PyGetSetDef *g = t->tp_getset; g && g->name; g++)
            if (strcmp(g->name, name) == 0) return g;
        return NULL;
    }
    static int tnp_delegate(PyObject *descriptor, PyObject *x, PyObject *value) {
        return Py_TYPE(descriptor)->tp_descr_set(descriptor, x, value);
    }
    static newfunc tnp_bare;  /* makes an empty array */
    /* Arrays come from a list of freed ones, and the collector does not watch them: NumPy's are not watched either */
    static PyObject *tnp_freed[64];
    static int tnp_freed_count = 0;
    static PyObject *tnp_alloc(PyTypeObject *t, Py_ssize_t n) {
        PyObject *o;
        if (tnp_freed_count > 0) {
            o = tnp_freed[--tnp_freed_count];
            (void)PyObject_Init(o, t);
        } else if ((o = PyObject_GC_New(PyObject, t)) == NULL) return NULL;
        memset((char *)o + sizeof(PyObject), 0, t->tp_basicsize - sizeof(PyObject));
        return o;
    }
    static void tnp_free(void *o) {
        if (tnp_freed_count < 64) tnp_freed[tnp_freed_count++] = (PyObject *)o;
        else PyObject_GC_Del(o);
    }
    static PyObject *tnp_make(PyTypeObject *t) {
        static PyObject *nothing = NULL;
        if (nothing == NULL && (nothing = PyTuple_New(0)) == NULL) return NULL;
        return tnp_bare(t, nothing, NULL);
    }
    static void tnp_set_alloc(PyTypeObject *t) {
        t->tp_alloc = tnp_alloc;
        t->tp_free = tnp_free;
        tnp_bare = t->tp_new;
    }
    static inline PyNumberMethods *tnp_numbers(PyTypeObject *t) { return t->tp_as_number; }
    static inline PyMappingMethods *tnp_mapping(PyTypeObject *t) { return t->tp_as_mapping; }
    static PyObject *tnp_call_slot(PyObject *f, PyObject *args, PyObject *kwargs) {
        return Py_TYPE(f)->tp_call(f, args, kwargs);
    }
    """
    void tnp_quiet() noexcept
    int tnp_flagged() noexcept
    object tnp_element(PyObject *a, char *p)
    object tnp_part(PyObject *a, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides, char *data)
    bint tnp_straight(PyObject *a) noexcept
    bint tnp_writeable(PyObject *a) noexcept
    int tnp_type_num(PyObject *a) noexcept
    int NPY_HALF
    PyObject *tnp_own_descr(int type) noexcept
    PyObject *tnp_descr(PyObject *a) noexcept
    int tnp_ndim(PyObject *a) noexcept
    cnp.npy_intp *tnp_dims(PyObject *a) noexcept
    cnp.npy_intp *tnp_strides(PyObject *a) noexcept
    cnp.npy_intp tnp_itemsize(PyObject *a) noexcept
    char *tnp_data(PyObject *a) noexcept
    PyObject *tnp_base(PyObject *a) noexcept
    int tnp_flag(PyObject *a, int flag) noexcept
    bint tnp_is_number(PyObject *x) noexcept
    bint tnp_is_number_type(PyObject *t) noexcept
    bint tnp_is_number_dtype(PyObject *x) noexcept
    void tnp_set_vectorcall(PyTypeObject *t, Py_ssize_t offset, bint method) noexcept
    ctypedef object (*getter_function "getter")(PyObject *, void *)
    ctypedef int (*setter_function "setter")(PyObject *, PyObject *, void *) except -1
    ctypedef struct PyGetSetDef:
        const char *name
        getter_function get
        setter_function set
        const char *doc
        void *closure
    PyGetSetDef *tnp_getset(PyTypeObject *t, const char *name) noexcept
    object PyDescr_NewGetSet(PyTypeObject *t, PyGetSetDef *g)
    int tnp_delegate(PyObject *descriptor, PyObject *x, PyObject *value) except -1
    object tnp_call_slot(PyObject *f, object args, object kwargs)
    ctypedef object (*one_operand "unaryfunc")(object)
    ctypedef object (*two_operands "binaryfunc")(object, object)
    ctypedef int (*assignment "objobjargproc")(PyObject *, PyObject *, PyObject *) except -1
    ctypedef object (*comparison "richcmpfunc")(object, object, int)
    ctypedef struct PyNumberMethods:
        two_operands nb_add, nb_subtract, nb_multiply, nb_true_divide
        two_operands nb_inplace_add, nb_inplace_subtract, nb_inplace_multiply, nb_inplace_true_divide
        one_operand nb_negative, nb_absolute
    ctypedef struct PyMappingMethods:
        two_operands mp_subscript
        assignment mp_ass_subscript
    void tnp_set_alloc(PyTypeObject *t) noexcept
    object tnp_make(PyTypeObject *t)
    PyNumberMethods *tnp_numbers(PyTypeObject *t) noexcept
    PyMappingMethods *tnp_mapping(PyTypeObject *t) noexcept
    ctypedef struct Slots "PyTypeObject":
        comparison tp_richcompare
        one_operand tp_iter
    void PyType_Modified(PyTypeObject *t) noexcept
    object PySeqIter_New(object x)
    object PyObject_GetItem(PyObject *x, PyObject *key)
    int PyObject_SetItem(PyObject *x, PyObject *key, PyObject *value) except -1
    object PyObject_GetIter(PyObject *x)
    Py_ssize_t PyLong_AsSsize_t(PyObject *x) except? -1
    object PyObject_Vectorcall(PyObject *f, PyObject **args, size_t nargsf, PyObject *kwnames)
    object PyMethod_New(object function, object self)
    Py_ssize_t PyTuple_GET_SIZE(PyObject *t) noexcept
    PyObject *PyTuple_GET_ITEM(PyObject *t, Py_ssize_t i) noexcept
    Py_ssize_t PyList_GET_SIZE(PyObject *t) noexcept
    PyObject *PyList_GET_ITEM(PyObject *t, Py_ssize_t i) noexcept
    double PyFloat_AS_DOUBLE(PyObject *x) noexcept
    long long PyLong_AsLongLongAndOverflow(PyObject *x, int *overflow) noexcept  # of exact ints
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t length, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t step) noexcept
    int PySlice_Unpack(PyObject *s, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t *step) except -1
    PyTypeObject PyFloat_Type, PyLong_Type, PyBool_Type, PyComplex_Type, PyUnicode_Type, PyBytes_Type, PySlice_Type
    PyTypeObject PyTuple_Type, PyList_Type, PyEllipsis_Type, PyType_Type
    void Py_INCREF(PyObject *x) noexcept
    void Py_DECREF(PyObject *x) noexcept
    void *memcpy(void *a, void *b, size_t n) noexcept

cdef int BUSY = 15  # as in tnp/hot.py
cdef int UNREADABLE = 13
cdef enum:
    KINDS = 24  # NumPy's numbers of dtypes: 23 is float16
    LOOPED = 4096  # elements up to which a loop keeps the interpreter's lock
    MOST = 10  # arguments of a call
    MET = 12  # arrays among them

cdef PyTypeObject *ARRAY = <PyTypeObject *>ndarray
cdef PyTypeObject *RAW = <PyTypeObject *>_np.ndarray
cdef PyTypeObject *FLOAT64 = <PyTypeObject *>_np.float64
cdef PyObject *NONE = <PyObject *>None
cdef object OWNED = OWNER
cdef object UNTAKEN = object()  # the call goes the long way


# ------------------------------------------------------------------------------------------------ the fast questions
cdef inline PyObject *there(PyObject *x, int marks) noexcept:
    """NumPy's array of `x`, an array of the exact class; NULL if it is pending or one of `marks` is on its cell."""
    cdef PyObject *nd = <PyObject *>(<ndarray>x)._nd
    cdef PyObject *c = <PyObject *>(<ndarray>x)._cell
    if nd == NONE or (c != NONE and (<Cell>c).marked & marks):
        return NULL
    return nd


cdef inline bint is_small(PyObject *nd) noexcept:
    cdef cnp.npy_intp n = 1
    cdef int i
    for i in range(tnp_ndim(nd)):
        n *= tnp_dims(nd)[i]
    return n < lazy_from


cdef inline PyObject *memory(PyObject *x, int marks) noexcept:
    """`there`, for a small array of numbers; else NULL."""
    cdef PyObject *nd = there(x, marks)
    cdef int t
    if nd == NULL:
        return NULL
    t = tnp_type_num(nd)
    if (t > cnp.NPY_CLONGDOUBLE and t != NPY_HALF) or not is_small(nd):
        return NULL
    return nd


cdef inline bint is_raw(PyObject *r) noexcept:
    return Py_TYPE(<object>r) == RAW


cdef inline object owner(object r):
    """A fresh array of NumPy's as a tnp array: `tnp.hot.wrap`."""
    cdef ndarray x = <ndarray>tnp_make(ARRAY)
    x._nd = r
    return x


cdef inline object view(object x, object r):
    """A view `r` of the memory of the array `x`, as a tnp array: `tnp.hot.view_of`."""
    cdef ndarray y
    cdef ndarray of = <ndarray>x
    if of._cell is None:
        return _as_view(of, r)
    y = <ndarray>tnp_make(ARRAY)
    y._nd = r
    y._cell = of._cell
    y._base = x if of._base is None or of._base is OWNED else of._base
    return y


cdef object as_result(object r, PyObject **met, int count):
    """What the program gets for NumPy's result `r`; `met` are the arrays of the call. As `tnp.host.rewrap`."""
    cdef PyObject *p = <PyObject *>r
    cdef PyObject *base
    cdef PyObject *nd
    cdef PyObject *ground
    cdef int i
    if is_raw(p):
        for i in range(count):
            if p == <PyObject *>(<ndarray>met[i])._nd:
                return <object>met[i]
        base = tnp_base(p)
        if base == NULL:
            return owner(r)
        if is_raw(base):
            for i in range(count):
                nd = <PyObject *>(<ndarray>met[i])._nd
                ground = tnp_base(nd)
                if base == (ground if ground != NULL and is_raw(ground) else nd):
                    return view(<object>met[i], r)
        return rewrap(r, [<object>met[i] for i in range(count)])
    if r is None or tnp_is_number(p) or type(r) is float or type(r) is int or type(r) is bool or type(r) is bytes:
        return r
    if type(r) is tuple and are_whole(p):
        return r
    return rewrap(r, [<object>met[i] for i in range(count)])


cdef inline bint are_whole(PyObject *items) noexcept:
    """Is a tuple one of Python's integers: a shape, for one?"""
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(items)):
        if Py_TYPE(<object>PyTuple_GET_ITEM(items, i)) != &PyLong_Type:
            return False
    return True


# ------------------------------------------------------------------------------------------------ NumPy's inner loops
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


cdef inline PyObject *operand(Loops loops, PyObject *x) noexcept:
    """NumPy's array of `x`, if a loop may run on it; else NULL."""
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
    return nd if n < lazy_from and n <= LOOPED else NULL


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
                cnp.npy_intp second_step, PyObject *out):
    """A fresh array with the loop's result, or `out` filled with it; None if a flag was raised."""
    cdef int t = tnp_type_num(like), i
    cdef cnp.npy_intp n = 1
    cdef cnp.npy_intp steps[3]
    cdef char *places[3]
    cdef cnp.ndarray r
    for i in range(tnp_ndim(like)):
        n *= tnp_dims(like)[i]
    r = cnp.PyArray_EMPTY(tnp_ndim(like), tnp_dims(like), loops.out[t], 0)
    places[0], steps[0] = first, first_step
    places[loops.nin] = cnp.PyArray_BYTES(r)
    steps[loops.nin] = cnp.PyArray_STRIDES(r)[0] if cnp.PyArray_NDIM(r) == 1 else cnp.PyArray_ITEMSIZE(r)
    if loops.nin == 2:
        places[1], steps[1] = second, second_step
    tnp_quiet()
    loops.loop[t](places, &n, steps, loops.data[t])
    if tnp_flagged():
        return None  # NumPy does it again, and warns
    if out == NULL:
        return owner(r)
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
    if Py_TYPE(<object>a) == ARRAY:
        x = operand(loops, a)
        if x == NULL or (out != NULL and not takes(loops, x, out)):
            return None
        if Py_TYPE(<object>b) == ARRAY:
            y = operand(loops, b)
            if y == NULL or tnp_type_num(x) != tnp_type_num(y) or not alike(x, y):
                return None
            return run(loops, x, tnp_data(x), step(x), tnp_data(y), step(y), out)
        if number(b, tnp_type_num(x), <char *>value):
            return run(loops, x, tnp_data(x), step(x), <char *>value, 0, out)
    elif Py_TYPE(<object>b) == ARRAY:
        y = operand(loops, b)
        if y != NULL and (out == NULL or takes(loops, y, out)) and number(a, tnp_type_num(y), <char *>value):
            return run(loops, y, <char *>value, 0, tnp_data(y), step(y), out)
    return None


cdef object single(Loops loops, PyObject *a, PyObject *out):
    """The operation on one operand, by NumPy's loop; None if that is not for here."""
    cdef PyObject *x
    if Py_TYPE(<object>a) != ARRAY:
        return None
    x = operand(loops, a)
    if x == NULL or (out != NULL and not takes(loops, x, out)):
        return None
    return run(loops, x, tnp_data(x), step(x), NULL, 0, out)


# ------------------------------------------------------------------------------------------------ calls of NumPy
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


cdef object substituted(PyObject *x, int marks, PyObject **met, int *count):
    """A list or tuple of arrays and numbers, with NumPy's arrays in it; None if there is anything else."""
    cdef bint is_list = Py_TYPE(<object>x) == &PyList_Type
    cdef Py_ssize_t i, n = PyList_GET_SIZE(x) if is_list else PyTuple_GET_SIZE(x)
    cdef PyObject *y
    cdef PyObject *nd
    items = []
    for i in range(n):
        y = PyList_GET_ITEM(x, i) if is_list else PyTuple_GET_ITEM(x, i)
        if Py_TYPE(<object>y) == ARRAY:
            nd = memory(y, marks)
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


cdef object through(PyObject *raw, PyObject **args, Py_ssize_t n, PyObject *kwnames):
    """``raw(*args)`` on the memory of the small arrays among the arguments; UNTAKEN if that is not for here."""
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
            y = memory(x, BUSY)
            if y == NULL or count == MET:
                return UNTAKEN
            met[count] = x
            count += 1
            stack[i + 1] = y
        elif plain(x, 0):
            stack[i + 1] = x
        elif t == &PyList_Type or t == &PyTuple_Type:
            made = substituted(x, BUSY, met, &count)
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
        if out != NULL and not (<object>self)._raw in WARNING:
            r = pair(loops, args[0], args[1], out) if loops.nin == 2 else single(loops, args[0], out)
            if r is not None:
                return <object>args[loops.nin]
    r = through(<PyObject *>(<ufunc>self)._raw, args, n, kwnames)
    return packed(self, args, n, kwnames, False) if r is UNTAKEN else r


WARNING = {_np.maximum, _np.minimum}  # NumPy deprecates an output given by position


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


cdef object call_function(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames):
    cdef Py_ssize_t n = given(nargsf)
    cdef int way = (<HostFunction>self).way
    cdef bint taken = way == 1
    if way == 2:
        taken = n > 0 and is_small_shape(args[0])
    elif way == 3:
        taken = kwnames == NULL and n <= 2
    if taken and not watchers:
        r = through(<PyObject *>(<HostFunction>self)._raw, args, n, kwnames)
        if r is not UNTAKEN:
            return r
    return packed(self, args, n, kwnames, False)


# Results may be large though the arguments are small, or memory stays in other hands
LONG_WAY = frozenset("tile repeat pad outer kron frombuffer from_dlpack fromfunction einsum einsum_path".split())
WAYS = dict.fromkeys(["empty", "ones", "full"], 2) | dict.fromkeys(["empty_like", "ones_like", "full_like"], 3)


def arm(f):
    """Let calls of a `HostFunction` or a ufunc come here first."""
    if type(f) is ufunc:
        (<ufunc>f).loops = loops_of((<ufunc>f)._raw)
        (<ufunc>f).vector = <void *>call_ufunc
    else:
        name = f.__name__
        (<HostFunction>f).way = 0 if f._calls is not None or name in LONG_WAY else WAYS.get(name, 1)
        (<HostFunction>f).vector = <void *>call_function
    return f


cdef class Method:  # a method of the array: NumPy's `raw` on small arrays, otherwise the function `long_way`
    cdef void *vector
    cdef PyObject *function
    cdef object raw
    cdef object long_way
    cdef bint bare  # results are Python's own objects
    cdef dict __dict__

    def __init__(self, raw, long_way):
        self.raw = raw
        self.function = <PyObject *>raw
        self.bare = raw in (_np.ndarray.tolist, _np.ndarray.item, _np.ndarray.tobytes)
        self.long_way = long_way
        self.vector = <void *>call_method
        for name in ("__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(long_way, name))
        self.__wrapped__ = raw

    def __call__(self, *args, **kwargs):
        return self.long_way(*args, **kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __repr__(self):
        return repr(self.long_way)


cdef object call_method(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames):
    cdef Py_ssize_t n = given(nargsf)
    cdef PyObject *nd
    if n > 0 and Py_TYPE(<object>args[0]) == ARRAY and not watchers:
        if n == 1 and kwnames == NULL:
            nd = memory(args[0], BUSY)
            if nd != NULL:
                r = PyObject_Vectorcall((<Method>self).function, &nd, 1, NULL)
                return r if (<Method>self).bare else as_result(r, args, 1)
        else:
            r = through((<Method>self).function, args, n, kwnames)
            if r is not UNTAKEN:
                return r
    return packed(<PyObject *>(<Method>self).long_way, args, n, kwnames, True)


# ------------------------------------------------------------------------------------------------ operators
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


cdef object inplace_add(object a, object b):
    return a if updated(ADD, a, b) else numbers.nb_inplace_add(a, b)


cdef object inplace_subtract(object a, object b):
    return a if updated(SUBTRACT, a, b) else numbers.nb_inplace_subtract(a, b)


cdef object inplace_multiply(object a, object b):
    return a if updated(MULTIPLY, a, b) else numbers.nb_inplace_multiply(a, b)


cdef object inplace_divide(object a, object b):
    return a if updated(DIVIDE, a, b) else numbers.nb_inplace_true_divide(a, b)


cdef object negative(object a):
    r = single(NEGATIVE, <PyObject *>a, NULL)
    return numbers.nb_negative(a) if r is None else r


cdef object absolute(object a):
    r = single(ABSOLUTE, <PyObject *>a, NULL)
    return numbers.nb_absolute(a) if r is None else r


cdef object compare(object a, object b, int op):
    cdef Loops loops = (LESS if op == 0 else LESS_EQUAL if op == 1 else EQUAL if op == 2 else NOT_EQUAL if op == 3
                        else GREATER if op == 4 else GREATER_EQUAL)
    r = pair(loops, <PyObject *>a, <PyObject *>b, NULL)
    return compared(a, b, op) if r is None else r


# ------------------------------------------------------------------------------------------------ elements, views
cdef object part(object x, PyObject *nd, PyObject **keys, Py_ssize_t n):
    """The element or view of `nd`, the memory of `x`, at these integers, slices and None; UNTAKEN for other keys."""
    cdef cnp.npy_intp dims[16]
    cdef cnp.npy_intp strides[16]
    cdef char *data = tnp_data(nd)
    cdef Py_ssize_t i, stop, by, k
    cdef cnp.npy_intp size
    cdef int axis = 0, made = 0, ndim = tnp_ndim(nd)
    cdef PyTypeObject *t
    if n + ndim > 16:
        return UNTAKEN
    for k in range(n):
        t = Py_TYPE(<object>keys[k])
        if keys[k] == NONE:
            dims[made], strides[made] = 1, 0
            made += 1
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
    if axis == ndim and made == 0:
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
    elif t != &PySlice_Type:
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


# ------------------------------------------------------------------------------------------------ attributes
cdef class Attribute:
    """An attribute that NumPy's getter has at hand; `other`, the attribute of the Python sources, does the rest."""
    cdef PyGetSetDef definition
    cdef PyGetSetDef *raw
    cdef PyObject *other


cdef object get_description(PyObject *x, void *closure):
    cdef Attribute a = <Attribute>closure
    cdef PyObject *nd = <PyObject *>(<ndarray>x)._nd
    if nd != NONE:
        return a.raw.get(nd, a.raw.closure)
    return (<object>a.other).__get__(<object>x)


cdef object get_view(PyObject *x, void *closure):
    cdef Attribute a = <Attribute>closure
    cdef PyObject *nd = there(x, UNREADABLE) if Py_TYPE(<object>x) == ARRAY else NULL
    if nd != NULL and tnp_type_num(nd) <= cnp.NPY_CLONGDOUBLE:
        return as_result(a.raw.get(nd, a.raw.closure), &x, 1)
    return (<object>a.other).__get__(<object>x)


cdef object get_base(PyObject *x, void *closure):
    cdef Attribute a = <Attribute>closure
    cdef PyObject *nd = <PyObject *>(<ndarray>x)._nd
    cdef object base = (<ndarray>x)._base
    if base is not None:
        return None if base is OWNER else base
    if nd != NONE and tnp_base(nd) == NULL:
        return None
    return (<object>a.other).__get__(<object>x)


cdef object get_flags(PyObject *x, void *closure):
    cdef flagsobj f = flagsobj.__new__(flagsobj)
    f._array = <object>x
    return f


cdef object get_flag(PyObject *f, void *closure):
    """A flag that the array's own memory tells."""
    cdef object x = (<flagsobj>f)._array
    cdef PyObject *nd = there(<PyObject *>x, UNREADABLE) if isinstance(x, ndarray) else NULL
    cdef int flag = FLAGS[<object><PyObject *>closure]
    if nd == NULL or (flag == cnp.NPY_ARRAY_WRITEABLE and not tnp_writeable(nd)):
        return getattr(real(x).flags, (<bytes><PyObject *>closure).decode())
    return tnp_flag(nd, flag) != 0


cdef dict FLAGS = {
    b"c_contiguous": cnp.NPY_ARRAY_C_CONTIGUOUS, b"contiguous": cnp.NPY_ARRAY_C_CONTIGUOUS,
    b"f_contiguous": cnp.NPY_ARRAY_F_CONTIGUOUS, b"writeable": cnp.NPY_ARRAY_WRITEABLE,
    b"aligned": cnp.NPY_ARRAY_ALIGNED,
}
cdef PyGetSetDef flag_definitions[8]


cdef install_flags():
    cdef int i = 0
    for name in FLAGS:
        attributes.append(name)
        flag_definitions[i].name = <const char *>name
        flag_definitions[i].get = get_flag
        flag_definitions[i].closure = <void *><PyObject *>name
        set_type_attribute(flagsobj, name.decode(), PyDescr_NewGetSet(<PyTypeObject *>flagsobj, &flag_definitions[i]))
        i += 1


cdef int set_other(PyObject *x, PyObject *value, void *closure) except -1:
    return tnp_delegate((<Attribute>closure).other, x, value)


cdef list attributes = []  # the types keep pointers into them


cdef install_attribute(bytes name, getter_function get):
    cdef Attribute a = Attribute.__new__(Attribute)
    other = ndarray.__dict__[name.decode()]
    attributes.extend([a, other, name])
    a.other = <PyObject *>other
    a.raw = tnp_getset(RAW, name)
    a.definition.name = a.raw.name
    a.definition.doc = a.raw.doc
    a.definition.get = get
    a.definition.set = set_other
    a.definition.closure = <void *>a
    set_type_attribute(ndarray, name.decode(), PyDescr_NewGetSet(ARRAY, &a.definition))


cdef object call_array_ufunc(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames):
    """``x.__array_ufunc__(ufunc, "__call__", *inputs)``, which NumPy asks: ``2.0 * x`` with a scalar of NumPy's."""
    cdef Py_ssize_t n = given(nargsf)
    if (n > 3 and kwnames == NULL and Py_TYPE(<object>args[0]) == ARRAY and isinstance(<object>args[1], _np.ufunc)
            and <object>args[2] == "__call__"):
        r = through(args[1], args + 3, n - 3, NULL)
        if r is not UNTAKEN:
            return r
    return packed(<PyObject *>(<Method>self).long_way, args, n, kwnames, True)


METHODS = """
all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod cumsum diagonal dot
fill flatten item max mean min nonzero partition prod put ravel reshape round searchsorted sort squeeze std sum swapaxes
take tobytes tolist trace transpose var view
""".split()


def install():
    """Put what is here in front of the class's own slots, methods and attributes."""
    global compared, iterated, numbers, mapping
    cdef Method asked
    cdef PyNumberMethods *n = tnp_numbers(ARRAY)
    cdef PyMappingMethods *m = tnp_mapping(ARRAY)
    cdef Slots *t = <Slots *>ARRAY
    numbers, mapping, compared, iterated = n[0], m[0], t.tp_richcompare, t.tp_iter
    n.nb_add, n.nb_subtract, n.nb_multiply, n.nb_true_divide = add, subtract, multiply, divide
    n.nb_inplace_add, n.nb_inplace_subtract = inplace_add, inplace_subtract
    n.nb_inplace_multiply, n.nb_inplace_true_divide = inplace_multiply, inplace_divide
    n.nb_negative, n.nb_absolute = negative, absolute
    m.mp_subscript, m.mp_ass_subscript = subscript, assign
    t.tp_richcompare, t.tp_iter = compare, iterate
    tnp_set_alloc(ARRAY)
    asked = Method(_np.ndarray.__array_ufunc__, ndarray.__dict__["__array_ufunc__"])
    asked.vector = <void *>call_array_ufunc
    set_type_attribute(ndarray, "__array_ufunc__", asked)
    for name in METHODS:
        set_type_attribute(ndarray, name, Method(getattr(_np.ndarray, name), ndarray.__dict__[name]))
    for attribute in (b"shape", b"dtype", b"ndim", b"size", b"strides", b"itemsize", b"nbytes"):
        install_attribute(attribute, get_description)
    for attribute in (b"T", b"mT", b"real", b"imag"):
        install_attribute(attribute, get_view)
    install_attribute(b"base", get_base)
    install_attribute(b"flags", get_flags)
    install_flags()
    PyType_Modified(ARRAY)


cdef Py_ssize_t _offset_of_ufunc_vector():
    cdef ufunc f = ufunc(_np.add)
    return <char *>&f.vector - <char *><PyObject *>f


cdef Py_ssize_t _offset_of_function_vector():
    cdef HostFunction f = HostFunction(_np.sum, "sum", None, False)
    return <char *>&f.vector - <char *><PyObject *>f


cdef Py_ssize_t _offset_of_method_vector():
    cdef Method f = Method.__new__(Method)
    return <char *>&f.vector - <char *><PyObject *>f


tnp_set_vectorcall(<PyTypeObject *>ufunc, _offset_of_ufunc_vector(), False)
tnp_set_vectorcall(<PyTypeObject *>HostFunction, _offset_of_function_vector(), False)
tnp_set_vectorcall(<PyTypeObject *>Method, _offset_of_method_vector(), True)
