"""Compiles tnp's hot path. Everything else about the distribution stands in pyproject.toml.

The modules below are ordinary Python that Cython also compiles (types stand in the ``.pxd`` beside each), and one
``.pyx`` of things only C can do. They are optional: where Cython or a C compiler is missing, or ``TNP_PURE=1`` is set,
the same distribution installs as pure Python and runs more slowly.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup

COMPILED = [
    "tnp/backends/base.py",
    "tnp/backends/cpu/engine.py",
    "tnp/backends/cpu/kernel.py",
    "tnp/backends/cpu/memory.py",
    "tnp/backends/cpu/reduce.py",
    "tnp/backends/cpu/reduction_pass.py",
    "tnp/backends/cpu/windows.py",
    "tnp/backends/cpu/_blocks.pyx",
    "tnp/backends/cpu/_calls.pyx",
    "tnp/backends/cpu/_crew.pyx",
    "tnp/backends/cpu/_machine.pyx",
    "tnp/core/cells.py",
    "tnp/core/interpreter.py",
    "tnp/core/layout.py",
    "tnp/core/loops.py",
    "tnp/core/_native.pyx",
    "tnp/hot.py",
    "tnp/host.py",
    "tnp/content.py",
    "tnp/operands.py",
    "tnp/bind.py",
    "tnp/writes.py",
    "tnp/reduce.py",
    "tnp/ops/closeness.py",
    "tnp/ops/creation.py",
    "tnp/ops/differences.py",
    "tnp/ops/indexing.py",
    "tnp/ops/joining.py",
    "tnp/ops/low_precision.py",
    "tnp/ops/memory.py",
    "tnp/ops/movement.py",
    "tnp/ops/nanfunctions.py",
    "tnp/ops/reductions.py",
    "tnp/ops/scans.py",
    "tnp/ops/selection.py",
    "tnp/ops/ufunc_methods.py",
    "tnp/ops/views.py",
    "tnp/lazy/graph.py",
    "tnp/lazy/fusion.py",
    "tnp/lazy/schedule.py",
    "tnp/lazy/lone.py",
    "tnp/lazy/phantom.py",
    "tnp/lazy/reuse.py",
    "tnp/lazy/warn.py",
    "tnp/arrays/exports.py",
    "tnp/arrays/flags.py",
    "tnp/arrays/indexing.py",
    "tnp/arrays/interop.py",
    "tnp/arrays/iterators.py",
    "tnp/arrays/methods.py",
    "tnp/arrays/operators.py",
    "tnp/arrays/overrides.py",
    "tnp/arrays/subclasses.py",
    "tnp/arrays/temporaries.py",
    "tnp/arrays/ufuncs.py",
    "tnp/arrays/views.py",
    "tnp/ndarray.py",
    "tnp/tracing.py",
    "tnp/transforms/batching.py",
    "tnp/transforms/outside.py",
    "tnp/transforms/rules/base.py",
    "tnp/transforms/rules/elementwise.py",
    "tnp/transforms/rules/indexing.py",
    "tnp/arrays/_quick.pyx",
    "tnp/transforms/_front.pyx",
    "tnp_autodiff/places.py",
    "tnp_autodiff/tracks.py",
    "tnp_autodiff/events.py",
    "tnp_autodiff/saved.py",
    "tnp_autodiff/recorder.py",
    "tnp_autodiff/reverse.py",
    "tnp_autodiff/rules/base.py",
]

# Types stand in the .pxd; annotations are for readers and mypy, and never become C types
DIRECTIVES = {"annotation_typing": False, "nonecheck": True}


def _optimised(source: str) -> str:
    """What runs at every call is worth the compiler's time; glue to NumPy is not."""
    glue = source.startswith(("tnp/ops/", "tnp/arrays/")) and not source.endswith("_quick.pyx")
    return "-O1" if glue else "-O2"


def _typed(source: str) -> list[str]:
    """Files with types that a module may use: changing one compiles it again."""
    packages = ("tnp", "tnp_autodiff") if source.startswith("tnp_autodiff/") else ("tnp",)
    return [str(path) for package in packages for path in sorted(Path(package).rglob("*.px[di]"))]


def extensions() -> list[Extension]:
    sources = [source for source in COMPILED if Path(source).exists()]
    if os.environ.get("TNP_PURE", "0") not in ("", "0") or not sources:
        return []
    try:
        import numpy
        from Cython.Build import cythonize
    except ImportError as error:
        print(f"tnp: {error}; installing without compiled modules", file=sys.stderr)
        return []
    modules = [
        Extension(
            source.rpartition(".")[0].replace("/", "."),
            [source],
            include_dirs=[numpy.get_include()],
            extra_compile_args=[] if os.name == "nt" else ["-g0", _optimised(source)],  # -g0: half the time to compile
            define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
            depends=_typed(source),
            optional=True,
        )
        for source in sources
    ]
    return cythonize(modules, build_dir="build/cython", language_level=3, compiler_directives=DIRECTIVES)


setup(ext_modules=extensions(), options={"build_ext": {"parallel": os.cpu_count()}})
