"""Results in the memory of what nobody reads any more: when it is taken, and that it does not show."""

import sys
import threading

import numpy
import pytest

import tnp
from tests.programs.same import same
from tnp import content, hot
from tnp.core import native
from tnp.lazy import reuse

N = reuse.REUSED_FROM // 8


@pytest.fixture
def taken(monkeypatch):
    """Whether memory was found, in the order in which kernels ran; every operation waits."""
    found = []
    spare = reuse.spare

    def watching(*arguments):
        memory = spare(*arguments)
        found.append(memory is not None)
        return memory

    monkeypatch.setattr(reuse, "spare", watching)
    former = hot.get_lazy_from()
    content.set_lazy_from(1)
    content.schedule.reuses_from = reuse.REUSED_FROM
    yield found
    content.set_lazy_from(former)


def made(n=N, pool=True, dtype="f8"):
    x = tnp.array(numpy.random.default_rng(n).uniform(1, 2, n).astype(dtype))
    return tnp.evaluate(x * 1) if pool else x


@pytest.mark.parametrize("pool", [False, True], ids=["memory of NumPy", "memory of the pool"])
def test_memory_is_taken(taken, pool):
    x, y = made(pool=pool), made()
    taken.clear()
    x += y
    x *= 2.0
    x -= y
    tnp.evaluate(x)
    tnp.multiply(x, y, out=x)
    tnp.evaluate(x)
    x = x / y
    tnp.evaluate(x)
    x = tnp.exp(x)  # over the quotient
    tnp.evaluate(x)
    assert taken == [True] * 4


def test_a_view_keeps_its_memory(taken):
    x, y = made(), made()
    v = x[1:]
    kept = x
    taken.clear()
    x += y
    assert tnp.evaluate(v).shape == (N - 1,)
    assert taken == [False] and kept is x
    x = x * 2.0  # `kept` and `v` have the content still
    tnp.evaluate(x)
    assert taken == [False, False]


def test_who_waits_for_the_former_content_keeps_it(taken):
    x, y = made(), made()
    before = x * 3.0
    taken.clear()
    x += y
    tnp.evaluate(x)
    assert taken == [False]
    numpy.testing.assert_array_equal(tnp.to_numpy(before), tnp.to_numpy(made() * 3.0))
    t = x + 1.0
    x *= t  # what `t` names is asked for later
    tnp.evaluate(x)
    assert taken[-1] is False
    a = tnp.to_numpy(made()) + tnp.to_numpy(y)
    assert tnp.to_numpy(t).tobytes() == (a + 1.0).tobytes() and tnp.to_numpy(x).tobytes() == (a * (a + 1.0)).tobytes()


def exported(x):
    return memoryview(x)


def as_numpy(x):
    return numpy.asarray(x)


def raw(x):
    return x.__array_interface__["data"]


def packed(x):
    return x.__dlpack__()


BUFFERS = pytest.mark.skipif(
    not native.COMPILED and sys.version_info < (3, 12), reason="before Python 3.12 only compiled classes have buffers"
)


@pytest.mark.parametrize("hand_out", [pytest.param(exported, marks=BUFFERS), as_numpy, raw, packed])
def test_what_others_see_is_not_given_away(taken, hand_out):
    x, y = made(), made()
    held = hand_out(x)
    taken.clear()
    x = x + y
    tnp.evaluate(x)
    assert True not in taken
    if hand_out is not raw:
        seen = numpy.from_dlpack(Capsule(held)) if hand_out is packed else numpy.asarray(held)
        assert seen.tobytes() == tnp.to_numpy(made()).tobytes()


class Capsule:
    def __init__(self, capsule):
        self.__dlpack__ = lambda **_: capsule

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize("case", ["small", "reduction", "other dtype", "other shape", "F order", "read-only"])
def test_what_does_not_fit_is_left(taken, case):
    x, y = made(N // 2 if case == "small" else N), made()
    if case == "F order":
        x = tnp.evaluate(tnp.asfortranarray(x.reshape(2, -1)) * 1)
    if case == "read-only":
        x.flags.writeable = False
    taken.clear()
    x = {
        "small": lambda: x + 1.0,
        "reduction": lambda: tnp.add.reduce(x.reshape(2, -1), 0),
        "other dtype": lambda: x > 1.5,
        "other shape": lambda: x + tnp.ones((2, 1)),
        "F order": lambda: x + 1.0,
        "read-only": lambda: x + y,
    }[case]()
    tnp.evaluate(x)
    assert True not in taken


PROGRAMS = {
    "warnings of one operation": "x /= y; x; x *= 1e200; x; x",
    "warnings of several": "x /= y; x *= 1e300; x -= x; x; y",
    "a warning that is an error": """
        warnings.simplefilter('error')
        x /= y
        x
        x[:3]
        """,
    "errstate": """
        with np.errstate(all='ignore'): x /= y; x *= 1e300
        with np.errstate(all='raise'): x /= y
        x
        """,
    "complex numbers": "x = x + 1j; x *= x; x; x *= y; x = x * (2 - 1j); x; x /= x; x",
    "integers": "x = x.astype('i4'); x += 1; x //= 3; x; x <<= 2; x = x % 5; x",
    "two of the same": "x += x; x *= x; x = x * x; x = x + x * x; x",
    "turned round": "x += x[::-1]; x; x = x[::-1] * x; x; x = x[::-1] + 1; x",
    "rows": "x = x.reshape(4, -1); x = x * 2; x += x[0]; x *= x[:, :1]; x = x - x[1:2]; x; x.base is None",
    "flags": "x += y; x.flags, x.base is None, x.strides; x = x * y; x.flags, x.base is None",
    "in a loop": """
        for i in range(70): x += y; saw(x[3]); x *= 0.5
        x
        """,
    "names that share": "z = x; x += y; z; x = x + 1; z; z is x",
    "views that come and go": "v = x[::2]; x += y; v; del v; x *= y; x; v = x[1:]; x -= y; v",
    "resized": "x += y; x = x * 2; x.resize((x.size + 7,), refcheck=False); x",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
@pytest.mark.parametrize("size", [1000, N + 8])
def test_session(program, size):
    start = f"x = np.arange({size}.0) % 17 - 3; y = np.arange({size}.0) % 5 / 3; saw(x, y); "
    lines = program.strip().splitlines()
    same("\n".join([start.rstrip("; "), *[line.strip() for line in lines]]))


def test_threads_that_read_meanwhile_see_what_was_there():
    x = tnp.evaluate(tnp.zeros(4 * N))
    wrong, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            a = tnp.to_numpy(x + 0.0)
            if not (a == a.round()).all() or a.min() < 0 or a.max() > 40:
                wrong.append(a)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(40):
        x += 1.0
        tnp.evaluate(x)
    stop.set()
    reader.join()
    assert not wrong and tnp.to_numpy(x)[[0, -1]].tolist() == [40.0, 40.0]
