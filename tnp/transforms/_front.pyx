# cython: language_level=3, boundscheck=False, wraparound=False
"""The short way into a plan: arguments that are as they were are recognised, and the program is run, in C.

Everything else goes the long way of tnp/transforms/jit.py, which alone says what a key is.
"""
cimport numpy as cnp
from cpython.object cimport Py_TYPE, PyObject
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp
from tnp.core.cells cimport Cell
from tnp.hot cimport ndarray, wrap

cdef extern from "Python.h":
    int PyContextVar_Get(PyObject *var, PyObject *default, PyObject **value) except -1

cnp.import_array()

ctypedef long long word

cdef enum:
    ARRAY = 0
    NUMBER = 1  # NumPy's scalar
    SAME = 2
    ANY = 15  # marks of a cell that somebody has to look at
    DIMS = 8
    MOST = 8  # plans that are tried
    # Where a value comes from
    ARGUMENT = 0
    NAME = 1
    ATTRIBUTE = 2
    # What a result is
    INPUT = 0
    VALUE = 1
    FRESH = 2
    CONSTANT = 3

cdef struct Leaf:
    int kind
    int ndim
    int group
    int writeable
    word offset  # from the start of its piece of memory
    word shape[DIMS]
    word strides[DIMS]
    PyObject *dtype  # of an array; the type of a number
    double number[4]

cdef object MISSING = object()


cdef class Matcher:
    """A plan, and what its inputs look like.

    Parameters
    ----------
    plan, program : object
    sources : list of (int, object, object, object)
        Where values come from, and the key of the structure that they make (tnp/transforms/structure.py).
    leaves : list of (int, ...)
        What it has to be: see `add`.
    sizes : list of int
        Bytes of each piece of memory.
    blocks : list of (int, int)
        For each block of the program: 0 and a piece, 1 and the number of a value, or 2 and that of a fresh array.
    fresh : list of (tuple, dtype, bool)
        Shape, dtype, and whether it is in Fortran's order.
    results : list of (int, object)
    form : int
        0: one result, 1: a tuple, 2: `build` puts them together.
    """
    cdef readonly object plan
    cdef object runner, asked, build, keep
    cdef list sources, constants, fresh, results
    cdef Leaf *leaves
    cdef word *words
    cdef word *starts
    cdef word *sizes
    cdef int *kinds
    cdef int *numbers
    cdef int count, pieces, blocks, form, nargs

    def __cinit__(self, plan, runner, asked, list sources, list leaves, list sizes, list blocks, list fresh,
                  list results, int form, build, int nargs):
        cdef int i, d
        self.plan, self.runner, self.asked, self.build = plan, runner, asked, build
        self.sources, self.fresh, self.results, self.form, self.nargs = sources, fresh, results, form, nargs
        self.count, self.pieces, self.blocks = len(leaves), len(sizes), len(blocks)
        self.leaves = <Leaf *>malloc(sizeof(Leaf) * (self.count + 1))
        self.words = <word *>malloc(8 * (self.blocks + 1))
        self.starts = <word *>malloc(8 * (self.pieces + 1))
        self.sizes = <word *>malloc(8 * (self.pieces + 1))
        self.kinds = <int *>malloc(4 * (self.blocks + 1))
        self.numbers = <int *>malloc(4 * (self.blocks + 1))
        self.constants = [None] * self.count
        self.keep = leaves
        for i in range(self.pieces):
            self.sizes[i] = sizes[i]
        for i in range(self.blocks):
            self.kinds[i], self.numbers[i] = blocks[i]
        for i in range(self.count):
            x = leaves[i]
            self.leaves[i].kind = x[0]
            if x[0] == ARRAY:
                _, dtype, shape, strides, writeable, group, offset = x
                self.leaves[i].ndim, self.leaves[i].group = len(shape), group
                self.leaves[i].writeable, self.leaves[i].offset = writeable, offset
                self.leaves[i].dtype = <PyObject *>dtype
                for d in range(len(shape)):
                    self.leaves[i].shape[d], self.leaves[i].strides[d] = shape[d], strides[d]
            elif x[0] == NUMBER:
                self.leaves[i].dtype = <PyObject *>x[1]
            else:
                self.constants[i] = x[1]

    def __dealloc__(self):
        free(self.leaves)
        free(self.words)
        free(self.starts)
        free(self.sizes)
        free(self.kinds)
        free(self.numbers)

    cdef list values(self, tuple args):
        """The leaves now; None if they make other structures."""
        cdef list found = []
        cdef tuple source
        cdef int kind
        for item in self.sources:
            source = <tuple>item
            kind = source[0]
            if kind == ARGUMENT:
                v = args[<Py_ssize_t>source[1]]
            elif kind == NAME:
                v = source[1]()
            else:
                v = found[<Py_ssize_t>source[1]].__dict__.get(source[2], MISSING)
            if source[3] is None:
                if not leaf(v, found):
                    return None
            elif not spread(v, <tuple?>source[3], found):
                return None
        return found if len(found) == self.count else None

    cdef list matched(self, tuple args):
        """The inputs, if they are as they were; None."""
        cdef int i, d, g, h
        cdef Leaf *want
        cdef ndarray x
        cdef cnp.ndarray nd
        cdef Cell c
        cdef word at
        cdef list found
        if len(args) != self.nargs:
            return None
        found = self.values(args)
        if found is None:
            return None
        for g in range(self.pieces):
            self.starts[g] = 0
        for i in range(self.count):
            want = &self.leaves[i]
            v = found[i]
            if want.kind == ARRAY:
                if type(v) is not ndarray:
                    return None
                x = <ndarray>v
                c = x._cell
                if x._nd is None or (c is not None and c.marked & ANY):
                    return None
                nd = <cnp.ndarray>x._nd
                if <PyObject *>cnp.PyArray_DESCR(nd) != want.dtype or cnp.PyArray_NDIM(nd) != want.ndim:
                    return None
                for d in range(want.ndim):
                    if cnp.PyArray_DIM(nd, d) != want.shape[d] or cnp.PyArray_STRIDE(nd, d) != want.strides[d]:
                        return None
                if not cnp.PyArray_ISALIGNED(nd) or cnp.PyArray_ISWRITEABLE(nd) != want.writeable:
                    return None
                at = <Py_ssize_t>cnp.PyArray_DATA(nd) - want.offset
                if self.starts[want.group] == 0:
                    self.starts[want.group] = at
                elif self.starts[want.group] != at:
                    return None
            elif want.kind == NUMBER:
                if <PyObject *>Py_TYPE(v) != want.dtype:
                    return None
                cnp.PyArray_ScalarAsCtype(v, want.number)
            elif not is_same(v, self.constants[i]):
                return None
        for g in range(self.pieces):
            for h in range(g):
                if self.starts[g] < self.starts[h] + self.sizes[h] and self.starts[h] < self.starts[g] + self.sizes[g]:
                    return None
        return found

    cdef object run(self, list found):
        """Run the program. MISSING: the long way has to."""
        cdef int i, n
        cdef word status
        cdef list made = []
        cdef list out
        cdef cnp.npy_intp dims[DIMS]
        for spec in self.fresh:
            shape = <tuple>spec[0]
            n = len(shape)
            for i in range(n):
                dims[i] = shape[i]
            made.append(cnp.PyArray_EMPTY(n, dims, <int>spec[1], <bint>spec[2]))
        for i in range(self.blocks):
            n = self.numbers[i]
            if self.kinds[i] == 0:
                self.words[i] = self.starts[n]
            elif self.kinds[i] == 1:
                self.words[i] = <Py_ssize_t>self.leaves[n].number
            else:
                self.words[i] = <Py_ssize_t>cnp.PyArray_DATA(<cnp.ndarray>made[n])
        status = self.runner(<Py_ssize_t>self.words)
        if status and (status < 0 or self.asked(status)):
            if status != -2:
                self.plan.undo(<Py_ssize_t>self.words)
            return MISSING
        out = []
        for pair in self.results:
            i = pair[0]
            x = pair[1]
            if i == FRESH:
                out.append(wrap(made[<Py_ssize_t>x]))
            elif i == VALUE:
                out.append(cnp.PyArray_ToScalar(cnp.PyArray_DATA(<cnp.ndarray>x), <cnp.ndarray>x))
            elif i == INPUT:
                out.append(found[<Py_ssize_t>x])
            else:
                out.append(x)
        if self.form == 0:
            return out[0]
        return tuple(out) if self.form == 1 else self.build(iter(out))


cdef bint spread(object x, tuple form, list found) except -1:
    """Append the leaves of `x`; False if it is no structure of this form."""
    cdef Py_ssize_t i, n = len(form) - 1
    cdef tuple part
    t = form[0]
    if t is type(None):
        return x is None
    if type(x) is not t or len(x) != n:
        return False
    if t is dict:
        i = 0
        for k, v in x.items():
            i += 1
            part = <tuple>form[i]
            if part[0] != k or not (leaf(v, found) if part[1] is None else spread(v, <tuple?>part[1], found)):
                return False
        return True
    for i in range(n):
        v = x[i]
        if not (leaf(v, found) if form[1 + i] is None else spread(v, <tuple?>form[1 + i], found)):
            return False
    return True


cdef bint leaf(object x, list found) except -1:
    """Append a leaf, which a structure is not."""
    t = type(x)
    if x is None or t is list or t is tuple or t is dict:
        return False
    found.append(x)
    return True


cdef bint is_same(object a, object b):
    """Are two constants the same, also as a key?"""
    cdef double x, y
    if a is b:
        return True
    t = type(a)
    if t is not type(b):
        return False
    if t is float:
        x, y = a, b
        return memcmp(&x, &y, 8) == 0
    if t is int or t is str or t is bool or t is bytes:
        return a == b
    return False


cdef class Front:
    """A function that tries the short way first; `long_way(args, kwargs)` is the other."""
    cdef list matchers
    cdef tuple variables

    def __init__(self, *variables):
        self.matchers = []
        self.variables = variables

    def add_matcher(self, Matcher m):
        self.matchers.insert(0, m)
        del self.matchers[MOST:]

    def drop_matchers(self):
        self.matchers = []

    def __call__(self, *args, **kwargs):
        cdef PyObject *value
        cdef Py_ssize_t k
        cdef Matcher m
        cdef list found
        cdef bint busy = False
        if not kwargs and self.matchers:
            for variable in self.variables:
                PyContextVar_Get(<PyObject *>variable, NULL, &value)
                busy = busy or (value != NULL and <object>value is not None and <object>value != ())
                Py_XDECREF(value)
            if not busy:
                for k in range(len(self.matchers)):
                    m = <Matcher>self.matchers[k]
                    found = m.matched(args)
                    if found is not None:
                        r = m.run(found)
                        if r is MISSING:
                            return self.again(m.plan, args, kwargs)
                        if k:
                            self.matchers.insert(0, self.matchers.pop(k))
                        return r
        return self.long_way(args, kwargs)


cdef extern from "Python.h":
    void Py_XDECREF(PyObject *x)
