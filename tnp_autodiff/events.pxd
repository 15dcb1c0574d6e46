cimport cython
from tnp.hot cimport ndarray
from tnp_autodiff.places cimport Key, Strided
from tnp_autodiff.tracks cimport Cotangents, Event, Held, Recording, Ref, Track

cdef class Kept:
    cpdef thaw(self, object maker=*)
    cpdef release(self)

cdef class Aval:
    cdef public object dtype
    cdef public tuple shape

cdef class Source(Event):
    cdef public Key key
    cdef public Event before

cdef class Op(Event):
    cdef public object rule
    cdef public tuple outs
    cdef public tuple refs
    cdef public tuple saved
    cdef public object out
    cdef public object params
    cdef public object avals

cdef class Write(Event):
    cdef public Key key
    cdef public object place
    cdef public bint adds
    cdef public Event before
    cdef public Ref value
    cdef public tuple blind
    cdef public object unknown
