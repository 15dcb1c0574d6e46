"""NumPy's public callables, found by identity.

Tests reach public functions by many paths (``numpy._core.umath.add`` is ``numpy.add``).  What decides whether an object
is to be replaced is therefore the object itself, not the path it was reached by.
"""

import importlib
from types import ModuleType
from typing import Any

import numpy

LIB = ("stride_tricks", "scimath", "mixins", "introspect", "npyio", "format", "array_utils", "recfunctions")
POLYNOMIAL = ("polynomial", "chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polyutils")
NAMESPACES = (
    *("", "linalg", "fft", "random", "ma", "polynomial", "char", "strings", "rec", "emath", "lib", "ctypeslib"),
    *("testing", "testing.overrides", "ma.mrecords"),
    *(f"lib.{name}" for name in LIB),
    *(f"polynomial.{name}" for name in POLYNOMIAL),
)


def walk(root: Any, dotted: str) -> Any:
    """The attribute of `root` at a dotted path; submodules that are not yet imported are imported."""
    at = root
    for part in filter(None, dotted.split(".")):
        try:
            at = getattr(at, part)
        except AttributeError:
            if not isinstance(at, ModuleType):
                raise
            try:
                at = importlib.import_module(f"{at.__name__}.{part}")
            except ImportError:
                raise AttributeError(f"{at.__name__} has no {part}") from None
    return at


def public(module: ModuleType) -> list[str]:
    """The public names of a module."""
    listed = getattr(module, "__all__", None)
    return list(listed) if listed is not None else [name for name in dir(module) if not name.startswith("_")]


def _numpy_own(value: Any) -> bool:
    """Whether a value is a callable of NumPy's (`random`'s bound methods say no module)."""
    if not callable(value) or isinstance(value, ModuleType):
        return False
    home = getattr(value, "__module__", None)
    return not isinstance(home, str) or home.split(".")[0] == "numpy"


class PublicNames:
    """What is public in NumPy, by module and by object."""

    def __init__(self) -> None:
        self.namespace: dict[str, str] = {}
        """The public dotted name ("" for numpy itself) of each public module, by its real ``__name__``."""
        self._path: dict[int, str] = {}
        self._keep: list[Any] = []  # ids stay valid as long as their objects live
        for dotted in NAMESPACES:
            try:
                module = walk(numpy, dotted)
            except AttributeError:
                continue  # a NumPy without this module
            self.namespace.setdefault(module.__name__, dotted)
            for name in public(module):
                value = getattr(module, name, None)
                if _numpy_own(value):
                    self._path.setdefault(id(value), f"{dotted}.{name}".lstrip("."))
                    self._keep.append(value)

    def path(self, value: Any) -> str | None:
        """The shortest public path of an object, or None if it is not public."""
        return self._path.get(id(value)) if callable(value) else None
