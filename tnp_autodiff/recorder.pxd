cimport cython
from tnp cimport content, hot
from tnp.core cimport native
from tnp.core.interpreter cimport quietly
from tnp cimport tracing
from tnp.hot cimport ndarray
from tnp_autodiff.events cimport Aval, Kept, Op, Source, Write
from tnp_autodiff.places cimport Key, Scattered, Strided, geometry, is_same_kind, strided
from tnp_autodiff.saved cimport Saved, save
from tnp_autodiff.tracks cimport (
    Event, Recording, Ref, Track, fresh_track, is_paused, make_track, records, ref_to, track_as, track_of,
)

@cython.locals(r=Recording)
cdef tuple _union(tuple a, tuple b)
cpdef bint is_float(object dtype)
@cython.locals(track=Track)
cpdef bint is_tracked(object x)
@cython.locals(a=ndarray, ref=Ref, track=Track, op=Op, refs=list, outs=list, tracks=list, at=list, single=bint, i=Py_ssize_t)
cpdef record(object rule, list operands, object result, dict params, object places=*)
cdef tuple _made(object key, object place)
cdef _kept(object x, bint is_read, Ref ref, object time)
cdef _fresh(object y)
cpdef place_in(ndarray x, object key)
cpdef gather_at(object x, object key, object result)
cdef bint _are_plain(object args)
