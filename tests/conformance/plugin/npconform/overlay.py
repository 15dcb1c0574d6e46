"""Overlays: what a NumPy test sees in place of NumPy's modules.

An overlay of ``numpy.X`` shows the substitute's object wherever the real attribute is a public NumPy object, and the
real attribute otherwise.  Writes (monkeypatching) reach the real module.
"""

import inspect
from types import ModuleType
from typing import Any

import numpy

from .helpers import C_HELPERS, MASKED_TESTING, TESTING, Converter
from .missing import Missing
from .names import PublicNames, public, walk

# Modules that are the same for everyone: exception classes, dtype classes, versions, and tools that build extensions.
_SHARED = ("exceptions", "dtypes", "version", "typing", "f2py", "core", "_utils", "_globals")
_MODULE_DUNDERS = ("__all__", "__path__", "__file__", "__version__", "__array_api_version__")


class Overlays:
    """The overlays of one substitute, made on first need, one for each module."""

    def __init__(self, substitute: ModuleType) -> None:
        self.substitute = substitute
        self.names = PublicNames()
        self.converter = Converter(substitute)
        try:
            walk(substitute, "testing")
            self.own_testing = True
        except AttributeError:
            self.own_testing = False
        self._made: dict[str, ModuleType] = {}

    def view(self, module: ModuleType) -> ModuleType:
        """What a test gets when it asks for `module`."""
        name = module.__name__
        if name.split(".")[0] != "numpy" or name.removeprefix("numpy.") in _SHARED:
            return module
        if name not in self._made:
            # noted before it is filled: the graph of modules has cycles
            self._made[name] = overlay = Overlay(module, self)
            overlay._fill()
        return self._made[name]

    def resolve(self, path: str, original: Any) -> Any:
        """The substitute's object of a public name; a constant that it lacks is NumPy's."""
        try:
            return walk(self.substitute, path)
        except AttributeError:
            return Missing(path, original) if callable(original) else original

    def attribute(self, module: ModuleType, name: str, value: Any) -> Any:
        """What a test sees as `module`'s attribute `name`, whose real value is `value`."""
        if isinstance(value, ModuleType):
            return self.view(value)
        if module.__name__ == MASKED_TESTING or (TESTING.match(module.__name__) and not self.own_testing):
            return self.converter.comparing(value) if inspect.isfunction(value) else value
        dotted = self.names.namespace.get(module.__name__)
        if dotted is not None and name in public(module):
            return self.resolve(f"{dotted}.{name}".lstrip("."), value)
        path = self.names.path(value)
        if path is not None:
            return self.resolve(path, value)
        if C_HELPERS.search(module.__name__) and callable(value):
            return self.converter.guarded(value)
        return value


class Overlay(ModuleType):
    """A module that shows `real`'s attributes as `overlays` says."""

    __slots__ = ("_overlays", "_real")  # not in vars(): tests look there

    def __init__(self, real: ModuleType, overlays: Overlays) -> None:
        super().__init__(real.__name__, real.__doc__)
        object.__setattr__(self, "_real", real)
        object.__setattr__(self, "_overlays", overlays)
        self.__dict__["__spec__"] = real.__spec__

    def _fill(self) -> None:
        """Take over what is there now; eagerly, since tests look into ``np.__dict__``."""
        for name, value in list(vars(self._real).items()):
            if not name.startswith("__"):
                self.__dict__[name] = self._overlays.attribute(self._real, name, value)
            elif name in _MODULE_DUNDERS:
                self.__dict__[name] = value

    def __dir__(self) -> list[str]:
        return dir(self._real)

    def __getattr__(self, name: str) -> Any:
        # NumPy's lazy submodules, and its own texts of AttributeError
        return self._overlays.attribute(self._real, name, getattr(self._real, name))

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value
        setattr(self._real, name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__.pop(name, None)
        delattr(self._real, name)


def is_numpy(name: str) -> bool:
    """Whether an import of `name` is to be answered by an overlay (the helpers inside tests folders are not)."""
    return name.split(".")[0] == numpy.__name__ and ".tests" not in name
