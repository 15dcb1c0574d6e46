cimport cython
from tnp_autodiff.places cimport geometry
from tnp_autodiff.tracks cimport Event, Recording, Ref, Track, track_of
