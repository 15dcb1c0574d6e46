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
from cpython.number cimport (
    PyNumber_InPlaceAdd, PyNumber_InPlaceMultiply, PyNumber_InPlaceSubtract, PyNumber_InPlaceTrueDivide,
)
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from tnp.arrays.flags cimport flagsobj, flatiter
from tnp.core.cells cimport Cell
from tnp.host cimport HostFunction
from tnp.lazy.lone cimport runs_now
from tnp.hot cimport _as_view, base_for, lazy_from, ndarray, real, ufunc

import numpy as _np

from tnp.core.native import set_type_attribute
from tnp.host import rewrap, watchers
from tnp.hot import OWNER
from tnp.ops.memory import adopt, pooled

cnp.import_array()
cnp.import_ufunc()

include "_quick_c.pxi"

cdef int BUSY = 15  # as in tnp/hot.py
cdef int UNREADABLE = 13
cdef int SHARED = 16
cdef enum:
    KINDS = 24  # NumPy's numbers of dtypes: 23 is float16
    LOOPED = 4096  # elements up to which a loop keeps the interpreter's lock
    POOLED = 1 << 20  # bytes from which results get memory of the pool, as in tnp/bind.py
    MOST = 10  # arguments of a call
    MET = 12  # arrays among them

cdef PyTypeObject *ARRAY = <PyTypeObject *>ndarray
cdef PyTypeObject *RAW = <PyTypeObject *>_np.ndarray
cdef PyTypeObject *FLOAT64 = <PyTypeObject *>_np.float64
cdef PyObject *NONE = <PyObject *>None
cdef list WATCHERS = watchers
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
    y._base = base_for(of)
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
    if r is None or type(r) is float or type(r) is int or type(r) is bool or tnp_is_number(p) or type(r) is bytes:
        return r
    if tnp_is_number_dtype(p):
        return r
    if type(r) is tuple:
        if are_whole(p):
            return r
        if are_fresh(p, met, count):
            return tuple([owner(y) for y in <tuple>r])
    return rewrap(r, [<object>met[i] for i in range(count)])


cdef inline bint are_fresh(PyObject *items, PyObject **met, int count) noexcept:
    """Is a tuple one of arrays (without objects) on memory that none of the arrays `met` has?"""
    cdef Py_ssize_t i
    cdef int k
    cdef PyObject *y
    cdef PyObject *base
    cdef PyObject *nd
    for i in range(PyTuple_GET_SIZE(items)):
        y = PyTuple_GET_ITEM(items, i)
        if not is_raw(y) or tnp_type_num(y) > cnp.NPY_CLONGDOUBLE:
            return False
        base = tnp_base(y)
        if base != NULL and not is_raw(base):
            return False
        for k in range(count):
            nd = <PyObject *>(<ndarray>met[k])._nd
            if y == nd or (base != NULL and (base == nd or base == tnp_base(nd))):
                return False
    return True


cdef inline bint are_whole(PyObject *items) noexcept:
    """Is a tuple one of Python's integers: a shape, for one?"""
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(items)):
        if Py_TYPE(<object>PyTuple_GET_ITEM(items, i)) != &PyLong_Type:
            return False
    return True


include "_quick_loops.pxi"
include "_quick_calls.pxi"
include "_quick_shorts.pxi"
include "_quick_views.pxi"


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


cdef object get_flat(PyObject *x, void *closure):
    cdef PyObject *nd = there(x, UNREADABLE)
    cdef flatiter f
    if nd == NULL or tnp_type_num(nd) > cnp.NPY_CLONGDOUBLE:
        return (<object>(<Attribute>closure).other).__get__(<object>x)
    if tnp_ndim(nd) > 32:
        (<object>nd).flat  # NumPy's refuses here
    f = flatiter.__new__(flatiter)
    f.base = <object>x
    return f


cdef inline object f_getattr(object f, object name):
    """A flag, the way of the Python sources."""
    return f.__getattr__(name)


cdef object get_flag(PyObject *f, void *closure):
    """A flag that the array's own memory tells."""
    cdef object x = (<flagsobj>f)._array
    cdef PyObject *nd = there(<PyObject *>x, UNREADABLE) if isinstance(x, ndarray) else NULL
    cdef int flag = FLAGS[<object><PyObject *>closure]
    if nd == NULL or (flag == cnp.NPY_ARRAY_WRITEABLE and not tnp_writeable(nd)):
        return f_getattr(<object>f, (<bytes><PyObject *>closure).decode())
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
    n.nb_negative, n.nb_absolute, n.nb_power, n.nb_divmod = negative, absolute, power, quotients
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
    install_attribute(b"flat", get_flat)
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
