cimport cython
from tnp cimport content, hot
from tnp.core cimport native
from tnp.core.cells cimport Cell, Storage
from tnp.core.layout cimport size_of
from tnp.core.interpreter cimport quietly, recorder
from tnp.hot cimport ndarray
from tnp_autodiff.events cimport Kept, Op
from tnp_autodiff.places cimport Key, Strided, geometry
from tnp_autodiff.tracks cimport Ref, Track, fresh_track, records, ref_to, track_of


cdef class Saved(Kept):
    cdef object _attached
    cdef object _cell
    cdef object _copy
    cdef Ref _ref
    cdef object _tangents
    cdef object _time
    cdef _original(self)

@cython.locals(s=Saved, track=Track)
cpdef Saved save(ndarray x, object time, object maker)
