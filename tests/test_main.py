"""``python -m tnp``: imports of numpy, and everything a program can tell about how it is run."""

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

IS_TNP = "is_tnp = lambda module: module is sys.modules.get('tnp')\n"


# ---- imports


@pytest.mark.parametrize(
    "statements",
    [
        "import numpy; seen = numpy",
        "import numpy as np; seen = np",
        "import numpy.linalg; seen = numpy",
        "seen = __import__('numpy')",
        "seen = __import__('numpy.linalg')",
        "import importlib; seen = importlib.import_module('numpy')",
        "from importlib import import_module as load; seen = load('numpy')",
        "exec('import numpy as seen')",
        "space = {}; exec('import numpy as np', space); seen = space['np']",
        "space = {'__name__': 'other'}; exec('import numpy as np', space); seen = space['np']",
        "exec(compile('def f():\\n import numpy as np\\n return np', 'x', 'exec')); seen = f()",
        "def f():\n    import numpy\n    return numpy\nseen = f()",
        "seen = eval('__import__(\"numpy\")')",
        "import threading; box = []\n"
        "def f():\n    import numpy; box.append(numpy)\n"
        "t = threading.Thread(target=f); t.start(); t.join(); seen = box[0]",
    ],
)
def test_import_means_tnp(python, statements):
    script = python.write(script="import sys\n" + IS_TNP + statements + "\nprint(is_tnp(seen))")
    assert python("-m", "tnp", script).stdout == "True\n"
    assert python(script).stdout == "False\n"


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import numpy.linalg as seen", "linalg"),
        ("from numpy import linalg as seen", "linalg"),
        ("import importlib; seen = importlib.import_module('numpy.linalg')", "linalg"),
        ("import numpy.random as seen", "random"),
        ("import numpy.fft as seen", "fft"),
        ("import numpy.testing as seen", "testing"),
        ("from numpy import testing as seen", "testing"),
    ],
)
def test_submodules_are_tnp_s(python, statement, name):
    script = python.write(script=f"{statement}\nimport sys, tnp\nprint(seen is tnp.{name})")
    result = python("-m", "tnp", script)
    assert (result.stdout, result.stderr) == ("True\n", "")


def test_names_are_imported_from_tnp(python):
    script = python.write(
        script="""
        import tnp
        from numpy import array, float64 as f, linalg
        from numpy.linalg import norm
        from numpy.random import default_rng
        from numpy.testing import assert_array_equal
        print(array is tnp.array, f is tnp.float64, norm is tnp.linalg.norm, default_rng is tnp.random.default_rng)
        assert_array_equal(array([1.0]), [1.0])
        """.replace("\n        ", "\n")
    )
    result = python("-m", "tnp", script)
    assert (result.stdout, result.stderr) == ("True True True True\n", "")


def test_star_import(python):
    script = python.write(script="from numpy import *\nimport tnp\nprint(arange is tnp.arange, sum is tnp.sum)")
    assert python("-m", "tnp", script).stdout == "True True\n"


@pytest.mark.parametrize(
    "statement",
    ["from numpy import nope", "import numpy.nope", "from numpy.linalg import nope", "from numpy.nope import x",
     "import importlib; importlib.import_module('numpy.nope')", "__import__('numpy.nope')"],
)  # fmt: skip
def test_import_errors_are_numpy_s(python, same_as_python, statement):
    script = python.write(
        script=f"try:\n    {statement}\nexcept ImportError as e:\n    print(type(e), e, e.name)\n{statement}\n"
    )
    assert same_as_python(script).returncode == 1


def test_modules_tnp_does_not_have_are_numpy_s(python):
    """Private modules are used as they are."""
    script = python.write(script="import numpy._core.multiarray as m, sys\nprint(m is sys.modules[m.__name__])")
    result = python("-m", "tnp", script)
    assert (result.stdout, result.stderr) == ("True\n", "")


LIBRARY = "import numpy as np, sys\n" + IS_TNP + "verdict = is_tnp(np)\n"


def test_the_program_s_own_modules_follow(python):
    script = python.write(
        app__main_="import sys\nimport beside, package, package.inner\nsys.path.append('extra')\nimport added\n"
        "import elsewhere\nprint(beside.verdict, package.verdict, package.inner.verdict, added.verdict,"
        " elsewhere.verdict)",
        app__beside=LIBRARY,
        app__package__inner=LIBRARY,
        extra__added=LIBRARY,
        other__elsewhere=LIBRARY,
    )
    (python.folder / "app/package/__init__.py").write_text(LIBRARY)
    result = python("-m", "tnp", script, PYTHONPATH=str(python.folder / "other"))
    assert (result.stdout, result.stderr) == ("True True True True True\n", "")


def test_installed_packages_keep_numpy(python):
    """Wherever their folder is, and when it is the program that calls them."""
    script = python.write(
        script="import sys; sys.path.append('.venv/lib/site-packages')\nimport installed\n"
        "print(installed.verdict, installed.later())",
    )
    folder = python.folder / ".venv/lib/site-packages"
    folder.mkdir(parents=True)
    (folder / "installed.py").write_text(
        LIBRARY + "def later():\n    import numpy.linalg, importlib\n"
        "    return is_tnp(numpy) or is_tnp(importlib.import_module('numpy'))"
    )
    result = python("-m", "tnp", script)
    assert (result.stdout, result.stderr) == ("False False\n", "")


def test_imports_of_other_modules_are_untouched(python, same_as_python):
    script = python.write(
        script="import os.path, collections.abc as abc\nfrom pkg import a, b\nprint(a.b.x, b.x, abc, os)",
        pkg__a="from . import b",
        pkg__b="from .c import x",
        pkg__c="x = 1",
    )
    assert same_as_python(script).returncode == 0


def test_warnings_at_import_point_at_the_importing_line(python, same_as_python):
    script = python.write(
        script="\n\nimport old\n", old="import warnings\nwarnings.warn('old', DeprecationWarning, stacklevel=2)\n"
    )
    assert "script.py:3: DeprecationWarning" in same_as_python(script).stderr


# ---- how the program is run


def test_argv_path_and_main(python, same_as_python):
    text = "import sys\nprint(sys.argv, sys.path[0], __name__, list(globals()))\nprint(globals())"
    script = python.write(app__script=text.replace("print(globals())", "print(__file__, __doc__, type(__spec__))"))
    same_as_python(script, "a", "--compare", "-h", "-m")
    same_as_python("app/script.py", "--threads", "2")
    same_as_python("../app/script.py", cwd=script.parent)
    (python.folder / "link.py").symlink_to(script)
    same_as_python("link.py")
    same_as_python("-m", "app.script", "x", "-c")
    same_as_python("-c", text.splitlines()[1].join(["import sys;", ""]), "y", "--report")
    same_as_python("-", "z", stdin=text.splitlines()[0] + "\nprint(sys.argv, sys.path[0], list(globals()))")


def test_safe_path(python):
    """With -P the script's folder is not put on the path."""
    script = python.write(script="import sys; print(sys.path, sys.argv)")
    assert python("-P", "-m", "tnp", script).stdout == python("-P", script).stdout


def test_packages_folders_archives_and_compiled_files(python, same_as_python):
    text = (
        "import sys\nprint(sys.argv[1:], sys.path[0], __name__, __file__, __package__, __spec__ and __spec__.name)\n1/0"
    )
    python.write(package__x="", folder__inner="x = 5")
    for package in ("package", "folder"):
        (python.folder / package / "__main__.py").write_text(text)
    with zipfile.ZipFile(python.folder / "archive.zip", "w") as archive:
        archive.write(python.folder / "folder/__main__.py", "__main__.py")
    assert same_as_python("-m", "package", "a").returncode == 1
    assert same_as_python("folder", "b").returncode == 1
    assert same_as_python("archive.zip", "c").returncode == 1
    python.write(script=text.replace("1/0", "raise SystemExit(4)"))
    python("-c", "import py_compile; py_compile.compile('script.py', 'compiled.pyc')")
    assert same_as_python("compiled.pyc", "d").returncode == 4


def test_source_details(python, same_as_python):
    script = python.folder / "script.py"
    script.write_bytes("# coding: latin-1\nprint(ascii('é'))\nx: int = 1\nprint(__annotations__)\n".encode("latin-1"))
    same_as_python(script)
    python.write(script="from __future__ import annotations\ndef f(x: nothing): pass\nprint(f.__annotations__)")
    same_as_python(script)
    python.write(script="def f(x: int): pass\nprint(f.__annotations__)")
    same_as_python(script)


def test_main_module(python, same_as_python):
    """What pickle, inspect, doctest and dataclasses look up in it."""
    script = python.write(
        script='''
"""Title

>>> double(2)
4
"""
import doctest, inspect, pickle, sys
from dataclasses import dataclass

@dataclass
class Point:
    x: int

def double(x):
    return 2 * x

if __name__ == "__main__":
    import __main__
    print(__main__.double is double, sys.modules["__main__"].__dict__ is globals(), __builtins__)
    print(pickle.loads(pickle.dumps(Point(3))), pickle.loads(pickle.dumps(double)) is double)
    print(inspect.getsource(double), doctest.testmod(), inspect.getmodule(Point).__name__)
'''
    )
    assert "TestResults(failed=0, attempted=1)" in same_as_python(script).stdout


def test_stdin(python, same_as_python):
    script = python.write(script="import sys\nprint(input('? '), sys.stdin.read().split())\nprint(input())")
    assert same_as_python(script, stdin="one\ntwo\nthree").returncode == 1


# ---- how it ends


@pytest.mark.parametrize(
    "text",
    [
        "raise SystemExit",
        "import sys; sys.exit(0)",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('a message')",
        "import sys; sys.exit((1, 2))",
        "import os; os._exit(5)",
        "def f():\n    g()\ndef g():\n    1 / 0\nf()",
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('other') from e",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    {}['x']",
        "raise ExceptionGroup('several', [ValueError(1), TypeError(2)])",
        "e = ValueError('x'); e.add_note('a note'); raise e",
        "x = (1,\n",
        "    x = 1\ny = 2",
        "eval('1 +')",
        "assert [1, 2] == 3, 'text'",
        "raise KeyboardInterrupt",
        "class Odd(BaseException): pass\nraise Odd('x')",
        "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()",
        "import traceback\ntry:\n    import nothing\nexcept ImportError:\n    traceback.print_exc()\nimport nothing",
        "import broken",
        "from broken import x",
        "import sys\nsys.excepthook = lambda kind, value, trace: print('hook', kind, value, type(trace))\n1 / 0",
        "import sys\ndef hook(kind, value, trace):\n    sys.exit(7)\nsys.excepthook = hook\n1 / 0",
        "import atexit\natexit.register(print, 'at exit', flush=True)\n1 / 0",
        "import threading, time\ndef f():\n    time.sleep(0.2); print('thread', flush=True)\n"
        "threading.Thread(target=f).start()\nprint('main', flush=True)",
        "import threading\ndef f():\n    1 / 0\nt = threading.Thread(target=f); t.start(); t.join()",
        "class A:\n    def __del__(self):\n        print('del', flush=True)\na = A()",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import os, signal; os.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(9)",
        "import signal, os\nsignal.signal(signal.SIGINT, lambda *a: print('caught', flush=True))\n"
        "os.kill(os.getpid(), signal.SIGINT)",
        "import warnings\nwarnings.warn('w')\ndef f(): warnings.warn('v', DeprecationWarning, stacklevel=2)\nf()",
        "import numpy as np\nprint(np.arange(3) + 1)\nnp.arange(3) + np.arange(4)",
        "import numpy as np\nnp.array([1.0]) / np.array([0.0])\nnp.linalg.inv(np.zeros((2, 2)))",
    ],
)  # fmt: skip
def test_endings(python, same_as_python, text):
    script = python.write(script=text, broken="def f():\n    raise ValueError('broken')\nf()\n")
    if "np." not in text:
        same_as_python(script)
    else:  # below the program's last line, frames are NumPy's own or tnp's
        plain, ours = python(script), python("-m", "tnp", script)
        assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)
        assert ours.stderr.splitlines()[:3] == plain.stderr.splitlines()[:3]
        assert ours.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
        assert "launch" not in ours.stderr
        assert "runpy" not in ours.stderr


@pytest.mark.parametrize(
    "text",
    ["import sys; sys.exit('text')", "def f(): 1 / 0\nf()", "x = (1,\n", "raise KeyboardInterrupt", "import broken"],
)
def test_endings_of_modules_and_code(python, same_as_python, text):
    python.write(script=text, broken="def f():\n    raise ValueError('broken')\nf()\n")
    same_as_python("-m", "script")
    same_as_python("-c", text)


def test_programs_that_are_not_there(same_as_python):
    assert same_as_python("missing.py").returncode == 2
    assert same_as_python("-m", "missing").returncode == 1
    assert same_as_python("-m", "missing.more").returncode == 1


def test_interrupt_from_outside(python):
    script = python.write(script="import time\nprint('ready', flush=True)\ntime.sleep(60)")
    endings = []
    for launcher in ([], ["-m", "tnp"]):
        process = subprocess.Popen(
            [sys.executable, *launcher, script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=python.environment(),
        )
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)  # until it sleeps itself: the traceback shows the line
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            endings.append((process.communicate(timeout=30), process.returncode))
        finally:
            process.kill()
        assert time.monotonic() - began < 10
    assert endings[0] == endings[1]
    assert endings[1][1] == -signal.SIGINT


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes_of_multiprocessing_follow(python, method):
    script = python.write(
        script=f"""
import multiprocessing, sys
import numpy as np
import beside
{IS_TNP}
def work(x):
    return is_tnp(np), beside.verdict, float((np.arange(x) * 2.0).sum())

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    with context.Pool(1) as pool:
        print(pool.map(work, [3, 4]))
""",
        beside=LIBRARY,
    )
    # Forking a process that has other threads is a DeprecationWarning of Python's own from 3.12.
    result = python("-W", "ignore::DeprecationWarning", "-m", "tnp", script)
    assert (result.stdout, result.stderr) == ("[(True, True, 6.0), (True, True, 12.0)]\n", "")


# ---- options


def test_compare_says_identical(python):
    script = python.write(
        script="import numpy as np, sys\nprint(np.arange(3.0) * 2, sys.argv[1:])\nprint('e', file=sys.stderr)"
    )
    result = python("-m", "tnp", "--compare", script, "--compare")
    assert result.returncode == 0
    assert result.stdout.startswith("[0. 2. 4.] ['--compare']\n--- python -m tnp --compare ")
    assert "output identical: 25 bytes on stdout, 2 on stderr" in result.stdout
    assert "times as fast" in result.stdout
    assert result.stderr == "e\n"


def test_compare_of_modules_and_code(python):
    python.write(module="print('module')")
    assert python("-m", "tnp", "--compare", "-m", "module").stdout.startswith("module\n---")
    assert python("-m", "tnp", "--compare", "-c", "print('code')").stdout.startswith("code\n---")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import sys; print('a'); print('tnp' in sys.modules); print('b')", ["-False", "+True", "stdout under numpy"]),
        ("import sys; print('tnp' in sys.modules, file=sys.stderr)", ["-False", "+True", "stderr under tnp"]),
        ("import sys; sys.exit(3 * ('tnp' in sys.modules))", ["exit 0 under numpy, exit 3 under tnp"]),
        ("import sys; print('x', end='\\n' * ('tnp' in sys.modules))", ["the same lines, ended differently"]),
        ("import os, sys; os.kill(os.getpid(), 9 if 'tnp' in sys.modules else 15)", ["SIGTERM under", "by SIGKILL"]),
        ("import sys\nfor i in range(500): print(i, 'tnp' in sys.modules)", ["… and more"]),
    ],
)  # fmt: skip
def test_compare_says_different(python, text, expected):
    result = python("-m", "tnp", "--compare", python.write(script=text))
    assert result.returncode == 1
    assert "DIFFERENT" in result.stdout
    assert [line for line in expected if line not in result.stdout] == []


def test_compare_of_a_program_that_fails_in_the_same_way(python):
    result = python("-m", "tnp", "--compare", python.write(script="raise SystemExit(3)"))
    assert result.returncode == 0
    assert result.stdout.count("exit 3") == 2


def test_compare_gives_both_the_whole_input(python):
    script = python.write(script="import sys\nprint(len(sys.stdin.read()))")
    result = python("-m", "tnp", "--compare", script, stdin="x" * 300_000)
    assert result.stdout.startswith("300000\n---")
    assert result.returncode == 0


def test_compare_does_not_wait_for_input_nobody_reads(python):
    script = python.write(script="print('done')")
    reader, writer = os.pipe()
    try:
        result = subprocess.run(
            [sys.executable, "-m", "tnp", "--compare", script],
            stdin=reader,
            capture_output=True,
            timeout=60,
            env=python.environment(),
        )
    finally:
        os.close(reader)
        os.close(writer)
    assert result.returncode == 0


def test_report_leaves_the_program_s_output_alone(python):
    script = python.write(
        script="import numpy as np, atexit\natexit.register(print, 'last')\nprint(np.ones(3).sum())\n1 / 0"
    )
    result = python("-m", "tnp", "--report", script)
    assert (result.stdout, result.returncode) == ("3.0\nlast\n", 1)
    assert "ZeroDivisionError: division by zero\n--- python -m tnp --report\nwall time" in result.stderr


def test_threads(python):
    script = python.write(script="import tnp, os\nprint(tnp.get_num_threads(), os.environ['TNP_THREADS'])")
    assert python("-m", "tnp", "--threads", "3", script).stdout == "3 3\n"
    assert python("-m", "tnp", "--threads=1", script).stdout == "1 1\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no program to run"),
        (["--compare"], "no program to run"),
        (["--nothing", "x.py"], "unknown option --nothing"),
        (["-m"], "-m needs a value"),
        (["--threads"], "--threads needs a value"),
        (["--threads", "0", "x.py"], "--threads: expected a whole number from 1, got '0'"),
        (["--threads", "two", "x.py"], "--threads: expected a whole number from 1, got 'two'"),
        (["--device", "cuda:9", "x.py"], "--device: expected cpu"),
    ],
)
def test_command_lines_without_sense(python, arguments, message):
    result = python("-m", "tnp", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("usage: python -m tnp")
    assert f"error: {message}" in result.stderr


def test_help(python):
    result = python("-m", "tnp", "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("usage: python -m tnp")


def test_start_up_imports_no_compiler(python):
    names = ("numba", "llvmlite", "multiprocessing", "tnp.launch.compare")
    text = f"import sys; print([m for m in {names} if m in sys.modules])"
    assert python("-m", "tnp", python.write(script=text)).stdout == "[]\n"


def test_scripts_in_tnp_s_own_checkout_are_programs():
    """A checkout holds tnp and examples side by side; only tnp's packages are tnp's."""
    from tnp.launch.user_code import DISTRIBUTION, UserCode

    code = UserCode([DISTRIBUTION])
    assert code.owns_file(os.path.join(DISTRIBUTION, "examples", "kmeans.py"))
    assert not code.owns_file(os.path.join(DISTRIBUTION, "tnp", "linalg.py"))
    assert not code.owns_file(os.path.join(DISTRIBUTION, "tnp_keras", "__init__.py"))
    assert not code.owns_file(os.path.join(os.path.dirname(os.__file__), "json", "__init__.py"))
    assert not code.owns_file(str(Path("/elsewhere/module.py")))
