"""Settings: attributes, context managers, environment variables, and what they refuse."""

import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import tnp
from tnp.backends.base import Group, Step
from tnp.backends.cpu.engine import CpuBackend
from tnp.core.elementwise import PRIMITIVES

ROOT = Path(__file__).parents[3]
F8 = numpy.dtype("f8")


def test_a_context_manager_restores_what_it_changed():
    before = tnp.config.lazy_from, tnp.config.lazy
    with tnp.config(lazy_from=7, lazy=False):
        assert (tnp.config.lazy_from, tnp.config.lazy) == (7, False)
        with tnp.config(lazy_from=8):
            assert tnp.config.lazy_from == 8
        assert tnp.config.lazy_from == 7
    assert (tnp.config.lazy_from, tnp.config.lazy) == before


def test_settings_are_restored_after_an_error():
    before = tnp.config.lazy_from
    with pytest.raises(ZeroDivisionError), tnp.config(lazy_from=7):
        1 // 0
    assert tnp.config.lazy_from == before


def test_a_refused_setting_changes_nothing():
    before = tnp.config.lazy_from
    with pytest.raises(TypeError, match="expected: an int"), tnp.config(lazy_from="many"):
        pass
    with pytest.raises(AttributeError, match=r"(?s)no setting .laziness.*expected: one of .*lazy_from"):
        tnp.config.laziness = 3
    with pytest.raises(AttributeError, match="no setting"), tnp.config(lazy_from=3, laziness=3):
        pass
    assert tnp.config.lazy_from == before


def test_laziness_off_runs_everything_at_once():
    with tnp.config(lazy=False):
        a = tnp.ones(200_000) * 2
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            tnp.log(a - 2)


@pytest.mark.parametrize(
    ("variable", "value", "setting", "expected"),
    [
        ("TNP_LAZY_FROM", "123", "lazy_from", "123"),
        ("TNP_LAZY", "0", "lazy", "False"),
        ("TNP_LAZY", "off", "lazy", "False"),
        ("TNP_LAZY", "1", "lazy", "True"),
        ("TNP_LAZY", "", "lazy", "True"),
        ("TNP_STRESS", "1", "lazy_from", "1"),
        ("TNP_THREADS", "3", "threads", "3"),
        ("TNP_MATH", "fast", "math", "fast"),
        ("TNP_MEMORY_LIMIT", "1.5 GiB", "memory_limit", str(3 << 29)),
        ("TNP_MEMORY_LIMIT", "5000", "memory_limit", "5000"),
        ("TNP_CACHE_DIR", "somewhere", "cache_dir", "somewhere"),
    ],
)
def test_environment_variables(variable, value, setting, expected):
    done = subprocess.run(
        [sys.executable, "-c", f"import tnp; print(tnp.config.{setting})"],
        cwd=ROOT,
        env={variable: value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == expected


@pytest.mark.parametrize(
    ("variable", "value"),
    [("TNP_THREADS", "0"), ("TNP_THREADS", "many"), ("TNP_MATH", "quick"), ("TNP_LAZY", "maybe"),
     ("TNP_MEMORY_LIMIT", "4 apples"), ("TNP_LAZY_FROM", "-1")],
)  # fmt: skip
def test_what_the_environment_says_wrong_is_told_at_the_import(variable, value):
    done = subprocess.run(
        [sys.executable, "-c", "import tnp"],
        cwd=ROOT,
        env={variable: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"ValueError: {variable}: no such value\n  got:      {value!r}\n  expected: " in done.stderr
    assert "\n  hint:     " in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("threads", 0, ValueError),
        ("threads", 2.0, TypeError),
        ("threads", True, TypeError),
        ("lazy", 1, TypeError),
        ("lazy_from", -1, ValueError),
        ("math", "Fast", ValueError),
        ("math", None, TypeError),
        ("memory_limit", 0, ValueError),
        ("memory_limit", "lots", ValueError),
        ("memory_limit", 1.5, TypeError),
        ("cache_dir", 3, TypeError),
        ("stress", not tnp.config.stress, ValueError),
    ],
)
def test_a_bad_value_is_refused_with_what_is_expected(name, value, error):
    before = repr(tnp.config)
    with pytest.raises(error, match=rf"tnp\.config\.{name}: ") as caught:
        setattr(tnp.config, name, value)
    assert f"\n  got:      {value!r}\n  expected: " in str(caught.value)
    assert "\n  hint:     " in str(caught.value)
    with pytest.raises(error), tnp.config(**{"lazy_from": 9, "threads": 1, name: value}):
        pass
    assert repr(tnp.config) == before


def test_threads_by_either_name():
    with tnp.config(threads=3):
        assert tnp.get_num_threads() == 3
        assert tnp.set_num_threads(2) == 3
        assert tnp.config.threads == 2
    assert tnp.get_num_threads() == tnp.config.threads


def test_the_cache_folder_changes_at_once(tmp_path):
    with tnp.config(cache_dir=tmp_path / "kernels", lazy_from=1):
        backend = CpuBackend(stress=True)  # compiles at once
        group = Group([Step(PRIMITIVES[numpy.negative], (~0,), (F8,), F8)], [numpy.ones(9)], [], (9,))
        group.outputs.append((0, numpy.empty(9)))
        backend.run(group)
        assert os.listdir(tmp_path / "kernels")
        assert tnp.show_config(mode="dicts")["tnp"]["kernel cache"] == str(tmp_path / "kernels")
    with tnp.config(cache_dir="off"):
        assert tnp.show_config(mode="dicts")["tnp"]["kernel cache"] == "off"


def test_the_settings_print():
    assert f"lazy_from = {tnp.config.lazy_from}" in repr(tnp.config)
