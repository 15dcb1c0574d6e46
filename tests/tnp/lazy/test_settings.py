"""Settings that pending operations feel: math, and the limit of memory."""

import numpy
import pytest

import tnp
from tnp.backends.cpu import memory


# ------------------------------------------------------------------------------------------------ math
def in_bits(x):
    return tnp.to_numpy(x).view("u8")


FUNCTIONS = "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arctan arcsinh cbrt".split()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_fast_math_is_within_the_documented_distance_and_numpy_math_is_exact(name):
    x = numpy.random.default_rng(5).uniform(0.01, 0.99, 200_000)
    want = getattr(numpy, name)(x + 0.0)
    for _ in range(3):  # run through NumPy, then compiled
        with tnp.config(math="fast"):
            fast = getattr(tnp, name)(tnp.array(x) + 0.0)
        exact = getattr(tnp, name)(tnp.array(x) + 0.0)
        numpy.testing.assert_array_max_ulp(tnp.to_numpy(fast), want, 4)
        assert (in_bits(exact) == want.view("u8")).all()


def test_fast_math_is_of_the_operations_recorded_meanwhile():
    x = tnp.array(numpy.random.default_rng(6).uniform(0.1, 9.0, 200_000))
    with tnp.config(math="fast"):
        fast = tnp.sin(x) + 1.0
        cube = x**3
    exact = tnp.sin(x) + 1.0
    assert "sin(in0)   # " in str(tnp.explain(exact))
    assert "fast math" not in str(tnp.explain(exact))
    assert "sin(in0)   # fast math, " in str(tnp.explain(fast))
    assert "multiply" in str(tnp.explain(cube))
    assert "power" not in str(tnp.explain(cube))
    tnp.evaluate(fast - exact)  # in one kernel
    assert (in_bits(exact) == (numpy.sin(tnp.to_numpy(x)) + 1.0).view("u8")).all()
    numpy.testing.assert_array_max_ulp(tnp.to_numpy(cube), tnp.to_numpy(x) ** 3, 2)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_fast_products_in_sums_are_within_the_documented_distance(dtype):
    a, b, c = (numpy.random.default_rng(7).normal(size=(3, 200_000))).astype(dtype)
    want, eps = a * b + c, numpy.finfo(dtype).eps
    x, y, z = map(tnp.array, (a, b, c))
    for _ in range(3):  # run through NumPy, then compiled
        with tnp.config(math="fast"):
            fast = x * y + z
        exact = x * y + z
        assert (abs(tnp.to_numpy(fast) - want) <= eps * (abs(a * b) + abs(want))).all()
        assert (tnp.to_numpy(exact) == want).all()


def test_show_config_tells_the_math():
    with tnp.config(math="fast"):
        assert tnp.show_config(mode="dicts")["tnp"]["math"] == "fast"
    assert tnp.show_config(mode="dicts")["tnp"]["math"] == "numpy"


# ------------------------------------------------------------------------------------------------ memory
MB = 1 << 20


@pytest.fixture
def limit():
    """Sets a limit of so many bytes beyond what is in use now."""

    def beyond(nbytes):
        memory.trim()
        now = memory.stats()
        return tnp.config(memory_limit=now["in_use"] + now["apart"] + nbytes)

    return beyond


def test_results_beyond_the_limit_raise_and_leave_arrays_as_they_were(limit):
    x = tnp.array(numpy.arange(MB, dtype="f8"))
    kept = []
    with limit(40 * MB):
        with pytest.raises(MemoryError, match=r"(?s)8,388,608 bytes for an array.*tnp\.config\.memory_limit.*hint"):
            for k in range(10):
                kept.append(x * k + 1.0)
                x += 1.0
        assert 2 <= len(kept) <= 5
        steps = float(x[0])
        assert steps in (len(kept) - 1, len(kept))
        assert float(x[-1]) == MB - 1 + steps
        assert [float(y[0]) for y in kept] == [k * k + 1.0 for k in range(len(kept))]
        kept.clear()
        x += 1.0  # there is room again
        assert float(x[0]) == steps + 1.0


def computed(x):
    tnp.evaluate(x)
    return x


def test_memory_that_the_pool_let_go_still_counts(limit):
    x = tnp.array(numpy.ones(MB))
    former = memory.set_limit(0)  # the pool keeps nothing
    try:
        with limit(40 * MB):
            kept = [computed(x * k) for k in range(3)]
            with pytest.raises(MemoryError):
                kept += [computed(x * k) for k in range(5)]
            kept.clear()
            computed(x * 2.0)
    finally:
        memory.set_limit(former)


def test_waiting_results_count_as_if_they_were_there(limit):
    x = tnp.array(numpy.ones(MB))
    with limit(60 * MB):
        waiting = []
        with pytest.raises(MemoryError):  # at the call, not when something is read
            for k in range(20):
                waiting.append(x + k)
        assert [float(y[5]) for y in waiting] == [1.0 + k for k in range(len(waiting))]
