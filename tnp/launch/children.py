"""Processes that the program starts with `multiprocessing` follow it.

A forked child inherits the hook. A spawned child (or one of a fork server) starts as a bare interpreter and reads
a pickled dictionary of preparations before it imports the program's main module; an entry of ours in there installs
the hook when it is unpickled.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tnp.launch.importlib_bootstrap import install
from tnp.launch.user_code import UserCode

SPAWN = "multiprocessing.spawn"


def start(folders: Sequence[str]) -> None:
    """Install the hook in this process, and in the processes it will spawn."""
    install(UserCode(folders))
    spawn = sys.modules.get(SPAWN)
    if spawn is None:
        sys.meta_path.insert(0, _SpawnFinder(folders))
    else:
        _prepare_children(spawn, folders)


class _Preparation:
    """Unpickles by calling `start`."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = folders

    def __reduce__(self) -> tuple[Any, ...]:
        return start, (self.folders,)


def _prepare_children(spawn: Any, folders: Sequence[str]) -> None:
    get_preparation_data = spawn.get_preparation_data

    def with_hook(name: str) -> dict[str, Any]:
        return {**get_preparation_data(name), "tnp": _Preparation(folders)}

    spawn.get_preparation_data = with_hook


class _SpawnFinder:
    """Waits for `multiprocessing.spawn` to be imported: importing it beforehand would cost every run 40 ms."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != SPAWN:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _SpawnLoader(spec.loader, self._folders)  # type: ignore[assignment]
        return spec


class _SpawnLoader:
    def __init__(self, loader: Any, folders: Sequence[str]) -> None:
        self._loader = loader
        self._folders = folders

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _prepare_children(module, self._folders)
