"""Calls shared out among threads in C: each piece once, on no more threads than asked, through interrupts and forks."""

import os
import signal
import threading
import time
from array import array

import pytest

from tnp.backends.cpu import threads
from tnp.backends.cpu.calls import Function, on_threads
from tnp.backends.cpu.compile import compiler
from tnp.backends.cpu.engine import SUPPORTED

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="kernels are compiled on x86-64 only")

# counts: pieces at work, the most of them at once, then how often each ran
PIECE = """
declare i32 @usleep(i32)
define i64 @piece(ptr %args, i64 %i, i64 %microseconds, i64 %counts, i64 %unused, i64 %last) {
  %active = inttoptr i64 %counts to ptr
  %most = getelementptr i64, ptr %active, i64 1
  %ran = getelementptr i64, ptr %most, i64 1
  %mine = getelementptr i64, ptr %ran, i64 %i
  %others = atomicrmw add ptr %active, i64 1 seq_cst
  %all = add i64 %others, 1
  %before = atomicrmw max ptr %most, i64 %all seq_cst
  %times = atomicrmw add ptr %mine, i64 1 seq_cst
  %us = trunc i64 %microseconds to i32
  %slept = call i32 @usleep(i32 %us)
  %done = atomicrmw sub ptr %active, i64 1 seq_cst
  %bit = urem i64 %i, 60
  %status = shl i64 1, %bit
  %result = or i64 %status, %last
  ret i64 %result
}
"""


@pytest.fixture(autouse=True, name="n", params=[1, 2, 3])
def _n(request):
    former = threads.set_num_threads(request.param)
    yield request.param
    threads.set_num_threads(former)


@pytest.fixture(scope="module")
def piece():
    code = compiler().compile(PIECE.encode(), lambda: PIECE, ("piece",))
    function = Function(code.addresses["piece"])
    yield function
    del code


class Work:
    def __init__(self, piece, count, microseconds):
        self.piece, self.counts = piece, array("q", [0] * (2 + count))
        self.chunks = [(i, microseconds, self.counts.buffer_info()[0], 0, 0) for i in range(count)]

    def run(self):
        return on_threads(self.piece, b"", self.chunks)

    @property
    def ran(self):
        return list(self.counts[2:])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 59, 1000])
def test_every_piece_runs_once(piece, n, count):
    work = Work(piece, count, 50)
    assert work.run() == (1 << min(count, 60)) - 1
    assert work.ran == [1] * count
    assert work.counts[0] == 0
    assert work.counts[1] == (min(n, count) if count > 20 else work.counts[1]) <= n


def test_four_numbers_or_five(piece):
    counts = array("q", [0] * 3)
    at = counts.buffer_info()[0]
    assert on_threads(piece, b"", [(0, 1, at, 0, 1 << 40)]) == 1 | 1 << 40
    assert piece(b"", 0, 1, at, 0, 1 << 41) == 1 | 1 << 41
    assert on_threads(piece, b"", [(0, 1, at, 0)]) & 1
    assert piece(b"", 0, 1, at, 0) & 1


def test_within_a_chunk_it_stays_on_its_thread(piece, n):
    works = [Work(piece, 8, 2000) for _ in range(n)]
    threads.run_chunks(lambda work: work.run(), works)
    assert all(work.ran == [1] * 8 for work in works)
    if n > 1:
        assert all(work.counts[1] == 1 for work in works)


def test_callers_on_several_threads(piece, n):
    works = [[Work(piece, 20, 30) for _ in range(30)] for _ in range(4)]
    callers = [threading.Thread(target=lambda mine=mine: [w.run() for w in mine]) for mine in works]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for work in (work for mine in works for work in mine):
        assert work.ran == [1] * 20
        assert work.counts[0] == 0 and work.counts[1] <= n


def test_other_threads_go_on_meanwhile(piece):
    work, counted, done = Work(piece, 50, 4000), [], threading.Event()

    def count():
        while not done.is_set():
            counted.append(None)
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    work.run()
    done.set()
    other.join()
    assert len(counted) > 10


def test_an_interrupt_cancels_waits_and_is_raised(piece, n):
    work = Work(piece, 1000, 10_000)
    sender = threading.Timer(0.1, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sender.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            work.run()
        assert time.monotonic() - began < 1
        left, ran = work.counts[0], sum(work.ran)
        sender.join()
    finally:
        signal.signal(signal.SIGINT, former)
    assert left == 0 and 0 < ran < 200
    time.sleep(0.03)
    assert sum(work.ran) == ran
    assert Work(piece, 3, 100).run() == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads(piece, n):
    others = Work(piece, 200, 2000)  # under way, so that the lock may be held when the process forks
    other = threading.Thread(target=others.run)
    other.start()
    for _ in range(3):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            work = Work(piece, 40, 1000)
            work.run()
            os._exit(0 if work.ran == [1] * 40 and work.counts[1] == n else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    other.join()
    assert others.ran == [1] * 200
