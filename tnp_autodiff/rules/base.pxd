cimport cython
from tnp cimport content
from tnp.core cimport native
from tnp.core.interpreter cimport recorder
from tnp.hot cimport ndarray
from tnp_autodiff.tracks cimport as_dtype

cpdef times(object g, object factor)
cpdef unbroadcast(object g, object like)
