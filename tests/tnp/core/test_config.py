"""Settings: attributes, context managers, environment variables, and what they refuse."""

import subprocess
import sys
from pathlib import Path

import pytest

import tnp

ROOT = Path(__file__).parents[3]


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
    with pytest.raises(TypeError, match="expected: int"), tnp.config(lazy_from="many"):
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
        ("TNP_STRESS", "1", "lazy_from", "1"),
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


def test_the_settings_print():
    assert f"lazy_from = {tnp.config.lazy_from}" in repr(tnp.config)
