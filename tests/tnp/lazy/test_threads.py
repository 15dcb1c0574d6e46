"""Threads that share arrays."""

import sys
import threading

import numpy
import pytest

import tnp


@pytest.fixture
def shaken():
    """Threads take turns all the time."""
    former = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(former)


@pytest.mark.usefixtures("recorded")
def test_many_threads_read_one_pending_value():
    for k in range(50):
        a = tnp.arange(5000.0) * k + 1
        b = a * a - a
        results = []
        threads = [threading.Thread(target=lambda b=b, to=results: to.append(float(b.sum()))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        n = numpy.arange(5000.0) * k + 1
        assert results == [float((n * n - n).sum())] * 4


READINGS = {
    "list": lambda a: (a + 0).tolist(),
    "sum": lambda a: [(a * 1).sum() / len(a)],
    "extremes": lambda a: [tnp.min(b := a + 0), tnp.max(b)],
    "view": lambda a: (a[5:] + 0).tolist(),
}


@pytest.mark.usefixtures("recorded", "shaken")
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("size", [3_000, 20_000])
def test_a_thread_reads_while_another_writes(size, reading):
    """What is read is one of the contents that the program order of the writer gives, never a mixture."""
    a = tnp.zeros(size)
    stop, torn = threading.Event(), []

    def read():
        while not stop.is_set():
            x = READINGS[reading](a)
            if min(x) != max(x) or x[0] % 1:
                torn.append((min(x), max(x)))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(150):
        a += 1
        a *= 1
    stop.set()
    for reader in readers:
        reader.join()
    assert a[0] == a[-1] == 150.0
    assert len(torn) == 0


@pytest.mark.usefixtures("recorded", "shaken")
def test_no_write_is_lost_when_others_read():
    """By operator, through a view, by assignment, with ``out=``."""
    a = tnp.zeros(5_000)
    stop = threading.Event()

    def read():
        while not stop.is_set():
            (a + 0).sum()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(60):
        a += 1
        view = a[:]
        view += 1
        del view
        a[...] = a + 1
        tnp.add(a, 1, out=a)
        a[10:] += 1
        a[:10] = a[:10] + 1
    stop.set()
    for reader in readers:
        reader.join()
    assert set(a.tolist()) == {300.0}


@pytest.mark.usefixtures("recorded")
def test_threads_record_on_shared_operands():
    a = tnp.arange(3000.0)
    results = {}

    def work(k):
        y = a * k
        for _ in range(200):
            y = y + a - a
        results[k] = y.sum()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: (numpy.arange(3000.0) * k).sum() for k in range(4)}
