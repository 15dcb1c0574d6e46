"""Functions compiled by `numba.njit` take tnp arrays, and know tnp's functions as NumPy's.

numba calls `init`, through the entry point group "numba_extensions", when it compiles its first function: importing tnp
does not import numba. Arrays that such a function makes are NumPy's own.
"""

from typing import Any

import numpy as np

from tnp.arrays.exports import exported
from tnp.host import HostFunction
from tnp.hot import ndarray, ufunc


def init() -> None:
    """Teach numba tnp's arrays, functions and ufuncs."""
    # Heavy, and wanted only by programs that use numba
    from numba.core import boxing, types  # noqa: F401  boxing fills the table
    from numba.core.pythonapi import _unboxers
    from numba.core.registry import cpu_target
    from numba.extending import typeof_impl

    unbox_numpy = _unboxers.functions[types.Array]

    @typeof_impl.register(ndarray)
    def typeof_array(x: Any, c: Any) -> Any:
        return typeof_impl(exported(x), c)

    @typeof_impl.register(HostFunction)
    @typeof_impl.register(ufunc)
    def typeof_function(f: Any, c: Any) -> Any:
        if isinstance(f, np.ufunc):  # NumPy's ufuncs count as instances of tnp's class: numba knows them itself
            return None
        return cpu_target.typing_context.resolve_value_type(f._raw)

    def unbox_array(typ: Any, obj: Any, c: Any) -> Any:
        """As numba's own, after a NumPy array on the same memory has taken the place of a tnp array."""
        builder, api = c.builder, c.pyapi
        slot = builder.alloca(obj.type)
        builder.store(obj, slot)
        array_class = api.unserialize(api.serialize_object(np.ndarray))
        its_class = api.get_type(obj)
        foreign = builder.icmp_unsigned("!=", its_class, array_class)
        with builder.if_then(foreign, likely=False):
            convert = api.unserialize(api.serialize_object(_numpy_array))
            builder.store(api.call_function_objargs(convert, (obj,)), slot)
            api.decref(convert)
        native = unbox_numpy(typ, builder.load(slot), c)
        with builder.if_then(foreign, likely=False):
            api.decref(builder.load(slot))
        api.decref(its_class)
        api.decref(array_class)
        return native

    # Not a type of our own: functions with explicit signatures take tnp arrays too. numba has no public way to replace
    # what stands in its table.
    _unboxers.functions[types.Array] = unbox_array


def _numpy_array(x: Any) -> Any:
    """A NumPy array for a compiled function; what is none is left to numba to refuse."""
    return exported(x) if isinstance(x, ndarray) else x
