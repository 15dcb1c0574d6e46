"""What a program reads again after a kernel has used it is kept by that kernel, once that has been seen."""

import numpy

import tnp as np
from tnp import content
from tnp.lazy import lone


def softmax(x):
    e = np.exp(x - 1.0)
    return np.evaluate(e / e.sum(axis=1, keepdims=True))


def stored(function, *args):
    """Arrays of the operands' size that are computed, by kernels that give memory to them."""
    given = []
    real = content.schedule.allocate
    content.schedule.allocate = lambda node: (given.append(node), real(node))[1]
    try:
        result = function(*args)
    finally:
        content.schedule.allocate = real
    return result, [n.prim.name for n in given]


def test_exp_is_computed_twice_only_the_first_time():
    lone._again.clear()
    data = numpy.random.default_rng(3).standard_normal((700, 300))
    e = numpy.exp(data - 1.0)
    for run in range(3):
        result, given = stored(softmax, np.array(data))
        assert numpy.asarray(result).tobytes() == (e / e.sum(axis=1, keepdims=True)).tobytes()
        first = given[: given.index("divide")]
        assert ("exp" in first[: first.index("add") + 1]) == (run > 0), given  # by the kernel of the sum
        assert len(lone._again) == 1


def test_what_is_cheap_or_not_named_is_not_kept():
    lone._again.clear()
    x = np.array(numpy.random.default_rng(3).standard_normal((700, 300)))
    for _ in range(4):
        t = x * 2.0
        t.sum()
        np.evaluate(t + 1.0)
        np.exp(x).sum()
    assert not lone._again
    assert stored(lambda: np.exp(x).sum())[1].count("exp") == 0
