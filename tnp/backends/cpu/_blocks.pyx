# cython: language_level=3
"""NumPy's inner loops, step by step on blocks that fit the first-level cache, without Python in between.

What calls it, and does the same without it, is `Recipe` in tnp/backends/cpu/interpret.py.
"""
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from tnp.backends.cpu._crew cimport share_out

from tnp.backends.cpu.threads import helpers

cdef extern from "<fenv.h>" nogil:
    int FE_ALL_EXCEPT, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INVALID
    int feclearexcept(int)
    int fetestexcept(int)

ctypedef long long word
ctypedef int (*inner_loop)(void *context, char **places, Py_ssize_t *count, Py_ssize_t *steps, void *auxdata) noexcept nogil

cdef enum:
    INSTRUCTION = 16  # words: function, context, auxdata, whether flags count, number of arguments, place and size of each
    ARGUMENTS = 5
    ALIGNMENT = 64


cdef int compute(const word *program, Py_ssize_t instructions, const word *places, Py_ssize_t given, char *scratch,
                 Py_ssize_t slot, Py_ssize_t block, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t start = first, n, count, i, k, place
    cdef const word *ins
    cdef char *at[ARGUMENTS]
    cdef Py_ssize_t steps[ARGUMENTS]
    cdef int seen = 0
    feclearexcept(FE_ALL_EXCEPT)
    while start < last:
        n = min(block, last - start)
        for i in range(instructions):
            ins = program + i * INSTRUCTION
            for k in range(ins[4]):
                place = ins[5 + 2 * k]
                steps[k] = ins[6 + 2 * k]
                if place >= given:
                    at[k] = scratch + (place - given) * slot
                else:  # address, and whether it is one element for all
                    if places[2 * place + 1]:
                        steps[k] = 0
                    at[k] = <char *><Py_ssize_t>places[2 * place] + start * steps[k]
            if ins[0] == 0:
                memcpy(at[1], at[0], n * ins[6])
                continue
            count = n
            (<inner_loop><void *><Py_ssize_t>ins[0])(
                <void *><Py_ssize_t>ins[1], at, &count, steps, <void *><Py_ssize_t>ins[2])
            if ins[3]:
                seen |= fetestexcept(FE_ALL_EXCEPT)  # at once: some loops clear what others raised
            else:
                feclearexcept(FE_ALL_EXCEPT)
        start += block
    feclearexcept(FE_ALL_EXCEPT)
    return seen


cdef struct Piecework:
    const word *program
    const word *places
    Py_ssize_t instructions, given, slots, slot, block, size, share
    int *seen  # of each piece; -1: there was no memory


cdef void one_piece(void *context, Py_ssize_t piece) noexcept nogil:
    cdef Piecework *w = <Piecework *>context
    cdef Py_ssize_t first = piece * w.share
    cdef char *memory = <char *>malloc(w.slots * w.slot + ALIGNMENT)
    if memory == NULL:
        w.seen[piece] = -1
        return
    w.seen[piece] = compute(w.program, w.instructions, w.places, w.given, memory + (-<Py_ssize_t>memory) % ALIGNMENT,
                            w.slot, w.block, first, min(first + w.share, w.size))
    free(memory)


def run(bytes program, bytes places, Py_ssize_t slots, Py_ssize_t slot, Py_ssize_t block, Py_ssize_t size,
        Py_ssize_t share):
    """Run a program for all elements, as many at a time as a share; returns NumPy's flags.

    Parameters
    ----------
    program : bytes
        Instructions of 16 words. Places from the number of `places` on are scratch memory.
    places : bytes
        Two words for each array or number: its address, and whether it is one element for all.
    slots, slot : int
        Blocks of scratch memory, and bytes of one, a multiple of 64.
    block : int
        Elements.
    """
    cdef Piecework w
    cdef Py_ssize_t pieces = (size + share - 1) // share, i
    cdef bytearray found = bytearray(sizeof(int) * pieces)
    cdef int seen = 0
    w.program, w.places = <const word *>PyBytes_AS_STRING(program), <const word *>PyBytes_AS_STRING(places)
    w.instructions, w.given = PyBytes_GET_SIZE(program) // (8 * INSTRUCTION), PyBytes_GET_SIZE(places) // 16
    w.slots, w.slot, w.block, w.size, w.share = slots, slot, block, size, share
    w.seen = <int *>PyByteArray_AS_STRING(found)
    share_out(one_piece, &w, pieces, helpers(pieces))
    for i in range(pieces):
        if w.seen[i] < 0:
            raise MemoryError(f"Unable to allocate {slots * slot:,} bytes to compute in")
        seen |= w.seen[i]
    return (
        (1 if seen & FE_DIVBYZERO else 0) | (2 if seen & FE_OVERFLOW else 0)
        | (4 if seen & FE_UNDERFLOW else 0) | (8 if seen & FE_INVALID else 0)
    )
