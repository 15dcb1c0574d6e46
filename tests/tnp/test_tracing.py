"""Interpreters are told of every read, write and addition to a traced array's memory."""

import threading
import warnings

import numpy
import pytest

import tnp
from tests.tnp.core import find_mutating
from tests.tnp.test_mutation_record import WAYS, names
from tnp import content, tracing
from tnp.core import interpreter
from tnp.core.interpreter import DECLINED, OPAQUE, Interpreter, current, interpreting, one_level_down, quietly
from tnp.core.native import address
from tnp.host import unwrap

THREADS = "in_thread(lambda: a.fill(1))"  # what other threads do is not told


class Recorder(Interpreter):
    """Keeps copies of what is written, and can do the same to a copy of the memory as it was."""

    def __init__(self, arrays):
        self.memories = {id(x._cell): Memory(x) for x in arrays}
        self.events = []
        self.open = []  # writes whose values are still to come

    def close(self):
        """See what host functions have written that were announced."""
        for cell, place in self.open:
            memory = Memory.of(cell)
            if memory.size != place[-1]:  # resized
                self.events.append(("whole", id(cell), None, None, memory.content))
            else:
                self.events.append(("write", id(cell), place, ..., memory.view(place).copy()))
        self.open = []

    def write(self, array, key, value):
        if id(array._cell) in self.memories:
            with one_level_down():
                place = place_of(array)
                if value is OPAQUE:
                    self.open.append((array._cell, place))
                else:
                    self.close()
                    self.events.append(("write", id(array._cell), place, plain(key), plain(value)))

    def write_add(self, array, key, value):
        self.close()
        with one_level_down():
            self.events.append(("add", id(array._cell), place_of(array), plain(key), plain(value)))

    def replayed(self):
        """The memories after the same events."""
        for kind, cell, place, key, value in self.events:
            memory = self.memories[cell]
            if kind == "whole":
                memory.content = value
            elif kind == "add":
                numpy.add.at(memory.view(place), key, value)
            else:
                memory.view(place)[key] = value
        return self.memories


class Memory:
    """A copy of a whole storage, in the order of memory."""

    def __init__(self, x):
        content.settle(x)
        self.content = x._cell.storage.full.ravel("K").copy()

    @classmethod
    def of(cls, cell):
        self = cls.__new__(cls)
        if cell.storage.node is not None:
            content.schedule.force(cell.storage)
        self.content = cell.storage.full.ravel("K").copy()
        return self

    @property
    def size(self):
        return self.content.nbytes

    def view(self, place):
        """What an array with this place sees."""
        start, shape, strides, dtype, _ = place
        if dtype.hasobject:
            return numpy.lib.stride_tricks.as_strided(self.content[start // 8 :], shape, strides)
        return numpy.ndarray(shape, dtype, self.content.view("u1"), start, strides)


def place_of(x):
    """Where `x` lies in its storage, and the storage's size."""
    nd, full = content.settle(x), x._cell.storage.full
    return address(nd) - address(full), nd.shape, nd.strides, nd.dtype, full.nbytes


def plain(value):
    """An independent copy for NumPy."""
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    value = unwrap(value, [])
    return value.copy() if isinstance(value, numpy.ndarray) else value


def samples():
    space = {"np": tnp, "numpy": numpy, "saw": lambda *values: None}
    exec(find_mutating.SAMPLES, space)
    space["np"].random.seed(5)
    return space


@pytest.mark.parametrize("lazy_from", [1, 1 << 30])
@pytest.mark.parametrize("way", [w for w in WAYS if w != THREADS])
def test_replaying_the_record_reproduces_the_memory(way, lazy_from):
    with tnp.config(lazy_from=lazy_from):
        space = samples()
        arrays = {name: tracing.trace(space[name]) for name in names(way)}
        recorder = Recorder(arrays.values())
        cells = {name: x._cell for name, x in arrays.items()}
        arrays = None  # resize() counts references
        with interpreting(recorder), numpy.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            exec(way, space)
        recorder.close()
        memories = recorder.replayed()
        for name, cell in cells.items():
            got, want = memories[id(cell)].content, Memory.of(cell).content
            assert got.tolist() == want.tolist() if want.dtype.hasobject else got.tobytes() == want.tobytes(), name


class Log(Interpreter):
    """Names of the events."""

    def __init__(self):
        self.names, self.results = [], []

    def primitive(self, prim, params, args, result):
        self.names.append(prim.name)
        self.results.append(result)

    def read(self, array):
        self.names.append("read")

    def write(self, array, key, value):
        self.names.append("opaque" if value is OPAQUE else "write")

    def write_add(self, array, key, value):
        self.names.append("add to")


def log(lines, size=3, lazy_from=None):
    """The events of a program that begins with a traced array `a` of `size` elements."""
    a, seen = tracing.trace(tnp.arange(float(size)) + 1), Log()
    space = {"np": tnp, "a": a, "b": tnp.ones(size)}
    with interpreting(seen), tnp.config(lazy_from=lazy_from or tnp.config.lazy_from):
        exec(lines, space)
    return seen.names, space, seen


@pytest.mark.parametrize("lazy_from", [1, 1 << 30])
@pytest.mark.parametrize(
    ("lines", "events"),
    [
        ("c = np.sin(a) * 2 + b", ["sin", "multiply", "add"]),
        ("c = b - a", ["subtract"]),
        ("c = 1 / a", ["divide"]),
        ("c = -a; d = abs(c) ** 2", ["negative", "absolute", "square"]),
        ("a += b", ["add", "write"]),
        ("b *= a", ["multiply", "write"]),
        ("np.multiply(a, b, out=b)", ["multiply", "write"]),
        ("np.sqrt(a, a)", ["sqrt", "write"]),
        ("a[1:] = b[1:]", ["write"]),
        ("b[0:2] = a[1:]; c = b + 1", ["write", "add"]),
        ("c = a[::-1]; d = a.reshape(3, 1).T", []),
        ("c = np.where(a > 1, a, 0)", ["greater", "where"]),
        ("c = a.astype('f4') + a.sum()", ["astype", "add", "add"]),
        ("np.add.at(a, [0, 0], b[:2])", ["add to"]),
        ("b + 1; b[0] = 2; np.sort(b)", []),
    ],
)
def test_events(lines, events, lazy_from):
    names_, space, _ = log(lines, 3, lazy_from)
    assert [n for n in names_ if n != "read"] == events
    plain_space = {"np": numpy, "a": numpy.arange(3.0) + 1, "b": numpy.ones(3)}
    exec(lines, plain_space)
    for name in "abcd":
        if name in space:
            assert numpy.array_equal(unwrap(space[name], []), plain_space[name]), name


def test_results_of_primitives_are_traced_and_others_are_not():
    _, space, seen = log("c = a * b; d = np.sort(a); e = c + 1")
    assert [r is x for r, x in zip(seen.results, (space["c"], space["e"]), strict=True)] == [True, True]
    assert tracing.is_traced(space["c"])
    assert not tracing.is_traced(space["d"])


def test_views_made_before_are_traced_too():
    x = tnp.arange(6.0)
    view = x[::2]
    tracing.trace(x)
    with interpreting(Log()) as seen:
        view += 1
    assert seen.names[0] == "add"
    tracing.untrace(view)
    with interpreting(Log()) as seen:
        x += 1
    assert seen.names == []


def test_the_innermost_interpreter_is_told_and_others_when_it_says():
    class Passing(Log):
        def primitive(self, prim, params, args, result):
            super().primitive(prim, params, args, result)
            with one_level_down():
                tracing.trace(args[0]) * 3

    x, before = tracing.trace(tnp.ones(3)), current()
    with interpreting(Log()) as outer, interpreting(Passing()) as inner:
        x + 1
    assert (inner.names, outer.names) == (["add"], ["multiply"])
    assert current() is before


def test_nobody_is_told_quietly():
    x = tracing.trace(tnp.ones(3))
    with interpreting(Log()) as seen, quietly():
        x += 1
        tnp.sort(x)
    assert seen.names == []
    assert x.tolist() == [2, 2, 2]


def test_calls_are_offered_before_they_are_done():
    class Taking(Log):
        def call(self, raw, args, kwargs):
            self.names.append(raw.__name__)
            return "mine" if raw is numpy.sort else DECLINED

    x = tracing.trace(tnp.array([2.0, 1.0]))
    with interpreting(Taking()) as seen:
        assert tnp.sort(x) == "mine"
        assert tnp.sort(numpy.ones(2)).tolist() == [1, 1]
        assert tnp.argsort([x, x]).tolist() == [[1, 0], [1, 0]]
        assert (x @ x) == 5
        x[[1]] = 4
    assert seen.names == ["sort", "argsort", "read", "read", "matmul", "read", "read", "__setitem__", "write"]


def test_a_result_of_the_interpreters_own():
    class Replacing(Interpreter):
        def primitive(self, prim, params, args, result):
            return prim.name

    x = tracing.trace(tnp.ones(3))
    with interpreting(Replacing()):
        assert x + 1 == "add"


def test_traced_scalars_do_not_change_in_place():
    s = tracing.trace_value(tnp.array(3.0))
    t = s
    s *= 2
    s **= 2
    assert (float(t), float(s)) == (3, 36)
    assert repr(t) == "np.float64(3.0)"


def test_the_base_interpreter_is_told_below_all_others():
    x, base = tracing.trace(tnp.ones(3)), Log()
    before = interpreter._base
    interpreter.install_base(base)
    try:
        x + 1
        with interpreting(Log()):
            x * 2
    finally:
        interpreter.install_base(before)
    assert base.names == ["add"]


def test_what_other_threads_do_is_not_told():
    x = tracing.trace(tnp.ones(3))
    with interpreting(Log()) as seen:
        thread = threading.Thread(target=lambda: x.fill(2))
        thread.start()
        thread.join()
    assert seen.names == []
    assert x[0] == 2


def test_invalid_writes_raise_what_numpy_raises():
    a = tracing.trace(tnp.ones(3, "i8"))
    with interpreting(Log()), pytest.raises(numpy._core._exceptions.UFuncTypeError):
        a += 0.5
    with interpreting(Log()), pytest.raises(ValueError, match="could not be broadcast"):
        a += tnp.ones((4, 1), "i8") * tnp.ones((1, 4), "i8")
    assert a.tolist() == [1, 1, 1]
