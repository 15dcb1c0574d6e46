"""Executes NumPy's test modules with an ``__import__`` of their own.

Functions keep the builtins of the module that defines them, so imports inside tests are redirected too; modules that a
test imports are not, unless they are test modules themselves.  The tests are recognised by their path, since most of
NumPy's tests folders are not packages.
"""

import builtins
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy

from .overlay import Overlays, is_numpy

TESTS = os.environ.get("NPCONFORM_TESTS", os.path.dirname(numpy.__file__)) + os.sep


def is_test_file(origin: str | None) -> bool:
    """Whether a file is one of the test modules."""
    return origin is not None and origin.startswith(TESTS) and os.path.basename(origin).startswith("test_")


class _Loader(importlib.abc.Loader):
    """Another loader (pytest's, which rewrites assertions) with the builtins put in place first."""

    def __init__(self, inner: Any, overlays: Overlays) -> None:
        self._inner = inner
        self._overlays = overlays

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        self._inner.exec_module(module)

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002  the names __import__ has
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        module = builtins.__import__(name, globals, locals, fromlist, level)
        return self._overlays.view(module) if level == 0 and is_numpy(name) else module


class _Finder(importlib.abc.MetaPathFinder):
    """Asks the finders after it, and takes over the loading of NumPy's test modules."""

    def __init__(self, overlays: Overlays) -> None:
        self._overlays = overlays

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.rpartition(".")[2].startswith("test_"):
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                if is_test_file(spec.origin):
                    spec.loader = _Loader(spec.loader, self._overlays)
                return spec
        return None


def install(overlays: Overlays) -> None:
    """Redirect every NumPy test module that is imported from now on."""
    sys.meta_path.insert(0, _Finder(overlays))  # before pytest's own finder, which is in place when plugins are loaded
