"""When memory is let go, and who holds what."""

import gc
import sys
import weakref

import numpy
import pytest

import tnp


@pytest.fixture
def without_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def big(n=2_000_000):
    return tnp.arange(float(n)) * 1.5


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.usefixtures("recorded", "without_collector")
def test_arrays_die_without_the_collector():
    a = tnp.arange(1000.0)
    b = a * 2
    b += a
    v = b[::2] + 1
    alive = [weakref.ref(x) for x in (a, b, v)]
    del a, b
    assert v[3] == 19.0
    del v
    assert [ref() for ref in alive] == [None] * 3


@pytest.mark.usefixtures("without_collector")
def test_a_small_result_does_not_keep_its_big_input():
    big().sum()  # pools and buffers are there
    before = resident()
    kept = [big().reshape(1000, -1).sum(1) for _ in range(20)]
    kept += [big()[:10] + 1 for _ in range(20)]
    assert resident() - before < 200e6  # forty inputs would be 640 MB
    assert len(kept) == 40


@pytest.mark.usefixtures("without_collector")
def test_dropped_chains_return_their_memory():
    def chain():
        a, b = big(), big()
        for _ in range(5):
            a = a * b + 1
            a -= b
            a[1:] = a[:-1]
        return float(a[5])

    chain()
    before = resident()
    for _ in range(10):
        chain()
    assert resident() - before < 100e6


@pytest.mark.usefixtures("recorded")
def test_refcounts_are_the_program_s_own():
    def count(np):
        a = np.arange(1000.0)
        counts = [sys.getrefcount(a)]
        b = a + 1
        counts.append(sys.getrefcount(a))
        c = a[::2]  # NumPy's view holds its base
        d = b * a
        counts += [sys.getrefcount(b), sys.getrefcount(d), sys.getrefcount(c)]
        return counts

    assert count(tnp) == count(numpy)


@pytest.mark.usefixtures("recorded")
def test_a_long_chain_is_no_recursion():
    a = tnp.ones(3)
    y = a * 1
    for _ in range(100_000):
        y = y + 1
    assert y.tolist() == [100_001.0] * 3
    for _ in range(100_000):
        y += 1
    del a
    assert y.tolist() == [200_001.0] * 3
    views = tnp.zeros(3)
    for _ in range(10_000):
        views = views[::-1] + 1
    assert views.tolist() == [10_000.0] * 3
    for _ in range(50_000):
        y = y * 1
    del y  # never asked for
