"""Functions compiled by numba take tnp arrays."""

import gc
import sys
import tomllib
from pathlib import Path

import numpy
import pytest

import tnp
from tests.programs import execute
from tnp.content import is_shared

numba = pytest.importorskip("numba")


@pytest.fixture(autouse=True, scope="module")
def extension():
    """As numba calls it in an installed tnp."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["numba_extensions"]["init"].partition(":")
    getattr(__import__(module, fromlist=[name]), name)()


@pytest.fixture(scope="module")
def total():
    @numba.njit
    def total(a):
        s = 0.0
        for x in a.flat:
            s += x
        return s

    return total


def test_arrays_of_every_layout(total):
    a = tnp.arange(24.0).reshape(4, 6)
    for part in (a, a.T, a[::2, 1:], a[1], a[::-1], a[1:1]):
        assert total(part) == part.sum()
    assert total(numpy.ones(3)) == 3.0


def test_pending_work_is_seen_and_writes_come_back():
    @numba.njit
    def scale(a, k):
        for i in range(a.size):
            a[i] *= k

    with execute.at_rest(sys.stderr), tnp.config(lazy_from=1):
        x = tnp.arange(100.0) + 1
        y = x * 2
        scale(x, 10.0)
        assert (x[3], y[3]) == (40.0, 8.0)
        gc.collect()
        assert not is_shared(x._cell)


def test_explicit_signatures_and_numpy_functions():
    np = tnp

    @numba.njit("f8[:](f8[:], f8[:])")
    def length(a, b):
        return np.sqrt(a * a + b * b) + np.zeros(a.size)

    a = tnp.arange(5.0)
    assert length(a, a * 0).tolist() == a.tolist()


def test_vectorized_functions():
    @numba.vectorize
    def add(x, y):
        return x + 2 * y

    a = tnp.arange(3.0)
    assert add(a, 1).tolist() == [2.0, 3.0, 4.0]
    assert add(a, a).tolist() == [0.0, 3.0, 6.0]


def test_what_numba_cannot_do_it_says():
    @numba.njit
    def first(a):
        return a[0] + 1.0

    with pytest.raises(numba.TypingError):
        first(tnp.array(["a"]))
    a = tnp.arange(3.0)
    a.flags.writeable = False

    @numba.njit
    def write(a):
        a[0] = 1.0

    with pytest.raises(numba.TypingError, match="readonly"):
        write(a)


def test_importing_tnp_does_not_import_numba(python):
    assert python("-c", "import sys, tnp; print('numba' in sys.modules)").stdout == "False\n"
