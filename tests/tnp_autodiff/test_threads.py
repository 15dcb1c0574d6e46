"""What one thread does in forward mode, or pauses, concerns no other thread."""

import threading

import numpy

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import ForwardAccumulator, GradientTape, custom_gradient, jvp, recompute_grad


class Meanwhile:
    """A function in whose forward mode, or in whose run, another thread does its work."""

    def __init__(self):
        self.go, self.done, self.results = threading.Event(), threading.Event(), []

    def hand_over(self):
        self.go.set()
        assert self.done.wait(20)

    def during(self, prepare, work, act):
        """`act` here, which hands over to `work(prepare())` there."""
        ready = threading.Event()

        def other():
            try:
                state = prepare()
                ready.set()
                assert self.go.wait(20)
                self.results.append(work(*state))
            finally:
                ready.set()
                self.done.set()

        thread = threading.Thread(target=other)
        thread.start()
        assert ready.wait(20)
        act()
        thread.join()
        return self.results[0]


def push(hand_over):
    """The pushing of a tangent, in the middle of which another thread is handed over to."""

    @custom_gradient
    def f(x):
        def back(g):
            hand_over()
            return g

        return x * 1.0, back

    x = tnp.array([3.0])
    accumulator = ForwardAccumulator(x, tnp.ones(1))
    return lambda: accumulator.jvp(f(x))


def test_a_tape_records_while_another_thread_pushes_tangents():
    meanwhile = Meanwhile()
    act = push(meanwhile.hand_over)

    def prepare():
        x = tnp.array([1.0, 2.0])
        tape = GradientTape()
        tape.watch(x)
        return tape, x

    got = meanwhile.during(prepare, lambda tape, x: tape.gradient(x * x, x), act)
    numpy.testing.assert_array_equal(plain(got), [2.0, 4.0])


def test_an_accumulator_works_while_another_thread_pushes_tangents():
    meanwhile = Meanwhile()
    act = push(meanwhile.hand_over)

    def prepare():
        x = tnp.array([1.0, 2.0])
        return ForwardAccumulator(x, tnp.ones(2)), x

    got = meanwhile.during(prepare, lambda accumulator, x: accumulator.jvp(x * x), act)
    numpy.testing.assert_array_equal(plain(got), [2.0, 4.0])


def test_stop_recording_is_of_the_thread():
    meanwhile = Meanwhile()
    x = tnp.array([1.0, 2.0])
    tape = GradientTape()
    tape.watch(x)

    def act():
        with tape.stop_recording():
            meanwhile.hand_over()

    y = meanwhile.during(tuple, lambda: x * x, act)
    numpy.testing.assert_array_equal(plain(tape.gradient(y, x)), [2.0, 4.0])


def test_recompute_grad_collects_what_its_own_thread_reads():
    began, ended, found = threading.Event(), threading.Event(), []

    def other():
        x, w = tnp.array([1.0, 2.0]), tnp.array([3.0, 5.0])
        tape = GradientTape()
        tape.watch([x, w])

        @recompute_grad
        def f(x):
            began.set()
            ended.wait(20)
            return x * w

        found.extend(tape.gradient(f(x), [x, w]))

    thread = threading.Thread(target=other)

    @recompute_grad
    def f(x):
        if not began.is_set():
            thread.start()
            began.wait(20)
        return x * x

    f(tnp.array([1.0]))
    ended.set()
    thread.join()
    numpy.testing.assert_array_equal(plain(found), [[3.0, 5.0], [1.0, 2.0]])


def test_accumulators_come_and_go_in_many_threads():
    wrong = []

    def forward():
        for _ in range(60):
            tangent = jvp(lambda x: x * x * x * x, (tnp.ones(3),), (tnp.ones(3),))[1]
            if plain(tangent)[0] != 4.0:
                wrong.append(tangent)

    def reverse():
        for _ in range(60):
            x = tnp.ones(3)
            with GradientTape() as tape:
                tape.watch(x)
                y = x * x
            if tape.gradient(y, x) is None:
                wrong.append(None)

    def guarded(f):
        try:
            f()
        except RuntimeError as error:
            wrong.append(error)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in (forward, forward, reverse, reverse)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_blocks_of_generators_end_in_any_order():
    x = tnp.array([2.0])
    tapes = [GradientTape(), GradientTape()]
    for tape in tapes:
        tape.watch(x)

    def quiet(tape):
        with tape.stop_recording():
            yield

    first, second = [quiet(tape) for tape in tapes]
    next(first), next(second)
    first.close()
    y = x * x
    second.close()
    numpy.testing.assert_array_equal(plain(tapes[0].gradient(y, x)), [4.0])
    assert tapes[1].gradient(y, x) is None
