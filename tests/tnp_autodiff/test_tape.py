"""The tape: what TensorFlow's does, what is recorded after its block, and what it refuses."""

import gc
import weakref

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp import content, hot
from tnp.core.native import COMPILED
from tnp_autodiff import GradientTape, LeavingTapeWarning, NotDifferentiableError, Variable, custom_gradient, grad

X = numpy.array([0.3, -0.7, 1.1, 0.5])


@pytest.fixture
def x():
    return tnp.array(X)


def test_a_layer_whose_loss_is_taken_after_the_tape_closed():
    inputs, weights = tnp.array([[1.0, 2.0], [3.0, 4.0]]), tnp.array([0.1, -0.2])
    with GradientTape() as tape:
        tape.watch(weights)
        output = tnp.dot(inputs, weights)
        output = tnp.sigmoid(output)
    g = tape.gradient(tnp.sum(output), weights)
    s = 1 / (1 + numpy.exp(-numpy.array([-0.3, -0.5])))
    numpy.testing.assert_allclose(plain(g), (s * (1 - s)) @ numpy.array([[1.0, 2.0], [3.0, 4.0]]), rtol=1e-14)


def test_structures(x):
    y = tnp.array([2.0, 3.0])
    with GradientTape() as tape:
        tape.watch({"x": x, "rest": [y]})
        targets = [x * x, {"a": y * 3.0}]
    g = tape.gradient(targets, {"x": x, "rest": (y, None)})
    assert plain(g["x"]).tolist() == (2 * X).tolist()
    assert plain(g["rest"][0]).tolist() == [3, 3]
    assert g["rest"][1] is None


def test_unconnected(x):
    other = tnp.ones(2)
    with GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x.sum()
    assert tape.gradient(y, other) is None
    assert tape.gradient(y, [other], unconnected_gradients="zero")[0].tolist() == [0, 0]
    with pytest.raises(ValueError, match='"none" or "zero"'):
        tape.gradient(y, other, unconnected_gradients="nought")


def test_output_gradients(x):
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = 3.0 * x
    assert plain(tape.gradient(y, x, output_gradients=tnp.arange(4.0))).tolist() == (2 * X * numpy.arange(4)).tolist()
    both = tape.gradient([y, z], x, output_gradients=[None, tnp.ones(4)])
    numpy.testing.assert_allclose(plain(both), 2 * X + 3)
    with pytest.raises(ValueError, match="one weight an element"):
        tape.gradient(y, x, output_gradients=tnp.ones(3))


def test_a_tape_is_used_once(x):
    with GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, x)


def test_a_persistent_tape_is_used_often(x):
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tnp.tanh(x) * x
    first, second = tape.gradient(y, x), tape.gradient(y, x)
    assert first.tolist() == second.tolist()


def test_a_persistent_tape_differentiates_its_own_gradients(x):
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        g = tape.gradient((x**3).sum(), x)
    numpy.testing.assert_allclose(plain(tape.gradient(g, x)), 6 * X)


def test_nested_tapes(x):
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y = (x**4).sum()
        g = inner.gradient(y, x)
    numpy.testing.assert_allclose(plain(outer.gradient(g, x)), 12 * X**2)


def test_a_tape_recording_is_not_entered_again(x):
    tape = GradientTape()
    with tape:
        with pytest.raises(ValueError, match="recording already"), tape:
            pass
        tape.watch(x)
        y = x * 2.0
    with tape:
        z = y * y
    numpy.testing.assert_allclose(plain(tape.gradient(z, x)), 8 * X)


def test_reset(x):
    with GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        z = x * 5.0
    assert tape.gradient([y, z], x).tolist() == [5] * 4


def test_what_is_watched_has_derivatives():
    tape = GradientTape()
    with pytest.raises(NotDifferentiableError, match="watch: int64 has no derivatives"):
        tape.watch(tnp.arange(3))
    with pytest.raises(ValueError, match="watch: not an array"):
        tape.watch("x")
    with pytest.raises(NotDifferentiableError, match="gradient: source is of int64"):
        tape.gradient(tnp.ones(1), tnp.arange(3))
    with pytest.raises(TypeError, match="gradient: target is no array"):
        GradientTape().gradient("y", tnp.ones(1))


def test_functions_without_rule_say_so_by_name(x):
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tnp.unique(x) * x
        z = x * 2.0
    with pytest.raises(NotDifferentiableError, match="gradient: unique has no derivative rule"):
        tape.gradient(y, x)
    assert tape.gradient(z, x).tolist() == [2] * 4


def test_other_bytes_are_refused(x):
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2.0
        z = y.view("f4") * numpy.float32(1)
        pairs = abs(y.view(complex))
        y.view("f4")[0] = 1.0
    with pytest.raises(NotDifferentiableError, match=r"view\(float32\) of float64"):
        tape.gradient(z, x)
    with pytest.raises(NotDifferentiableError, match=r"view\(float32\) of float64"):
        tape.gradient(y, x)
    length = numpy.hypot(X[::2], X[1::2])
    numpy.testing.assert_allclose(plain(tape.gradient(pairs, x)), 2 * X / numpy.repeat(length, 2))


def test_intermediate_sources_mean_their_present_value(x):
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2.0
        z = y * y
        y[0] = 7.0
        w = y * 3.0
    assert tape.gradient(w, y).tolist() == [3] * 4
    assert tape.gradient(w, x).tolist() == [0, 6, 6, 6]
    numpy.testing.assert_allclose(plain(tape.gradient(z, x)), 8 * X)


def test_gradients_are_the_callers_own(x):
    y = tnp.array(X)
    with GradientTape() as tape:
        tape.watch([x, y])
        z = (x + y).sum()
    a, b = tape.gradient(z, [x, y])
    a += 1
    assert b.tolist() == [1] * 4


# ------------------------------------------------------------------------------------------------ Jacobians
def test_jacobians(x):
    w = Variable([1.0, 2.0])
    with GradientTape() as tape:
        tape.watch(x)
        y = tnp.stack([x[0] * w[0], x.sum() * w[1]])
    found = tape.jacobian(y, {"x": x, "w": [w, tnp.ones(1)]})
    assert plain(found["x"]).tolist() == [[1, 0, 0, 0], [2, 2, 2, 2]]
    assert plain(found["w"][0]).tolist() == [[X[0], 0], [0, X.sum()]]
    assert found["w"][1] is None
    with pytest.raises(RuntimeError, match="used already"):
        tape.jacobian(y, x)


def test_jacobians_of_gradients(x):
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as inner:
            inner.watch(x)
            y = (x**3).sum() * x[0]
        g = inner.gradient(y, x)
    want = numpy.diag(6 * X * X[0])
    want[0] += 3 * X**2
    want[:, 0] += 3 * X**2
    numpy.testing.assert_allclose(plain(outer.jacobian(g, x)), want, rtol=1e-13)


def test_batch_jacobians():
    rng = numpy.random.default_rng(0)
    x, w = tnp.array(rng.normal(size=(5, 3))), tnp.array(rng.normal(size=(3, 2)))
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tnp.tanh(x @ w)
    found = tape.batch_jacobian(y, x)
    assert found.shape == (5, 2, 3)
    full = plain(tape.jacobian(y, x))
    for k in range(5):
        numpy.testing.assert_allclose(plain(found)[k], full[k, :, k], rtol=1e-13)
    assert tape.batch_jacobian(y, tnp.ones((5, 2))) is None
    with pytest.raises(ValueError, match="no examples in common"):
        tape.batch_jacobian(y, tnp.ones((4, 2)))


# ------------------------------------------------------------------------------------------------ variables
def test_variables_are_watched_when_read():
    v, w, fixed = Variable([1.0, 2.0], name="v"), Variable(3.0), Variable(4.0, trainable=False)
    with GradientTape() as tape:
        y = (v * w * fixed).sum() + tnp.sum(v) + tnp.add(v, 1.0)[0] + v[1] ** 2
    assert tape.watched_variables() == (v, w)
    gv, gw = tape.gradient(y, [v, w])
    assert gv.tolist() == [14, 17]
    assert gw == 12


def test_variables_are_not_watched_where_not_wanted():
    v = Variable(3.0)
    with GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None
    with GradientTape() as tape, tape.stop_recording():
        y = v * v
    assert tape.watched_variables() == ()


def test_assignment_is_in_place():
    v = Variable([1.0, 2.0], dtype="f4")
    memory = v.value
    assert v.assign([3.0, 4.0]) is v
    v.assign_add([1.0, 1.0]).assign_sub(0.5)
    v[0] = 9.0
    v *= 2.0
    assert memory.tolist() == [18, 9]
    assert (v.dtype, v.shape, v.name) == (numpy.float32, (2,), "Variable")
    assert repr(v) == "<Variable 'Variable' array([18.,  9.], dtype=float32)>"


def test_training_by_steps():
    v = Variable(5.0)
    for _ in range(50):
        with GradientTape() as tape:
            loss = (v - 2.0) ** 2
        v.assign_sub(0.2 * tape.gradient(loss, v))
    assert float(v) == pytest.approx(2.0, abs=1e-9)


# ------------------------------------------------------------------------------------------------ leaving
@pytest.mark.parametrize(
    "leave",
    [
        "float(y[0])",
        "numpy.asarray(y)",
        "y.tolist()",
        "y.item(0)",
        "y.tobytes()",
        "numpy.sum(y.to_numpy())",
        "y.data",
        "y.astype(int)",
    ],
)
def test_leaving_the_tape_warns_of_the_line(x, leave):
    with GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
        with pytest.warns(LeavingTapeWarning, match="leaves the tape") as seen:
            exec(compile(leave, "the_program.py", "exec"), {"y": y, "numpy": numpy})
        assert seen[0].filename == "the_program.py"


@pytest.mark.parametrize(
    "stay",
    [
        "print(y, y[0])",
        "repr(y)",
        "f'{y[0]:.3f}'",
        "bool(y[0] > 1)",
        "y.shape, y.dtype, len(y), y.flags.writeable",
        "numpy.shape(y)",
        "y.argmax()",
        "if (y > 3).any(): pass",
        "y > numpy.zeros(4)",
        "numpy.ones(4) * y",
        "y.strides, y.nbytes, y.ndim, y.size",
    ],
)
def test_what_does_not_leave(x, stay, capsys):
    with GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
        exec(stay, {"y": y, "numpy": numpy})
    assert tape.gradient(y, x).tolist() == [2] * 4


def test_numpys_arrays_and_scalars_with_tracked_ones(x):
    with GradientTape() as tape:
        tape.watch(x)
        y = numpy.arange(4.0) * x + numpy.float64(2) * x.sum() - numpy.float64(1) / (x[0] + 1)
    want = numpy.arange(4) + 8.0
    want[0] += 4 / (X[0] + 1) ** 2
    numpy.testing.assert_allclose(plain(tape.gradient(y, x)), want)


def test_scalars_look_like_numpys(x):
    with GradientTape() as tape:
        tape.watch(x)
        s = x.sum()
        assert repr(s) == repr(X.sum())
        assert str(s) == str(X.sum())


# ------------------------------------------------------------------------------------------------ lifetimes
def test_everything_is_freed_without_the_collector(x):
    gc.collect()
    gc.disable()
    try:
        with GradientTape() as tape:
            tape.watch(x)
            y = tnp.tanh(tnp.exp(x) * x)
            z = y * 2.0
            z[0] = y[1]
            out = z.sum()
        head = weakref.ref(out._cell.record.head)
        intermediate = weakref.ref(y)
        tape.gradient(out, x)
        del y, z, out, tape
        assert intermediate() is None
        assert head() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("make", [lambda: tnp.ones(100_000), lambda: tnp.array(numpy.ones(100_000))])
def test_watching_does_not_make_memory_look_shared(make):
    x, w = make(), make()
    with GradientTape() as tape:
        tape.watch(w)
        y = tnp.add(x, w)
    assert not content.is_shared(x._cell)
    assert not content.is_shared(w._cell)
    g = tape.gradient(y, w)
    assert not content.is_shared(hot.cell_of(g))


def test_arrays_take_the_quick_path_again_when_the_tape_is_gone(x):
    from tnp.tracing import is_traced

    with GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
    del tape
    y + x
    assert not is_traced(x)
    assert not is_traced(y)


def test_blocks_end_in_any_order():
    v = Variable([2.0])

    def block(tape):
        with tape:
            yield

    first, second = GradientTape(), GradientTape()
    outer = block(first)
    next(outer)
    with second:
        outer.close()
        y = v * v
    v * v
    numpy.testing.assert_array_equal(plain(second.gradient(y, v)), [4.0])
    assert first.watched_variables() == ()


def test_a_block_that_has_not_begun_does_not_end():
    with pytest.raises(ValueError, match="not recording"):
        GradientTape().__exit__(None, None, None)


def test_jacobian_of_an_empty_target(x):
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x[:0] * 2
        m = tnp.outer(x, x)
    assert tape.jacobian(y, x).shape == (0, 4)
    assert tape.jacobian(m[:, :0], {"x": x})["x"].shape == (4, 0, 4)


@pytest.mark.parametrize("shape", [(3, 0), (0, 2)])
def test_batch_jacobian_of_an_empty_target(shape):
    x = tnp.ones(shape)
    with GradientTape() as tape:
        tape.watch(x)
        y = x * 2
    assert tape.batch_jacobian(y, x).shape == (*shape, shape[1])


def _ended(tape, x, y, how):
    """The tape is over, in one of the ways that there are."""
    if how == "another result":
        tape.gradient(y, x)
    elif how == "reset":
        tape.reset()


@pytest.mark.parametrize("how", ["dropped", "another result", "reset"])
@pytest.mark.parametrize("n", [4, 4000])
def test_a_kept_result_does_not_hold_the_graph_of_a_tape_that_is_over(how, n):
    x = tnp.ones(n)
    tape = GradientTape()
    tape.watch(x)
    z = tnp.sin(x)
    w = z * z
    w[0] = z[1]
    y, kept = w.sum(), (tnp.cos(z) * w).sum()
    ops = [weakref.ref(array._cell.record.head) for array in (z, w)]
    op = kept._cell.record.head
    assert op.refs
    del z, w
    assert all(r() is not None for r in ops)
    _ended(tape, x, y, how)
    del tape, y
    assert op.saved is None
    assert [r() for r in ops] == [None, None]


def test_a_graph_stays_for_another_tape(x):
    outer, inner = GradientTape(), GradientTape()
    outer.watch(x)
    inner.watch(x)
    y = (tnp.sin(x) * x).sum()
    inner.gradient(y, x)
    del inner
    numpy.testing.assert_allclose(plain(outer.gradient(y, x)), numpy.cos(X) * X + numpy.sin(X))


def test_a_long_recording_forgets_dropped_events(x):
    tape = GradientTape()
    tape.watch(x)
    for _ in range(1000):
        x * 2.0
    assert len(tape._recording._events) < 200


@pytest.mark.parametrize(
    "wrong",
    [
        lambda tape, y, x: tape.gradient(y, "s"),
        lambda tape, y, x: tape.gradient("s", x),
        lambda tape, y, x: tape.gradient(y, x, unconnected_gradients="all"),
        lambda tape, y, x: tape.gradient(y, x, output_gradients=tnp.ones(7)),
        lambda tape, y, x: tape.jacobian(y, "s"),
        lambda tape, y, x: tape.jacobian(y, x, unconnected_gradients="all"),
        lambda tape, y, x: tape.batch_jacobian(y, x),
    ],
)
def test_wrong_arguments_do_not_use_up_the_tape(x, wrong):
    with GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises((TypeError, ValueError)):
        wrong(tape, y, x)
    numpy.testing.assert_array_equal(plain(tape.gradient(y, x)), 2 * X)


def test_a_persistent_tape_asked_within_its_own_block():
    """Its backward passes are recorded too, so gradients of gradients need no second tape."""
    x, w = tnp.array([2.0, 3.0]), tnp.array([5.0, 7.0])
    with GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = x * 1.0
        y[0] = x[1] ** 3 * w[0]
        y *= w
        g = tape.gradient(y, x)
        again = tape.gradient(g[1], [x, w])
    assert plain(g).tolist() == [0, 3 * 9 * 5 * 5 + 7]
    assert plain(again[0]).tolist() == [0, 6 * 3 * 25]
    assert plain(again[1]).tolist() == [2 * 5 * 27, 1]
    third = tape.gradient(again[0][1], x)
    assert plain(third).tolist() == [0, 150]


def test_sums_round_as_numbers_do():
    def f(x):
        s = x.sum()
        assert (round(s), type(round(s))) == (4, int)
        assert (round(s, 1), type(round(s, 1))) == (3.6, numpy.float64)
        assert f"{s:.2f}" == "3.56"
        return s * round(s)

    assert grad(f)(tnp.array([1.06, 2.5])).tolist() == [4, 4]
    for x in (tnp.array(2.5), tnp.array([2.5])):
        with pytest.raises(TypeError, match=r"doesn't define __round__"):
            round(x)


@pytest.mark.skipif(not COMPILED, reason="without a compiler Python's collector goes through every object")
def test_a_recording_gives_the_collector_little_to_do():
    x, n = tnp.array([0.5, 0.25]), 1000
    with GradientTape() as tape:
        tape.watch(x)
        y = x * 1.0
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(n):
            y = tnp.sin(y) * x
        gc.collect()
        after = len(gc.get_objects())
    assert tape.gradient(y.sum(), x) is not None
    assert after - before < n / 10


def test_what_closes_over_its_own_result_is_freed_with_the_tape():
    class Model:
        pass

    def run():
        model = Model()

        @custom_gradient
        def f(x):
            return x * 2.0, lambda g: g * 2.0 if model else None

        x = tnp.array(X)
        with GradientTape() as tape:
            tape.watch(x)
            model.y = f(x) * 3.0
            model.z = tnp.sin(model.y)
        return weakref.ref(model)

    seen = run()
    gc.collect()
    assert seen() is None
