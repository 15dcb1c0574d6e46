# cython: language_level=3
"""Launching in C. Everything here has a fallback in tnp/backends/cpu/calls.py."""
cimport numpy as cnp
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport Py_TYPE, PyObject
from libc.string cimport memcpy
from tnp.backends.base cimport Group, Step
from tnp.backends.cpu._crew cimport share_out

from tnp.backends.base import FAST as _fast
from tnp.backends.cpu.threads import helpers
from tnp.core.primitive import Reduction as _reduction

ctypedef long long word
# One that takes fewer numbers ignores the others: they come in registers, or on the caller's stack
ctypedef word (*kernel)(const char *, word, word, word, word, word) noexcept nogil

cnp.import_array()

DEF MOST = 4000  # words of a signature: larger groups are looked up the slow way
cdef Py_ssize_t DATA = object.__basicsize__
cdef object FAST = _fast, REDUCTION = _reduction


cdef class Function:
    """A function of `driver` or `walks`: its arguments, then 4 or 5 numbers."""
    cdef kernel at

    def __init__(self, word address):
        self.at = <kernel><Py_ssize_t>address

    def __call__(self, bytes args, word a, word b, word c, word d, word e=0):
        cdef const char *p = PyBytes_AS_STRING(args)
        cdef word found
        with nogil:
            found = self.at(p, a, b, c, d, e)
        return found


cdef struct Calls:
    kernel at
    const char *args
    word *numbers  # 5 of each piece; the first becomes what the call returned


cdef void one_call(void *context, Py_ssize_t piece) noexcept nogil:
    cdef Calls *calls = <Calls *>context
    cdef word *n = calls.numbers + 5 * piece
    n[0] = calls.at(calls.args, n[0], n[1], n[2], n[3], n[4])


def on_threads(Function function, bytes args, list chunks):
    cdef Calls calls
    cdef Py_ssize_t n = len(chunks), i, k
    cdef bytearray numbers = bytearray(40 * n)
    cdef word found = 0
    cdef tuple chunk
    calls.at, calls.args = function.at, PyBytes_AS_STRING(args)
    calls.numbers = <word *>PyByteArray_AS_STRING(numbers)
    for i in range(n):
        chunk = chunks[i]
        for k in range(len(chunk)):
            calls.numbers[5 * i + k] = chunk[k]
    share_out(one_call, &calls, n, helpers(n))
    for i in range(n):
        found |= calls.numbers[5 * i]
    return found


def arguments(word program, list operands, bytes numbers):
    cdef Py_ssize_t n = len(operands), i
    cdef bytes args = PyBytes_FromStringAndSize(NULL, 8 * (1 + n) + PyBytes_GET_SIZE(numbers))
    cdef word *at = <word *>PyBytes_AS_STRING(args)
    at[0] = program
    for i in range(n):
        at[1 + i] = <Py_ssize_t><PyObject *>operands[i] + DATA
    memcpy(at + 1 + n, PyBytes_AS_STRING(numbers), PyBytes_GET_SIZE(numbers))
    return args


def signature(Group group):
    cdef word words[MOST]
    cdef Py_ssize_t n = 0, i, j, k, count, leaves = len(group.leaves)
    cdef Step step
    cdef cnp.ndarray a, b
    cdef list outputs = group.outputs
    cdef tuple pair, axes
    cdef bint aliased = False
    count = len(group.shape) + 4 + leaves + (1 + leaves) * len(outputs)
    if count + (13 + len(group.shape)) * len(group.steps) + 20 * (leaves + len(outputs)) > MOST:
        return None
    words[0] = len(group.shape)
    n = 1
    for i in range(words[0]):
        words[n] = group.shape[i]
        if words[n] == 0:
            return None
        n += 1
    for step in group.steps:
        if len(step.args) > 4:
            return None
        words[n] = <Py_ssize_t><PyObject *>step.prim
        words[n + 1] = <Py_ssize_t><PyObject *>step.dtype
        words[n + 2] = 2 * len(step.args) + (step.params is FAST)
        n += 3
        for i in range(len(step.args)):
            words[n] = step.args[i]
            words[n + 1] = <Py_ssize_t><PyObject *>(<tuple>step.in_dtypes)[i]
            n += 2
        if type(step.prim) is REDUCTION:
            axes = dict(step.params)["axis"]
            words[n] = -1 - len(axes)
            n += 1
            for i in range(len(axes)):
                words[n] = axes[i]
                n += 1
    words[n] = leaves
    n += 1
    for i in range(leaves + len(outputs)):
        operand = group.leaves[i] if i < leaves else (<tuple>outputs[i - leaves])[1]
        if cnp.PyArray_CheckExact(operand):
            a = operand
            if a.ndim > 6:
                return None
            words[n] = <Py_ssize_t><PyObject *>cnp.PyArray_DESCR(a)
            words[n + 1] = 2 * a.ndim + cnp.PyArray_ISALIGNED(a)
            n += 2
            for j in range(a.ndim):
                words[n] = a.shape[j]
                words[n + 1] = a.strides[j]
                n += 2
        elif cnp.PyArray_CheckScalar(operand):
            words[n] = <Py_ssize_t><PyObject *>Py_TYPE(operand)
            words[n + 1] = -1
            n += 2
        else:
            return None
    for i in range(len(outputs)):
        pair = <tuple>outputs[i]
        words[n] = -1 - <Py_ssize_t>pair[0]
        n += 1
        b = pair[1]
        for k in range(leaves):
            if cnp.PyArray_CheckExact(group.leaves[k]):
                a = group.leaves[k]
                if cnp.PyArray_DATA(a) == cnp.PyArray_DATA(b):
                    aliased = True
                    words[n] = k
                    n += 1
    if aliased:
        words[n] = group.watched
        n += 1
    return PyBytes_FromStringAndSize(<char *>words, 8 * n)
