"""Kernels are counted where a chain must not fall apart: destinations first touched by a write, values used often."""

import numpy
import pytest

import tnp
from tnp import content


@pytest.fixture
def kernels():
    """How many kernels a function takes."""

    def count(function):
        before = content.schedule.kernels
        function()
        return content.schedule.kernels - before

    return count


def test_a_destination_that_nothing_named_before_takes_one_kernel_every_time(kernels):
    start = numpy.random.default_rng(1).random((300, 300))
    a, b = tnp.array(start), tnp.array(start)

    def step(b, a):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

    counted = []
    for _ in range(8):  # long enough for a habit of running at once to set in
        counted.append(kernels(lambda: step(b, a)))
        counted.append(kernels(lambda: step(a, b)))
    assert counted == [1] * 16


def test_a_part_changed_in_place_by_its_neighbours_is_computed_from_old_values():
    start = numpy.random.default_rng(5).random((300, 300))
    u, theirs = tnp.array(start), start.copy()
    for _ in range(4):
        for x in (u, theirs):
            x[1:-1, 1:-1] += 0.2 * (x[:-2, 1:-1] + x[2:, 1:-1] - 2.0 * x[1:-1, 1:-1])
            x[:, 0] *= x[:, 1] + x[:, 2]
            x[::2] += x[::-2] * 0.5
    assert tnp.to_numpy(u).tobytes() == theirs.tobytes()


def test_values_used_many_times_do_not_end_a_kernel_early(kernels):
    x = tnp.array(numpy.random.default_rng(2).random(50_000))

    def polynomial():
        t = x * 0.5
        for _ in range(40):  # each line uses the one before five times: 5**40 operations if they counted each time
            t = t * t + t * 0.25 + t / 3.0 - t
        return tnp.evaluate(t * 2.0)

    assert kernels(polynomial) == 1


def test_a_chain_of_more_operations_than_a_kernel_holds_is_cut(kernels):
    x = tnp.array(numpy.random.default_rng(3).random(50_000))

    def chain():
        t = x
        for _ in range(1000):
            t = t + 1.0
        tnp.evaluate(t)
        return t

    assert 2 <= kernels(chain) <= 3
    assert numpy.all(tnp.to_numpy(t := chain()) >= 1000.0) and t.shape == x.shape
