"""Find every public function of NumPy that writes to an argument, and write the calls to mutating.txt.

Run ``python tests/tnp/core/find_mutating.py`` with plain NumPy to make the list anew. Each public callable, each
method of ndarray, Generator and RandomState and each ufunc method is called with sample arguments; a call is kept if
the memory, shape, strides or dtype of an argument differed afterwards.
"""

import contextlib
import inspect
import io
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("mutating.txt")

SAMPLES = """\
a = np.array([[3.0, -1.5, 2.0], [0.25, 8.0, -6.0], [1.0, np.nan, 4.0], [7.5, -2.0, 0.5]])
b = np.array([[1.0, 2.0, -3.0], [4.5, 0.5, 6.0], [-7.0, 8.0, 1.5], [2.5, 3.5, -4.0]])
x = np.array([5.0, -1.0, 3.0, 2.0, 9.0, 0.5])
n = np.array([[9, 2, 7], [4, 4, 1], [0, 3, 8], [6, 5, 2]])
k = np.array([2, 0, 1])
m = np.array([[True, False, True], [False, True, True], [True, False, False], [False, False, True]])
z = np.array([1 + 2j, -3j, 2.5])
s = np.array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]])
o = np.array([2, 'b', None], dtype=object)
t = np.array(['b', 'a', 'dc'])
r = np.array([(1, 2.0), (3, 4.0)], dtype=[('p', 'i4'), ('q', 'f8')])
"""
COMPILED = compile(SAMPLES, "samples", "exec")
NAMES = [line[0] for line in SAMPLES.splitlines()]

ARGUMENTS = [
    *((name,) for name in NAMES),
    *itertools.product("abxnsmk", "abxnkms"),
    *(("a", text) for text in ("0", "1", "2.0", "'f4'", "(0, 2)", "(3, 4)", "-1", "[0, 1]", "True", "..., 5.0")),
    ("a", "0, 5.0"), ("n", "1"), ("x", "2"), ("x", "3"), ("x", "(2, 3)"), ("n", "'i4'"), ("o", "None"), ("o", "0, 5"),
    ("t", "0, 'q'"), ("r", "0, (5, 6.0)"),
    *itertools.product("axn", "km", "xkb"),
    ("a", "m", "b"), ("a", "b", "m"), ("a", "k", "0"), ("a", "0.0", "1.0"), ("x", "0.0", "1.0"), ("a", "7.0", "'f8'"),
    ("a", "n % 3", "b", "1"), ("a", "k", "b[:3]", "0"), ("a", "n % 4", "b", "0"), ("x", "k", "2.0"), ("n", "k", "5"),
    ("'ij,jk', s", "s"), ("'i,i', x", "x"), ("[a, b]",), ("[x, x]",), ("2, a", "b"), ("np.sum, 0", "a"),
    ("np.sum", "0", "a"), ("[n > 3, n < 2]", "[a, b]"),
    ("x", "x", "2"), ("a", "[0.25, 0.5]"), ("a", "0.5"), ("n", "[n, n]"), ("n % 2", "[a, b]"),
    ("3",), ("(4, 3)",), ("3", "x"), ("2.0", "3.0"), ("5",), ("3, 0.5",), ("(2, 2)", "2"), (),
]  # fmt: skip

KEYWORDS = ["", "copy=False", "overwrite_input=True", "inplace=True", "write=False", "axis=0", "refcheck=False"]

MOST = 2  # calls of one function

# What no test may call: it reads or writes files, waits for input, starts something, or breaks the interpreter.
UNSAFE = {
    "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "fromfile", "genfromtxt", "memmap", "tofile",
    "dump", "open_memmap", "test", "info", "show_config", "show_runtime", "get_include", "source", "lookfor",
    "fromregex", "runstring", "print_assert_equal", "seterr", "seterrcall", "setbufsize", "set_printoptions", "seed",
    "set_state", "set_bit_generator", "DataSource", "errstate", "__reduce__", "__reduce_ex__", "__setstate__",
    "__class__", "__init_subclass__", "__new__", "__dlpack__", "__subclasshook__", "__array_finalize__",
    "__setattr__", "__delattr__", "__getattribute__", "__sizeof__", "get_file_obj", "add_newdoc", "add_docstring",
    "add_newdoc_ufunc", "set_module", "bytes", "as_strided", "vectorize",
}  # fmt: skip

NAMESPACES = [
    "np", "np.linalg", "np.fft", "np.random", "np.char", "np.strings", "np.emath", "np.rec", "np.lib.stride_tricks",
    "np.lib.scimath", "np.lib.array_utils", "np.lib.npyio", "np.lib.introspect", "np.lib.mixins",
    "np.polynomial.polynomial", "np.polynomial.chebyshev", "np.polynomial.legendre", "np.polynomial.hermite",
    "np.polynomial.laguerre",
]  # fmt: skip


def callables() -> Iterator[str]:
    """Expressions for every public callable that takes arrays."""
    for namespace in NAMESPACES:
        module = eval(namespace)
        for name in sorted(getattr(module, "__all__", None) or vars(module)):
            f = getattr(module, name, None)
            if name in UNSAFE or name.startswith("_") or not callable(f) or inspect.isclass(f):
                continue
            yield f"{namespace}.{name}"
            if isinstance(f, np.ufunc) and namespace == "np":
                methods = ["at", "reduce", "accumulate", "reduceat", "outer"] if f.nout == 1 and not f.signature else []
                yield from (f"np.{name}.{method}" for method in methods)
    for maker in ("np.random.default_rng(0)", "np.random.RandomState(0)"):
        for name in sorted(dir(eval(maker))):
            if name not in UNSAFE and name[0] != "_" and callable(getattr(eval(maker), name)):
                yield f"{maker}.{name}"


def methods() -> Iterator[str]:
    """The methods of ndarray, operators included."""
    yield from (name for name in sorted(dir(np.ndarray)) if name not in UNSAFE and callable(getattr(np.ndarray, name)))


def samples() -> dict[str, Any]:
    """Fresh arguments."""
    names: dict[str, Any] = {"np": np}
    exec(COMPILED, names)
    return names


def state(arrays: dict[str, Any]) -> list[Any]:
    """What a call may change of the arguments."""
    return [
        (array.shape, array.strides, array.dtype, array.flags.writeable, array.tobytes()) for array in arrays.values()
    ]


def changed(call: str) -> str | None:
    """The names whose array differs after the call; None if it raises."""
    names = samples()
    arrays = {name: names[name] for name in NAMES if re.search(rf"\b{name}\b", call)}
    before = state(arrays)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            exec(call, names)
    except Exception:
        return None
    return "".join(name for name, old, new in zip(arrays, before, state(arrays), strict=True) if old != new)


def with_out(f: str, call: str) -> str | None:
    """The call with ``out=``, if the function has it and writes to it."""
    function = eval(f)
    if not isinstance(function, np.ufunc) and "out" not in (parameters(function) or "out"):
        return None
    names = samples()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = eval(call, names)
    except Exception:
        return None
    if isinstance(result, tuple):
        if not isinstance(function, np.ufunc):
            return None
        outs = ", ".join(f"out{i}" for i in range(len(result)))
        makes = "; ".join(f"out{i} = np.full({np.shape(r)!r}, 7, {dtype(r)!r})" for i, r in enumerate(result))
    else:
        outs, makes = "out0", f"out0 = np.full({np.shape(result)!r}, 7, {dtype(result)!r})"
    argument = f"out=({outs})" if "," in outs else "out=out0"
    text = f"{makes}; {call[:-1]}{', ' if call[-2] != '(' else ''}{argument})"
    names = samples()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            exec(text, names)
    except Exception:
        return None
    return text if np.any(names["out0"] != 7) else None


def dtype(result: Any) -> str:
    """The dtype of a result as text."""
    return np.asarray(result).dtype.str


def parameters(function: Any) -> list[str] | None:
    """Names of the parameters, where Python knows them."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def calls(f: str, arguments: tuple[str, ...]) -> Iterator[str]:
    """Calls of a function with these arguments."""
    known = parameters(eval(f)) if f.startswith("np.") else None
    for keywords in KEYWORDS:
        if keywords and keywords.split("=")[0] not in (known or ["axis", "refcheck", "write", "inplace"]):
            continue
        yield f"{f}({', '.join([*arguments, *([keywords] if keywords else [])])})"


def find() -> Iterator[str]:
    """Calls that change memory: for each function `MOST` without keywords and with each, and one with ``out=``."""
    for f in callables():
        found: Counter[str] = Counter()
        out = None
        for arguments in ARGUMENTS:
            for call in calls(f, arguments):
                names = changed(call)
                if names is None:
                    continue
                keyword = call.partition("=")[2]
                if names and found[keyword] < MOST:
                    found[keyword] += 1
                    yield f"{call}\t{names}"
                if out is None and "=" not in call and (out := with_out(f, call)):
                    yield f"{out}\tout"
    for name in methods():
        found = Counter()
        out = None
        for array in NAMES:
            for arguments in ARGUMENTS:
                for call in calls(f"{array}.{name}", arguments):
                    names = changed(call)
                    keyword = call.partition("=")[2]
                    if names and found[keyword] < MOST:
                        found[keyword] += 1
                        yield f"{call}\t{names}"
                    if names is not None and out is None and array in "axn" and "=" not in call and name[0] != "_":
                        out = with_out(f"np.ndarray.{name}", call)
                        if out:
                            yield f"{out}\tout"


if __name__ == "__main__":
    lines = list(dict.fromkeys(find()))
    FILE.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} calls")
