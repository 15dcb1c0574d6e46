# What _quick.pyx takes from Python's and NumPy's C interfaces.

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
    static PyObject *tnp_whole_view(PyObject *a) { return PyArray_View((PyArrayObject *)a, NULL, NULL); }
    /* A loop that is worth letting other threads run meanwhile. */
    static void tnp_run_free(PyUFuncGenericFunction loop, char **places, npy_intp *n, npy_intp *steps, void *data) {
        Py_BEGIN_ALLOW_THREADS
        loop(places, n, steps, data);
        Py_END_ALLOW_THREADS
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
    /* An array of nothing yet, as Cython's own `tp_new` makes it: the fields stand in tnp/hot.pxd in this order */
    static PyObject *tnp_make(PyTypeObject *t) {
        PyObject *o = tnp_alloc(t, 0);
        if (o == NULL) return NULL;
        PyObject **field = (PyObject **)((char *)o + sizeof(PyObject));
        for (int i = 0; i < 4; i++) { Py_INCREF(Py_None); field[i] = Py_None; }
        return o;
    }
    static void tnp_set_alloc(PyTypeObject *t) {
        t->tp_alloc = tnp_alloc;
        t->tp_free = tnp_free;
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
    object tnp_whole_view(PyObject *a)
    void tnp_run_free(cnp.PyUFuncGenericFunction loop, char **places, cnp.npy_intp *n, cnp.npy_intp *steps, void *data)
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
    ctypedef object (*three_operands "ternaryfunc")(object, object, object)
    ctypedef int (*assignment "objobjargproc")(PyObject *, PyObject *, PyObject *) except -1
    ctypedef object (*comparison "richcmpfunc")(object, object, int)
    ctypedef struct PyNumberMethods:
        two_operands nb_add, nb_subtract, nb_multiply, nb_true_divide
        two_operands nb_inplace_add, nb_inplace_subtract, nb_inplace_multiply, nb_inplace_true_divide
        one_operand nb_negative, nb_absolute
        three_operands nb_power
        two_operands nb_divmod
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
