cimport cython
from tnp_autodiff.events cimport Event
from tnp_autodiff.places cimport geometry
from tnp_autodiff.tracks cimport Recording, Ref, Track, track_of
