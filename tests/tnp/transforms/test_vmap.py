"""vmap as a whole: axes, structures, memory, arrays from outside, what is refused."""

import gc
import warnings

import numpy
import pytest

import tnp
from tests.tnp.transforms.looped import assert_same, check
from tnp.transforms import DataDependentError, EscapedError, LoopCarriedError, VmapLoopWarning
from tnp.transforms.batching import Batch, BatchBox

X = numpy.arange(24.0).reshape(2, 3, 4)


# ------------------------------------------------------------------------------------------------ axes
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_in_axes(axis):
    check(lambda np, x: (x * 2 + x[0], x.sum(), x.sum(0)), X, in_axes=axis)


@pytest.mark.parametrize("axes", [(0, 1), (0, None), (None, 1), (-1, None), (2, None)])
def test_in_axes_of_two(axes):
    y = numpy.arange(8.0).reshape(4, 2)
    x = numpy.arange(4.0) if axes == (None, 1) else X
    check(lambda np, x, y: (np.sum(x) + y, np.sum(x) * y.sum()), x, y, in_axes=axes)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_out_axes(axis):
    x = tnp.array(X)
    got = tnp.vmap(lambda r: r * 2, out_axes=axis)(x)
    assert numpy.array_equal(tnp.to_numpy(got), numpy.moveaxis(X * 2, 0, axis))


def test_out_axes_of_a_structure():
    a, b = tnp.vmap(lambda r: (r, {"s": r.sum()}), out_axes=(1, {"s": 0}))(tnp.array(X))
    assert a.shape == (3, 2, 4)
    assert numpy.array_equal(b["s"], X.sum((1, 2)))


def test_no_out_axis():
    w = tnp.arange(3.0)
    y, z = tnp.vmap(lambda r: (r.sum(), w * 2), out_axes=(0, None))(tnp.array(X))
    assert y.shape == (2,) and z.shape == (3,)
    with pytest.raises(ValueError, match="out_axes"):
        tnp.vmap(lambda r: r, out_axes=None)(tnp.array(X))


def test_structures():
    tree = {"a": tnp.array(X), "b": [tnp.arange(2.0), None]}
    got = tnp.vmap(lambda t: {"sum": t["a"].sum() + t["b"][0], "none": t["b"][1]})(tree)
    assert numpy.array_equal(got["sum"], X.sum((1, 2)) + numpy.arange(2.0)) and got["none"] is None


def test_axes_of_a_structure():
    tree = {"w": tnp.arange(4.0), "x": tnp.array(X)}
    got = tnp.vmap(lambda t, s: (t["w"] * t["x"]).sum() * s, in_axes=({"w": None, "x": 1}, None))(tree, 2.0)
    assert numpy.array_equal(got, [(numpy.arange(4.0) * X[:, i]).sum() * 2 for i in range(3)])


def test_axis_size():
    rng = tnp.random.default_rng(0)
    got = tnp.vmap(lambda w: rng.random() * w, in_axes=None, axis_size=4)(2.0)
    assert numpy.array_equal(got, 2 * numpy.random.default_rng(0).random(4))
    assert tnp.vmap(lambda: tnp.zeros(2), axis_size=3)().shape == (3, 2)
    assert tnp.vmap(lambda x: x, axis_size=3)(tnp.arange(3)).shape == (3,)
    with pytest.raises(ValueError, match="axis_size 4"):
        tnp.vmap(lambda x: x, axis_size=4)(tnp.arange(3))


def test_keywords_are_mapped_along_their_first_axis():
    got = tnp.vmap(lambda x, y: x + y)(tnp.arange(3), y=tnp.arange(3) * 10)
    assert got.tolist() == [0, 11, 22]


def test_results_that_do_not_differ():
    a, b = tnp.vmap(lambda x: (tnp.arange(2), 5.0))(tnp.arange(3))
    assert a.tolist() == [[0, 1]] * 3 and b.tolist() == [5.0] * 3


def test_results_are_arrays_of_their_own():
    x = tnp.arange(6.0).reshape(3, 2)
    y, z = tnp.vmap(lambda r: (r, r))(x)
    y[0] = 9
    assert x[0, 0] == 0 and z[0, 0] == 0 and y.base is None


def test_nested():
    a, b = numpy.arange(6.0).reshape(3, 2), numpy.arange(8.0).reshape(4, 2)
    got = tnp.vmap(lambda r: tnp.vmap(lambda s: r * s + r.sum())(tnp.array(b)))(tnp.array(a))
    assert numpy.array_equal(got, [[r * s + r.sum() for s in b] for r in a])


def test_nested_with_writes():
    a = numpy.arange(12.0).reshape(3, 4)

    def outer(np, row):
        acc = np.zeros(4)

        def inner(v):
            t = np.zeros(2)
            t[0] = v
            t[1] = row[0]
            t += row[1]
            return t

        acc[:] = row
        acc[1] += 1
        return (np.vmap(inner)(row) if np is tnp else np.stack([inner(v) for v in row])), acc

    check(outer, a)


def test_three_levels():
    a = numpy.arange(24.0).reshape(2, 3, 4)
    f = tnp.vmap(tnp.vmap(tnp.vmap(lambda x: x * 2 + 1)))
    assert numpy.array_equal(f(tnp.array(a)), a * 2 + 1)


# ------------------------------------------------------------------------------------------------ hostile arrays
SHAPES = {
    "one": numpy.arange(4.0).reshape(1, 4),
    "no axes": numpy.arange(3.0),
    "empty examples": numpy.zeros((3, 0)),
    "reversed": numpy.arange(12.0).reshape(3, 4)[::-1, ::-1],
    "gaps": numpy.arange(48.0).reshape(6, 8)[::2, 1::3],
    "F": numpy.asfortranarray(numpy.arange(12.0).reshape(3, 4)),
    "integers": numpy.arange(12).reshape(3, 4),
    "small integers": numpy.arange(12, dtype=numpy.int8).reshape(3, 4),
    "unsigned": numpy.arange(12, dtype=numpy.uint16).reshape(3, 4),
    "bool": numpy.arange(12).reshape(3, 4) % 3 == 0,
    "float32": numpy.linspace(0, 1, 12, dtype="f4").reshape(3, 4),
    "float16": numpy.linspace(0, 1, 12, dtype="f2").reshape(3, 4),
    "complex": numpy.arange(12).reshape(3, 4) * (1 + 2j),
    "big endian": numpy.arange(12, dtype=">f8").reshape(3, 4),
    "transposed": numpy.arange(60.0).reshape(3, 4, 5).transpose(1, 2, 0),
}


@pytest.mark.parametrize("name", SHAPES)
def test_hostile_arrays(name):
    def f(np, x):
        y = x + x
        z = np.zeros_like(x)
        z[...] = y
        if x.ndim:
            z[:1] = x[-1:]
        return y, z, np.sum(x), x * x[()], np.cumsum(x)

    check(f, SHAPES[name])


@pytest.mark.parametrize("name", [n for n in SHAPES if SHAPES[n].ndim > 1])
def test_writes_to_hostile_arguments(name):
    def f(np, x):
        if x.size:
            x[-1] = x[0]
        x *= True
        return x

    check(f, SHAPES[name])


def test_no_examples():
    got = tnp.vmap(lambda x: (x * 2, x.sum(), tnp.zeros(2)))(tnp.zeros((0, 3)))
    assert [y.shape for y in got] == [(0, 3), (0,), (0, 2)]


# ------------------------------------------------------------------------------------------------ in-place code
def test_fill():
    def f(np, x):
        a = np.zeros(5)
        a[0] = x[0]
        for i in range(1, 5):
            a[i] = a[i - 1] * x[1] + i
        return a

    check(f, X[0, :, :2].copy())


def test_views_from_before():
    def f(np, x):
        a = np.zeros(4)
        v, w = a[::-1], a[1:].reshape(3, 1)
        a[:] = x
        w += 1
        return v, a, w

    check(f, X[0])


def test_swap_of_rows_and_of_elements():
    def f(np, x):
        x = x * 1.0
        x[0], x[2] = x[2], x[0]
        e = x[1] * 1.0
        e[0], e[2] = e[2], e[0]
        return x, e

    check(f, X)


def test_scalars_do_not_change_in_place():
    def f(np, x):
        s = x.sum()
        t = s
        s *= 2
        s += 1
        e = x[0]
        e += 5
        return s, t, x

    check(f, X[0])


def test_writes_of_every_kind():
    def f(np, x):
        a = np.zeros((3, 4))
        a[0] = x[0]
        a[:, 1] = x[1, 0]
        a[[0, 2], 2] = x[2, :2]
        a[a > 3] = -1.0
        a[np.array([True, False, True])] += x[0]
        a[1:, ::2] -= x[1:, ::2]
        a.T[3] = x[:, 3]
        np.add.at(a, ([0, 0], [1, 1]), x[0, :2])
        np.multiply(a, 2, out=a)
        np.add(x[0], 1, out=a[1])
        b = np.zeros(4, int)
        b[1] = x[0, 1]
        b[2:] = x[1, 2:]
        np.copyto(a, x, where=x > 5)
        a.fill(x[0, 0]) if False else None
        return a, b

    check(f, X)


def test_masks_that_differ():
    def f(np, x):
        a = x * 1.0
        a[x > 5] = 0.0
        a[a == 0] = x.sum()
        a[x[:, 0] > 4] = 7.0
        np.add(a, 1, out=a, where=x > 7)
        return a

    check(f, X)


def test_indices_that_differ():
    def f(np, x, i):
        a = np.zeros((4, 3))
        a[i] = x[0]
        a[0, i] = 5.0
        a[i, i] += x[1, 0]
        b = np.zeros((2, 4))
        b[:, i] = x[0, :2]
        np.add.at(a, i, 1.0)
        c = x * 1.0
        c[i, :2] = 0
        c[i] *= 2
        row = c[i]
        row += 100
        return a, b, c, x[i], x[:, i]

    check(f, numpy.arange(36.0).reshape(4, 3, 3), numpy.array([0, 2, 1, 2]))


def test_in_place_functions():
    def f(np, x):
        a, b, c, d = (x * -1.0 for _ in range(4))
        a.sort()
        b.fill(x[0, 0])
        np.put(c, [0, 3], x[0, :2])
        np.putmask(d, d < -5, d * 10)
        e = x * 1.0
        np.fill_diagonal(e, x[0, 1])
        np.place(d, x > 10, [3.0])
        np.put_along_axis(e, np.argmax(x, axis=1)[:, None], 0.0, 1)
        e.real = e.real + 1
        e.flat[2] = x[0, 0]
        return a, b, c, d, e

    check(f, X)


def test_complex_parts():
    def f(np, x):
        z = np.zeros(4, complex)
        z.real = x
        z.imag[1:] = x[:3]
        z.imag += 1
        return z, z.real, abs(z)

    check(f, X[0])


def test_duplicates_in_an_assignment():
    def f(np, x):
        a, b = np.zeros(4), np.zeros(4)
        a[[2, 2]] = x[:2]
        a[[0, 0]] += x[:2]
        np.add.at(b, [0, 0], x[:2])
        return a, b

    check(f, X[0])


def test_overlapping_assignment():
    def f(np, x):
        a = x * 1.0
        a[1:] = a[:-1]
        b = x * 1.0
        b[:-1] += b[1:]
        return a, b

    check(f, X[0])


def test_arguments_are_written():
    x = tnp.array(X)
    keep = x[1]

    def f(r):
        r[0] = 7
        r *= 2

    tnp.vmap(f)(x)
    expected = X.copy()
    expected[:, 0] = 7
    assert numpy.array_equal(x, expected * 2) and numpy.array_equal(keep, expected[1] * 2)


def test_a_shared_argument_is_read_only():
    w = tnp.broadcast_to(tnp.arange(4.0), (8, 4))

    def f(r):
        r[0] = 1
        return r

    with pytest.raises(ValueError, match="read-only"):
        tnp.vmap(f)(w)


# ------------------------------------------------------------------------------------------------ outside
def test_an_accumulator_from_outside_is_refused():
    total = tnp.zeros(2)

    def f(x):
        total[:] += x
        return x

    with pytest.raises(LoopCarriedError, match=r"test_vmap.py:\d+: total\[:\] \+= x"):
        tnp.vmap(f)(tnp.ones((3, 2)))
    assert total.tolist() == [0, 0]


def test_an_accumulator_of_what_does_not_differ_is_refused():
    total = tnp.ones(2)

    def f(x):
        nonlocal total
        total *= 2
        return x

    with pytest.raises(LoopCarriedError):
        tnp.vmap(f)(tnp.ones((3, 2)))
    assert total.tolist() == [1, 1]


@pytest.mark.parametrize("kind", ["closure", "attribute", "list", "default"])
def test_accumulators_are_found(kind):
    total = tnp.zeros(2)

    class Holder:
        pass

    h = Holder()
    h.total = total
    box = [{"a": total}]
    fs = {
        "closure": lambda x: total.__iadd__(x),
        "attribute": lambda x: h.total.__iadd__(x),
        "list": lambda x: box[0]["a"].__iadd__(x),
        "default": lambda x, t=total: t.__iadd__(x),
    }
    with pytest.raises(LoopCarriedError):
        tnp.vmap(fs[kind])(tnp.ones((3, 2)))
    assert total.tolist() == [0, 0]


def test_scratch_from_outside():
    buf = tnp.zeros(3)
    view = buf[::-1]

    def f(x):
        buf[:] = x
        buf[0] += 1
        return buf.sum()

    assert tnp.vmap(f)(tnp.array([1.0, 2.0])).tolist() == [4, 7]
    assert buf.tolist() == [3, 2, 2] and view.tolist() == [2, 2, 3]
    buf[1] = 5
    assert view.tolist() == [2, 5, 3]


@pytest.mark.parametrize(
    "make",
    [
        lambda: numpy.zeros((3, 4)),
        lambda: numpy.zeros((3, 4), order="F"),
        lambda: numpy.zeros((6, 8))[::2, ::-2],
        lambda: numpy.zeros((4, 3))[::-1].T,
        lambda: numpy.zeros((3, 4), "f4"),
        lambda: numpy.zeros((3, 4), int),
    ],
    ids=["C", "F", "gaps", "backwards", "float32", "integers"],
)
def test_memory_of_every_kind_becomes_one_for_each(make):
    def run(np, buf):
        part = buf[1:, ::2]

        def f(x):
            buf[0] = x
            buf[1:, ::2] = x[:2]
            part[0, 0] = 5
            return buf[0] * 2, part, part.sum()

        if np is tnp:
            return tnp.vmap(f)(tnp.array(X[0]))
        rows = [[numpy.array(y) for y in f(x)] for x in X[0]]
        return [numpy.stack(items) for items in zip(*rows, strict=True)]

    theirs, own = make(), make()
    ours = tnp.asarray(own)
    got, expected = run(tnp, ours), run(numpy, theirs)
    for y, z in zip(got, expected, strict=True):
        assert_same(y, z)
    assert numpy.array_equal(ours, theirs) and numpy.array_equal(own, theirs)


def test_what_is_not_written_outside_stays():
    buf = tnp.arange(4.0)

    def f(x):
        buf[1] = x
        return buf[1] * 2

    assert tnp.vmap(f)(tnp.array([1.0, 2.0])).tolist() == [2, 4]
    assert buf.tolist() == [0, 2, 2, 3]


def test_an_element_read_before_it_is_written():
    buf = tnp.arange(4.0)

    def f(x):
        y = buf[1] * x
        buf[1] = y
        return y

    with pytest.raises(LoopCarriedError):
        tnp.vmap(f)(tnp.array([1.0, 2.0]))
    assert buf.tolist() == [0, 1, 2, 3]


def test_a_shared_argument_is_outside_too():
    acc = tnp.zeros(2)
    with pytest.raises(LoopCarriedError):
        tnp.vmap(lambda x, a: a.__iadd__(x), in_axes=(0, None))(tnp.ones((3, 2)), acc)


def test_an_argument_that_is_also_reached_by_name():
    x = tnp.array(X)

    def writes_then_reads(r):
        r[0] = 1
        return x.sum() + r[0]

    def reads_then_writes(r):
        s = x.sum()
        r[0] = s
        return s

    for f in (writes_then_reads, reads_then_writes):
        with pytest.raises(LoopCarriedError, match="argument"):
            tnp.vmap(f)(x)
    assert tnp.vmap(lambda r: (r - x.mean()).sum())(x).shape == (2,)

    def writes_only(r):
        r -= 1
        return len(x)

    y = x.copy()
    assert tnp.vmap(writes_only)(x).tolist() == [2, 2] and numpy.array_equal(x, y - 1)


def test_results_that_escape():
    kept = []
    tnp.vmap(lambda x: kept.append(2 * x) or x)(tnp.arange(3.0))
    for use in (lambda: kept[0] + 1, lambda: kept[0].sum(), lambda: float(kept[0])):
        with pytest.raises(EscapedError):
            use()


def test_everything_is_freed_without_the_collector():
    w, out = tnp.ones(4), tnp.zeros(4)

    def f(x):
        a = tnp.zeros(4)
        a[1] = x.sum()
        a[x[:2].astype(int) % 4] += 1
        row = a.reshape(2, 2)[x[0].astype(int) % 2]
        row += 1
        out[:] = x
        return a * w, tnp.median(a)

    tnp.vmap(f)(tnp.array(X[0]))
    gc.collect()
    gc.disable()
    try:
        tnp.vmap(f)(tnp.array(X[0]))
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        assert not [x for x in gc.garbage if isinstance(x, (tnp.ndarray, Batch, BatchBox))]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def test_more_copies_than_there_is_memory_for_are_refused():
    big = tnp.zeros(1 << 24)

    def f(x):
        big[0] = x
        return x

    with pytest.raises(MemoryError, match=r"big\[0\] = x"):
        tnp.vmap(f)(tnp.arange(1e6))
    assert big[0] == 0


# ------------------------------------------------------------------------------------------------ refused
@pytest.mark.parametrize(
    "f",
    [
        lambda x: 1 if x.sum() > 0 else 2,
        lambda x: int(x[0]),
        lambda x: float(x[0]),
        lambda x: complex(x[0]),
        lambda x: range(x[0].astype(int)),
        lambda x: x.item(0),
        lambda x: x.tolist(),
        lambda x: numpy.asarray(x),
        lambda x: 3.0 in x,
        lambda x: x.to_numpy(),
        lambda x: tnp.nonzero(x),
        lambda x: tnp.where(x > 0),
        lambda x: tnp.unique(x),
        lambda x: x[x > 0],
        lambda x: tnp.repeat(x, x.astype(int)),
        lambda x: tnp.compress(x > 0, x),
        lambda x: tnp.flatnonzero(x),
    ],
)
def test_values_that_would_steer_python(f):
    with pytest.raises(DataDependentError, match=r"test_vmap\.py"):
        tnp.vmap(f)(tnp.arange(6.0).reshape(2, 3))


def test_arrays_of_numpys_own_are_not_written():
    for f in (
        lambda x: numpy.ones(3).__iadd__(x),
        lambda x: tnp.add(x, 1, out=numpy.zeros(3)),
        lambda x: tnp.sum(x, out=numpy.zeros(())),
        lambda x: numpy.ones(3).__setitem__(slice(None), x),
    ):
        with pytest.raises(DataDependentError):
            tnp.vmap(f)(tnp.arange(6.0).reshape(2, 3))
    assert tnp.vmap(lambda x: numpy.ones(3) + x)(tnp.arange(6.0).reshape(2, 3)).shape == (2, 3)


def test_fields():
    def f(np, x):
        y = x.copy()
        y["a"] = x["b"] * 2
        y["b"][1:] = 0
        return y["a"], y["b"], x[["a"]]["a"]

    check(f, numpy.array([[(1, 2.0), (3, 4.0)], [(5, 6.0), (7, 8.0)]], dtype=[("a", "i4"), ("b", "f8")]))


def test_the_error_shows_line_and_hint():
    def f(x):
        if x > 0:
            return x
        return -x

    with pytest.raises(DataDependentError) as e:
        tnp.vmap(f)(tnp.arange(3.0))
    text = str(e.value)
    assert "if x > 0:" in text
    for hint in ("where", "select", "tnp.while_loop", "tnp.cond", "tnp.scan"):
        assert hint in text


def test_what_shapes_say_is_no_value():
    def f(np, x):
        assert len(x) == 3 and x.shape == (3, 4) and x.ndim == 2 and x.size == 12 and x.dtype == float
        assert x.strides == (32, 8) and x.itemsize == 8 and x.nbytes == 96 and np.shape(x) == (3, 4)
        assert isinstance(x, np.ndarray)
        return np.zeros(x.shape) + len(x)

    check(f, X)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tnp.vmap(lambda x, y: x)(tnp.ones(3), tnp.ones(4)), ["3 (array 0", "4 (array 1", "expected", "hint"]),
        (lambda: tnp.vmap(lambda x: x, in_axes=None)(tnp.ones(3)), ["nothing to map"]),
        (lambda: tnp.vmap(lambda x: x, in_axes=2)(tnp.ones(3)), ["axis 2", "(3,)"]),
        (lambda: tnp.vmap(lambda x: x, in_axes=(0, 0))(tnp.ones(3)), ["2 for 1"]),
        (lambda: tnp.vmap(lambda x: x)(tnp.ones(())), ["shape ()"]),
        (lambda: tnp.vmap(lambda x: x, in_axes="0")(tnp.ones(3)), ["'0'"]),
        (lambda: tnp.vmap(lambda x: x, out_axes=1)(tnp.ones(3)), ["axis 1"]),
    ],
)
def test_bad_axes(call, words):
    with pytest.raises(ValueError) as e:
        call()
    for word in words:
        assert word in str(e.value)


@pytest.mark.parametrize(
    "f",
    [
        lambda np, x: x + np.ones(3),
        lambda np, x: x @ np.ones(3),
        lambda np, x: x.sum(axis=1),
        lambda np, x: x[5],
        lambda np, x: x[0, 0],
        lambda np, x: x.reshape(3),
        lambda np, x: x.__setitem__(slice(None), np.ones(3)),
        lambda np, x: x.__setitem__(9, 1.0),
        lambda np, x: np.linalg.inv(x),
        lambda np, x: np.concatenate([x, np.ones((2, 2))]),
        lambda np, x: x.astype(int).__iadd__(0.5),
        lambda np, x: np.add(x, x, out=np.zeros(3)),
    ],
)
def test_errors_are_of_the_same_class(f):
    x = numpy.ones((2, 4))
    with pytest.raises(Exception) as theirs:
        f(numpy, x[0])
    with pytest.raises(type(theirs.value)):
        tnp.vmap(lambda r: f(tnp, r))(tnp.array(x))


# ------------------------------------------------------------------------------------------------ loops with a notice
def test_functions_without_a_rule_run_for_each_example():
    with pytest.warns(VmapLoopWarning, match=r"numpy.histogram") as seen:
        got = tnp.vmap(lambda x: tnp.histogram(x, 3)[0])(tnp.array(X[0]))
    assert numpy.array_equal(got, [numpy.histogram(r, 3)[0] for r in X[0]])
    assert len(seen) == 1 and seen[0].filename == __file__


def test_each_line_is_warned_of_once():
    def f(x):
        return tnp.histogram(x, 3)[0]

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            tnp.vmap(f)(tnp.array(X[0]))
    assert len(seen) == 1


# ------------------------------------------------------------------------------------------------ random numbers
def test_one_draw_is_that_of_a_loop():
    draws = {
        "normal": lambda r, x: r.normal(x, 2.0),
        "size": lambda r, x: r.normal(size=3) + x,
        "random": lambda r, x: r.random(),
        "random size": lambda r, x: r.random((2, 2)),
        "integers": lambda r, x: r.integers(10, size=4),
        "uniform": lambda r, x: r.uniform(x, x + 1, 2),
        "choice": lambda r, x: r.choice(7),
        "permutation": lambda r, x: r.permutation(4),
        "exponential": lambda r, x: r.exponential(x + 1),
    }
    xs = numpy.arange(3.0)
    for name, f in draws.items():
        a, b = numpy.random.default_rng(3), tnp.random.default_rng(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VmapLoopWarning)
            got = tnp.vmap(lambda x, f=f, b=b: f(b, x))(tnp.array(xs))
        expected = numpy.stack([f(a, x) for x in xs])
        assert numpy.array_equal(got, expected), name


def test_functions_of_numpy_random():
    for f in (lambda r, x: r.rand(2), lambda r, x: r.randn(), lambda r, x: r.randint(5), lambda r, x: r.normal(x)):
        numpy.random.seed(1)
        expected = numpy.stack([f(numpy.random, x) for x in numpy.arange(3.0)])
        tnp.random.seed(1)
        got = tnp.vmap(lambda x, f=f: f(tnp.random, x))(tnp.arange(3.0))
        assert numpy.array_equal(got, expected)


def test_generators_that_the_function_makes_are_alike():
    def f(np, x):
        r = np.random.default_rng(3)
        a = r.normal(x, 2.0)
        b = r.random(2)
        c = np.arange(4.0) + x
        r.shuffle(c)
        return a, b, c, r.random()

    check(f, numpy.arange(3.0))


def test_draws_differ_under_nested_maps():
    r = tnp.random.default_rng(0)
    got = tnp.vmap(lambda x: tnp.vmap(lambda y: r.random())(tnp.zeros(4)))(tnp.zeros(3))
    assert got.shape == (3, 4) and len(set(got.ravel().tolist())) == 12


# ------------------------------------------------------------------------------------------------ vectorized_map
def test_vectorized_map():
    got = tnp.vectorized_map(lambda t: t[0] * t[1], (tnp.arange(3), tnp.ones((3, 2))))
    assert got.tolist() == [[0, 0], [1, 1], [2, 2]]


def test_vectorized_map_repeats_what_has_length_one():
    got = tnp.vectorized_map(lambda t: t[0] + t[1], (tnp.arange(3), tnp.ones((1, 2))))
    assert got.tolist() == [[1, 1], [2, 2], [3, 3]]


def test_vectorized_map_falls_back():
    def f(x):
        return x if x > 1 else -x

    with pytest.warns(VmapLoopWarning, match="one element after the other"):
        assert tnp.vectorized_map(f, tnp.arange(4)).tolist() == [0, -1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tnp.vectorized_map(f, tnp.arange(4), warn=False).tolist() == [0, -1, 2, 3]
    with pytest.raises(DataDependentError):
        tnp.vectorized_map(f, tnp.arange(4), fallback_to_while_loop=False)


def test_vectorized_map_of_different_lengths():
    with pytest.raises(ValueError, match="expected: one length"):
        tnp.vectorized_map(lambda t: t, (tnp.arange(3), tnp.arange(2)))


# ------------------------------------------------------------------------------------------------ maps in maps
def test_scratch_of_the_outer_function():
    def outer(np, x):
        buf, grid = np.zeros(2), np.zeros((2, 3))
        view = buf[::-1]

        def inner(v):
            buf[0] = v
            buf[1] = x[0]
            grid[:, 1] = buf
            return buf.sum() + grid[0, 1]

        ys = np.vmap(inner)(x) if np is tnp else np.stack([inner(v) for v in x])
        buf[0] += 1
        return ys, buf, view, grid

    check(outer, X[0])


def test_scratch_from_outside_both():
    def run(np, xs):
        buf = np.zeros(3)

        def inner(v):
            buf[:2] = v
            return buf[:2].sum()

        def outer(x):
            return np.vmap(inner)(x) if np is tnp else np.stack([inner(v) for v in x])

        ys = np.vmap(outer)(xs) if np is tnp else np.stack([outer(x) for x in xs])
        return ys, buf

    got, expected = run(tnp, tnp.array(X[0])), run(numpy, X[0])
    assert numpy.array_equal(got[0], expected[0]) and numpy.array_equal(got[1], expected[1])


def test_an_accumulator_of_the_outer_function_is_refused():
    def outer(x):
        total = tnp.zeros(1)

        def inner(v):
            total[0] += v
            return v

        return tnp.vmap(inner)(x)

    with pytest.raises(LoopCarriedError):
        tnp.vmap(outer)(tnp.array(X[0]))


def test_arguments_of_inner_maps_are_written():
    def outer(np, x):
        def inner(r):
            r *= 2
            r[0] = 9
            return r.sum()

        ys = np.vmap(inner)(x) if np is tnp else np.stack([inner(r) for r in x])
        return ys, x

    check(outer, X)


def test_inner_maps_along_other_axes():
    def outer(np, x):
        if np is tnp:
            return tnp.vmap(lambda r, s: r * s[0] + x[0, 0], in_axes=(1, 0), out_axes=1)(x, x.T)
        return np.stack([x[:, i] * x[0, i] + x[0, 0] for i in range(x.shape[1])], axis=1)

    check(outer, X, in_axes=1)
