"""Kernels on disk: what is stored comes back, and nothing else ever does."""

import os
import subprocess
import sys
import threading
import warnings
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tnp.backends import cache
from tnp.backends.cache import CacheWarning, DiskCache

posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes are POSIX's")


@pytest.fixture(name="folder")
def _folder(tmp_path):
    return str(tmp_path / "deep" / "tnp")


def entry(folder, key):
    return os.path.join(folder, sha256(key).hexdigest())


@given(st.dictionaries(st.binary(max_size=40), st.binary(max_size=300), max_size=8))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_put_comes_back(tmp_path_factory, items):
    folder = str(tmp_path_factory.mktemp("cache"))
    os.chmod(folder, 0o700)
    for key, data in items.items():
        assert DiskCache(folder).get(key) is None
        DiskCache(folder).put(key, b"earlier")
        DiskCache(folder).put(key, data)
    assert {key: DiskCache(folder).get(key) for key in items} == items
    assert DiskCache(folder).get(b"another key, longer than any of these, which was never stored") is None
    assert len(os.listdir(folder)) == len(items)  # no temporary files are left


@posix
def test_the_folder_and_its_entries_are_private(folder):
    former = os.umask(0)
    try:
        DiskCache(folder).put(b"k", b"data")
    finally:
        os.umask(former)
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert os.stat(entry(folder, b"k")).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("where", [0, 31, 32, 39, 40, 41, -1])
def test_damaged_entries_are_ignored_with_one_warning(folder, where):
    disk = DiskCache(folder)
    disk.put(b"k", b"data")
    with open(entry(folder, b"k"), "r+b") as file:
        content = bytearray(file.read())
        content[where] ^= 1
        file.seek(0)
        file.write(content)
    with pytest.warns(CacheWarning, match="damaged") as caught:
        assert disk.get(b"k") is None
        assert disk.get(b"k") is None
    assert len(caught) == 1
    disk.put(b"k", b"data")
    assert disk.get(b"k") == b"data"


@pytest.mark.parametrize("length", [0, 5, 32, 38, 43])
def test_truncated_entries_are_ignored(folder, length):
    disk = DiskCache(folder)
    disk.put(b"k", b"data")
    os.truncate(entry(folder, b"k"), length)
    with pytest.warns(CacheWarning):
        assert disk.get(b"k") is None


def test_an_entry_moved_to_another_key_is_ignored(folder):
    disk = DiskCache(folder)
    disk.put(b"a", b"code of a")
    os.rename(entry(folder, b"a"), entry(folder, b"b"))
    with pytest.warns(CacheWarning):
        assert disk.get(b"b") is None


@posix
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_may_write_is_not_used(folder, mode):
    DiskCache(folder).put(b"k", b"data")
    os.chmod(folder, mode)
    disk = DiskCache(folder)
    with pytest.warns(CacheWarning, match="not used") as caught:
        assert disk.get(b"k") is None
        disk.put(b"other", b"data")
    assert len(caught) == 1
    assert len(os.listdir(folder)) == 1
    os.chmod(folder, 0o755)
    assert disk.get(b"k") == b"data"


@posix
def test_an_entry_that_others_may_write_is_not_used(folder):
    disk = DiskCache(folder)
    disk.put(b"k", b"data")
    os.chmod(entry(folder, b"k"), 0o622)
    with pytest.warns(CacheWarning, match="not used"):
        assert disk.get(b"k") is None


@posix
def test_what_belongs_to_another_user_is_not_used(folder, monkeypatch):
    disk = DiskCache(folder)
    disk.put(b"k", b"data")
    me = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    with pytest.warns(CacheWarning, match="another user"):
        assert disk.get(b"k") is None


@posix
def test_a_link_is_not_followed(folder, tmp_path):
    disk = DiskCache(folder)
    disk.put(b"k", b"data")
    os.rename(entry(folder, b"k"), tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", entry(folder, b"k"))
    assert disk.get(b"k") is None


@posix
def test_warnings_as_errors_do_not_reach_the_caller(folder):
    DiskCache(folder).put(b"k", b"data")
    os.chmod(folder, 0o777)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DiskCache(folder).get(b"k") is None


def test_a_disk_that_fails_is_a_miss(tmp_path, monkeypatch, folder):
    (tmp_path / "file").write_bytes(b"")
    disk = DiskCache(str(tmp_path / "file"))
    disk.put(b"k", b"data")
    assert disk.get(b"k") is None
    below = DiskCache(str(tmp_path / "file" / "below"))
    below.put(b"k", b"data")
    assert below.get(b"k") is None

    def full(*_args):
        raise OSError(28, "No space left on device")

    disk = DiskCache(folder)
    disk.put(b"old", b"data")
    monkeypatch.setattr(os, "replace", full)
    disk.put(b"k", b"data")
    assert disk.get(b"k") is None
    assert len(os.listdir(folder)) == 1  # the temporary file went


def test_the_bound_removes_what_was_used_longest_ago(folder):
    disk = DiskCache(folder, max_bytes=36_000)  # every file takes up 4096
    for i in range(8):
        disk.put(b"%d" % i, bytes(1_000))
        os.utime(entry(folder, b"%d" % i), (1e9 + i, 1e9 + i))
    assert disk.get(b"0") == bytes(1_000)  # used now
    disk.put(b"8", bytes(1_000))
    disk.put(b"9", bytes(1_000))
    kept = {i for i in range(10) if disk.get(b"%d" % i) is not None}
    assert {0, 8, 9} < kept
    assert 1 not in kept
    assert sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder)) <= 36_000
    disk.put(b"large", bytes(10_000))  # would push out most of the others
    assert disk.get(b"large") is None


def test_processes_that_write_little_count_the_folder_seldom(folder, monkeypatch):
    real, counts = os.scandir, []
    monkeypatch.setattr(os, "scandir", lambda path: counts.append(path) or real(path))
    for i in range(400):
        DiskCache(folder, max_bytes=256 * 4096).put(b"%d" % i, b"data")  # each counts it with a probability of 1/4
    assert 50 < len(counts) < 150
    assert 150 < len(os.listdir(folder)) < 256 + 60


def test_threads_and_processes_at_once(folder):
    disk = DiskCache(folder)
    wrong = []

    def work(k):
        for i in range(60):
            disk.put(b"k%d" % (i % 3), b"v%d" % (i % 3) * 1000)
            got = disk.get(b"k%d" % (i % 3))
            if got != b"v%d" % (i % 3) * 1000:
                wrong.append((k, i, got))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_another_makes_the_folder_first(folder, monkeypatch):
    os.makedirs(folder, 0o700)
    isdir = os.path.isdir
    monkeypatch.setattr(os.path, "isdir", lambda path: path != folder and isdir(path))  # what this thread saw
    disk = DiskCache(folder)
    disk.put(b"k", b"data")
    assert disk.get(b"k") == b"data"


def test_a_chosen_folder_goes_before_the_environments(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "_chosen", None)
    monkeypatch.setenv("TNP_CACHE_DIR", str(tmp_path / "environment"))
    cache.choose(str(tmp_path / "chosen"))
    cache.put(b"k", b"data")
    assert (os.listdir(tmp_path), cache.get(b"k")) == (["chosen"], b"data")
    cache.choose("off")
    assert (cache.get(b"k"), cache.folder()) == (None, None)
    cache.choose(None)
    assert cache.folder() == str(tmp_path / "environment")


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "_chosen", None)
    monkeypatch.setenv("TNP_CACHE_DIR", str(tmp_path / "mine"))
    cache.put(b"k", b"data")
    assert cache.get(b"k") == b"data"
    assert len(os.listdir(tmp_path / "mine")) == 1
    for off in ("", "off", " OFF"):
        monkeypatch.setenv("TNP_CACHE_DIR", off)
        cache.put(b"k", b"data")
        assert cache.get(b"k") is None
    monkeypatch.delenv("TNP_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    cache.put(b"k", b"data")
    assert len(os.listdir(tmp_path / "xdg" / "tnp")) == 1
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says its specification
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    cache.put(b"k", b"data")
    assert len(os.listdir(tmp_path / "home" / ".cache" / "tnp")) == 1


def test_the_module_is_light():
    code = f"import sys; sys.path[0] = {os.path.dirname(cache.__file__)!r}; import cache; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "llvmlite", "numpy", "tempfile", "pathlib"} & set(done.stdout.split())
