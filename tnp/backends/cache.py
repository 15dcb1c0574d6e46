"""Compiled kernels on disk. The entries are machine code, so the folder is trusted only if nobody else can write it.

``tnp.config.cache_dir`` or, before, ``TNP_CACHE_DIR`` names the folder (default: ``tnp`` in ``XDG_CACHE_HOME`` or
``~/.cache``); empty or "off" disables the cache. Whatever the disk does, the caller only ever sees a miss.

An entry is a file named by the SHA-256 of its key: the SHA-256 of the rest, then key length, key and data. It is
replaced as a whole, so readers need no lock. A read renews the modification time, by which the oldest are removed.
"""

import contextlib
import os
import stat
import threading
import time
import warnings
from itertools import count
from typing import Any

MAX_BYTES = 64 << 20
_COUNTS = 64  # while as much is written as the bound allows, the folder is counted about so many times
_PAGE = 4096  # bytes of disk that a file takes up at least
_RENEW = 3600.0  # seconds: an entry is not touched at every read
_BINARY = getattr(os, "O_BINARY", 0)
_DIGEST = 32  # bytes of a SHA-256 sum
_serial = count()  # of temporary files
_chosen: str | None = None  # what the settings say
_lock = threading.RLock()  # no `tnp.core.forks.Lock`: this module needs nothing but Python's library


def _after_fork() -> None:
    """A child does not wait for a thread of its parent."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def sha256(data: bytes | memoryview) -> Any:
    from hashlib import sha256  # takes 10 ms to import: it comes with the first kernel

    return sha256(data)


class CacheWarning(UserWarning):
    """The kernel cache on disk, or an entry of it, is not used: others may write it, or it is damaged."""


def choose(folder: str | None) -> None:
    """Use this folder from now on; "off": none; None: the one that the environment names."""
    global _chosen
    _chosen = folder


def folder() -> str | None:
    """The folder in use, or None."""
    text = os.environ.get("TNP_CACHE_DIR") if _chosen is None else _chosen
    if text is not None:
        return None if text.strip().lower() in ("", "off") else os.path.abspath(os.path.expanduser(text))
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser(os.path.join("~", ".cache"))
    return os.path.join(base, "tnp") if os.path.isabs(base) else None  # no home


def _foreign(status: os.stat_result) -> bool:
    """Could somebody else have written this?"""
    if not hasattr(os, "getuid"):
        return False  # no owners and modes to judge by: the user's profile folder is private there
    return status.st_uid != os.getuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


class DiskCache:
    """Bytes under byte keys, in one folder.

    Parameters
    ----------
    folder : str or None
        Made, for the user alone, at the first `put`. None: every `get` misses and `put` does nothing.
    max_bytes : int
        When more of the disk is taken up, the entries used longest ago are removed, down to 3/4 of it. A few percent
        more may go unnoticed for some time.
    """

    def __init__(self, folder: str | None, max_bytes: int = MAX_BYTES) -> None:
        self.folder, self.max_bytes = folder, max_bytes
        # Bytes to be written before the folder is counted. Most processes write few, so that every one begins
        # anywhere: together they count as often as one that writes it all
        self._uncounted = int.from_bytes(os.urandom(4), "little") * (max_bytes // _COUNTS) >> 32
        self._warned = False

    def get(self, key: bytes) -> bytes | None:
        """The data stored under `key`, or None. What is damaged or could come from another user is a miss."""
        if self.folder is None:
            return None
        path = self._path(key)
        try:
            if not self._trusted():
                return None
            descriptor = os.open(path, os.O_RDONLY | _BINARY | getattr(os, "O_NOFOLLOW", 0))
            with open(descriptor, "rb") as file:
                status = os.fstat(descriptor)
                if _foreign(status):
                    self._warn(path, "belongs to another user or may be written by others")
                    return None
                entry = file.read()
            if time.time() - status.st_mtime > _RENEW:
                os.utime(path)
        except (OSError, ValueError):
            return None
        head = len(key).to_bytes(8, "little") + key
        body = memoryview(entry)[_DIGEST:]
        if sha256(body).digest() != entry[:_DIGEST] or body[: len(head)] != head:
            self._warn(path, "is damaged")
            return None
        return bytes(body[len(head) :])

    def put(self, key: bytes, data: bytes) -> None:
        """Store `data` under `key`, if the disk allows."""
        if self.folder is None:
            return
        body = len(key).to_bytes(8, "little") + key + data
        if len(body) > self.max_bytes // 4:
            return
        temporary = None
        try:
            if not os.path.isdir(self.folder):
                os.makedirs(os.path.dirname(self.folder), exist_ok=True)
                with contextlib.suppress(FileExistsError):  # another thread or process was first
                    os.mkdir(self.folder, 0o700)
            if not self._trusted():
                return
            name = os.path.join(self.folder, f".new-{os.getpid()}-{next(_serial)}")
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
            temporary = name
            with open(descriptor, "wb") as file:
                file.write(sha256(body).digest() + body)
            os.replace(temporary, self._path(key))
            temporary = None
            self._count(len(body) + _DIGEST)
        except (OSError, ValueError):
            pass
        finally:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)

    def _path(self, key: bytes) -> str:
        assert self.folder is not None
        return os.path.join(self.folder, sha256(key).hexdigest())

    def _trusted(self) -> bool:
        assert self.folder is not None
        if not _foreign(os.stat(self.folder)):
            return True
        self._warn(self.folder, "belongs to another user or may be written by others")
        return False

    def _warn(self, path: str, why: str) -> None:
        """Say it once, and never as an exception (under ``-W error``)."""
        with _lock:
            if self._warned:
                return
            self._warned = True
        text = (
            f"kernel cache: {path} {why}, so it is not used\n"
            f"  expected: owned by you, written by you alone, as it was stored\n"
            f"  hint:     remove {self.folder}, or set TNP_CACHE_DIR to a folder of your own (or to off)"
        )
        with contextlib.suppress(CacheWarning):
            warnings.warn(text, CacheWarning, stacklevel=4)

    def _count(self, more: int) -> None:
        """Keep the folder within its bound. Several processes may be at it: each counts from time to time."""
        with _lock:
            self._uncounted -= _room(more)
            if self._uncounted >= 0:
                return
            self._uncounted = self.max_bytes // _COUNTS
            entries = []
            with os.scandir(self.folder) as found:
                for entry in found:
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            entries.append((status.st_mtime, _room(status.st_size), entry.path))
            total = sum(size for _, size, _ in entries)
            if total > self.max_bytes:
                for _, size, path in sorted(entries):
                    if total <= self.max_bytes // 4 * 3:
                        break
                    with contextlib.suppress(OSError):
                        os.unlink(path)
                        total -= size


def _room(size: int) -> int:
    """What a file of that size takes up on the disk."""
    return -(-size // _PAGE) * _PAGE


_caches: dict[str | None, DiskCache] = {}


def _cache() -> DiskCache:
    """Of the folder that is named now."""
    place = folder()
    cache = _caches.get(place)
    if cache is None:
        cache = _caches.setdefault(place, DiskCache(place))
    return cache


def get(key: bytes) -> bytes | None:
    """The kernel stored under `key` in the user's cache, or None."""
    return _cache().get(key)


def put(key: bytes, data: bytes) -> None:
    """Store a kernel in the user's cache."""
    _cache().put(key, data)
