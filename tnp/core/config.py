"""Settings: attributes of `tnp.config`, environment variables TNP_*, and context managers.

>>> import tnp
>>> with tnp.config(threads=1, lazy=False):  # one thread, and every operation runs at once: for debugging
...     (tnp.arange(3) + 1).sum()
np.int64(6)
>>> tnp.config.math
'numpy'
>>> tnp.config.math = "exact"
Traceback (most recent call last):
    ...
ValueError: tnp.config.math: no such value
  got:      'exact'
  expected: 'numpy' or 'fast'
  hint:     'numpy' gives NumPy's bits, 'fast' gives up the last few for speed
"""

import contextlib
import operator
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

LAZY_FROM = 32768  # elements: below, an operation costs less than recording and running it later would gain
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_FLAGS = {"1": True, "true": True, "on": True, "yes": True, "": False, "0": False, "false": False, "off": False,
          "no": False}  # fmt: skip


def cpus() -> int:
    """CPUs this process may use: affinity, and the share that a container grants."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:
        count = os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
        count = min(count, max(1, int(quota) // int(period)))
    except (OSError, ValueError):  # no such file, or no bound ("max")
        pass
    return count


def _whole(least: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
        if number < least:
            raise ValueError
        return number

    return check


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise TypeError
    return value


def _math(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    if value not in ("numpy", "fast"):
        raise ValueError
    return value


def _bytes(value: Any) -> int | None:
    """None, a number of bytes, or a text such as "4G" or "512 MiB"."""
    if value is None:
        return None
    if type(value) is not str:
        return _whole(1)(value)
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?)(?:I?B)?\s*", value.upper())
    if found is None:
        raise ValueError
    return _whole(1)(int(float(found[1]) * (1 << _UNITS[found[2]])))


def _folder(value: Any) -> str | None:
    return None if value is None else os.fspath(value)


class Setting(NamedTuple):
    """What a setting is without the environment, how it reads a text of the environment, and what it takes."""

    default: Callable[[], Any]
    read: Callable[[str], Any]
    check: Callable[[Any], Any]
    expected: str
    hint: str


SETTINGS = {
    "cache_dir": Setting(
        lambda: None, str, _folder, "a path, 'off', or None for the default folder", "it is made when it is not there"
    ),
    "lazy": Setting(
        lambda: True, lambda text: _FLAGS[text.strip().lower()], _flag, "True or False (in the environment 1 or 0)",
        "False runs every operation at once",
    ),
    "lazy_from": Setting(
        lambda: LAZY_FROM, int, _whole(0), "an int of at least 0", "it counts elements of an array"
    ),
    "math": Setting(
        lambda: "numpy", lambda text: text.strip().lower(), _math, "'numpy' or 'fast'",
        "'numpy' gives NumPy's bits, 'fast' gives up the last few for speed",
    ),
    "memory_limit": Setting(
        lambda: None, lambda text: text.strip() or None, _bytes, "a number of bytes, a text such as '4G', or None",
        "it bounds the memory of results, inputs from elsewhere do not count",
    ),
    "stress": Setting(
        lambda: False, lambda text: _FLAGS[text.strip().lower()], _flag, "True or False (in the environment 1 or 0)",
        "set TNP_STRESS=1 before tnp is imported",
    ),
    "threads": Setting(cpus, int, _whole(1), "an int of at least 1", "1 computes on the calling thread alone"),
}  # fmt: skip


class Config:
    """What can be set, for the whole process: by attribute, by environment variable (read when tnp is imported), or
    for the body of a ``with`` statement, ``with tnp.config(name=value, ...):``.

    Attributes
    ----------
    threads : int
        Threads that a kernel may use, the calling one included (TNP_THREADS). By default the CPUs that the process
        may use. Results do not depend on it. NumPy's matrix products have threads of their own.
    math : {"numpy", "fast"}
        "numpy": every bit as NumPy has it. "fast": operations recorded from now on may differ in their last bits,
        for speed (TNP_MATH):

        - exp, log, powers, trigonometric and hyperbolic functions of float32 and float64 may be the C library's
          vector functions: within 4 units in the last place. Powers of 3 and 4 are products: within 2.
        - A product of float32 or float64 and the sum that alone reads it may be rounded once, where the processor can:
          within ``eps * (abs(a * b) + abs(a * b + c))`` of ``a * b + c``. A product that overflows or underflows
          while the sum does not is then right, and raises no flag. Products in ``a*b - c*d`` stay as they are: equal
          terms still give zero.
        - `numpy.einsum` of float and complex arrays may be matrix products, several operands two by two: within
          ``4 * n * eps * einsum(..., abs(a), abs(b), ...)`` where each element adds up n terms. Of three operands and
          more the result may lie in memory as it does with ``optimize=True``.

        Division keeps every bit. Which operations differ depends on the size of the arrays
        and on what is compiled, so the last bits may change from run to run. Exceptions and warnings are as ever, but
        for those of products that are not rounded. `tnp.explain` marks such operations.
    lazy : bool
        Record operations on large arrays and run them fused (TNP_LAZY). Off: every operation runs at once.
    lazy_from : int
        Elements from which an operation is recorded (TNP_LAZY_FROM).
    memory_limit : int or None
        Bytes that the memory of tnp's results may take, together; a text such as "4G" sets it too
        (TNP_MEMORY_LIMIT). What would exceed it raises MemoryError and leaves every array as it was. Small arrays,
        and what NumPy's own functions allocate, do not count.
    cache_dir : str or None
        Folder of compiled kernels; "off" for none (TNP_CACHE_DIR). None: ``tnp`` in the user's cache folder. It is
        used only if nobody else can write there.
    stress : bool
        Record every operation, thread from the first element, cut 64-element chunks (TNP_STRESS): so that tests on
        small arrays judge the engine too. Read when tnp is imported.

    >>> import tnp
    >>> with tnp.config(memory_limit="1.5G"):
    ...     tnp.config.memory_limit
    1610612736
    >>> with tnp.config(threads=0):
    ...     pass
    Traceback (most recent call last):
        ...
    ValueError: tnp.config.threads: no such value
      got:      0
      expected: an int of at least 1
      hint:     1 computes on the calling thread alone
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[[Config], None]] = []
        self._values: dict[str, Any] = {}
        for name, setting in SETTINGS.items():
            text = os.environ.get(f"TNP_{name.upper()}")
            if text is None or not text.strip():
                self._values[name] = setting.default()
                continue
            try:
                self._values[name] = setting.check(setting.read(text))
            except (KeyError, ValueError):
                raise ValueError(_refusal(f"TNP_{name.upper()}", "no such value", text, setting)) from None
        if self._values["stress"]:
            self._values["lazy_from"] = 1

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            names = ", ".join(SETTINGS)
            raise AttributeError(f"tnp.config: no setting {name!r}\n  expected: one of {names}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self._set({name: value})

    def _set(self, values: dict[str, Any]) -> None:
        """All of them, or, if there is something wrong with one, none."""
        checked = {name: self._checked(name, value) for name, value in values.items()}
        self._values.update(checked)
        for tell in self._listeners:
            tell(self)

    def _checked(self, name: str, value: Any) -> Any:
        now = getattr(self, name)  # raises for other names
        setting = SETTINGS[name]
        try:
            value = setting.check(value)
        except TypeError:
            raise TypeError(_refusal(f"tnp.config.{name}", "wrong type", value, setting)) from None
        except ValueError:
            raise ValueError(_refusal(f"tnp.config.{name}", "no such value", value, setting)) from None
        if name == "stress" and value != now:
            raise ValueError(_refusal("tnp.config.stress", "cannot change in a running program", value, setting))
        return value

    def listen(self, tell: Callable[["Config"], None]) -> None:
        """Call ``tell(config)`` now and after every change."""
        self._listeners.append(tell)
        tell(self)

    def memory(self) -> int:
        """Bytes of results that may wait, together: more run at once, so that MemoryError comes at the call."""
        limit: int | None = self._values["memory_limit"]
        have = _memory()
        return (have if limit is None else min(limit, have)) // 4

    @contextlib.contextmanager
    def __call__(self, **values: Any) -> Iterator["Config"]:
        """Settings for the body of a ``with`` statement."""
        before = {name: getattr(self, name) for name in values}
        self._set(values)
        try:
            yield self
        finally:
            self._set(before)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *SETTINGS]

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {value!r}" for name, value in sorted(self._values.items()))


def _refusal(what: str, why: str, got: Any, setting: Setting) -> str:
    return f"{what}: {why}\n  got:      {got!r}\n  expected: {setting.expected}\n  hint:     {setting.hint}"


@cache
def _physical() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 33


def _memory() -> int:
    """Bytes that this process may use: physical memory, or the limit on its address space."""
    have = _physical()
    if resource is not None:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            have = min(have, limit)
    return have


config = Config()
