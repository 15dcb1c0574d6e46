"""How other libraries see the array: NumPy's protocols, DLPack, Arrow; pickles and copies."""

import copy
import sys

import numpy as _np

from tnp.arrays.exports import exported, share
from tnp.arrays.methods import method_call
from tnp.arrays.views import as_class
from tnp.core.interpreter import DECLINED, current, looking
from tnp.core.native import address
from tnp.host import HostFunction, call, function_of, intercepted, rewrap, ufunc_of, unwrap
from tnp.hot import ndarray, real, ufunc, wrap, writable
from tnp.tracing import box_of, is_traced

_NDARRAY = _np.ndarray
_ctypes = type(_np.zeros(1).ctypes)


def to_numpy(self):
    """The array as a `numpy.ndarray` that shares its memory.

    >>> import tnp
    >>> type(tnp.arange(3).to_numpy()).__module__
    'numpy'
    """
    return exported(self)


def __array__(self, dtype=None, copy=None):
    nd = exported(self)
    if dtype is None and not copy:
        return nd
    return _np.array(nd, dtype=unwrap(dtype, []), copy=copy)


def __array_ufunc__(self, raw, method, *inputs, **kwargs):
    for x in (*inputs, *kwargs.get("out", ())):
        if not isinstance(x, ndarray) and _overrides(type(x)):
            return NotImplemented
    if type(raw) is ufunc:
        raw = raw._raw
    if method == "__call__" and any([is_traced(x) and (current() is not None or box_of(x)) for x in inputs]):
        return ufunc_of(raw)(*inputs, **kwargs)
    r = intercepted(raw if method == "__call__" else getattr(raw, method), inputs, kwargs)
    if r is not DECLINED:
        return r
    seen = []
    args = [unwrap(x, seen) for x in inputs]
    if "out" in kwargs:
        for x in kwargs["out"]:
            if isinstance(x, ndarray):
                writable(x)
    if method == "at" and isinstance(inputs[0], ndarray):
        writable(inputs[0])
    outs = kwargs.get("out", ())
    kwargs = {k: unwrap(v, seen) for k, v in kwargs.items()}
    if len(outs) == 1 and isinstance(outs[0], _NDARRAY):  # NumPy's own array stays NumPy's
        r = getattr(raw, method)(*args, **kwargs)
        return outs[0] if r is outs[0] else rewrap(r, seen)
    if type(self) is not ndarray:  # reached by super(): other overrides among the operands are asked first
        return rewrap(_NDARRAY.__array_ufunc__(unwrap(self, seen), raw, method, *args, **kwargs), seen)
    return rewrap(getattr(raw, method)(*args, **kwargs), seen)


def _overrides(t):
    """Does a class other than tnp's have an `__array_ufunc__` of its own?"""
    f = getattr(t, "__array_ufunc__", None)
    return f is not None and f is not _NDARRAY.__array_ufunc__


def __array_function__(self, func, types, args, kwargs):
    if not isinstance(args, tuple):
        raise TypeError("args must be a tuple.")
    if not isinstance(kwargs, dict):
        raise TypeError("kwargs must be a dict.")
    for t in types:
        if not issubclass(t, (ndarray, _NDARRAY)):
            return NotImplemented
    f = func if isinstance(func, HostFunction) else function_of(func)
    implementation = getattr(f._raw, "_implementation", None)
    if type(self) is ndarray or implementation is None:
        return f(*args, **kwargs)
    return call(implementation, args, kwargs)  # reached by super(): not to come back here


def __array_wrap__(self, array, context=None, return_scalar=False):
    if return_scalar and array.ndim == 0 and type(self) is ndarray:
        return array[()]
    y = array if isinstance(array, ndarray) else wrap(array)
    return y if type(y) is type(self) else as_class(y, type(self), self)


def __reduce__(self):
    state = _NDARRAY.__reduce__(real(self))[2]
    return _reconstruct, (type(self), (0,), b"b"), state


def __reduce_ex__(self, protocol):
    nd = real(self)
    if protocol >= 5 and type(self) is ndarray and not nd.dtype.hasobject:
        function, args = nd.__reduce_ex__(protocol)[:2]
        if function is not _np._core.multiarray._reconstruct:
            return _from_buffer, args
    return self.__reduce__()


def _reconstruct(cls, shape, dtype):
    """An array to be filled by `__setstate__`."""
    return cls.__new__(cls, shape, dtype) if cls is not ndarray else ndarray(shape, dtype)


def _from_buffer(buffer, dtype, shape, order, axes=None):
    """An array on the memory that a pickle of protocol 5 carries, within it or out of band."""
    flat = _np.frombuffer(buffer, dtype)
    return wrap(flat.reshape(shape, order=order) if axes is None else flat.reshape(shape).transpose(axes))


def __setstate__(self, state):
    nd = _NDARRAY.__new__(_NDARRAY, (0,), "b")
    nd.__setstate__(state)
    self._nd, self._cell, self._place = nd, None, None


def __copy__(self):
    if is_traced(self):
        return self.copy()
    return method_call(_NDARRAY.__copy__, self, (), {})


def __deepcopy__(self, memo):
    if is_traced(self) and not self.dtype.hasobject:
        return self.copy()
    nd = real(self)
    if nd.dtype.hasobject:
        fresh = nd.copy(order="K")
        flat = fresh.ravel(order="K")
        for i in range(flat.size):
            flat[i] = copy.deepcopy(flat[i], memo)
        return wrap(fresh) if type(self) is ndarray else as_class(wrap(fresh), type(self), self)
    return method_call(_NDARRAY.__deepcopy__, self, (memo,), {})


def __array_namespace__(self, *, api_version=None):
    real(self).__array_namespace__(api_version=api_version)
    return sys.modules["tnp"]


def __dlpack__(self, **kwargs):
    return exported(self, keep=True).__dlpack__(**kwargs)


def __dlpack_device__(self):
    return (1, 0)


def __arrow_array__(self, type=None):
    """pyarrow's protocol: an Arrow array of this one."""
    import pyarrow

    return pyarrow.array(exported(self), type=type)


def __sizeof__(self):
    nd = self._nd
    return nd.__sizeof__() if nd is not None else real(self).__sizeof__()


def __format__(self, spec):
    box = box_of(self)
    if box is not None:
        return box.interpreter.text(self, lambda x: format(x, spec))
    with looking():  # printed, a value does not leave the program's reckoning
        return real(self).__format__(spec)


def __array_export__(self):
    nd = exported(self)
    if nd.dtype.kind == "V":
        try:  # not every record has a PEP 3118 format: NumPy then asks for the array interface
            if _np.asarray(memoryview(nd)).dtype != nd.dtype:
                raise BufferError(f"{nd.dtype} has no format in the buffer protocol")
        except (RuntimeError, ValueError, TypeError) as error:
            raise BufferError(str(error)) from None
    return nd


def interface(self):
    nd = share(self)
    if nd.dtype.names is not None and _np.dtype(nd.__array_interface__["descr"]) != nd.dtype:
        raise AttributeError("__array_interface__")  # it cannot say padding: NumPy then asks __array__
    if nd.dtype.num >= 256:  # nor which dtype of another library it is
        raise AttributeError("__array_interface__")
    return nd.__array_interface__


def ctypes_of(self):
    """`numpy.ndarray.ctypes`: pointers made from it keep this array."""
    return _ctypes(self, address(share(self)))
