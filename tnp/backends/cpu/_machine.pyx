# cython: language_level=3
"""The machine that runs a plan: a table of words, each instruction a call of compiled code at a known address.

No line of Python runs between instructions. What the words mean stands in tnp/backends/cpu/assembly.py.
"""
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cdef extern from *:
    """
    #if defined(__x86_64__) || defined(_M_X64)
    #include <xmmintrin.h>
    #define TNP_STATUS() (_mm_getcsr())
    #define TNP_SET_STATUS(x) _mm_setcsr(x)
    #else
    #define TNP_STATUS() 0
    #define TNP_SET_STATUS(x)
    #endif
    """
    int __builtin_popcountll(unsigned long long) nogil
    unsigned int TNP_STATUS() nogil
    void TNP_SET_STATUS(unsigned int) nogil

ctypedef long long word
ctypedef word (*kernel)(const char *, word, word, word, word, word) noexcept nogil
ctypedef int (*loop)(void *, char **, Py_ssize_t *, Py_ssize_t *, void *) noexcept nogil

cdef enum:
    KERNEL = 1
    LOOP = 2
    GUFUNC = 3
    COPY = 4
    SELECT = 5
    SCATTER = 6
    WATCHED = 0x1D  # invalid, divide by zero, overflow, underflow
    MOST = 8
    DIMS = 32


cdef inline word status_of(word wanted) noexcept nogil:
    """What was raised since the last look; the status is clear afterwards."""
    cdef unsigned int now = TNP_STATUS()
    if now & WATCHED:
        TNP_SET_STATUS(now & ~<unsigned int>0x3F)
        return now & WATCHED if wanted else 0
    return 0


cdef word how_many(char *m, word n) noexcept nogil:
    """True bytes, each 1, among `n`."""
    cdef word i = 0, total = 0, w
    while i + 8 <= n:
        memcpy(&w, m + i, 8)
        total += __builtin_popcountll(w)
        i += 8
    while i < n:
        total += m[i] != 0
        i += 1
    return total


cdef void copy_row(char *d, char *s, word n, word dstep, word sstep, word size) noexcept nogil:
    cdef word i
    if dstep == size and sstep == size:
        memcpy(d, s, n * size)
    elif size == 8:
        for i in range(n):
            (<word *>(d + i * dstep))[0] = (<word *>(s + i * sstep))[0]
    elif size == 4:
        for i in range(n):
            (<int *>(d + i * dstep))[0] = (<int *>(s + i * sstep))[0]
    else:
        for i in range(n):
            memcpy(d + i * dstep, s + i * sstep, size)


cdef void copy(char *d, char *s, word size, word ndim, word *shape, word *ds, word *ss) noexcept nogil:
    """Copy elements; the last dimension is the innermost."""
    cdef word i
    if ndim == 0:
        memcpy(d, s, size)
    elif ndim == 1:
        copy_row(d, s, shape[0], ds[0], ss[0], size)
    else:
        for i in range(shape[0]):
            copy(d + i * ds[0], s + i * ss[0], size, ndim - 1, shape + 1, ds + 1, ss + 1)


cdef word over(loop f, void *context, void *aux, word nargs, char **at, word count, word *inner, word ndim, word *shape,
               word *outer) noexcept nogil:
    """Call an inner loop for every index of the outer dimensions."""
    cdef char *mine[MOST]
    cdef Py_ssize_t n = count
    cdef word i, k
    if ndim == 0:
        for k in range(nargs):
            mine[k] = at[k]
        return f(context, mine, &n, <Py_ssize_t *>inner, aux)
    for i in range(shape[0]):
        for k in range(nargs):
            mine[k] = at[k] + i * outer[k]
        if over(f, context, aux, nargs, mine, count, inner, ndim - 1, shape + 1, outer + nargs):
            return -1
    return 0


cdef word execute(word *code, word size, char **at, word *registers) noexcept nogil:
    """Run all instructions. Returns the floating-point status that they raised, or -1: the plan does not fit."""
    cdef word *c = code
    cdef word *end = code + size
    cdef word found = 0, i, k, n, nargs, count
    cdef char *mine[MOST]
    cdef char *s
    cdef char *d
    cdef char *m
    cdef unsigned int before = TNP_STATUS()
    TNP_SET_STATUS(before & ~<unsigned int>0x3F)
    while c < end:
        if c[0] == KERNEL:
            count = c[4] if c[5] < 0 else registers[c[5]]
            if count > 0:
                k = (<kernel><Py_ssize_t>c[1])(<const char *><Py_ssize_t>c[2], 0, c[3], 0, count, 0)
                if c[6]:
                    found |= k
            c += 7
        elif c[0] == COPY:
            n = c[4]
            copy(at[c[1]], at[c[2]], c[3], n, c + 5, c + 5 + n, c + 5 + 2 * n)
            c += 5 + 3 * n
        elif c[0] == LOOP:
            nargs, n = c[5], c[7]
            for k in range(nargs):
                mine[k] = at[c[8 + k]]
            if over(<loop><Py_ssize_t>c[1], <void *><Py_ssize_t>c[2], <void *><Py_ssize_t>c[3], nargs, mine, c[6],
                    c + 8 + nargs, n, c + 8 + 2 * nargs, c + 8 + 2 * nargs + n):
                found = -1
                break
            found |= status_of(c[4])
            c += 8 + 2 * nargs + n + n * nargs
        elif c[0] == GUFUNC:
            nargs = c[5]
            for k in range(nargs):
                mine[k] = at[c[8 + k]]
            (<loop><Py_ssize_t>c[1])(<void *><Py_ssize_t>c[2], mine, <Py_ssize_t *>(c + 8 + nargs),
                                     <Py_ssize_t *>(c + 8 + nargs + c[6]), <void *><Py_ssize_t>c[3])
            found |= status_of(c[4])
            c += 8 + nargs + c[6] + c[7]
        elif c[0] == SELECT:
            s, m, d, n, k = at[c[1]], at[c[2]], at[c[3]], c[4], c[5]
            count = 0
            if how_many(m, n) == n:
                memcpy(d, s, n * k)
                count = n
            elif k == 8:
                for i in range(n):
                    (<word *>d)[count] = (<word *>s)[i]
                    count += m[i] != 0
            else:
                for i in range(n):
                    if m[i]:
                        memcpy(d + count * k, s + i * k, k)
                        count += 1
            registers[c[6]] = count
            c += 7
        else:  # SCATTER
            d, m, s, n, k = at[c[1]], at[c[2]], at[c[3]], c[4], c[5]
            count = how_many(m, n)
            if count != registers[c[6]]:
                found = -1
                break
            if count == n:
                memcpy(d, s, n * k)
            else:
                count = 0
                for i in range(n):
                    if m[i]:
                        if k == 8:
                            (<word *>d)[i] = (<word *>s)[count]
                        else:
                            memcpy(d + i * k, s + count * k, k)
                        count += 1
            c += 7
    TNP_SET_STATUS(before)
    return found if found < 0 else found & WATCHED


cdef class Machine:
    """A program and its table of pointers.

    Parameters
    ----------
    code : array of int64
    pointers : list of (int, int)
        Base and offset of each place in memory; base -1: an address.
    patches : list of (int, int)
        Address of a word of a kernel's arguments, and the pointer that it is at every run.
    registers : int
    keep : object
        What the addresses point into.

    `table()` is the address of the table, for arguments that name places in it.
    """
    cdef word *code
    cdef word size
    cdef char **at
    cdef word *bases  # of each moving pointer: pointer, base, offset
    cdef word moving, patched, count
    cdef word *patches
    cdef word *registers
    cdef object keep
    cdef bint busy

    def __cinit__(self, list pointers, word registers):
        cdef word i, k = 0
        self.count = len(pointers)
        self.at = <char **>malloc(8 * (self.count + 1))
        self.registers = <word *>malloc(8 * (registers + 1))
        self.bases = <word *>malloc(24 * (self.count + 1))
        if self.at == NULL or self.registers == NULL or self.bases == NULL:
            raise MemoryError()
        for i in range(self.count):
            base, offset = pointers[i]
            if base < 0:
                self.at[i] = <char *><Py_ssize_t>offset
            else:
                self.bases[3 * k], self.bases[3 * k + 1], self.bases[3 * k + 2] = i, base, offset
                k += 1
        self.moving = k

    def table(self):
        return <Py_ssize_t>self.at

    def load(self, code, list patches, keep):
        cdef word i
        self.size = len(code)
        self.code = <word *>malloc(8 * (self.size + 1))
        self.patches = <word *>malloc(16 * (len(patches) + 1))
        if self.code == NULL or self.patches == NULL:
            raise MemoryError()
        for i in range(self.size):
            self.code[i] = code[i]
        self.patched = len(patches)
        for i in range(self.patched):
            self.patches[2 * i], self.patches[2 * i + 1] = patches[i]
        self.keep = keep

    def __dealloc__(self):
        free(self.code)
        free(self.at)
        free(self.bases)
        free(self.patches)
        free(self.registers)

    def run(self, list bases):
        """Run on memory at these addresses. Returns the status raised; -1 if the plan does not fit, -2 if it runs.

        Nobody else may run it until `release`: what lies in the arena is still to be read.
        """
        cdef word *words = <word *>malloc(8 * (len(bases) + 1))
        cdef word i
        for i in range(len(bases)):
            words[i] = bases[i]
        cdef word found
        found = self.run_at(<Py_ssize_t>words)
        free(words)
        if found != -2:
            self.busy = True
        return found

    def release(self):
        """End what `run` began."""
        self.busy = False

    def run_at(self, Py_ssize_t words):
        """`run`, on addresses that stand at this one."""
        cdef word *bases = <word *>words
        cdef word found, i
        cdef word *b = self.bases
        if self.busy:
            return -2
        for i in range(self.moving):
            self.at[b[0]] = <char *><Py_ssize_t>(bases[b[1]] + b[2])
            b += 3
        for i in range(self.patched):
            (<word *><Py_ssize_t>self.patches[2 * i])[0] = <Py_ssize_t>self.at[self.patches[2 * i + 1]]
        self.busy = True
        with nogil:
            found = execute(self.code, self.size, self.at, self.registers)
        self.busy = False
        return found
