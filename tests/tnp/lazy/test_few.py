"""Readers of at most 64 elements: a write gives them copies and launches nothing for them."""

import numpy
import pytest

import tnp
from tests.programs.same import same
from tnp import content
from tnp.core.cells import Place, Storage
from tnp.hot import cell_of
from tnp.lazy.few import FEW, copied
from tnp.lazy.graph import pending_readers

SESSIONS = {
    "one element broadcast to many": """
        s, b = np.array([3.0]), np.arange(2000.0)
        wide = np.broadcast_to(s, (2000,))
        y = wide * 2
        z = s * b - s
        v = s.reshape(1, 1) / b
        s[0] = 5
        w = z + wide
        s *= 2
        s[...] = 7
        y, z, v, wide, w, s
        """,
    "one element as a view": """
        a, b = np.arange(2000.0), np.arange(2000.0) + 1
        y = a[3:4] * b
        z = a[5, ...] * b + a[6, ...]
        a[3] = -1
        a[5] = -2
        a[6:] = 0
        y, z, a
        """,
    "around the limit": """
        for n in (63, 64, 65, 128):
            a = np.arange(float(n))
            y = a + 1
            x = a[::-1] * 2 - a
            a[3] = 0
            saw(y, x, a)
        g = np.arange(5000.0).reshape(50, 100)
        r = g[:, :1] * g
        s = g[3:4] - g
        t = g[:, :2].T * 2
        g[...] = 1
        r, s, t
        """,
    "they are written by what they are part of": """
        a = np.arange(2000.0)
        a[1:] = a[1:] - a[5:6]
        a[1:] = a[3:4] * 2 - a[:1] * a[1:]
        a[:64] = a[:64][::-1] * 2
        a
        g = np.arange(1200.0).reshape(40, 30)
        g[1:] = g[1:] / g[7:8] - g[:1]
        g[:, 2:] = g[:, 2:] - g[:, 5:6]
        t = g[3:4] * g[1:]
        g[1:] = t + g[2:3]
        g, t
        """,
    "bits that depend on how elements lie": """
        rng = np.random.default_rng(1)
        for d in ('f2', 'f4', 'f8', 'D'):
            a = rng.normal(size=300).astype(d) * 5
            results = [f(a[::k][:60]) for f in (np.exp, np.tan, np.sin, np.square, np.log1p) for k in (-1, 1, 2, -3, 5)]
            h = a[:240].reshape(12, 20)
            results += [np.exp(h[::2, ::2]), np.tan(h[:6, :8].T), np.sin(h[::-3, 4:12])]
            a[...] = 0
            a[3] = 1
            saw(results)
        """,
    "elements that are no multiple of their size apart": """
        r = np.zeros(40, 'f8,i1')
        r['f0'] = np.arange(40)
        y = r['f0'] + 1
        z = np.exp(r['f0'][:7])
        r['f0'][3] = 9
        r['f0'] = 0
        y, z
        """,
    "windows that share elements": """
        a = np.arange(40.0) * 1
        w = np.lib.stride_tricks.sliding_window_view(a, 5)
        y = w[:6] * 2
        z = w * 2
        a[3] = -1
        a += 1
        y, z
        """,
    "warnings of those that went on waiting": """
        s, b = np.array([0.0]), np.arange(2000.0)
        y = b / s
        s[0] = 1
        z = np.log(s - 1) + b
        s[0] = 2
        y, z
        del y, z
        x = b / (s - 2)
        s[0] = 3
        del x
        """,
    "inner values of the reader": """
        s, b = np.array([2.0]), np.arange(2000.0)
        t = s * b
        y = t + 1
        z = t[::-1] * 2
        del t
        s[0] = 9
        y, z
        """,
}


@pytest.mark.parametrize("session", SESSIONS)
def test_session(session):
    same(SESSIONS[session], lazy_from=(None, 1))


def launched(write):
    """Kernels that a write launches."""
    before = content.schedule.kernels
    write()
    return content.schedule.kernels - before


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("n", [1, FEW, FEW + 1])
def test_a_write_launches_nothing_for_readers_of_few_elements(n):
    a, b = tnp.arange(5000.0).reshape(5000 // 100, 100), tnp.ones((3000, n))
    tnp.evaluate(a, b)
    y = a[:1, :n] * b
    z = a.reshape(-1)[7:8] * b
    expected = numpy.arange(float(n)) * numpy.ones((3000, n))

    def write():
        a[:2] = 0.0

    assert launched(write) == (n > FEW)
    assert launched(lambda: a.fill(1)) == 0
    numpy.testing.assert_array_equal(y.to_numpy(), expected)
    numpy.testing.assert_array_equal(z.to_numpy(), numpy.full((3000, n), 7.0))


@pytest.mark.usefixtures("recorded")
def test_a_million_elements_that_nobody_reads_are_never_computed():
    s = tnp.asarray(numpy.array([1.0]))
    wide = tnp.broadcast_to(s, (1_000_000,))
    kept = []

    def write(k):
        s[0] = k

    for k in range(5):
        kept.append(wide < 2)
        assert launched(lambda k=k: write(k)) == 0
    del kept[:]
    assert launched(tnp.evaluate) == 0


@pytest.mark.usefixtures("recorded")
def test_few_elements_of_the_destination_need_no_buffer(monkeypatch):
    sizes = []

    def noted(shape, *args, empty=content.backend.empty):
        sizes.append(tuple(shape))
        return empty(shape, *args)

    monkeypatch.setattr(content.backend, "empty", noted)
    a = tnp.asarray(numpy.arange(5000.0))
    a[1:] = a[1:] - a[7:8] * 2
    assert sizes == []
    assert a.tolist() == [0, *(numpy.arange(1.0, 5000) - 14).tolist()]


@pytest.mark.usefixtures("recorded")
def test_readers_that_have_let_go_are_no_readers():
    s, b = tnp.asarray(numpy.array([1.0])), tnp.ones(500)
    y = s * b
    s[0] = 2
    c = cell_of(s)
    assert pending_readers(c.storage) == []
    assert y[0] == 1


WAYS = [
    (..., slice(None)),
    (..., slice(None, None, -1)),
    (slice(None, None, 2), slice(None, None, -3)),
    (slice(3, 4), slice(None)),
    (slice(2, 6), 5),
    (0, 0),
    (None, 1, slice(4, 5)),
    (2, slice(5, 4, -1)),
    (2, slice(5, 6, 2)),
]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("wide", [False, True])
def test_copies_lie_as_what_they_copy(way, transposed, wide):
    memory = numpy.arange(48.0).reshape(6, 8)
    nd = (memory.T if transposed else memory)[way]
    nd = numpy.asarray(numpy.broadcast_to(nd, (1000, *nd.shape))) if wide else numpy.asarray(nd)
    storage = Storage(memory, None)
    place = copied(Place(storage, nd), storage)
    copy = place.nd
    assert place.storage is not storage and place.storage.full is copy
    numpy.testing.assert_array_equal(copy, nd)
    assert not numpy.shares_memory(copy, memory)
    assert copy.flags.c_contiguous == nd.flags.c_contiguous and copy.flags.f_contiguous == nd.flags.f_contiguous
    for n, s, t in zip(nd.shape, nd.strides, copy.strides, strict=True):
        if n > 1:
            assert numpy.sign(s) == numpy.sign(t) and (abs(s) == 8) == (abs(t) == 8)
        else:  # NumPy's loops are told that of one element, and may go by it
            assert s == t


def test_other_operands_stay():
    storage, other = Storage(numpy.arange(65.0), None), Storage(numpy.arange(3.0), None)
    assert copied(storage, storage) is None
    assert copied(other, storage) is other
    assert copied(numpy.float64(2), storage) == 2
    copy = copied(other, other)
    assert copy is not other and copy.full.tolist() == [0, 1, 2]
