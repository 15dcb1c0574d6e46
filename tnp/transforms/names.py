"""What a function reaches by name: globals, variables of the functions around it, attributes of objects.

These are inputs of a recorded function, looked up again at every call, so that a name may be given another value.
"""

import functools
import types
from collections.abc import Callable
from typing import Any

from tnp.host import HostFunction
from tnp.hot import ufunc

DEPTH = 3  # attributes of attributes of attributes
_LIBRARIES = frozenset({"tnp", "tnp_autodiff", "tnp_keras", "tnp_dist", "numpy", "scipy", "builtins", "functools"})
_FIXED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, HostFunction, ufunc)
_UNCHANGING = (type(None), bool, int, float, complex, str, bytes)


class Names:
    """Getters of what a function reaches by name.

    Parameters
    ----------
    function : callable

    Attributes
    ----------
    labels : list of str
    getters : list of callable
        Each gives a value now, or None where the name has none.
    attributes : set of str
        Names that the code asks of objects.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.labels: list[str] = []
        self.getters: list[Callable[[], Any]] = []
        self.attributes: set[str] = set()
        self._seen: set[int] = set()
        self._codes: set[int] = set()
        self._walk(function)

    def values(self) -> list[Any]:
        """All values now."""
        return [get() for get in self.getters]

    def _walk(self, function: Any) -> None:
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        inner = getattr(function, "_jitted", None)
        if inner is not None:
            self._walk(inner)
        elif isinstance(function, functools.partial):
            self._walk(function.func)
            self._value("partial", lambda: (function.args, function.keywords))
        elif isinstance(function, types.MethodType):
            self._walk(function.__func__)
            self._value("self", lambda: function.__self__)
        elif isinstance(function, types.FunctionType):
            self._function(function)
        elif not isinstance(function, _FIXED) and callable(function):
            self._walk(type(function).__call__)
            self._value("self", lambda: function)

    def _function(self, function: types.FunctionType) -> None:
        code, space = function.__code__, function.__globals__
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._value(name, functools.partial(_contents, cell))
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            if type(default) not in _UNCHANGING:
                self._value("default", functools.partial(_itself, default))
        if str(space.get("__name__", "")).partition(".")[0] not in _LIBRARIES:
            self._code(code, space)

    def _code(self, code: types.CodeType, space: dict[str, Any]) -> None:
        if id(code) in self._codes:
            return
        self._codes.add(id(code))
        self.attributes.update(code.co_names)
        for name in code.co_names:
            if name in space:
                self._value(name, functools.partial(space.get, name))
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                self._code(inner, space)

    def _value(self, label: str, get: Callable[[], Any]) -> None:
        value = get()
        if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)) or hasattr(value, "_jitted"):
            self._walk(value)
        elif not isinstance(value, _FIXED):
            self.labels.append(label)
            self.getters.append(get)
            self.walk_methods(value)

    def walk_methods(self, value: Any) -> None:
        """The methods of an object belong to the function: what they reach is reached."""
        if not is_object(value) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        for name in dir(type(value)):
            method = getattr(type(value), name, None)
            method = getattr(method, "_jitted", method)
            if isinstance(method, types.FunctionType) and (name in self.attributes or name == "__call__"):
                self._function(method)
        for x in vars(value).values():
            self.walk_methods(x)


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _itself(x: Any) -> Any:
    return x


def is_object(x: Any) -> bool:
    """Is it an object of the program's whose attributes may be arrays?"""
    return (
        hasattr(x, "__dict__") and not isinstance(x, _FIXED) and type(x).__module__.partition(".")[0] not in _LIBRARIES
    )
