"""Makes ``numpy`` mean tnp in the program's own modules.

``import`` statements, ``__import__`` and code run by ``exec`` all go through ``builtins.__import__``;
``importlib.import_module`` has a way of its own. Both are replaced. Nothing is put in the place of
``sys.modules["numpy"]``, so that installed packages, and C code anywhere, keep the real NumPy.

The hook must not be seen. It takes itself out of tracebacks, and this file is called as it is because `warnings`
passes over frames whose file name contains "importlib" and "_bootstrap" when it counts stack levels: a module that
warns its importer must not find the hook there.
"""

import builtins
import importlib
import sys
from collections.abc import Sequence
from functools import wraps
from types import ModuleType
from typing import Any

import tnp
from tnp.launch.user_code import UserCode

import_ = builtins.__import__
import_module_ = importlib.import_module


def install(user_code: UserCode) -> None:
    """Redirect the program's imports of numpy, from now on."""

    @wraps(import_)
    def __import__(  # its name is seen where a program prints it
        name: str,
        globals: dict[str, Any] | None = None,
        locals: Any = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        try:
            if level == 0 and _is_numpy(name) and user_code.owns(globals, sys._getframe(1)):
                module = _replacement(name, fromlist or ())
                if module is not None:
                    return module
            return import_(name, globals, locals, fromlist, level)
        except BaseException as error:
            _forget_hook(error)
            raise

    @wraps(import_module_)
    def import_module(name: str, package: str | None = None) -> ModuleType:
        try:
            if _is_numpy(name) and user_code.owns(None, sys._getframe(1)):
                module = _module(name)
                if module is not None:
                    return module
            return import_module_(name, package)
        except BaseException as error:
            _forget_hook(error)
            raise

    builtins.__import__ = __import__  # type: ignore[assignment]
    importlib.import_module = import_module


def _is_numpy(name: object) -> bool:
    return isinstance(name, str) and (name == "numpy" or name.startswith("numpy."))


def _replacement(name: str, names: Sequence[str]) -> ModuleType | None:
    """What ``import name`` (no names) or ``from name import names`` works on; None where NumPy has to refuse."""
    module = _module(name)
    if module is None or not names:
        return module and tnp
    for wanted in names:
        if wanted != "*" and not hasattr(module, wanted) and _module(f"{name}.{wanted}") is None:
            return None
    return module


def _module(name: str) -> ModuleType | None:
    """tnp's module for NumPy's `name`, NumPy's own where tnp has none, or None if there is no such module."""
    own = "tnp" + name.removeprefix("numpy")
    if own in sys.modules or _import_if_there(own):
        return sys.modules[own]
    parent, _, last = name.rpartition(".")
    holder = _module(parent)
    if holder is None or not _import_if_there(name):
        return None
    if not hasattr(holder, last):  # `import numpy.x as y` reads the attribute
        setattr(holder, last, sys.modules[name])
    return sys.modules[name]


def _import_if_there(name: str) -> bool:
    try:
        import_(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, but misses another
        return False
    return True


def _forget_hook(error: BaseException) -> None:
    """Take this file's frames off the traceback. A bare ``raise`` that follows does not put them back."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
