"""Runs a script, a module or a piece of code as `__main__`, as the interpreter itself would.

The program sees its own `sys.argv`, `sys.path[0]` and `__main__`; exceptions, exit codes and signals end the process
as they would without tnp, and tracebacks begin at the program's first line. What remains visible is the depth of the
stack: `sys._getframe` and `traceback.print_stack` see the launcher's frames below the program's.
"""

import builtins
import io
import linecache
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable
from importlib.machinery import BuiltinImporter, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from tnp.launch.children import start


def run_script(script: str, arguments: list[str]) -> None:
    """``python script arguments…``: a source or compiled file, a folder or archive with a `__main__`, or "-"."""
    sys.argv[:] = [script, *arguments]
    if script == "-":
        _set_first_path("")
        _follow("")
        _as_program(lambda: _execute(_compile(sys.stdin.buffer.read(), "<stdin>"), "<stdin>"))
    elif pkgutil.get_importer(script) is not None:
        _set_first_path(os.path.join(os.getcwd(), script), always=True)
        _follow(script)
        sys.modules["__main__"] = _main_module()
        _as_program(lambda: _runpy("__main__", False))
    else:
        path = os.path.join(os.getcwd(), script)
        folder = os.path.dirname(os.path.realpath(path))
        _set_first_path(folder)
        _follow(folder)
        content = _read(path)
        _as_program(lambda: _execute(_compile(content, path), path))


def run_module(name: str, arguments: list[str]) -> None:
    """``python -m name arguments…``."""
    sys.argv[:] = ["-m", *arguments]
    _follow("")
    sys.modules["__main__"] = _main_module()
    _as_program(lambda: _runpy(name, True))


def run_code(source: str, arguments: list[str]) -> None:
    """``python -c source arguments…``."""
    sys.argv[:] = ["-c", *arguments]
    _set_first_path("")
    _follow("")
    _as_program(lambda: _execute(_compile_command(source)))


def _follow(folder: str) -> None:
    """From now on, numpy means tnp in the modules of this folder, the current folder and PYTHONPATH."""
    search = os.environ.get("PYTHONPATH", "") if not sys.flags.ignore_environment else ""
    start([folder or os.getcwd(), os.getcwd(), *filter(None, search.split(os.pathsep))])


def _set_first_path(entry: str, always: bool = False) -> None:
    """Put `entry` where ``python -m`` has put the current folder (under ``-P`` and ``-I`` it has not)."""
    if not sys.flags.safe_path:
        sys.path[0] = entry
    elif always:
        sys.path.insert(0, entry)


def _main_module() -> ModuleType:
    module = ModuleType("__main__")
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    module.__dict__["__builtins__"] = builtins
    module.__loader__ = BuiltinImporter
    return module


def _execute(code: CodeType, path: str | None = None) -> None:
    module = sys.modules["__main__"] = _main_module()
    if path is not None:
        module.__loader__ = SourceFileLoader("__main__", path)
        module.__file__ = path
        module.__dict__["__cached__"] = None
    exec(code, module.__dict__)


def _runpy(name: str, set_argv: bool) -> None:
    runpy._run_module_as_main(name, set_argv)  # type: ignore[attr-defined]  # what ``python -m`` calls


def _as_program(run: Callable[[], None]) -> None:
    """Call `run`; an exception leaves with the program's part of its traceback."""
    try:
        run()
    except SystemExit:
        raise
    except BaseException as error:
        _report_without_launcher(error)
        raise


def _report_without_launcher(error: BaseException) -> None:
    """Have the interpreter report `error` with the program's frames only.

    It is still the interpreter that reports it and chooses the exit status; it passes the exception to
    `sys.excepthook` with the frames of the launcher, so those are cut there.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    report = sys.excepthook

    def excepthook(kind: type[BaseException], value: BaseException, whole: Any) -> None:
        sys.excepthook = report
        value.__traceback__ = sys.last_traceback = trace
        report(kind, value, trace)

    sys.excepthook = excepthook


def _read(path: str) -> bytes:
    try:
        with io.open_code(path) as file:
            return file.read()
    except OSError as error:
        sys.exit(_cannot_open(path, error))


def _cannot_open(path: str, error: OSError) -> int:
    print(f"{sys.orig_argv[0]}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
    return 2


def _compile(content: bytes, path: str) -> CodeType:
    compiled = pkgutil.read_code(io.BytesIO(content))  # None unless it is a .pyc
    return compiled or compile(content, path, "exec", dont_inherit=True)


def _compile_command(source: str) -> CodeType:
    code = compile(source, "<string>", "exec", dont_inherit=True)
    if sys.version_info >= (3, 13):  # tracebacks show the lines of a command
        linecache._register_code(code, source, "<string>")  # type: ignore[attr-defined]
    return code
