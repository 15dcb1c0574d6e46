# cython: language_level=3
"""The few things that only C can do. Everything here has a fallback in tnp/core/native.py."""
from cpython.object cimport PyObject, PyTypeObject
from cpython.buffer cimport PyObject_GetBuffer, PyBuffer_Release
cimport numpy as cnp

cdef extern from *:
    """
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
    static void tnp_set_concat(PyTypeObject *t) { t->tp_as_sequence->sq_concat = tnp_concat; }
    """
    void tnp_own_view(Py_buffer *view, PyObject *self)
    void tnp_set_concat(PyTypeObject *t)
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
    tnp_own_view(view, self)
    return 0


def install_buffer(type cls):
    """Give `cls` the buffer protocol, through the NumPy array that ``__array_export__()`` returns."""
    tnp_set_buffer(<PyTypeObject *>cls, _get_buffer)


def refuse_concat(type cls):
    """``operator.concat`` raises NumPy's TypeError."""
    tnp_set_concat(<PyTypeObject *>cls)


def set_metaclass(type cls, type meta):
    """Make `meta`, a subclass of type without fields of its own, the class of the class `cls`."""
    tnp_set_metaclass(<PyTypeObject *>cls, <PyTypeObject *>meta)


def address(cnp.ndarray array):
    """Address of the first element."""
    return <size_t>cnp.PyArray_DATA(array)
