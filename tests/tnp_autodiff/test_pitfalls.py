"""Programs that differentiation of in-place code easily gets wrong, each with its right answer.

`X` is an array of 4; gradients are by the argument of the function. Those that concern batching and compilation are
not here.
"""

import sys
import tracemalloc

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp.tracing import is_traced
from tnp_autodiff import AliasError, GradientTape, LeavingTapeWarning, grad, value_and_grad

X = numpy.array([0.3, -0.7, 1.1, 0.5])
W = numpy.array([2.0, 3.0, 5.0, 7.0])


def same(got, want):
    numpy.testing.assert_allclose(plain(got), want, rtol=1e-13, atol=1e-13)


def test_1_elements_are_values_rows_are_views():
    def elements(x):
        a = x * 1.0
        a[0], a[2] = a[2], a[0]
        return (a * W).sum()

    def rows(x):
        m = (x * 1.0).reshape(4, 1) * tnp.ones((4, 2))
        m[0], m[2] = m[2], m[0]
        return (m[:, 0] * W).sum()

    same(grad(elements)(X), [W[2], W[1], W[0], W[3]])
    same(grad(rows)(X), [0, W[1], W[0] + W[2], W[3]])


def test_2_scalars_do_not_change_in_place():
    def f(x):
        s = x.sum()
        t = s
        s *= 2
        return t

    value, g = value_and_grad(f)(X)
    assert value == X.sum()
    same(g, [1, 1, 1, 1])


def test_3_overlapping_assignment():
    def f(x):
        a = x * 1.0
        a[1:] = a[:-1]
        return (a * W).sum()

    same(grad(f)(X), [W[0] + W[1], W[2], W[3], 0])


def test_4_overlap_with_other_steps_is_as_if_copied_first():
    def f(x):
        a = x * 1.0
        a[::2] = a[:2]
        return (a * W).sum()

    same(grad(f)(X), [W[0], W[1] + W[2], 0, W[3]])


def test_5_of_duplicate_indices_the_last_wins():
    def f(x):
        a = x * 0.0
        a[[2, 2]] = x[:2]
        return a.sum()

    same(grad(f)(X), [0, 1, 0, 0])


def test_6_in_place_addition_is_buffered_and_add_at_accumulates():
    def f(x):
        a, b = tnp.zeros(4), tnp.zeros(4)
        a[[0, 0]] += x[:2]
        tnp.add.at(b, [0, 0], x[:2])
        return a[0] + b[0]

    same(grad(f)(X), [1, 2, 0, 0])


def test_7_assigning_a_place_to_itself_is_no_event():
    m = tnp.ones((2, 2))
    with GradientTape() as tape:
        tape.watch(m)
        source = m._cell.record.head
        m[0] += 1.0
        assert m._cell.record.head.before is source
    same(tape.gradient(m.sum(), m), numpy.ones((2, 2)))


def test_8_views_from_before():
    buf = tnp.zeros(4)
    v = buf[::-1]

    def f(x):
        buf[:] = x * x
        return v[0]

    same(grad(f)(X), [0, 0, 0, 2 * X[3]])


def test_9_a_constant_write_into_a_tracked_array():
    def f(x):
        a = x * 1.0
        a[0] = 5.0
        return (a * a).sum()

    same(grad(f)(X), [0, *2 * X[1:]])


def test_10_writes_while_recording_is_stopped():
    x = tnp.array(X)
    with GradientTape() as tape:
        tape.watch(x)
        y = x * 1.0
        z = x * 1.0
        with tape.stop_recording():
            y[0] = 3 * x[0]
            z[:2] = x[2:]
    same(tape.gradient(y.sum() + z.sum(), x), [0, 1, 2, 2])


@pytest.mark.parametrize("n", [4, 20_000])
@pytest.mark.parametrize(
    "write",
    [
        "x[:] = 0",
        "x *= 0",
        "x.fill(0)",
        "np.multiply(x, 0, out=x)",
        "x[::-1][:] = 0",
        "np.copyto(x, 0.0)",
        "x.to_numpy()[:] = 0",
        "x.sort()",
        "np.random.default_rng(1).random(out=x)",
        "x.data[0] = 0",
    ],
)
def test_11_a_saved_factor_is_overwritten_after_the_tape(write, n):
    x, w = tnp.sin(tnp.arange(n) + 1.0), tnp.ones(n)
    old = plain(x)
    with GradientTape() as tape:
        tape.watch(w)
        y = x * w
    exec(write, {"np": tnp, "x": x})
    assert plain(x).tolist() != old.tolist()
    assert plain(tape.gradient(y.sum(), w)).tolist() == old.tolist()


@pytest.mark.parametrize("n", [4, 20_000])
def test_11_overwritten_between_two_gradients(n):
    x, w = tnp.sin(tnp.arange(n) + 1.0), tnp.ones(n)
    old = plain(x)
    with GradientTape(persistent=True) as tape:
        tape.watch(w)
        y = (x * w).sum()
    for _ in range(3):
        assert plain(tape.gradient(y, w)).tolist() == old.tolist()
        x *= 2.0


def test_11_a_large_saved_factor_is_not_copied_before_it_is_overwritten():
    x, w = tnp.sin(tnp.arange(1 << 18) + 1.0).reshape(512, 512), tnp.ones(512)
    tnp.evaluate(x)
    old = plain(x)
    with GradientTape() as tape:
        tape.watch(w)
        y = x @ w
    saved = y._cell.record.head.saved[0]
    assert saved.thaw()._cell is x._cell
    x[3] = 0.0
    assert saved.thaw()._cell is not x._cell
    numpy.testing.assert_allclose(plain(tape.gradient(y.sum(), w)), old.sum(0))


def test_12_a_loop_over_rows_costs_the_same_each_step(monkeypatch):
    def run(rows):
        table = tnp.zeros((rows, 100))
        first = tnp.array(numpy.linspace(0.1, 0.9, 100))

        def f(x):
            table[0] = x
            for i in range(1, rows):
                table[i] = tnp.sin(table[i - 1])
            return table[-1].sum()

        return grad(f)(first)

    def calls(rows):
        """Python's calls for each step."""
        seen = [0]

        def count(frame, event, argument):
            seen[0] += event == "call"

        sys.setprofile(count)
        try:
            run(rows)
        finally:
            sys.setprofile(None)
        return seen[0] / rows

    assert calls(1000) < 1.1 * calls(100)
    made = []
    zeros = tnp.zeros
    monkeypatch.setattr(tnp, "zeros", lambda shape, *dtype: made.append(shape) or zeros(shape, *dtype))
    x, want = numpy.linspace(0.1, 0.9, 100), numpy.ones(100)
    for _ in range(1, 50):
        want *= numpy.cos(x)
        x = numpy.sin(x)
    same(run(50), want)
    assert made == [(50, 100), 50 * 100]  # the table, and one cotangent of it


def test_13_of_a_saved_broadcast_view_what_is_there_is_copied():
    n = 1_000_000
    x, w = tnp.array(X), tnp.ones(n)
    s = tnp.broadcast_to(x[:1], (n,))
    with GradientTape() as tape:
        tape.watch(w)
        y = s * w
        tracemalloc.start()
        x[0] = 0.0
        assert tracemalloc.get_traced_memory()[1] < 100_000
        tracemalloc.stop()
    assert plain(tape.gradient(y.sum(), w))[:2].tolist() == [X[0], X[0]]


def test_14_reads_through_overlapping_windows_and_zero_strides():
    def windows(x):
        v = tnp.lib.stride_tricks.sliding_window_view(x, 2)
        return (v * v).sum()

    def repeated(x):
        v = tnp.broadcast_to(x, (3, 4))
        return (v * v).sum()

    same(grad(windows)(X), 2 * X * [1, 2, 2, 1])
    same(grad(repeated)(X), 6 * X)


def test_15_the_callers_own_name_of_an_argument_is_a_constant():
    x = tnp.array(X)
    same(grad(lambda y: (x * y).sum())(x), X)
    same(grad(lambda y, z: (y * z).sum())(x, x), X)
    second = grad(lambda x: grad(lambda y: (x * y * y).sum())(x).sum())
    same(second(x), 4 * X)


def test_16_two_names_and_a_write_are_refused():
    x = tnp.array(X)

    def writes_the_argument(y):
        y *= 2.0
        return x.sum()

    def writes_the_other_name(y):
        x[0] = 5.0
        return y.sum()

    def writes_one_of_two(y, z):
        y *= 2.0
        return z.sum()

    for f in (writes_the_argument, writes_the_other_name):
        with pytest.raises(AliasError):
            grad(f)(x)
    with pytest.raises(AliasError):
        grad(writes_one_of_two, (0, 1))(x, x)
    same(grad(writes_one_of_two, (0, 1))(x[:2], x[2:])[1], [1, 1])
    x[...] = X
    with GradientTape() as tape:
        tape.watch(x)
        y = writes_the_argument(x)
    same(tape.gradient(y, x), [2, 2, 2, 2])


def copied_into_another(x):
    b = tnp.zeros(4)
    b[:] = x
    return b.sum()


READS = {
    "sum": lambda x: x.sum(),
    "copy": lambda x: x.copy().sum(),
    "element": lambda x: x[0],
    "elements": lambda x: sum(e for e in x),
    "elements by list": lambda x: x[[0, 1]].sum(),
    "view": lambda x: x[1:].sum(),
    "written elsewhere": copied_into_another,
    "number": lambda x: float(x[0]),
    "list": lambda x: sum(x.tolist()),
    "position": lambda x: float(x.argmax()),
    "truth": lambda x: 1.0 if x[0] > 0.3 else 2.0,
    "NumPy's": lambda x: numpy.asarray(x)[0],
    "joined": lambda x: tnp.concatenate([x, x]).sum(),
    "contraction": lambda x: tnp.einsum("i,i", x, x),
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.filterwarnings("ignore::tnp_autodiff.LeavingTapeWarning")
def test_16_every_read_of_the_other_name_is_refused_once_one_is_written(name):
    x = tnp.array(X)
    read = READS[name]

    def f(y):
        y *= 2.0
        return y.sum() * read(x)

    with pytest.raises(AliasError):
        grad(f)(x)
    assert x.tolist() == X.tolist()
    grad(lambda y: y.sum() * read(x))(x)  # without writes there is one answer


def test_16_the_form_of_the_other_name_may_be_asked():
    x = tnp.array(X)

    def f(y):
        y *= 2.0
        return y.sum() * len(x) * x.size + tnp.zeros_like(x).sum() + x[1:].ndim

    assert plain(grad(f)(x)).tolist() == [32] * 4


def test_17_an_inner_function_writes_an_outer_array():
    buf = tnp.zeros(2)

    def f(x):
        buf[0] = x * x

        def inner(y):
            buf[1] = buf[0] * y * y
            return buf[1] * x

        return grad(inner)(x) + buf[1]

    x = 1.3
    assert float(f(tnp.array(x))) == pytest.approx(2 * x**4 + x**4)
    assert float(grad(f)(x)) == pytest.approx(12 * x**3)


def test_18_watched_then_changed():
    x = tnp.array(X)
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        x *= x
        y = 3 * x.sum()
        tape.watch(x)
        z = 5 * x.sum()
    same(tape.gradient(z, x), [5] * 4)
    x = tnp.array(X)
    with GradientTape() as tape:
        tape.watch(x)
        x *= x
        y = 3 * x.sum()
    same(tape.gradient(y, x), 6 * X)


def test_19_of_whole_overwrites_in_a_loop_one_is_kept():
    buf, w = tnp.zeros(50), tnp.ones(50)
    with GradientTape() as tape:
        tape.watch(w)
        for i in range(200):
            buf[...] = w * float(i)
        events, head = 0, buf._cell.record.head
        while head is not None:
            events += 1
            refs = head.refs_of(tape._recording)
            head = refs[0].head if refs else None
    assert events == 3  # the write, the product, the source
    same(tape.gradient(buf.sum(), w), numpy.full(50, 199.0))


def test_29_sums_after_the_tape_have_a_gradient():
    w = tnp.array(X)
    with GradientTape() as tape:
        tape.watch(w)
        out = tnp.eye(4) @ w
    same(tape.gradient(out.sum(), w), [1] * 4)


def test_30_an_integer_buffer_warns_and_cuts():
    def f(x):
        buf = tnp.zeros(4, int)
        buf[0] = x[0]
        return buf.sum() * 1.0 + x[1]

    with pytest.warns(LeavingTapeWarning, match="written to an array of int64") as seen:
        g = grad(f)(X)
    assert [w.filename for w in seen] == [__file__]
    same(g, [0, 1, 0, 0])


def test_30_a_float32_buffer_casts_the_cotangent():
    def f(x):
        buf = tnp.zeros(4, "f4")
        buf[:] = x * x
        return buf.sum()

    g = grad(f)(X)
    assert g.dtype == numpy.float64
    numpy.testing.assert_allclose(plain(g), 2 * X, rtol=1e-6)


def test_31_what_escapes_is_a_plain_value():
    kept = []

    def f(x):
        kept.append(x * 2.0)
        return x.sum()

    grad(f)(X)
    y = kept[0] + 1.0
    assert plain(y).tolist() == (2 * X + 1).tolist()
    assert not is_traced(kept[0])
