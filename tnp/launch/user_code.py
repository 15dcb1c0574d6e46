"""Which modules are the program's own.

In the program's own modules ``numpy`` means tnp; installed packages and the standard library keep the real NumPy.
A module is judged by the file it was read from; code without a file (``exec`` in a fresh dictionary, ``python -c``)
by the code that runs it.
"""

import os
import sys
import sysconfig
from collections.abc import Iterable
from types import FrameType
from typing import Any

INSTALLED = frozenset({"site-packages", "dist-packages"})
DISTRIBUTION = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


class UserCode:
    """The modules under some folders, less what is installed there.

    Parameters
    ----------
    folders : iterable of str
        The script's folder, the current folder, the entries of PYTHONPATH. Folders that the program adds to
        ``sys.path`` later count too.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        self.folders = tuple(dict.fromkeys(map(_as_prefix, folders)))
        self._path_at_start = frozenset(sys.path)
        self._installed = tuple(_as_prefix(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
        self._verdicts: dict[str, bool] = {}

    def owns(self, namespace: dict[str, Any] | None, frame: FrameType | None) -> bool:
        """Whether an import asked for by a module with this namespace, called from this frame, is the program's."""
        while True:
            if namespace is not None:
                file = namespace.get("__file__")
                if isinstance(file, str):
                    return self.owns_file(file)
                if namespace.get("__name__") == "__main__":
                    return True
            if frame is None:
                return False
            namespace, frame = frame.f_globals, frame.f_back

    def owns_file(self, file: str) -> bool:
        verdict = self._verdicts.get(file)
        if verdict is None:
            verdict = self._verdicts[file] = self._judge(os.path.realpath(file))
        return verdict

    def _judge(self, path: str) -> bool:
        if not INSTALLED.isdisjoint(path.split(os.sep)) or path.startswith(self._installed) or _is_tnp(path):
            return False
        added = [_as_prefix(entry) for entry in sys.path if entry not in self._path_at_start]
        return path.startswith((*self.folders, *added))


def _as_prefix(folder: str) -> str:
    return os.path.join(os.path.realpath(folder), "")


def _is_tnp(path: str) -> bool:
    """Whether the file belongs to tnp or to a package of its distribution, which lie beside it in a checkout."""
    return path.startswith((os.path.join(DISTRIBUTION, "tnp", ""), os.path.join(DISTRIBUTION, "tnp_")))
