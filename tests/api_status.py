"""What tnp does itself, name by name, found by running it: ``python -m tests.api_status [--write]``.

Every public function, ufunc and array method of NumPy is called on arrays whose content is pending, and what happens is
watched: was NumPy's own function called for want of a native one, is the result recorded, was the operand computed?
The outcome is docs/api_status.md.
"""

import argparse
import contextlib
import importlib
import inspect
import io
import textwrap
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy

import tnp
from tnp import content, host

FILE = Path(__file__).resolve().parent.parent / "docs" / "api_status.md"
NAMESPACES = """
numpy numpy.ndarray numpy.ufunc numpy.linalg numpy.fft numpy.random numpy.random.Generator numpy.strings numpy.char
numpy.emath numpy.rec numpy.ma numpy.polynomial numpy.polynomial.polynomial numpy.polynomial.chebyshev
numpy.polynomial.legendre numpy.polynomial.hermite numpy.polynomial.hermite_e numpy.polynomial.laguerre
numpy.polynomial.polyutils numpy.lib numpy.lib.array_utils numpy.lib.format numpy.lib.introspect numpy.lib.mixins
numpy.lib.npyio numpy.lib.scimath numpy.lib.stride_tricks numpy.ctypeslib numpy.dtypes numpy.exceptions numpy.testing
numpy.typing
""".split()

KINDS = {
    "recorded": "native: the result is recorded, fused with what surrounds it, and computed when it is read",
    "fused": "native: computed at once, by one kernel together with the pending operands, which need no memory",
    "form": "native: the result follows from the operand's form; pending content stays pending",
    "finished": "native: the result is computed at once, by fused kernels or by NumPy's loop on the operands' memory",
    "host": "NumPy's function on the operands' memory, pending content computed first; the result is wrapped",
    "NumPy's own": "NumPy's very object: scalar types, constants, exceptions, and functions that take no arrays",
    "class": "a class of tnp, or one of NumPy's made for tnp arrays",
    "missing": "not there",
    "not run": "writes files, waits for input or changes NumPy's global state: not called here (host)",
}

MISSING = object()

# What no survey may call: it reads or writes files, starts something, or changes the interpreter's state
UNSAFE = set(
    """
add_docstring add_newdoc add_newdoc_ufunc DataSource dump fromfile fromregex genfromtxt get_file_obj get_include info
load loadtxt memmap open_memmap opt_func_info print_assert_equal runstring save savetxt savez savez_compressed seed
set_bit_generator set_printoptions set_state setbufsize seterr seterrcall show_config show_runtime source test tofile
fromstring load_library run_threaded rundocs check_support_sve clear_and_catch_warnings measure tempdir temppath
""".split()
)

# Operands, by the names that calls use. Each is made anew for every call; all but the texts are pending under tnp.
OPERANDS = {
    "x": lambda np: np.copy(np.linspace(0.1, 0.9, 64).reshape(8, 8)),
    "y": lambda np: np.copy(np.linspace(0.2, 0.8, 64).reshape(8, 8)),
    "v": lambda np: np.copy(np.linspace(0.1, 0.9, 16)),
    "n": lambda np: np.copy(np.arange(64).reshape(8, 8)),
    "i": lambda np: np.copy(np.array([2, 0, 1])),
    "m": lambda np: np.copy(np.arange(64).reshape(8, 8) % 2 == 0),
    "z": lambda np: np.copy(np.linspace(0.1, 0.9, 64).reshape(8, 8) * (1 + 1j)),
    "s": lambda np: np.array(["b", "a", "c"]),
    "d": lambda np: np.arange("2020-01", "2020-07", dtype="M8[D]"),
}

# The calls that are tried, in this order; the first that NumPy accepts is the sample of a function
CALLS = (
    """
x|x, y|n|n, n|v|v, v|x, 0|x, 2|n, 2|x, n % 4|m|z|x, (8, 8)|x, x > 0.5|x, i|v, i|v, v, v|v, 3|x, 0, 1|x, 0.5
x > 0.5, x, y|[x, y]|[x, x > 0.5], [x, y]|x, [x > 0.5], [x]|s|s, s|s, 'a'|s, 'a', 'b'|s, 3|d|(4, 4)|3|4, 4|0, 1|'f8'
x, 'f8'|x.dtype, x.dtype|'i,j->ij', v, v|len, 0, x|abs, x|v, 4|n % 8, (8, 8)|v, v, 2|x, 0, v[:8]|3, 0.5|0.5|3, 4, 5
(0.0, 1.0)|s, 1|s, [1]
""".strip()
    .replace("\n", "|")
    .split("|")
)
CALLS.append("")

SAMPLES = {
    "array": "x", "asarray": "x", "full": "(8, 8), 2.5", "full_like": "x, 2.5", "where": "x > 0.5, x, y",
    "clip": "x, 0.2, 0.8", "copyto": "x, y", "putmask": "x, x > 0.5, 1.0", "place": "x, x > 0.5, [1.0]",
    "put": "x, [0, 1], 2.0", "take": "x, i", "choose": "i, [v[:3], v[:3], v[:3]]", "compress": "[True, False], x, 0",
    "extract": "x > 0.5, x", "select": "[x > 0.5], [x]", "concatenate": "[x, y]", "stack": "[x, y]",
    "vstack": "[x, y]", "hstack": "[x, y]", "dstack": "[x, y]", "column_stack": "[x, y]", "block": "[[x, y]]",
    "append": "x, y", "split": "x, 2", "dsplit": "v.reshape(2, 2, 4), 2", "array_split": "x, 3", "tile": "x, 2",
    "repeat": "x, 2", "roll": "x, 1", "pad": "x, 1", "broadcast_to": "x, (2, 8, 8)", "expand_dims": "x, 0",
    "moveaxis": "x, 0, 1", "rollaxis": "x, 1", "swapaxes": "x, 0, 1", "reshape": "x, (4, 16)", "linspace": "0, 1, 50",
    "arange": "50", "eye": "8", "insert": "v, 1, 2.0", "delete": "v, 1", "interp": "v, v, v", "ldexp": "x, n % 4",
    "result_type": "x, y", "take_along_axis": "x, n % 8, 1", "put_along_axis": "x, n % 8, 1.0, 1",
    "fill_diagonal": "x, 1.0", "ravel_multi_index": "(i, i), (4, 4)", "unravel_index": "i, (4, 4)",
    "meshgrid": "v, v", "zeros": "(8, 8)", "ones": "(8, 8)", "empty": "(8, 8)", "indices": "(4, 4)", "identity": "8",
    "diff": "x", "fromiter": "range(4), 'f8'", "frombuffer": "b'12345678'",
    "fromfunction": "lambda i, j: i + j, (4, 4)", "astype": "x, 'f4'", "shares_memory": "x, y", "unstack": "x",
    "isin": "n, [3, 4]", "einsum": "'ij,jk', x, y", "tensordot": "x, y", "sum": "x", "ones_like": "x",
    "bincount": "n.ravel()", "digitize": "v, v", "logspace": "0, 1, 50", "geomspace": "1, 2, 50", "tri": "8",
    "diag": "v", "diagflat": "v", "vander": "v", "trace": "x", "partition": "v, 3", "argpartition": "v, 3",
    "searchsorted": "v, v", "round": "x, 2", "around": "x, 2", "cross": "x[:, :3], y[:, :3]",
}  # fmt: skip
METHOD_SAMPLES = {
    "astype": "'f4'", "reshape": "4, 16", "clip": "0.2, 0.8", "round": "2", "take": "[0, 1]", "repeat": "2",
    "view": "", "choose": "[1.0, 2.0]", "compress": "[True, False], 0", "put": "[0], 1.0", "fill": "1.0",
    "swapaxes": "0, 1", "dot": "y", "searchsorted": "0.5", "partition": "2", "argpartition": "2", "resize": "8, 8",
    "setfield": "1, 'f8'", "getfield": "'f8'", "item": "0", "to_device": "'cpu'", "setflags": "", "__getitem__": "0",
    "__setitem__": "0, 1.0",
}  # fmt: skip
METHOD_CALLS = {
    "__and__": "n.__and__(n)",
    "choose": "(n % 2).choose([1.0, 2.0])",
    "searchsorted": "v.searchsorted(0.5)",
}
UFUNC_SAMPLES = {"at": "x, 0, 1.0", "outer": "v, v", "reduceat": "v, [0, 4]"}

# What the array must do natively, whatever else changes
NATIVE = """
concatenate stack vstack hstack dstack column_stack append tile repeat roll pad block array asarray asanyarray
ascontiguousarray asfortranarray copy zeros ones empty full zeros_like ones_like empty_like full_like arange linspace
logspace geomspace eye identity indices meshgrid tri tril triu diag diagflat vander fromfunction fromiter frombuffer
where clip round around diff ediff1d cumsum cumprod nan_to_num isclose allclose array_equal sum prod max min amax amin
mean var std any all ptp average count_nonzero argmax argmin nansum nanprod nanmean nanvar nanstd nanmax nanmin
reshape ravel transpose permute_dims moveaxis rollaxis swapaxes squeeze expand_dims flip fliplr flipud rot90
broadcast_to broadcast_arrays atleast_1d atleast_2d atleast_3d diagonal matrix_transpose split array_split hsplit
vsplit dsplit unstack real imag take put putmask place compress extract choose nonzero flatnonzero argwhere copyto
take_along_axis put_along_axis fill_diagonal
""".split()
NATIVE_METHODS = """
sum prod max min mean var std any all clip round conj conjugate copy astype cumsum cumprod argmax argmin nonzero take
put compress choose repeat reshape ravel flatten transpose swapaxes squeeze diagonal view fill trace __getitem__
__setitem__ __iadd__ __add__ __mul__ __neg__ __pow__ __lt__ __and__
""".split()
NATIVE_UFUNC_METHODS = ["reduce", "accumulate", "outer", "reduceat", "at"]
NOT_NUMERIC = {"isnat", "matmul", "matvec", "vecmat", "vecdot"}  # ufuncs that are no elementwise functions of numbers


def native_ufuncs() -> list[str]:
    """Every elementwise ufunc of NumPy on numbers."""
    return [n for n in public(numpy) if isinstance(getattr(numpy, n), numpy.ufunc) and n not in NOT_NUMERIC]


def public(space: Any) -> list[str]:
    """Public names of a namespace: documented ones, and those without an underscore that are no modules."""
    names = dict.fromkeys(getattr(space, "__all__", ()))
    names.update(dict.fromkeys(n for n in dir(space) if not n.startswith("_")))
    if space is numpy.ndarray:
        names.update(dict.fromkeys(n for n in NATIVE_METHODS if n.startswith("__")))
        names = dict.fromkeys(n for n in names if hasattr(numpy.empty((1, 1)), n))  # not what was removed from arrays
    return sorted(n for n in names if not isinstance(getattr(space, n, None), types.ModuleType))


def resolve(name: str, root: Any) -> Any:
    """The namespace called `name` (as under numpy) of numpy or tnp."""
    found = root
    for part in name.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(f"{found.__name__}.{part}")
    return found


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), numpy.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def operands(np: Any) -> dict[str, Any]:
    return {"np": np, **{name: make(np) for name, make in OPERANDS.items()}}


def accepted(call: str) -> bool:
    """Does NumPy itself take this call?"""
    with quiet():
        try:
            eval(call, operands(numpy))
        except Exception:
            return False
    return True


def sample(space: str, name: str) -> str | None:
    """A call of the function, as an expression, that NumPy accepts."""
    if space == "numpy.ndarray":
        if name in METHOD_CALLS:
            return METHOD_CALLS[name]
        if isinstance(vars(numpy.ndarray)[name], types.GetSetDescriptorType):
            return f"x.{name}"
        return next(filter(accepted, (f"x.{name}({METHOD_SAMPLES.get(name, a)})" for a in ("", "y", "2", "m"))), None)
    if space == "numpy.ufunc":
        return next(filter(accepted, [f"np.add.{name}({UFUNC_SAMPLES.get(name, 'x')})"]), None)
    function = space.replace("numpy", "np", 1) + "." + name
    if space == "numpy.random.Generator":
        function = f"np.random.default_rng(1).{name}"
    if space == "numpy" and name in SAMPLES:
        call = f"{function}({SAMPLES[name]})"
        assert accepted(call), f"NumPy does not take the sample {call}"
        return call
    return next(filter(accepted, (f"{function}({arguments})" for arguments in CALLS)), None)


def is_pending(x: Any) -> bool:
    """Is the content of this result, or of a part of it, not computed?"""
    if isinstance(x, tuple | list):
        return any(map(is_pending, x))
    return isinstance(x, tnp.ndarray) and x._nd is None


def watch(call: str) -> str:
    """What happens at the call under tnp, as one of `KINDS`."""
    told: list[Any] = []
    with tnp.config(lazy_from=1), quiet():
        names = operands(tnp)
        names = {k: v for k, v in names.items() if k == "np" or k in _names(call)}
        arrays = [v for v in names.values() if isinstance(v, tnp.ndarray)]
        node = [v._cell.storage for v in arrays if v._nd is None]
        before = content.schedule.kernels
        host.watchers.append(told.append)
        try:
            result = eval(call, names)
        finally:
            host.watchers.remove(told.append)
        if told:
            return "host"
        waiting = bool(node) and all(s.node is not None for s in node)
        if not is_pending(result):
            return "finished" if not waiting else "fused" if content.schedule.kernels != before else "form"
        same = any(r._cell.storage in node for r in _flat(result) if is_pending(r))
        return "form" if waiting and same else "recorded"


def _flat(result: Any) -> list[Any]:
    return [y for x in result for y in _flat(x)] if isinstance(result, tuple | list) else [result]


def _names(call: str) -> set[str]:
    return set(compile(call, "call", "eval").co_names)


def status(space: str, name: str) -> str:
    """Which of `KINDS` the public `name` of a namespace is."""
    raw, ours = getattr(resolve(space, numpy), name), getattr(resolve(space, tnp), name, MISSING)
    if ours is MISSING:
        return "missing"
    if name in UNSAFE:
        return "not run"
    if ours is raw or (not callable(raw) and space != "numpy.ndarray"):
        return "NumPy's own" if ours is raw else "class"
    if inspect.isclass(raw):
        return "class"
    call = sample(space, name)
    if call is None:
        return "host" if isinstance(ours, host.HostFunction) and ours.native is None else "not run"
    return watch(call)


def survey() -> dict[str, dict[str, str]]:
    """The status of every public name, by namespace."""
    return {space: {name: status(space, name) for name in public(resolve(space, numpy))} for space in NAMESPACES}


def text(found: dict[str, dict[str, str]]) -> str:
    """docs/api_status.md"""
    lines = [
        "# What is native",
        "",
        f"Made by `python -m tests.api_status --write`, which calls every public name of NumPy {numpy.__version__}",
        "on arrays whose content is pending and watches what happens.",
        "",
        *(f"- **{kind}**: {meaning}." for kind, meaning in KINDS.items()),
        "",
        "| namespace | " + " | ".join(KINDS) + " |",
        "|---|" + "---:|" * len(KINDS),
    ]
    for space, names in found.items():
        kinds = list(names.values())
        lines.append(f"| {space} | " + " | ".join(str(kinds.count(kind) or "") for kind in KINDS) + " |")
    for space, names in found.items():
        lines += ["", f"## {space}"]
        for kind in KINDS:
            some = [name for name in names if names[name] == kind]
            if some:
                lines += ["", f"**{kind}**", "", *textwrap.wrap(" ".join(f"`{name}`" for name in some), 118)]
    return "\n".join(lines) + "\n"


def checked_in() -> dict[str, dict[str, str]]:
    """What docs/api_status.md says."""
    found: dict[str, dict[str, str]] = {}
    space = kind = ""
    for line in FILE.read_text().splitlines():
        if line.startswith("## "):
            space = line[3:]
            found[space] = {}
        elif space and line.startswith("**"):
            kind = line.strip("*")
        elif space and line.startswith("`"):
            found[space].update({name.strip("`"): kind for name in line.split()})
    return found


def main() -> None:
    """Print the table, or write it to docs/api_status.md."""
    parser = argparse.ArgumentParser(prog="python -m tests.api_status", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/api_status.md")
    made = text(survey())
    if parser.parse_args().write:
        FILE.write_text(made)
    else:
        print(made)


if __name__ == "__main__":
    main()
