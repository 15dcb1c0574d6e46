"""Puts the array class together: the class of tnp/hot.py gets its slow paths, methods, attributes and protocols."""

import math
import types

import numpy as _np

from tnp import content, hot
from tnp.arrays import interop, methods, operators, overrides, subclasses, temporaries, ufuncs, views
from tnp.arrays.exports import exported, share
from tnp.arrays.flags import flagsobj, flatiter
from tnp.arrays.indexing import getitem, hot_cell, setitem
from tnp.core import native
from tnp.core.interpreter import current, quietly
from tnp.host import install_arm, unwrap
from tnp.hot import cell_of, ndarray, real, writable
from tnp.tracing import is_traced, is_value

_NDARRAY = _np.ndarray
__all__ = ["overrides", "subclasses", "ufuncs"]  # these install themselves


def construct(x, shape, dtype=float, buffer=None, offset=0, strides=None, order=None):
    seen = []
    nd = _NDARRAY(unwrap(shape, seen), unwrap(dtype, seen), export_buffer(buffer), offset, unwrap(strides, seen), order)
    if isinstance(buffer, ndarray):
        hot_cell(buffer)
        nd = nd[...] if nd.ndim else nd
        x._nd = nd
        x._cell = cell_of(buffer)
        x._cell.marked |= 16
    else:
        x._nd = nd
    if type(x) is not ndarray and type(x).__array_finalize__ is not None:
        x.__array_finalize__(None)


def export_buffer(buffer):
    return real(buffer) if isinstance(buffer, ndarray) else buffer


# What the hot path asks by name, because it happens rarely
def _iterate(x):
    if is_traced(x) and current() is not None:  # each element is an operation of its own
        shape = content.shape_of(x)
        if shape:
            return (x[i] for i in range(shape[0]))
    nd = real(x)
    if nd.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    if nd.dtype.kind == "V":  # its elements are windows on the memory
        share(x)
    if nd.ndim == 1 and nd.dtype.kind != "O" and type(x) is ndarray:
        return iter(nd if methods.is_small(nd) else exported(x))  # the iterator holds the memory
    return (x[i] for i in range(len(nd)))


def _text(x, which):
    with quietly():  # printed, a value does not leave the program's reckoning
        return which(_scalar_of(x))


def _scalar_of(x):
    """What `x` looks like: a traced scalar like NumPy's."""
    nd = unwrap(x, [])
    return nd[()] if is_value(x) else nd


def __round__(self, ndigits=None, /):
    """Traced scalars round as NumPy's do; arrays do not."""
    if not is_value(self):
        name = "numpy.ndarray" if type(self) is ndarray else type(self).__name__
        raise TypeError(f"type {name} doesn't define __round__ method")
    with quietly():  # the derivative is zero
        return round(_scalar_of(self), ndigits)


RARE = {
    "__new__": construct,
    "__iter__": _iterate,
    "__contains__": lambda x, value: unwrap(value, []) in real(x),
    "__repr__": lambda x: _text(x, repr),
    "__str__": lambda x: _text(x, str),
    "__divmod__": operators.divmod_,
    "__rdivmod__": operators.rdivmod,
    "shape": content.shape_of,
    "dtype": content.dtype_of,
    "ndim": lambda x: len(content.shape_of(x)),
    "strides": lambda x: content.look(x).strides,
    "size": lambda x: math.prod(content.shape_of(x)),
    "set shape": views.set_shape,
    "set dtype": views.set_dtype,
    "share": share,
    "T": lambda x: methods.moved(x, _NDARRAY.transpose, (), {}),
    "reshape": lambda x, *args, **kwargs: methods.moved(x, _NDARRAY.reshape, args, kwargs),
}


def rare(name, x, args, kwargs=None):
    return RARE[name](x, *args, **kwargs) if kwargs else RARE[name](x, *args)


hot.install_operators(operators.hot_operators)
hot.install(
    {
        "binary": operators.binary, "reflected": operators.reflected, "inplace": operators.inplace,
        "unary": operators.unary, "power": operators.power, "call": operators.call_ufunc,
        "getitem": getitem, "setitem": setitem, "settle": content.settle, "release": content.release, "method": rare,
    }
)  # fmt: skip


METHODS = (
    methods.astype, methods.view, methods.resize, methods.setflags, methods._references, interop.to_numpy,
    interop.__array__, interop.__array_ufunc__, interop.__array_function__, interop.__array_wrap__,
    interop.__reduce__, interop.__reduce_ex__, interop.__setstate__, interop.__copy__, interop.__deepcopy__,
    interop.__array_namespace__, interop.__dlpack__, interop.__dlpack_device__, interop.__arrow_array__,
    interop.__sizeof__, interop.__format__, interop.__array_export__, __round__,
)  # fmt: skip


def _refuse(text):
    def function(*args):
        raise AttributeError(text)

    return function


def _read_only(name, getter):
    refuse = _refuse(f"attribute '{name}' of 'numpy.ndarray' objects is not writable")
    return property(getter, refuse, refuse, getattr(_NDARRAY, name).__doc__ or getter.__doc__)


def _writable(name, getter, setter):
    doc = getattr(_NDARRAY, name.split()[0].replace("imaginary", "imag")).__doc__
    return property(getter, setter, _refuse(f"Cannot delete array {name}"), doc)


def _removed(name):
    raw = vars(_NDARRAY)[name]
    return lambda self: raw.__get__(_np.empty(0))


def _generic(cls, item):
    _NDARRAY.__class_getitem__(item)  # as many arguments as it takes
    return types.GenericAlias(cls, item)


ATTRIBUTES = {
    "flat": _writable(
        "flat iterator", flatiter, lambda self, value: writable(self).flat.__setitem__(Ellipsis, unwrap(value, []))
    ),
    "real": _writable("real part", views.view_attribute("real"), views.set_part("real")),
    "imag": _writable("imaginary part", views.view_attribute("imag"), views.set_part("imag")),
    "strides": _writable("strides", hot.strides_of, views.set_strides),
    "flags": property(
        flagsobj,
        lambda self, value: None,
        _refuse("attribute 'flags' of 'numpy.ndarray' objects is not writable"),
        _NDARRAY.flags.__doc__,
    ),
    "__array_interface__": property(interop.interface),
    "__array_finalize__": lambda self, parent, /: None,
    "__class_getitem__": classmethod(_generic),
}


def _device(self):
    """Hardware on which the memory lies: "cpu"."""
    return "cpu"


def _data(self):
    """Python buffer object that points to the array's memory, and keeps the array."""
    return memoryview(self) if native.COMPILED else exported(self, keep=True).data


READ_ONLY = {
    "base": views.base_of,
    "mT": views.view_attribute("mT"),
    "data": _data,
    "ctypes": interop.ctypes_of,
    "itemsize": hot.itemsize_of,
    "nbytes": hot.nbytes_of,
    "device": _device,
}


for _name in methods.READING:
    native.set_type_attribute(ndarray, _name, methods.reading(_name))
for _name in methods.WRITING:
    native.set_type_attribute(ndarray, _name, methods.writing(_name))
for _f in METHODS:
    if hasattr(_NDARRAY, _f.__name__):
        methods.named(_f, _f.__name__, getattr(_NDARRAY, _f.__name__))
    native.set_type_attribute(ndarray, _f.__name__, _f)
for _name, _value in ATTRIBUTES.items():
    native.set_type_attribute(ndarray, _name, _value)
for _name, _value in READ_ONLY.items():
    native.set_type_attribute(ndarray, _name, _read_only(_name, _value))
for _name in ("itemset", "newbyteorder", "ptp"):  # NumPy 2.3 says what to use instead
    if _name in vars(_NDARRAY):
        native.set_type_attribute(ndarray, _name, property(_removed(_name)))
native.install_new(ndarray, construct)
native.install_buffer(ndarray)
native.refuse_concat(ndarray)

if not native.COMPILED:
    from tnp.arrays import plain

    plain.install()
else:
    try:
        from tnp.arrays import _quick
    except ImportError:
        pass
    else:
        _quick.install()
        install_arm(_quick.arm)
temporaries.calibrate()
