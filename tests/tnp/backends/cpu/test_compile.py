"""Keys of compiled modules: the same in every process, another for every text, and for other emitters."""

import os
import shutil
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from tnp.backends.base import Group
from tnp.backends.cpu import compile as compile_module
from tnp.backends.cpu.emit import Program
from tnp.backends.cpu.engine import SUPPORTED
from tnp.backends.cpu.plan import Plan

from .groups import check, compiling, step

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="kernels are compiled on x86-64 only")

SESSION = """
import numpy, tnp as np
x = np.array(numpy.linspace(1, 2, 3000))
y = x.astype(np.float32)
for z in (np.exp(x) * x + 1, np.maximum(x, 1.5) - np.minimum(x, y), np.clip(x, 1.2, 1.7) * x, np.where(x > y, x, y) * 2,
          (x * x).sum(), (x - 1).reshape(30, 100).max(axis=0), np.sin(x) + np.cos(x), (x * 1j) * x, x[::-1] * x):
    np.evaluate(z)
with np.config(math="fast"):
    np.evaluate(np.exp(x) * x + np.sin(x))
from tnp.content import backend
from tnp.backends.cpu.compile import compiler
print(backend.stats.compiled, backend.stats.from_disk, compiler().built)
"""


def test_another_process_finds_everything_on_disk(tmp_path):
    environment = {**os.environ, "TNP_STRESS": "1", "TNP_CACHE_DIR": str(tmp_path)}

    def run():
        done = subprocess.run(
            [sys.executable, "-c", SESSION], env=environment, capture_output=True, text=True, check=True
        )
        return tuple(map(int, done.stdout.split()))

    compiled, _, built = run()
    assert compiled > 5 and built > compiled  # walks, folds and the driver besides
    assert run() == (0, compiled, 0)


def test_one_key_for_a_text(monkeypatch):
    """A key says no more than it must: modules that differ in their keys differ."""
    from .test_cold import mixed_group

    texts, real = {}, compile_module.Compiler.compile

    def compile_(self, key, text, *args, **known):
        texts[key] = text()
        return real(self, key, text, *args, **known)

    monkeypatch.setattr(compile_module.Compiler, "compile", compile_)
    engine = compiling()
    for kind in "fd":
        for ufunc in (np.add, np.sqrt, np.exp, np.maximum):
            a = np.linspace(0.5, 2, 400).astype(kind)
            for layout in (a[:200], a[::2], a[199::-1]):
                leaves = [layout, layout[:1]] if ufunc.nin == 2 else [layout]
                steps = [step(ufunc, tuple(~k for k in range(ufunc.nin)), kind * ufunc.nin)]
                check(engine, Group(steps, leaves, [(0, np.empty(200, kind))], (200,)))
    check(engine, mixed_group(100))
    assert len(texts) > 5
    assert len(set(texts.values())) > 0.8 * len(texts)
    assert not any(b" at 0x" in key for key in texts)  # of an object: another in the next process


@pytest.mark.parametrize("lanes", [0, 8])
def test_ways_of_reaching_operands_are_in_the_key_where_they_are_in_the_text(lanes):
    steps = [step(np.multiply, (~0, ~1), "dd"), step(np.add, (0, ~2), "dd"), step(np.exp, (1,), "d")]
    dtype = np.dtype("d")
    for last in (1, 2):  # without and with a loop of NumPy's
        found = {}
        for ways in product("ug", "usc", "ugc", "ugw"):
            *leaves, out = ways
            plan = Plan(steps[: last + 1], [(dtype, how) for how in leaves], [(last, dtype, out)])
            program = Program(plan, 2, True, 32, lanes)
            found.setdefault(program.key, set()).add(program.text())
        assert all(len(texts) == 1 for texts in found.values())
        assert len(set.union(*found.values())) == len(found)


def test_other_emitters(tmp_path, monkeypatch):
    folder = tmp_path / "cpu"
    shutil.copytree(
        os.path.dirname(compile_module.__file__), folder, ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    monkeypatch.setattr(compile_module, "__file__", str(folder / "compile.py"))
    before = compile_module._emitters()
    assert compile_module._emitters() == before
    with open(folder / "operations.py", "a") as file:
        file.write("#")
    assert compile_module._emitters() != before
    monkeypatch.setattr(compile_module, "__file__", str(tmp_path / "archive.zip" / "compile.py"))
    assert compile_module._emitters() != compile_module._emitters()


RACE = """
import threading, time
import numpy, tnp
from tnp.backends.cpu import compile as module, exponential, inner_loops, reduction_pass
from tnp.backends.cpu.folds import Fold

def slow(f):  # whoever is first lets the others come, too
    def wait(*args, **kwargs):
        time.sleep(0.02)
        return f(*args, **kwargs)
    return wait

module.Compiler.compile, module.Compiler.__init__ = slow(module.Compiler.compile), slow(module.Compiler.__init__)
inner_loops._sample = slow(inner_loops._sample)
makers = [module.compiler, module.common_functions, exponential.exp_loop, reduction_pass._walks,
          lambda: reduction_pass._functions(Fold("add", "f8")),
          lambda: inner_loops.find_loop(numpy.exp, (numpy.dtype(float),)),
          lambda: inner_loops.numpys_loop(numpy.sin, (numpy.dtype(float),))]
for maker in makers:
    barrier, found = threading.Barrier(6), []
    def run():
        barrier.wait()
        found.append(maker())
    threads = [threading.Thread(target=run) for _ in range(6)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert len(found) == 6 and all(x is found[0] for x in found), maker
print("one each")
"""


def test_threads_that_need_the_same_code_share_it():
    """Of two made at a time one would be dropped, and its code with it, while its addresses are in use."""
    environment = {**os.environ, "TNP_CACHE_DIR": "off"}
    done = subprocess.run([sys.executable, "-c", RACE], env=environment, capture_output=True, text=True)
    assert done.stdout == "one each\n", done.stderr


def test_once_makes_nothing_known_where_making_fails():
    made = []

    @compile_module.once
    def make(key):
        made.append(key)
        if len(made) == 1:
            raise ValueError(key)
        return object()

    with pytest.raises(ValueError, match="a"):
        make("a")
    assert make("a") is make("a")
    assert make("b") is not make("a")
    assert made == ["a", "a", "b"]
