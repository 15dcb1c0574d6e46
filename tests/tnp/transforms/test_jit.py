"""Compiled functions give what the function gives: bits, types, writes, aliasing, warnings; at every call."""

import gc
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy
import pytest

import tnp as np
from tnp.backends.program import Unfit
from tnp.core.native import COMPILED
from tnp.transforms import program
from tnp.transforms.errors import ConcretizationError, RetraceWarning
from tnp.transforms.jit import MOST_PLANS, NOTICE_AFTER, jit


def traces(f):
    return f._traces


def same(a, b):
    """Are two results the same in every bit, dtype and type?"""
    if isinstance(a, (list, tuple)):
        assert type(a) is type(b)
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
        return
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for k in a:
            same(a[k], b[k])
        return
    assert type(a) is type(b)
    x, y = numpy.asarray(np.to_numpy(a)), numpy.asarray(np.to_numpy(b))
    assert x.dtype == y.dtype
    assert x.shape == y.shape
    assert x.strides == y.strides
    assert x.tobytes() == y.tobytes()


def agree(f, *makers, calls=3):
    """`jit(f)` does to fresh arguments at every call what `f` does."""
    compiled = jit(f)
    for seed in range(calls):
        plain, given = [m(seed) for m in makers], [m(seed) for m in makers]
        want, got = f(*plain), compiled(*given)
        same(want, got)
        same(plain, given)
    assert traces(compiled) == 1
    return compiled


def vector(seed, n=7, dtype=float):
    return np.array(numpy.random.default_rng(seed).normal(size=n).astype(dtype))


def matrix(seed):
    return np.array(numpy.random.default_rng(seed).normal(size=(4, 4)))


FUNCTIONS = {
    "elementwise": lambda x: np.sin(x) * 2 + x**2 - abs(x) ** 0.5,
    "scalars": lambda x: x.sum() * x[0] + np.exp(x[1] - 1.0) ** 2,
    "literals": lambda x: x + np.array([1.0, 2, 3, 4, 5, 6, 7]) + [0, 1, 0, 1, 0, 1, 0],
    "reductions": lambda x: (x.sum(), x.mean(), x.std(), x.max(), x.min(), x.prod(), x.argmax(), np.median(x)),
    "types": lambda x: (x.astype("f4"), x > 0, (x > 0).sum(), x.astype(int) // 2, x.astype("c16") * 1j),
    "views": lambda x: (x[::-1], x[2:], x[None], x[1], x.reshape(7, 1)),
    "structures": lambda x: {"a": [x + 1, (x * 2,)], "b": None, "c": 3},
    "made views": lambda x: ((x * 2)[::2], (x + 1).reshape(1, 7).T),
    "joined": lambda x: (np.concatenate([x, x * 2]), np.stack([x, x]), np.hstack((x, 1.0))),
    "where": lambda x: np.where(x > 0, x, -x) + np.clip(x, -0.5, 0.5),
    "masks": lambda x: (x[x > 0] * 2, x[x < 0].sum()),
    "sorted": lambda x: (np.sort(x), np.argsort(x), x[np.argsort(x)], np.cumsum(x)),
    "created": lambda x: (np.zeros(3), np.ones_like(x), np.arange(4), np.full(3, x[0]), np.eye(2)),
    "fft": lambda x: np.fft.fft(x).real,
    "flat": lambda x: x.flat[0] + x.flat[2:5],
    "iterated": lambda x: sum([e * 2 for e in x]),
    "einsum": lambda x: np.einsum("i,i->", x, x),
    "two results": lambda x: np.modf(x),
    "nothing": lambda x: None,
    "constants": lambda x: (1, "a", 2.5, np.float32(3), np.pi),
    "outer": lambda x: np.add.outer(x, x) + np.multiply.reduce(x),
    "numpy's own functions": lambda x: numpy.sin(x) + numpy.float64(2) * x,
    "r_": lambda x: np.r_[x, 1.0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name):
    agree(FUNCTIONS[name], vector)


def test_numbers_between_arrays():
    agree(lambda a, s, b: a * s + b, vector, lambda seed: numpy.float64(seed), vector)


def test_matrices():
    agree(lambda a, b: (a @ b, a.T @ b, np.dot(a, b[0]), np.linalg.solve(a, b), np.trace(a), a.T), matrix, matrix)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "i8", "u1", "?", "f2"])
def test_dtypes(dtype):
    def f(x):
        y = x + x
        y[1:] *= x[:-1]
        return y, x.sum(), x * 2, x == y

    agree(f, lambda seed: vector(seed, 9, dtype))


WRITES = """
x += 1
x[1:] = x[:-1]
x[0], x[2] = x[2], x[0]
x[[2, 2]] = x[:2]
x[x > 0] = 0
x[x > 0] *= 2
x.sort()
x.fill(3)
x[...] = np.sin(x)
np.multiply(x, 2, out=x)
np.add.at(x, [0, 0, 1], 2.5)
np.copyto(x, 4)
np.put(x, [0, 1], 9)
v = x[::-1]; v += x
x *= x.sum(); x[3] = x.mean()
t = x; t -= 1
x.reshape(7, 1)[2:] = 5
y = np.zeros(7); y[2:] = x[2:]; x += y
s = x.sum(); t = s; s *= 2; x += t
np.nan_to_num(x, copy=False)
np.clip(x, 0, 1, out=x)
x[:] = [1, 2, 3, 4, 5, 6, 7]
b = x.copy(); x[:] = 0; x += b[::-1]
""".strip().splitlines()


@pytest.mark.parametrize("line", WRITES)
def test_writes(line):
    space = {"np": np}
    exec(f"def f(x):\n {line}\n return x * 2", space)
    agree(space["f"], vector)


# ------------------------------------------------------------------------------------------------ pitfalls 24 to 31
def test_what_is_created_inside_is_new_at_every_call():
    def f(x):
        b = np.zeros(4)
        c = np.array([1.0, 2, 3, 4])
        b += x
        c += x
        return b + c, b

    f, x = jit(f), np.arange(4.0)
    results = [f(x) for _ in range(3)]
    for total, b in results:
        assert total.tolist() == [1, 4, 7, 10]
        assert b.tolist() == [0, 1, 2, 3]
    results[1][1][:] = 9
    assert f(x)[1].tolist() == [0, 1, 2, 3]
    assert results[2][1].tolist() == [0, 1, 2, 3]


def test_closures_rebound_and_written():
    w = np.ones(3)
    f, x = jit(lambda x: (x * w).sum()), np.arange(3.0)
    assert f(x) == 3
    w = w * 3
    assert f(x) == 9
    w[1] = 0
    assert f(x) == 6
    assert traces(f) == 1
    w = np.ones(1)
    assert f(x) == 3
    assert traces(f) == 2


GLOBAL = np.ones(3)
SCALE = 2.0


def test_globals_and_python_numbers_reached_by_name(monkeypatch):
    f, x = jit(lambda x: x * GLOBAL * SCALE), np.arange(3.0)
    assert f(x).tolist() == [0, 2, 4]
    monkeypatch.setitem(globals(), "GLOBAL", np.arange(3.0))
    assert f(x).tolist() == [0, 2, 8]
    assert traces(f) == 1
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert f(x).tolist() == [0, 3, 12]
    assert traces(f) == 2


class Layer:
    def __init__(self):
        self.w, self.scale = np.ones(3), 1.0

    @np.jit
    def __call__(self, x):
        return x @ self.w * self.scale


def test_attributes_and_methods():
    layer, x = Layer(), np.arange(3.0)
    assert [layer(x), layer(x)] == [3, 3]
    layer.w = layer.w * 2
    assert layer(x) == 6
    layer.w[0] = 5
    layer.scale = 10.0
    assert layer(x + 1) == 150
    other = Layer()
    assert other(x) == 3
    f = jit(lambda x: layer(x) + 1)
    assert [f(x), f(x)] == [61, 61]
    layer.w = np.zeros(3)
    assert f(x) == 1


def test_lists_and_dicts_of_arrays_reached_by_name():
    params = {"w": [np.ones(2), np.ones(2)]}
    f, x = jit(lambda x: x * params["w"][0] + params["w"][1]), np.arange(2.0)
    assert f(x).tolist() == [1, 2]
    params["w"] = [np.zeros(2), np.full(2, 7.0)]
    assert f(x).tolist() == [7, 7]
    assert traces(f) == 1


def test_arguments_that_share_memory_are_recorded_apart():
    def f(a, b):
        a += 1
        return b.sum()

    compiled = jit(f)
    for _ in range(2):
        x, y, z = np.arange(5.0), np.arange(5.0), np.ones(5)
        assert compiled(x[:-1], x[1:]) == f(y[:-1], y[1:])
        assert compiled(x, x) == f(y, y)
        assert compiled(x, z) == f(y, z)
        assert x.tolist() == y.tolist()
    assert traces(compiled) == 3
    g = jit(lambda a: a * 2)
    for i in range(3):
        assert g(x[i : i + 2]).tolist() == (x[i : i + 2] * 2).tolist()
    assert traces(g) == 1


def test_numpy_arrays_that_share_memory():
    def f(a, b):
        a += 1
        return b.sum()

    compiled, raw = jit(f), numpy.arange(5.0)
    assert compiled(raw[:-1], np.asarray(raw)[1:]) == 13
    assert compiled(raw[:-1], np.asarray(raw)[1:]) == 16
    assert raw.tolist() == [2, 3, 4, 5, 4]


def test_argument_that_is_also_a_closure():
    x = np.arange(3.0)

    def f(a):
        a[0] = 9
        return x.sum()

    compiled = jit(f)
    assert [compiled(np.zeros(3)), compiled(x), compiled(np.zeros(3)), compiled(x)] == [3, 12, 12, 12]
    assert traces(compiled) == 2


def test_results_that_are_arguments_or_views_of_them():
    f = jit(lambda x: (x, x[::2], x.T))
    for _ in range(3):
        x = np.arange(4.0)
        a, b, c = f(x)
        assert a is x
        assert b.base is x
        b[0] = 7
        assert x[0] == 7
        assert c.base is x


def test_two_results_on_one_memory():
    def f(x):
        y = x * 2
        return y, y[1:]

    f = jit(f)
    for _ in range(3):
        a, b = f(np.arange(3.0))
        b[0] = 9
        assert a.tolist() == [0, 9, 4]


def test_what_escapes_is_a_plain_array():
    kept = []
    keep = kept.append

    def f(x):
        y = 2 * x
        keep(y)
        return y.sum()

    f = jit(f)
    assert [f(np.ones(2)), f(np.ones(2) * 3)] == [4, 12]
    assert len(kept) == 1
    kept[0] += 1
    assert float(kept[0].sum()) == 6


# ------------------------------------------------------------------------------------------------ keys and caches
def test_kinds():
    f = jit(lambda x, k=1: x * k)
    for x in (np.ones(3), np.ones(4), np.ones(3, "f4"), np.ones((3, 1)), np.ones(6)[::2]):
        f(x), f(x)
    assert traces(f) == 5
    assert f(np.ones(3), 2).tolist() == [2, 2, 2]
    assert f(np.ones(3), k=2.0).tolist() == [2, 2, 2]
    assert traces(f) == 7
    assert f(np.ones(3), np.float64(5)).tolist() == [5, 5, 5]
    assert f(np.ones(3), np.float64(6)).tolist() == [6, 6, 6]
    assert traces(f) == 8


def test_zeros_of_both_signs_and_nan_as_numbers():
    f = jit(lambda x, k: x * k)
    assert numpy.signbit(np.to_numpy(f(np.ones(1), -0.0)))[0]
    assert not numpy.signbit(np.to_numpy(f(np.ones(1), 0.0)))[0]
    for _ in range(2):
        f(np.ones(1), float("nan"))
    assert traces(f) == 3


def test_static_arguments():
    f = jit(lambda x, n, mode: x * n if mode == "a" else x + n, static_argnums=1, static_argnames="mode")
    assert f(np.ones(2), 3, mode="a").tolist() == [3, 3]
    assert f(np.ones(2), 3, mode="b").tolist() == [4, 4]
    assert f(np.ones(2), (1, 2), mode="b").tolist() == [2, 3]
    assert traces(f) == 3
    with pytest.raises(TypeError, match="static argument 1 is not hashable"):
        f(np.ones(2), [1], mode="a")
    with pytest.raises(TypeError, match="static argument 'mode' is not hashable"):
        f(np.ones(2), 1, mode=np.ones(2))


def test_decorator_with_parentheses():
    @np.jit(static_argnames=("n",))
    def f(x, n):
        """Doc."""
        return x * n

    assert f.__doc__ == "Doc."
    assert f.__name__ == "f"
    assert f(np.ones(1), n=3).tolist() == [3]
    with pytest.raises(TypeError, match="no function"):
        jit(3)


def test_plans_are_bounded_and_too_many_recordings_are_noticed():
    f = jit(lambda x, n: x + n)
    with pytest.warns(RetraceWarning, match="recorded 32 times"):
        for n in range(MOST_PLANS + 5):
            f(np.ones(1), n)
    assert traces(f) == MOST_PLANS + 5 > NOTICE_AFTER
    assert len(f._plans) == MOST_PLANS
    f(np.ones(1), MOST_PLANS)
    assert traces(f) == MOST_PLANS + 5
    f(np.ones(1), 0)
    assert traces(f) == MOST_PLANS + 6
    f.clear_cache()
    assert not f._plans


# ------------------------------------------------------------------------------------------------ what is not constant
def test_random_numbers_advance_their_generator():
    rng, twin = np.random.default_rng(3), numpy.random.default_rng(3)
    f = jit(lambda x: x + rng.normal(size=3) + rng.random())
    for _ in range(3):
        assert np.to_numpy(f(np.zeros(3))).tobytes() == (twin.normal(size=3) + twin.random()).tobytes()
    g = jit(lambda: np.random.rand(2) * np.random.uniform())
    np.random.seed(4)
    got = [np.to_numpy(g()).tobytes() for _ in range(3)]
    numpy.random.seed(4)
    assert got == [(numpy.random.rand(2) * numpy.random.uniform()).tobytes() for _ in range(3)]


def test_generator_made_inside_begins_anew():
    f = jit(lambda: np.random.default_rng(1).random(2))
    assert [f().tolist() for _ in range(3)] == [numpy.random.default_rng(1).random(2).tolist()] * 3


def test_shuffle():
    rng, twin = np.random.default_rng(3), numpy.random.default_rng(3)

    def f(x):
        rng.shuffle(x)
        return x.sum()

    compiled, x, y = jit(f), np.arange(5), numpy.arange(5)
    for _ in range(3):
        compiled(x)
        twin.shuffle(y)
        assert x.tolist() == y.tolist()


def test_callbacks_run_at_every_call():
    calls = []

    def row(r):
        calls.append(1)
        return r.sum()

    f = jit(lambda x: np.apply_along_axis(row, 1, x))
    for k in range(3):
        assert f(np.ones((2, 2)) * k).tolist() == [2 * k, 2 * k]
    assert len(calls) == 6


def test_callbacks_that_use_arrays_of_the_function_are_refused():
    def f(x):
        y = x[0] * 2
        return np.apply_along_axis(lambda r: r * y, 1, x)

    with pytest.raises(ConcretizationError, match="callback"):
        jit(f)(np.ones((2, 2)))


# ------------------------------------------------------------------------------------------------ refusals
REFUSED = {
    "bool": lambda x: x if x.sum() > 0 else -x,
    "float": lambda x: x * float(x[0]),
    "int": lambda x: x[int(x[0])],
    "index": lambda x: x[: x.astype(int)[0]],
    "tolist": lambda x: x.tolist(),
    "item": lambda x: x.item(0),
    "nonzero": lambda x: np.nonzero(x),
    "where": lambda x: np.where(x > 0),
    "unique": lambda x: np.unique(x),
    "length of a selection": lambda x: len(x[x > 0]),
    "shape of a selection": lambda x: x[x > 0].shape,
    "part of a selection": lambda x: x[x > 0][0],
    "allclose": lambda x: np.allclose(x, x),
    "memory": lambda x: numpy.array(memoryview(x)) if COMPILED else float(x[0]),
    "any": lambda x: x if np.any(x) else 1,
    "base": lambda x: x[1:].base[:1].base.base or numpy.asarray(x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_values_that_steer_the_program_are_refused_with_the_line(name):
    f, x = jit(REFUSED[name]), np.ones(3)
    with pytest.raises(ConcretizationError, match=r"test_jit.py:\d+: .*lambda x"):
        f(x)
    x += 1  # an ordinary array still
    assert x[0] == 2
    assert float(x.sum()) == 6


def test_shapes_and_printing_are_not_refused():
    def f(x):
        assert str(x)
        assert len(x) == x.shape[0] == np.shape(x)[0] == x.size == 3
        return x * x.ndim if x.dtype == float else x

    agree(f, lambda seed: vector(seed, 3))


def test_exceptions_leave_no_plan():
    f = jit(lambda x, y: x + y)
    for _ in range(2):
        with pytest.raises(ValueError, match="broadcast"):
            f(np.ones(2), np.ones(3))
    assert not f._plans
    g = jit(lambda a: np.linalg.inv(a))
    g(np.eye(2))
    with pytest.raises(numpy.linalg.LinAlgError):
        g(np.zeros((2, 2)))


def test_read_only_arguments():
    x = np.broadcast_to(np.ones(1), (3,))

    def f(x):
        x[0] = 1

    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            jit(f)(x)
    assert jit(lambda x: x + 1)(x).tolist() == [2, 2, 2]


# ------------------------------------------------------------------------------------------------ warnings
def warned(f, *args):
    """Texts and lines of the warnings of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f(*args)
    return [(str(w.message), w.category, w.lineno) for w in found]


def test_warnings_are_numpys_with_the_line():
    def f(x):
        y = 1.0 / x
        z = np.log(x)
        return y.sum() + z

    compiled, bad = jit(f), np.array([0.0, -1.0])
    assert warned(jit(f), bad) == warned(f, bad)  # the first call
    compiled(np.ones(2))
    first = f.__code__.co_firstlineno
    found = warned(compiled, bad)
    assert [(text, line - first) for text, _, line in found] == [
        ("divide by zero encountered in divide", 1),
        ("divide by zero encountered in log", 2),
        ("invalid value encountered in log", 2),
        ("invalid value encountered in add", 3),
    ]
    assert warned(compiled, np.ones(2)) == []
    with np.errstate(all="ignore"):
        assert warned(compiled, bad) == []
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
        compiled(bad)


def test_error_states_inside():
    def f(x):
        with np.errstate(divide="ignore"):
            return 1.0 / x

    compiled, bad = jit(f), np.zeros(2)
    for _ in range(3):
        assert warned(compiled, bad) == []


def test_values_computed_in_place_survive_warnings():
    def f(x):
        x += 1
        y = 1.0 / x
        x += 1
        return y

    compiled = jit(f)
    compiled(np.ones(2))
    x = np.array([-1.0, 1.0])
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
        y = compiled(x)
    assert x.tolist() == [1, 3]
    assert y.tolist() == [float("inf"), 0.5]


# ------------------------------------------------------------------------------------------------ explaining
def test_lower_and_explain():
    f, x = jit(lambda x: np.exp(x, out=x) + 1), np.ones(3)
    plan = f.lower(x)
    assert x.tolist() == [1, 1, 1]
    assert "plan of 2 calls" in plan.explain()
    assert "exp" in plan.explain()
    f(x)
    assert traces(f) == 1


def test_jitted_inside_jitted():
    inner = jit(lambda x: x * 2)
    outer = jit(lambda x: inner(x) + inner(x + 1))
    for _ in range(2):
        assert outer(np.ones(2)).tolist() == [6, 6]


# ------------------------------------------------------------------------------------------------ programs
def test_without_programs_the_calls_are_made_one_by_one(monkeypatch):
    def unfit(*args):
        raise Unfit("test")

    monkeypatch.setattr(program, "backend", SimpleNamespace(assemble=unfit, supports=unfit, does=unfit))
    monkeypatch.setattr(program.Parts, "__init__", unfit)
    for name in ("scalars", "views", "made views", "masks", "where", "reductions"):
        compiled = agree(FUNCTIONS[name], vector)
        assert all(plan.parts is None for plan in compiled._plans.values())
    for line in WRITES:
        test_writes(line)


@pytest.mark.skipif(not COMPILED, reason="programs need a compiler")
def test_small_functions_are_one_program():
    def f(x, m):
        x[1:] += np.sin(x[:-1]) * 0.5
        y = np.exp(-x) / (1.0 + x.sum())
        y[x > 0] = y[x > 0] ** -1.5
        return (m @ m)[0] * y[:4].mean() + m.max(axis=1)

    compiled = agree(f, vector, matrix)
    (plan,) = compiled._plans.values()
    assert [type(part).__name__ for part in plan.parts.parts] == ["Part"]
    told = plan.explain()
    assert "kernel of" in told
    assert "multiply by matmul" in told
    assert "arena of" in told


def test_threads_run_one_plan():
    f = jit(lambda x: (np.sin(x) * x).sum() + np.cumsum(x)[-1])
    arrays = [np.arange(1000.0) + k for k in range(8)]
    want = [f(x) for x in arrays]
    assert [f(x) for x in arrays] == want
    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            assert list(pool.map(f, arrays)) == want
    assert traces(f) == 1


def test_memory_is_freed():
    f = jit(lambda x: np.sin(x) * 2)
    x = np.ones(1000)
    f(x), f(x)
    ref = weakref.ref(f(x))
    gc.collect()
    assert ref() is None
    plan = weakref.ref(next(iter(f._plans.values())))
    del f
    gc.collect()
    assert plan() is None


def test_pending_arguments_and_results():
    with np.config(lazy_from=1):
        f = jit(lambda x: x * 2 + 1)
        for _ in range(3):
            x = np.arange(100.0) * 3
            y = f(x) + 1
            assert y[3] == 20
        g = jit(lambda x: np.add(x, 1, out=x))
        for _ in range(3):
            x = np.arange(100.0)
            before = x * 2
            assert g(x) is x
            assert before[3] == 6
            assert x[3] == 4


def test_shapes_that_only_calls_know_are_checked_at_every_call():
    f = jit(lambda x: np.repeat(x, x.astype(int)) * 2)
    assert f(np.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(ConcretizationError, match="shape of a result"):
        f(np.arange(3.0) + 1)


def test_memory_that_is_not_aligned_has_plans_of_its_own():
    f = jit(lambda x: np.exp(x) * x)
    for k in (0, 1, 0, 4, 8):
        room = numpy.zeros(88, "u1")
        raw = room[k : k + 80].view("f8")
        raw[:] = numpy.linspace(-1, 1, 10)
        assert np.to_numpy(f(np.asarray(raw))).tobytes() == (numpy.exp(raw) * raw).tobytes()
    assert traces(f) == 2


def test_arrays_of_other_things():
    f = jit(lambda x: x)
    for bad in (np.array(["a"]), np.array([None]), numpy.array([1], "M8[s]"), np.zeros(1, [("a", int)])):
        with pytest.raises(TypeError, match="an argument cannot be recorded"):
            f(bad)
    names = np.array(["a", "b"])
    g = jit(lambda x: x * len(names))
    assert [g(np.ones(1)).tolist(), g(np.ones(1)).tolist()] == [[2], [2]]


def test_defaults_statics_and_attributes_by_the_short_way():
    @np.jit(static_argnums=(1,))
    def f(x, n, y=None, k=2.0):
        return x * n * k + layer.w

    layer, x = Layer(), np.arange(3.0)
    for _ in range(3):
        assert f(x, 2).tolist() == [1, 5, 9]
        assert f(x, 3).tolist() == [1, 7, 13]
    assert traces(f) == 2
    layer.w = np.zeros(3)
    assert f(x, 3).tolist() == [0, 6, 12]
    layer.w = None
    with pytest.raises(TypeError):
        f(x, 3)


def test_arguments_that_begin_to_share_memory_by_the_short_way():
    def f(a, b):
        a += 1
        return a * b

    compiled, x, y = jit(f), np.arange(4.0), np.arange(4.0)
    for _ in range(3):
        compiled(x, y)
    z = np.arange(8.0)
    for a, b in ((z[:4], z[4:]), (z[:4], z[:4]), (z[1:5], z[:4]), (z[:4], z[1:5])):
        both = np.arange(8.0)
        z[:] = both
        assert compiled(a, b).tolist() == f(*_twins(both, a, b, z)).tolist()
        assert z.tolist() == both.tolist()


def test_structures_by_the_short_way():
    def f(p, x):
        h = x
        for w, b in p["layers"]:
            h = np.tanh(h @ w + b)
        return {"h": h, "n": (h.sum(), params[0] * 2)}

    def given_(seed):
        return {"layers": [(matrix(seed), matrix(seed + 1)[0]), (matrix(seed + 2), matrix(seed + 3)[0])], "k": None}

    params = [np.ones(2)]
    compiled = jit(f)
    for seed in range(5):
        same(f(given_(seed), matrix(seed)), compiled(given_(seed), matrix(seed)))
        params[0] = params[0] + 1
    assert traces(compiled) == 1
    p = given_(1)
    p["layers"].pop()
    same(f(p, matrix(1)), compiled(p, matrix(1)))
    p = {"k": None, "layers": given_(2)["layers"]}
    same(f(p, matrix(1)), compiled(p, matrix(1)))
    params = (np.ones(2),)
    same(f(p, matrix(1)), compiled(p, matrix(1)))
    p["k"] = 3.0
    same(f(p, matrix(1)), compiled(p, matrix(1)))


def _twins(both, *views):
    """The same views of other memory."""
    *views, base = views
    starts = [(v.ctypes.data - base.ctypes.data) // 8 for v in views]
    return [both[s : s + len(v)] for s, v in zip(starts, views, strict=True)]
