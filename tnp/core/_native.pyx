# cython: language_level=3
"""The few things that only C can do. Everything here has a fallback in tnp/core/native.py."""
from cpython.object cimport PyObject, PyTypeObject
from cpython.buffer cimport PyBUF_FULL_RO, PyBuffer_Release, PyObject_GetBuffer
cimport numpy as cnp
from tnp.core cimport native

cdef extern from *:
    """
    #if defined(__has_include)
    #if __has_include(<execinfo.h>) && __has_include(<dlfcn.h>)
    #include <dlfcn.h>
    #include <execinfo.h>
    #define TNP_CALLERS
    #endif
    #endif
    /* Does NumPy ask for the buffer, in whose compiled module `in_numpy` lies, and not the program's memoryview()? Both
       come through PyMemoryView_FromObject, which NumPy calls itself: its frame is the sixth at most. */
    static int tnp_asked_by(void *in_numpy) {
    #ifdef TNP_CALLERS
        void *callers[7];
        Dl_info numpy, caller;
        int i, n = backtrace(callers, 7);
        if (!dladdr(in_numpy, &numpy)) return 0;
        for (i = 0; i < n; i++)
            if (dladdr(callers[i], &caller) && caller.dli_fbase == numpy.dli_fbase) return 1;
    #endif
        return 0;
    }
    static void tnp_set_name(PyTypeObject *t, const char *name) { t->tp_name = name; PyType_Modified(t); }
    static int tnp_set_attr(PyTypeObject *t, PyObject *name, PyObject *value) {
        int r = PyDict_SetItem(t->tp_dict, name, value);
        PyType_Modified(t);
        return r;
    }
    static PyBufferProcs tnp_buffer_procs;
    /* The view names the program's array; the exported array, whose life says that the memory is shared, is kept
       beside it. */
    static void tnp_own_view(Py_buffer *view, PyObject *self) {
        view->internal = view->obj;
        Py_INCREF(self);
        view->obj = self;
    }
    static void tnp_release_view(PyObject *self, Py_buffer *view) { 
        PyObject *kept = (PyObject *)view->internal;
        view->internal = NULL;
        Py_XDECREF(kept);
    }
    static void tnp_set_buffer(PyTypeObject *t, getbufferproc get) {
        tnp_buffer_procs.bf_getbuffer = get;
        tnp_buffer_procs.bf_releasebuffer = tnp_release_view;
        t->tp_as_buffer = &tnp_buffer_procs;
        PyType_Modified(t);
    }
    static PyObject *tnp_concat(PyObject *a, PyObject *b) {
        PyErr_SetString(PyExc_TypeError,
            "Concatenation operation is not implemented for NumPy arrays, use np.concatenate() instead. "
            "Please do not rely on this error; it may not be given on all Python implementations.");
        return NULL;
    }
    static void tnp_set_metaclass(PyTypeObject *t, PyTypeObject *meta) {
        Py_INCREF(meta);
        Py_SET_TYPE((PyObject *)t, meta);
        PyType_Modified(t);
    }
    static newfunc tnp_bare_new;
    static PyObject *tnp_construct;
    static PyObject *tnp_new(PyTypeObject *t, PyObject *args, PyObject *kwargs) {
        static PyObject *nothing = NULL;
        if (nothing == NULL && (nothing = PyTuple_New(0)) == NULL) return NULL;
        PyObject *self = tnp_bare_new(t, nothing, NULL);
        if (self == NULL || (PyTuple_GET_SIZE(args) == 0 && (kwargs == NULL || PyDict_GET_SIZE(kwargs) == 0)))
            return self;
        PyObject *first = PyTuple_Pack(1, self), *all = first ? PySequence_Concat(first, args) : NULL;
        PyObject *done = all ? PyObject_Call(tnp_construct, all, kwargs) : NULL;
        Py_XDECREF(first);
        Py_XDECREF(all);
        if (done == NULL) Py_CLEAR(self);
        Py_XDECREF(done);
        return self;
    }
    static void tnp_set_new(PyTypeObject *t, PyObject *construct) {
        Py_INCREF(construct);
        tnp_construct = construct;
        tnp_bare_new = t->tp_new;
        t->tp_new = tnp_new;
        PyType_Modified(t);
    }
    static void tnp_set_concat(PyTypeObject *t) { t->tp_as_sequence->sq_concat = tnp_concat; }
    """
    int tnp_asked_by(void *in_numpy)
    void tnp_own_view(Py_buffer *view, PyObject *self)
    void tnp_set_concat(PyTypeObject *t)
    void tnp_set_new(PyTypeObject *t, object construct)
    void tnp_set_metaclass(PyTypeObject *t, PyTypeObject *meta)
    void tnp_set_name(PyTypeObject *t, const char *name)
    int tnp_set_attr(PyTypeObject *t, object name, object value) except -1
    void tnp_set_buffer(PyTypeObject *t, int (*get)(PyObject *, Py_buffer *, int) except -1)


cdef list _names = []


def set_type_name(cls, str name):
    """What `repr(cls)` shows: module and name."""
    data = name.encode()
    _names.append(data)  # the type keeps the pointer
    tnp_set_name(<PyTypeObject *>cls, data)


def set_type_attribute(cls, str name, value):
    """Add a method to an extension type."""
    tnp_set_attr(<PyTypeObject *>cls, name, value)


cdef int _get_buffer(PyObject *self, Py_buffer *view, int flags) except -1:
    # The view belongs to the exported NumPy array: its life is counted there
    array = (<object>self).__array_export__()
    PyObject_GetBuffer(array, view, flags)
    if flags == PyBUF_FULL_RO and _rounded(view, array) and tnp_asked_by(<void *>cnp.ndarray):
        view.strides = <Py_ssize_t *>cnp.PyArray_STRIDES(array)  # they live as long as the exported array
    tnp_own_view(view, self)
    return 0


cdef bint _rounded(Py_buffer *view, cnp.ndarray array):
    """Does the view have other strides than the array, along axes of one element or where there are none?"""
    cdef int i
    for i in range(view.ndim):
        if view.strides[i] != cnp.PyArray_STRIDES(array)[i]:
            return True
    return False


def install_buffer(type cls):
    """Give `cls` the buffer protocol, through the NumPy array that ``__array_export__()`` returns."""
    tnp_set_buffer(<PyTypeObject *>cls, _get_buffer)


def refuse_concat(type cls):
    """``operator.concat`` raises NumPy's TypeError."""
    tnp_set_concat(<PyTypeObject *>cls)


def install_new(type cls, construct):
    """``cls(*args)``, with any arguments, calls ``construct(self, *args)`` on the bare object."""
    tnp_set_new(<PyTypeObject *>cls, construct)


def set_metaclass(type cls, type meta):
    """Make `meta`, a subclass of type without fields of its own, the class of the class `cls`."""
    tnp_set_metaclass(<PyTypeObject *>cls, <PyTypeObject *>meta)


def address(cnp.ndarray array):
    """Address of the first element."""
    return <size_t>cnp.PyArray_DATA(array)


def point():
    """Where the program is: code, instruction and globals of the innermost frame that is not tnp's, or None."""
    return native.point()
