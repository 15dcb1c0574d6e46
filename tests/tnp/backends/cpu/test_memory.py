"""The block pool: alignment, reuse only when nobody looks, bounds, errors, threads, fork."""

import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tnp.backends.cpu import memory

F8 = np.dtype(np.float64)
BIG = (10_000,)  # float64: 80 kB, pooled


@pytest.fixture(autouse=True)
def _empty_pool():
    memory.trim()
    yield
    memory.trim()


def address(array):
    return array.__array_interface__["data"][0]


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 60), max_size=4).map(tuple),
    st.sampled_from(["f8", "f4", "i1", "?", "c16", "M8[s]", "S7", "f4,i2", ">f8"]),
    st.sampled_from("CF"),
)
def test_is_what_numpy_empty_is(shape, dtype, order):
    got, want = memory.empty(shape, np.dtype(dtype), order), np.empty(shape, dtype, order)
    assert (got.shape, got.dtype, got.strides) == (want.shape, want.dtype, want.strides)
    assert got.flags.writeable
    assert got.flags.aligned
    got.view(np.uint8) if got.flags.c_contiguous and got.ndim else None
    got.fill(got.dtype.type() if got.dtype.names is None else 0)


@pytest.mark.parametrize("nbytes", [32 << 10, 40_000, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_large_arrays_are_aligned_and_waste_at_most_an_eighth(nbytes):
    array = memory.empty((nbytes,), np.dtype(np.uint8))
    assert address(array) % memory.ALIGNMENT == 0
    assert nbytes <= memory.stats()["held"] <= nbytes * 9 / 8


def test_a_dropped_array_is_reused_and_a_live_one_is_not():
    first = memory.empty(BIG, F8)
    where = address(first)
    second = memory.empty(BIG, F8)
    assert address(second) != where
    del first
    assert address(memory.empty(BIG, F8)) == where


@pytest.mark.parametrize(
    "hold",
    [
        lambda a: a[3:5],
        lambda a: a[1:].reshape(-1, 3)[::-1],
        memoryview,
        lambda a: memoryview(a)[5:6],
        lambda a: a.__dlpack__(),
        lambda a: np.from_dlpack(a),
        lambda a: a.view(np.int8).data,
    ],
    ids=["view", "view of view", "memoryview", "slice of memoryview", "capsule", "dlpack", "data"],
)
def test_any_view_keeps_the_block(hold):
    array = memory.empty(BIG, F8)
    where = address(array)
    view = hold(array)
    del array
    others = [memory.empty(BIG, F8) for _ in range(3)]
    assert where not in {address(a) for a in others}
    del view
    assert address(memory.empty(BIG, F8)) == where


def test_free_blocks_are_found_among_many_busy_ones():
    busy = [memory.empty(BIG, F8) for _ in range(200)]
    del busy[100:101]
    misses = memory.stats()["misses"]
    busy += [memory.empty(BIG, F8) for _ in range(50)]
    assert memory.stats()["misses"] <= misses + 50
    misses = memory.stats()["misses"]
    del busy[:10]
    busy += [memory.empty(BIG, F8) for _ in range(10)]
    assert memory.stats()["misses"] == misses  # the oldest are looked at too
    assert len({address(a) for a in busy}) == len(busy)


def test_statistics():
    before = memory.stats()
    array = memory.empty(BIG, F8)
    held = memory.stats()["held"]
    assert memory.stats()["in_use"] == held >= array.nbytes
    del array
    assert memory.stats()["in_use"] == 0
    array = memory.empty(BIG, F8)
    after = memory.stats()
    assert (after["hits"], after["misses"]) == (before["hits"] + 1, before["misses"] + 1)
    memory.trim()
    assert memory.stats()["held"] == held
    del array
    memory.trim()
    assert memory.stats()["held"] == 0


def test_the_bound_drops_the_least_recently_used_first():
    former = memory.set_limit(4 << 20)
    try:
        a, b = memory.empty((1 << 20,), np.dtype("u1")), memory.empty((1 << 20,), np.dtype("u1"))
        b[:] = 7
        c = memory.empty((3 << 20,), np.dtype("u1"))  # the block of a is forgotten, not freed
        a[:] = 1
        assert memory.stats()["held"] == 4 << 20
        where = address(b)
        del a, b, c
        assert address(memory.empty((1 << 20,), np.dtype("u1"))) == where
        memory.empty((5 << 20,), np.dtype("u1"))  # larger than the bound: never kept
        assert memory.stats()["held"] <= 4 << 20
        memory.set_limit(0)
        assert memory.stats()["held"] == 0
        assert memory.stats()["limit"] == 0
    finally:
        memory.set_limit(former)
    with pytest.raises(ValueError, match="negative"):
        memory.set_limit(-1)


@pytest.mark.parametrize("shape", [(1 << 50,), (1 << 62,), (1 << 40, 1 << 40), (-1, 5), (-1000, -1000)])
def test_errors_are_numpys(shape):
    with pytest.raises((MemoryError, ValueError)) as want:
        np.empty(shape, F8)
    with pytest.raises(want.type) as got:
        memory.empty(shape, F8)
    assert str(got.value) == str(want.value)


def test_objects_are_initialised():
    assert memory.empty((10_000,), np.dtype(object))[9_999] is None
    assert memory.empty((10_000,), np.dtype([("a", object), ("b", "f8")]))[5]["a"] is None


def test_threads_never_share_a_block():
    wrong = []

    def work(mark):
        for _ in range(400):
            arrays = [memory.empty(BIG, F8) for _ in range(3)]
            for k, array in enumerate(arrays):
                array[:] = mark * 10 + k
            wrong.extend(k for k, array in enumerate(arrays) if not (array == mark * 10 + k).all())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_while_another_thread_allocates_can_allocate():
    with memory._lock:  # as another thread would hold it
        child = os.fork()
        if child == 0:
            good = threading.Thread(target=memory.empty, args=((50_000,), F8))
            good.start()
            good.join(10)
            os._exit(int(good.is_alive()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
