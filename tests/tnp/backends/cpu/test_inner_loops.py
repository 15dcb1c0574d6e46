"""NumPy's inner loops as kernels use them: found, verified, and refused when they would not do."""

import numpy as np
import pytest

from tnp.backends.base import Group
from tnp.backends.cpu import inner_loops, plan
from tnp.backends.cpu.engine import CpuBackend
from tnp.backends.cpu.inner_loops import find_loop

from .groups import check, hostile, step

D, Q = np.dtype("f8"), np.dtype("i8")


@pytest.fixture
def fresh(monkeypatch):
    """Loops are looked for anew, and those found here are forgotten."""
    uncached = find_loop.__wrapped__
    monkeypatch.setattr(inner_loops, "numpys_loop", inner_loops.numpys_loop.__wrapped__)
    for module in (inner_loops, plan):
        monkeypatch.setattr(module, "find_loop", uncached)
    return uncached


def test_a_loop_is_found_once():
    first = find_loop(np.exp, (D,))
    assert first is not None and first.function and find_loop(np.exp, (D,)) is first


@pytest.mark.parametrize(
    ("ufunc", "dtypes"),
    [
        (np.power, (Q, Q)),  # raises ValueError
        (np.modf, (D,)),  # two results
        (np.matmul, (D, D)),  # not elementwise
        (np.add, (np.dtype(object), np.dtype(object))),
        (np.exp, (np.dtype(">f8"),)),
        (np.exp, (Q,)),  # no loop of integers
        (np.exp, (np.dtype("M8[s]"),)),
    ],
)
def test_what_no_kernel_may_call(fresh, ufunc, dtypes):
    assert fresh(ufunc, dtypes) is None


def test_extremes_depend_on_their_place():
    assert find_loop(np.maximum, (D, D)).positional
    assert not find_loop(np.exp, (D,)).positional
    assert not find_loop(np.floor_divide, (Q, Q)).positional


def test_a_loop_that_differs_from_its_ufunc_is_refused(fresh, monkeypatch):
    """As if NumPy had changed what the pointer means."""
    right = inner_loops._Runner.__call__

    def wrong(self, operands, step):
        values = right(self, operands, step)
        values[5] = np.nextafter(values[5], 9)
        return values

    assert fresh(np.arctan, (D,)) is not None
    monkeypatch.setattr(inner_loops._Runner, "__call__", wrong)
    assert fresh(np.arctan, (D,)) is None


@pytest.mark.parametrize("missing", ["_resolve_dtypes_and_context", "_get_strided_loop"])
def test_without_numpys_private_entries_groups_run_through_ufuncs(fresh, monkeypatch, missing):
    class Hidden:
        """A ufunc without one of its attributes."""

        def __getattr__(self, name):
            if name == missing:
                raise AttributeError(name)
            return getattr(np.exp, name)

    assert fresh(Hidden(), (D,)) is None
    monkeypatch.setattr(plan, "find_loop", lambda ufunc, dtypes: None)
    backend = CpuBackend(stress=True)
    check(backend, Group([step(np.exp, (~0,), "d")], [hostile(D, 100)], [(0, np.empty(100))], (100,)))
    assert (backend.stats.launched, backend.stats.interpreted) == (0, 1)
    check(backend, Group([step(np.add, (~0, ~0), "dd")], [hostile(D, 100)], [(0, np.empty(100))], (100,)))
    assert backend.stats.launched == 1  # arithmetic needs no loop
