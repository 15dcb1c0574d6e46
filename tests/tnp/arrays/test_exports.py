"""Memory in foreign hands: NumPy, memoryviews and DLPack see what the program's arrays hold, at every moment."""

import ctypes
import gc
import sys

import numpy
import pytest

import tnp
from tests.programs import engine, execute
from tests.programs.same import same
from tnp.content import is_shared

pytestmark = pytest.mark.usefixtures("recorded")


@pytest.fixture
def recorded():
    """Operations wait from the first element on, as in a script: with pytest's recorder of warnings they would not."""
    with execute.at_rest(sys.stderr), tnp.config(lazy_from=1):
        yield


def pending(x):
    return x._nd is None


def fresh():
    return tnp.evaluate(tnp.arange(100.0) + 1)


EXPORTS = {
    "numpy.asarray": numpy.asarray,
    "to_numpy": tnp.to_numpy,
    "a view of a view": lambda x: numpy.asarray(x)[::2][1:],
    "a transposed field": lambda x: numpy.asarray(x).reshape(4, 25).T[3],
    "memoryview": memoryview,
    "a memoryview of a view": lambda x: memoryview(numpy.asarray(x)[5:]),
    "DLPack": numpy.from_dlpack,
    "a view of DLPack's": lambda x: numpy.from_dlpack(x)[2:],
    "iterator": iter,
    "data": lambda x: x.data,
}


without_buffers = pytest.mark.skipif(
    sys.version_info < (3, 12) and engine.counts(tnp)["hot path"] != "compiled",
    reason="Python 3.11 gives buffers of compiled classes only; NumPy then asks for the address, which counts for ever",
)


@without_buffers
@pytest.mark.parametrize("export", EXPORTS)
def test_shared_only_while_a_view_lives(export):
    x = fresh()
    y = x + 1
    assert pending(y)
    kept = EXPORTS[export](x)
    assert is_shared(x._cell)
    x += 1
    assert not pending(x)
    assert not pending(x * 2)
    del kept
    gc.collect()
    assert not is_shared(x._cell)
    x += 1
    assert pending(x)
    assert x[0] == 3.0


@without_buffers
def test_every_write_is_seen():
    x = fresh()
    view = numpy.asarray(x)[10:20]
    again = numpy.asarray(x)
    memory = memoryview(x)
    x *= 2
    assert (view[0], again[10], memory[10]) == (22.0, 22.0, 22.0)
    x[10:12] = 5
    assert (view[0], again[10], memory[10]) == (5.0, 5.0, 5.0)
    view[0] = 7
    assert x[10] == 7.0
    assert (x + 0)[10] == 7.0
    tnp.add(x, 1, out=x)
    assert view[0] == 8.0


def test_pending_work_is_done_before_the_memory_leaves():
    x = fresh() * 2
    y = x + 1
    assert pending(x)
    view = numpy.asarray(x)
    assert view[0] == 2.0
    view[0] = 50
    assert y[0] == 3.0
    assert x[0] == 50.0


def test_exports_of_views():
    x = tnp.arange(24.0).reshape(2, 3, 4) * 1
    for part in (x[1], x.T, x[:, ::-2], x[..., 1:2], x[1:1], x.real):
        theirs = numpy.asarray(part)
        assert theirs.strides == part.strides
        assert theirs.tolist() == part.tolist()
    assert numpy.shares_memory(numpy.asarray(x), numpy.asarray(x[1, ::2]))
    numpy.asarray(x.T)[0, 0, 1] = -1
    assert x[1, 0, 0] == -1.0


@without_buffers
def test_read_only_stays_read_only():
    x = tnp.arange(5.0)
    x.flags.writeable = False
    assert not numpy.asarray(x).flags.writeable
    assert memoryview(x).readonly
    assert not numpy.asarray(tnp.broadcast_to(x, (2, 5))).flags.writeable


@pytest.mark.parametrize(
    "dtype", ["?", "i1", ">i4", "f2", "c16", "U3", "S2", "M8[s]", "V5", [("a", "i4"), ("b", "f8")], "O"]
)
def test_dtypes(dtype):
    theirs = numpy.zeros(4, dtype)
    ours = tnp.asarray(theirs.copy())
    for exported in (numpy.asarray(ours), numpy.array(ours), tnp.to_numpy(ours)):
        assert exported.dtype == theirs.dtype
        assert exported.tobytes() == theirs.tobytes()


def test_fields_share_memory():
    x = tnp.zeros(50, [("a", "f8"), ("b", "i4")])
    view = numpy.asarray(x["a"])
    x["a"][:] = 5
    x["a"] += 1
    assert view[3] == 6.0


@pytest.mark.parametrize(
    "element", ["r[0]", "r[[0]][0]", "next(iter(r))", "r.flat[0]", "r[1:][::-1][-1]", "r[0, ...][()]"]
)
def test_a_structured_element_is_a_window_on_the_memory(element):
    """Who reads the old content pending is served before the window is handed out."""
    same(
        f"""
        r = np.zeros(40, dtype=[('p', 'f8'), ('q', 'f8')])
        old = r['q'] * 2 + 1
        window = {element}
        window['q'] = 8
        between = r['q'] * 2 + 1
        window['q'] = 9
        saw(old, between, r['q'] + 1, r)
        """
    )


def test_a_raw_address_counts_for_ever():
    x = fresh()
    address = x.ctypes.data
    x += 1
    assert (ctypes.c_double * 2).from_address(address)[1] == 3.0
    y = fresh()
    interface = y.__array_interface__
    y += 1
    assert (ctypes.c_double * 2).from_address(interface["data"][0])[0] == 2.0


def test_pointers_keep_the_array():
    pointer = fresh().ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    gc.collect()
    assert pointer[3] == 4.0


def test_objects_of_numpy_that_keep_the_memory():
    x = fresh()
    masked = tnp.ma.array(x)
    x += 1
    assert masked[5] == x[5]
    y = fresh()
    it = tnp.nditer(y)
    y += 1
    assert next(it) == 2.0


def test_memory_outlives_the_array():
    view = numpy.asarray(fresh())
    others = [fresh() * 3 for _ in range(20)]
    tnp.evaluate(*others)
    assert view.tolist() == [i + 1.0 for i in range(100)]


def test_dlpack_both_ways():
    theirs = numpy.arange(5.0)
    ours = tnp.from_dlpack(theirs)
    assert type(ours) is tnp.ndarray
    ours += 1
    assert theirs[0] == 1.0
    assert tnp.arange(3).__dlpack_device__() == (1, 0)
    assert type(tnp.from_dlpack(tnp.arange(3))) is tnp.ndarray
    assert numpy.from_dlpack(tnp.arange(3), copy=True).tolist() == [0, 1, 2]
