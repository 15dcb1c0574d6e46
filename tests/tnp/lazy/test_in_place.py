"""Kernels over their own inputs: a part of an array is computed from that part, and nothing is copied first.

What a kernel overwrites it cannot compute again. Blocks that raised something are therefore left as they were, until
it is known which operation it was; so warnings are told once, from the old values.
"""

import signal
import threading
import warnings

import numpy
import pytest

import tnp
from tests.programs.same import same
from tnp import content
from tnp.backends.cpu import threads
from tnp.lazy import schedule as scheduling
from tnp.lazy.interrupts import Uninterrupted

SESSIONS = {
    "places that meet themselves": """
        x = np.array([0.0, 1.0, 2.0])
        a = np.broadcast_to(x[:1], (20011,))
        a.flags.writeable = True
        t = a * a
        b = t + 1
        a[:] = t - 2
        b, x
        a[...] = a * 3 + 1
        x
        a += a * 2 + np.arange(20011)
        x
        a[5:] *= np.arange(20006.0) * 2 - 3
        np.add(a, np.arange(20011.0) * 2, out=a)
        x
        y = np.arange(5000.0)
        w = np.lib.stride_tricks.as_strided(y, (4000, 3), (8, 8))
        w[...] = np.arange(12000.0).reshape(4000, 3) * 2 + 1
        y
        u = np.sqrt(w) + 1
        w[:, ::-1] = w * 2 - u
        y, u
        w -= u * 0.5 + w
        y
        v = y[3:][::-1].reshape(-1, 19).T
        v[1:] = v[:-1] * 2 + 1
        y
        """,
    "a part computed from itself": """
        a, b = np.arange(3000.0) - 5, np.arange(3000.0)
        a[1:-1] = b[1:-1] / a[1:-1] + 1
        a
        a[1:-1] = np.log(a[1:-1] - 2) * b[1:-1] + np.sqrt(a[1:-1])
        a
        """,
    "each operation warns once, in its own line": """
        a = np.linspace(-5, 5, 4001)
        t = 1 / (a[1:] - a[2000])
        u = np.sqrt(a[1:] * 1)
        v = np.exp(a[1:] * 400)
        a[1:] = t + u + v
        a
        """,
    "what one block raises is no other's": """
        a = np.ones(9000)
        a[[0, 3000, 8999]] = 0
        b = a.copy()
        a[:] = 1 / b - 1 / a
        a[1:] = 2 / a[1:]
        a
        """,
    "scalars, casts and selections": """
        a = (np.arange(2500) - 4).astype('f4')
        a[3:] = np.where(a[3:] > 7, 1 / a[3:], np.float32(2)) * 3
        a[3:] = (a[3:] * 1e30).astype('f8') * 1e20
        i = np.arange(2500) - 7
        i[2:] = (i[2:] * 3) // i[2:]
        i[2:] = (i[2:] + 1) % (i[2:] * 1)
        a, i
        i = np.arange(2500)
        i[2:] = 5 // (i[2:] - 1000)
        i
        i[2:] = (i[2:] - 1) % (i[2:] + 1)
        i
        """,
    "all dtypes": """
        with np.errstate(under='warn'):
            for d in ('f2', 'f4', 'f8', 'F', 'D', 'g'):
                a = (np.arange(2100) - 3).astype(d)
                a[5:] = a[5:] / (a[5:] - a[1500]) * a[5:]
                saw(a)
                a[5:] = a[5:] * 1e-4 * a[5:] / 3 * 1e-30
                saw(a)
                a[5:] = np.exp(a[5:] + 700)
                saw(a)
        """,
    "rows, columns and steps": """
        g = (np.arange(4000.0) - 50).reshape(80, 50)
        g[1:-1, 1:-1] = 1 / (g[1:-1, 1:-1] * 2)
        g[::2] = np.sqrt(g[::2]) + 1
        g[:, 3] = np.log(g[:, 3] * 2)
        g[::-1, ::3] = g[::-1, ::3] / (g[::-1, ::3] - 2)
        g[4] = 1 / (g[4] - g[4, :1])
        g
        f = np.asfortranarray(g)
        f[:, 2:] = f[:, 2:] * 0 / (f[:, 2:] * 3)
        f, f.strides
        """,
    "some reads are of the same place, others overlap it": """
        a = np.arange(2000.0) - 3
        a[1:-1] = 1 / a[1:-1] + a[2:]
        a
        a[1:-1] = a[:-2] + np.sqrt(a[1:-1] * 1)
        a
        a[::2] = 1 / (a[::2] * a[1::2])
        a
        a[::-1] = a[::-1] * 2 + a
        a
        """,
    "who holds the value keeps it": """
        a = np.arange(2000.0) - 3
        t = 1 / a[1:-1] + 1
        a[1:-1] = t
        t
        a[5:] = -1
        t[:8]
        u = np.sqrt(a[1:] - 1) * 2
        v = u - 1
        a[1:] = u
        a *= 2
        del u
        v, a
        w = a[1:] * 3
        a[1:] = w
        w += 1
        w, a
        x = a[1:] * 3
        x *= 2
        a[1:] = x
        y = x + a[1:]
        a[1:] = y
        a[1:] = y - x
        x, y, a
        """,
    "who holds something inside the value keeps it": """
        a = np.arange(2000.0) - 3
        t = a[1:-1] * 2.0
        s = 1 / t
        x = t - 1.0
        a[1:-1] = s + t
        t, s, x, a
        t = a[1:-1] + 1
        y = np.sqrt(t)
        z = t * 3
        del t
        a[1:-1] = z
        y, a
        del z
        """,
    "the value of one write is read by another": """
        a, b = np.arange(2000.0) - 3, np.arange(2000.0)
        t = 1 / a[1:]
        a[1:] = t
        b[1:] = t * b[1:]
        a[1:] = a[1:] * t
        b, a, t
        """,
    "operators and out= on parts": """
        a, b = np.arange(3000.0) - 4, np.arange(3000.0)
        a[1:] += b[1:] * 2
        a[1:] /= b[1:] - 7
        a
        g = a.reshape(60, 50)
        g[1:-1] *= g[:-2] + g[2:]
        g[1:-1, 1:-1] -= np.sqrt(g[1:-1, 1:-1] - 1)
        g[:, 0] += g[:, 1] * 2
        a
        v = a[5:]; w = v
        t = b[5:] * b[5:]
        v -= t
        v is w, v, t
        r = np.multiply(b[1:] * 3, a[1:], out=a[:-1])
        r.base is a, r
        np.log(b[1:] - 1, out=a[1:])
        np.add(b[1:] * 2, 1, out=a[1:], casting='unsafe') is a
        a[5:] += np.ones((2, 2995)) * 2
        a[5:6] += t[:2] * 2
        np.add(b * 2, 1, out=a[1:])
        a[::3] += (b[::3] * 2)[:1]
        a[3:] //= a[3:] * 0
        a
        i = np.arange(3000)
        i[1:] += i[1:] * 2
        i[1:] += b[1:] * 2
        i[1:] //= i[:-1] * 1
        i[1:] **= i[1:] * -1
        i
        f = a[1:]; f.flags.writeable = False
        f += b[1:] * 2
        f
        m = memoryview(a)
        a[2:] += b[2:] * 2
        m[2], m[5]
        """,
    "error states and filters of the call": """
        a, b = np.arange(2000.0) - 3, np.zeros(2000)
        with np.errstate(divide='ignore'): t = 1 / b[1:]
        u = np.sqrt(a[1:] * 1)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            v = np.log(a[1:] * 1)
        a[1:] = t + u + v + b[1:] * t + a[1:]
        a
        with np.errstate(all='ignore'): a[1:] = a[1:] / (a[1:] * 0)
        a
        b[1:] = b[1:] / (b[1:] * 0)
        b
        """,
    "warned already": """
        a = np.arange(2000.0) - 3
        t = 1 / a[1:]
        u = t * 2
        u
        a[1:] = t * a[1:]
        t, a
        """,
    "earlier warnings first": """
        a, b = np.arange(2000.0) - 3, np.zeros(2000)
        first = np.sqrt(b - 1)
        second = 1 / b
        a[1:] = np.log(a[1:] * 1)
        a[1:3], first[:2]
        a = np.arange(2000.0) - 3
        t = a[1:] * 2
        x = 1 / (t - 2)
        a[1:] = np.log(t)
        x, t, a
        """,
    "elements that share memory": """
        w = np.lib.stride_tricks.sliding_window_view(np.arange(2000.0) * 1, 3, writeable=True)
        w[:, 1:] = w[:, 1:] * 2 + 1
        w
        a = np.arange(2000.0) * 1
        s = np.lib.stride_tricks.as_strided(a, (1000, 2), (8, 8))
        s[...] = s * 2
        s[1:] = s[1:] * 2 + s[1:]
        a
        """,
}


@pytest.mark.parametrize("session", SESSIONS)
def test_session(session):
    same(SESSIONS[session], lazy_from=(None, 1))


@pytest.mark.parametrize("session", SESSIONS)
def test_session_in_many_pieces(session, monkeypatch):
    monkeypatch.setattr(content.backend, "stress", True)
    monkeypatch.setattr(content.backend, "_ready", {})  # how groups met before are cut
    same(SESSIONS[session], lazy_from=(None, 1))


@pytest.fixture
def allocated(monkeypatch):
    """Shapes of the memory that kernels were given for results."""
    found = []

    def noted(shape, *args, empty=content.backend.empty):
        found.append(tuple(shape))
        return empty(shape, *args)

    monkeypatch.setattr(content.backend, "empty", noted)
    return found


@pytest.fixture
def replayed(monkeypatch):
    """Elements of each operation that ran once more for its warnings."""
    found = []

    def noted(node, args, evaluate=scheduling.evaluate):
        result = evaluate(node, args)
        found.append((node.prim.name, result.size))
        return result

    monkeypatch.setattr(scheduling, "evaluate", noted)
    return found


# ------------------------------------------------------------------------------------------------ what it costs
@pytest.mark.usefixtures("recorded")
def test_nothing_of_that_size_is_allocated(allocated):
    a, b = tnp.arange(5000.0) + 1, tnp.arange(5000.0)
    tnp.evaluate(a, b)
    allocated.clear()
    a[2:] = b[2:] / a[2:] + 1
    a[2:] = tnp.sqrt(a[2:]) * a[2:]
    t = a[2:] * 3
    a[2:] = t
    assert allocated == []
    a[2:] = a[1:-1] * 2
    assert allocated == [(4998,)] * 2  # of `t`, which is still wanted, and of what overlaps
    want = numpy.arange(5000.0) + 1
    want[2:] = numpy.arange(5000.0)[2:] / want[2:] + 1
    want[2:] = numpy.sqrt(want[2:]) * want[2:]
    kept = want[2:] * 3
    want[2:] = kept
    want[2:] = want[1:-1] * 2
    assert a.tolist() == want.tolist() and t.tolist() == kept.tolist()
    tnp.evaluate(a, b, t)
    allocated.clear()
    kernels = content.schedule.kernels
    a[2:] += b[2:] * 3
    a[2:] *= b[2:] - b[2:] * b[2:]
    assert content.schedule.kernels == kernels + 2 and allocated == []


@pytest.mark.usefixtures("recorded")
def test_a_held_value_is_not_computed_before_somebody_reads_it():
    a = tnp.arange(5000.0)
    t = a[2:] * 3
    a[2:] = t
    kernels = content.schedule.kernels
    assert float(t[5]) == 21.0
    assert content.schedule.kernels == kernels + 1
    t = a[2:] * 2
    a[2:] = t
    kernels = content.schedule.kernels
    del t
    a[2:] = 0  # nobody is left who would have to be served
    assert content.schedule.kernels == kernels


@pytest.mark.usefixtures("recorded")
def test_only_blocks_that_raised_something_run_again(replayed, capfd):
    a = tnp.ones(100_000)
    a[70_000] = 0
    tnp.evaluate(a)
    with compiled_at_once():
        a[1:] = 2 / a[1:]
    assert capfd.readouterr().err.count("divide by zero") == 1
    assert 0 < sum(size for name, size in replayed if name == "divide") <= 2048
    want = numpy.full(100_000, 2.0)
    want[0], want[70_000] = 1, numpy.inf
    assert a.tolist() == want.tolist()
    replayed.clear()
    with compiled_at_once():
        a[1:] = a[1:] * 0.5  # no flag that anybody asked for
    assert replayed == []


@pytest.mark.usefixtures("recorded")
def test_underflow_that_nobody_asks_for_leaves_nothing_undone(replayed):
    a = tnp.full(5000, 1e-200)
    tnp.evaluate(a)
    with compiled_at_once():
        a[1:] = a[1:] * a[1:]
    assert content.schedule.flags and replayed == []
    assert a[1] == 0


@pytest.mark.usefixtures("recorded")
def test_what_has_warned_is_not_replayed(replayed, capfd):
    b = tnp.arange(5000.0)
    t = 1 / b[:-1]
    u = t * 2
    assert u[0] == numpy.inf
    assert capfd.readouterr().err.count("divide by zero") == 1
    replayed.clear()
    with compiled_at_once():
        b[:-1] = tnp.where(b[:-1] > 5, t, b[:-1])
    assert replayed == []
    assert b[5] == 5 and b[6] == 1 / 6


@pytest.mark.usefixtures("recorded")
def test_what_is_replayed_takes_little_memory(replayed, capfd):
    a = tnp.zeros(1_000_000)
    tnp.evaluate(a)
    with compiled_at_once():
        a[:-1] = 1 / a[:-1]
    assert capfd.readouterr().err.count("divide by zero") == 1
    assert sum(size for _, size in replayed) == 999_999
    assert max(size for _, size in replayed) <= scheduling.PIECE
    assert a.tolist() == [numpy.inf] * 999_999 + [0]


class compiled_at_once:
    """Kernels are compiled where they are first needed."""

    def __enter__(self):
        self.former = content.backend.compile_ns
        content.backend.compile_ns = 0

    def __exit__(self, *exc):
        content.backend.compile_ns = self.former


# ------------------------------------------------------------------------------------------------ threads, interrupts
@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_threads_share_the_blocks(n, capfd):
    rng = numpy.random.default_rng(n)
    values = rng.uniform(1, 2, 300_001)
    values[rng.integers(0, 300_001, 50)] = 0
    a, b = tnp.asarray(values.copy()), tnp.asarray(values[::-1].copy())
    former = threads.set_num_threads(n)
    try:
        with compiled_at_once():
            a[1:] = b[1:] / a[1:] - tnp.log(a[1:])
            a[1:] = a[1:] * b[1:]
    finally:
        threads.set_num_threads(former)
    told = capfd.readouterr().err
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        want, other = values.copy(), values[::-1].copy()
        want[1:] = other[1:] / want[1:] - numpy.log(want[1:])
        want[1:] = want[1:] * other[1:]
    assert [line.split("Warning: ")[1] for line in told.splitlines() if "Warning: " in line] == [
        str(w.message) for w in expected
    ]
    numpy.testing.assert_array_equal(a.to_numpy(), want)


@pytest.mark.usefixtures("recorded")
def test_an_interrupt_waits_until_everything_is_written(monkeypatch):
    a = tnp.arange(50_000.0)
    t = a[1:] * 1
    run, interrupted = content.backend.run, []

    def interrupting(group):
        result = run(group)
        if not interrupted:
            interrupted.append(True)
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(content.backend, "run", interrupting)
    with pytest.raises(KeyboardInterrupt):
        a[1:] = 1 / (t - 1) + t
    monkeypatch.undo()
    want = numpy.arange(50_000.0)
    with numpy.errstate(all="ignore"):
        want[1:] = 1 / (want[1:] - 1) + want[1:]
    assert a.tolist() == want.tolist()
    assert t.tolist() == numpy.arange(50_000.0)[1:].tolist()


def test_interrupts_wait_in_the_main_thread_only():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), Uninterrupted():
        assert signal.getsignal(signal.SIGINT) is not before
        signal.raise_signal(signal.SIGINT)
        reached = True
    assert reached and signal.getsignal(signal.SIGINT) is before
    seen = []

    def other():
        with Uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [before]


def test_an_interrupt_that_is_ignored_stays_so():
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Uninterrupted():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, former)
