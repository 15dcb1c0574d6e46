"""The architecture holds: layers, start-up imports, what is compiled."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES = ["tnp", "tnp_autodiff", "tnp_keras", "tnp_dist"]
SOURCES = sorted(path for package in PACKAGES for path in (CHECKOUT / package).rglob("*.py"))
HEAVY = {"numba", "llvmlite", "ml_dtypes", "cuda", "hashlib"}  # not loaded by `import tnp`


def test_import_contracts():
    """import-linter's contracts of pyproject.toml: dependencies point down only."""
    result = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_import_tnp_brings_no_compiler():
    text = f"import sys, tnp; print(sorted({HEAVY} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=CHECKOUT)
    assert (result.stdout, result.stderr) == ("[]\n", "")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_imports_stand_at_the_top(path):
    """Imports inside functions are for heavy dependencies, and for tnp's modules that need them."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = [node for f in functions for node in ast.walk(f) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {(node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name for node in inside}
    unexplained = {name for name in names if name.partition(".")[0] not in HEAVY | {"tnp", "pyarrow"}}
    assert unexplained == set()


def test_every_extension_has_its_source():
    """setup.py skips sources that are not there, so that nothing may be misspelt."""
    tree = ast.parse((CHECKOUT / "setup.py").read_text())
    [names] = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "COMPILED"]
    assert [name for name in ast.literal_eval(names) if not (CHECKOUT / name).exists()] == []


def test_distribution():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert project["name"] == "tnp-array"
    assert {"test", "bench", "cuda", "dist", "docs"} <= set(project["optional-dependencies"])
    assert all((CHECKOUT / package / "__init__.py").exists() for package in PACKAGES)
