cimport cython
from tnp.core cimport native
from tnp.core.cells cimport Cell
from tnp cimport tracing
from tnp.core.interpreter cimport recorder
from tnp.hot cimport ndarray
from tnp_autodiff.places cimport Key, Strided, geometry

cdef int TRACED
cdef object _pauses
cdef dict _NOTHING

cdef class Cotangents
cdef class Ref
cdef class Held

cdef class _Pause:
    cdef public tuple named
    cdef public object first
    cdef public object last

cpdef bint is_paused(object x)

cdef class Recording:
    cdef public bint alive
    cdef public object born
    cdef readonly list _events
    cdef Py_ssize_t _room
    cdef object __weakref__
    cpdef add(self, object event)

cdef class Event:
    cdef public object time
    cdef public tuple tapes
    cdef object __weakref__
    cpdef list refs_of(self, Recording tape)
    cpdef play(self, Cotangents cts, Recording tape, set needed)
    cpdef let_go(self)

@cython.locals(r=Recording)
cpdef bint records(Event head)

cdef class Track:
    cdef public Key key
    cdef public Event head
    cdef public dict watched
    cdef public dict tangents
    cdef public tuple windows
    cdef public object window
    cpdef bint is_live(self)

cdef class Ref:
    cdef public Key key
    cdef public object place
    cdef public Event head

@cython.locals(place=Strided, key=Key, track=Track)
cpdef tuple fresh_track(ndarray x)
@cython.locals(ref=Ref)
cpdef Ref ref_to(Key key, object place, Event head)
@cython.locals(a=ndarray, c=Cell, track=Track)
cpdef Track track_of(object x)
@cython.locals(c=Cell)
cpdef track_as(ndarray x, Track track)
cpdef Track make_track(ndarray x)

cdef class Held:
    cdef object _buffer
    cdef Key _key
    cdef object _place
    cdef object _value
    cdef _own(self)
    cpdef add(self, object place, object g)
    cpdef get(self, object place)
    cpdef set(self, object place, object value)

cpdef as_dtype(object g, object dtype)

cdef class Cotangents:
    cdef dict _held
    @cython.locals(held=Held)
    cpdef add(self, Ref ref, object g)
    @cython.locals(held=Held)
    cpdef peek(self, Key key, object place)
    cpdef Held of(self, Key key)
    @cython.locals(held=Held)
    cpdef pop_at(self, Key key, object place)
