# What compiled modules read from Python's and NumPy's structures themselves, by the names that native.py has for it.
cimport numpy as cnp

cdef extern from *:
    """
    #include <frameobject.h>
    #include "numpy/arrayobject.h"
    /* The innermost frame that is not tnp's own (tnp's Python files have frames, its compiled ones do not). */
    static inline PyObject *tnp_point(void) {
        static PyObject *name = NULL;
        if (name == NULL && (name = PyUnicode_InternFromString("__name__")) == NULL) return NULL;
        PyFrameObject *frame = PyEval_GetFrame();
        Py_XINCREF(frame);
        while (frame != NULL) {
            PyObject *globals = PyFrame_GetGlobals(frame);
            PyObject *module = PyDict_GetItemWithError(globals, name);
            const char *text = module != NULL && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : "";
            if (text == NULL || strncmp(text, "tnp", 3) != 0 || (text[3] != 0 && text[3] != '.')) {
                PyObject *code = (PyObject *)PyFrame_GetCode(frame);
                PyObject *at = PyLong_FromSsize_t(PyFrame_GetLasti(frame));
                PyObject *point = at != NULL ? PyTuple_New(3) : NULL;
                PyErr_Clear();
                Py_DECREF(frame);
                if (point == NULL) {
                    Py_DECREF(code); Py_DECREF(globals); Py_XDECREF(at);
                    return PyErr_NoMemory();
                }
                PyTuple_SET_ITEM(point, 0, code);
                PyTuple_SET_ITEM(point, 1, at);
                PyTuple_SET_ITEM(point, 2, globals);
                return point;
            }
            PyFrameObject *back = PyFrame_GetBack(frame);
            Py_DECREF(globals);
            Py_DECREF(frame);
            frame = back;
        }
        Py_RETURN_NONE;
    }
    static inline PyObject *tnp_value(PyObject *var) {
        PyObject *value = NULL;
        if (PyContextVar_Get(var, NULL, &value) < 0) return NULL;
        if (value == NULL) PyErr_SetObject(PyExc_LookupError, var);
        return value;
    }
    static inline void tnp_untrack(PyObject *x) {
        if (PyObject_IS_GC(x)) PyObject_GC_UnTrack(x);
    }
    static inline PyObject *tnp_weak(PyObject *x) { return PyWeakref_NewRef(x, NULL); }
    static inline PyObject *tnp_dtype(PyArrayObject *nd) {
        PyObject *d = (PyObject *)PyArray_DESCR(nd);
        Py_INCREF(d);
        return d;
    }
    static inline PyObject *tnp_integers(int n, const npy_intp *values) {
        PyObject *made = PyTuple_New(n);
        for (int i = 0; i < n && made != NULL; i++) {
            PyObject *k = PyLong_FromSsize_t(values[i]);
            if (k == NULL) Py_CLEAR(made);
            else PyTuple_SET_ITEM(made, i, k);
        }
        return made;
    }
    static inline PyObject *tnp_shape(PyArrayObject *nd) { return tnp_integers(PyArray_NDIM(nd), PyArray_DIMS(nd)); }
    static inline PyObject *tnp_strides_of(PyArrayObject *nd) {
        return tnp_integers(PyArray_NDIM(nd), PyArray_STRIDES(nd));
    }
    static inline Py_ssize_t tnp_size(PyArrayObject *nd) {
        Py_ssize_t n = 1;
        for (int i = 0; i < PyArray_NDIM(nd); i++) n *= PyArray_DIMS(nd)[i];
        return n;
    }
    static inline Py_ssize_t tnp_elsize(PyObject *dtype) { return ((_PyArray_DescrNumPy2 *)dtype)->elsize; }
    static inline int tnp_inexact(PyObject *dtype) {
        char kind = ((_PyArray_DescrNumPy2 *)dtype)->kind;
        return kind == 'f' || kind == 'c';
    }
    /* By the exponent's bits, which raises no flag: 1, 0, or -1 where NumPy has to look */
    static inline int tnp_finite(PyArrayObject *nd) {
        Py_ssize_t n = tnp_size(nd);
        int whole = PyArray_IS_C_CONTIGUOUS(nd) && PyArray_ISALIGNED(nd) && PyArray_ISNOTSWAPPED(nd), bad = 0;
        if (whole && PyArray_TYPE(nd) == NPY_DOUBLE) {
            const npy_uint64 *x = (const npy_uint64 *)PyArray_DATA(nd), ones = 0x7ff0000000000000ULL;
            for (Py_ssize_t i = 0; i < n; i++) bad |= (x[i] & ones) == ones;
            return !bad;
        }
        if (whole && PyArray_TYPE(nd) == NPY_FLOAT) {
            const npy_uint32 *x = (const npy_uint32 *)PyArray_DATA(nd), ones = 0x7f800000U;
            for (Py_ssize_t i = 0; i < n; i++) bad |= (x[i] & ones) == ones;
            return !bad;
        }
        return -1;
    }
    static inline PyObject *tnp_is_finite(PyArrayObject *nd) {
        int known = tnp_finite(nd);
        if (known >= 0) return PyBool_FromLong(known);
        static PyObject *ask = NULL;
        if (ask == NULL) {
            PyObject *module = PyImport_ImportModule("tnp.core.native");
            if (module == NULL) return NULL;
            ask = PyObject_GetAttrString(module, "is_finite");
            Py_DECREF(module);
            if (ask == NULL) return NULL;
        }
        return PyObject_CallOneArg(ask, (PyObject *)nd);
    }
    static inline Py_ssize_t tnp_bytes(PyArrayObject *nd) {
        return tnp_size(nd) * tnp_elsize((PyObject *)PyArray_DESCR(nd));
    }
    static inline int tnp_contiguous(PyArrayObject *nd) { return PyArray_IS_C_CONTIGUOUS(nd); }
    static inline int tnp_may_write(PyArrayObject *nd) { return PyArray_FLAGS(nd) & NPY_ARRAY_WRITEABLE; }
    """
    object point "tnp_point" ()
    object value "tnp_value" (object var)
    object weak "tnp_weak" (object x)
    void spare_collector "tnp_untrack" (object x)
    Py_ssize_t references "Py_REFCNT" (object x)
    object dtype "tnp_dtype" (cnp.ndarray nd)
    object shape "tnp_shape" (cnp.ndarray nd)
    Py_ssize_t size "tnp_size" (cnp.ndarray nd)
    object strides "tnp_strides_of" (cnp.ndarray nd)
    object is_finite "tnp_is_finite" (cnp.ndarray nd)
    Py_ssize_t itemsize "tnp_elsize" (object dtype)
    bint is_inexact "tnp_inexact" (object dtype)
    Py_ssize_t nbytes "tnp_bytes" (cnp.ndarray nd)
    bint is_contiguous "tnp_contiguous" (cnp.ndarray nd)
    bint is_writeable "tnp_may_write" (cnp.ndarray nd)
    size_t address "(size_t)PyArray_DATA" (cnp.ndarray nd)
