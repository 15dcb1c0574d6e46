"""The short way of small calls (tnp/arrays/_quick.pyx) gives what NumPy gives; the build without a compiler too."""

import gc
import operator
import sys
import threading
import time
import warnings

import numpy
import pytest

import tnp
import tnp.core.native

KEYS = [
    0, -1, (0,), (1, 2), (1, 2, 3), slice(1, None), slice(5, 2), slice(None, None, -1), (slice(None), 0), None,
    (slice(None, None, -1), slice(1, 3)), (None, 1), (0, None), Ellipsis, (), (Ellipsis, 0), slice(0, 0),
    (0, slice(None), None, slice(2, 0, -1)), True, (slice(0, 0), slice(1, 2)),
    (Ellipsis, None), (None, Ellipsis, 1), (0, Ellipsis, slice(None, None, -1)), (0, 1, Ellipsis, 2),
    (0, 1, 2, Ellipsis),
]  # fmt: skip
BAD_KEYS = [
    2, -3, (0, 3), (0, 0, 0, 0), 10**30, 1.5, "a", (slice(None),) * 4, slice(0, 2, 0),
    (0, 1, 2, Ellipsis, 0), (Ellipsis, 0, Ellipsis),
]  # fmt: skip
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.le, operator.eq, operator.ne,
    operator.gt, operator.ge, operator.iadd, operator.isub, operator.imul, operator.itruediv,
]  # fmt: skip
OPERANDS = [
    2, -3, 2.5, 1e300, 1e-50, float("inf"), float("nan"), 2**53 + 1, 2**70, True, 1j, numpy.float64(3),
    numpy.float32(3), numpy.int64(3),
]  # fmt: skip
UFUNCS = ["add", "sqrt", "exp", "maximum", "isnan", "power", "arctan2", "left_shift", "floor_divide", "invert", "sign"]


def outcome(np, run):
    """Bits, dtype and layout of a result, or the error; the warnings beside it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            r = run(np)
        except Exception as error:
            r = type(error), str(error)
    told = [(str(w.message), w.lineno) for w in caught]
    if isinstance(r, (numpy.ndarray, tnp.ndarray)):
        bits = repr(r.tolist()) if r.dtype.char in "gG" else r.tobytes()  # of a long double only ten bytes count
        return r.dtype, r.shape, r.strides, bits, told
    return type(r), repr(r), told


def same(run):
    assert outcome(tnp, run) == outcome(numpy, run)


@pytest.mark.parametrize("key", KEYS + BAD_KEYS, ids=repr)
@pytest.mark.parametrize("dtype", ["f8", "i4", ">f4", "O", "M8[s]"])
def test_elements_and_views(key, dtype):
    same(lambda np: np.arange(24).reshape(2, 3, 4).astype(dtype)[key])


def test_views_write_to_their_array():
    x = tnp.arange(12.0).reshape(3, 4)
    row, part = x[1], x[:, 1:3]
    row[1] = 50.0
    assert part[1, 0] == 50.0 and row.base is x.base and part.base is x.base
    assert numpy.shares_memory(x.to_numpy(), part.to_numpy())


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "c16", "?", ">f8", "g"])
@pytest.mark.parametrize("op", OPERATORS)
def test_operators(op, dtype):
    for b in OPERANDS:
        same(lambda np, b=b: op(np.array([0, 1, 5, 100]).astype(dtype), b))
    for shape in [(4,), (2, 2), (0,), (1,), ()]:
        same(lambda np, s=shape: op(np.ones(s, dtype), np.full(s, 0, dtype)))
    same(lambda np: op(np.arange(8).astype(dtype)[::2], np.arange(4).astype(dtype)))


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
def test_ufuncs(name, dtype):
    def args(np):
        return [np.array([-2, 0, 1, 3]).astype(dtype) for _ in range(getattr(numpy, name).nin)]

    same(lambda np: getattr(np, name)(*args(np)))
    same(lambda np: getattr(np, name)(*args(np), out=np.zeros(4)))
    same(lambda np: getattr(np, name)(*args(np), np.zeros(4)))
    same(lambda np: getattr(np, name)(*args(np), out=np.zeros(3)))
    same(lambda np: getattr(np, name)(*args(np), nonsense=1))
    same(lambda np: getattr(np, name)())


def test_outputs_may_overlap_the_operands():
    x, y = tnp.arange(10.0), numpy.arange(10.0)
    for a, np in ((x, tnp), (y, numpy)):
        r = a[1:]
        assert np.add(a[:-1], a[1:], out=r) is r
        a += a
        a[2:] *= a[:-2]
    assert x.tolist() == y.tolist()


def test_outputs_that_may_not_be_written():
    def run(np):
        x = np.zeros(3)
        x.flags.writeable = False
        x += 1.0

    same(run)
    same(lambda np: np.add(np.ones(3), 1.0, out=np.zeros(3, "i8")))


def test_flags_raised_before_do_not_matter_and_error_states_do():
    numpy.array([1.0]) / numpy.array([3.0])
    for state in ("ignore", "warn", "raise"):

        def run(np, state=state):
            with np.errstate(all=state):
                return np.array([1.0, 1e-300]) * np.array([1e300, 1e-300]) / np.array([1.0, 0.0])

        same(run)


@pytest.mark.parametrize("run", [
    lambda np: np.shape(np.ones((2, 3))),
    lambda np: np.zeros((2, 3), dtype="f4"),
    lambda np: np.array([np.ones(2), np.zeros(2)]),
    lambda np: np.array([[1, 2], [3]]),
    lambda np: np.concatenate([np.ones(2), [1, 2]], axis=0),
    lambda np: np.concatenate((np.ones(2), np.ones((2, 2)))),
    lambda np: np.asarray(np.ones(2), dtype="i4"),
    lambda np: np.ones(3).sum(axis=2),
    lambda np: np.ones((2, 3)).mean(axis=0, keepdims=True),
    lambda np: np.ones(3).sum(out=np.zeros(())),
    lambda np: np.ones(3).astype("i2", copy=False),
    lambda np: np.ones(3).view("i8"),
    lambda np: np.ones(3).view("i7"),
    lambda np: np.ones(3).reshape(2, -1),
    lambda np: np.ones((2, 3)).transpose(1, 0),
    lambda np: np.ones(3).item(1),
    lambda np: np.ones((2, 2)).tolist(),
    lambda np: np.float64(2.0) * np.ones(3),
    lambda np: np.where(np.array([True, False]), np.ones(2), 3),
    lambda np: np.sum([1, 2]),
    lambda np: np.clip(np.arange(4), 1, 2, out=np.zeros(4, "i8")),
    lambda np: np.ones(3).sort(),
])  # fmt: skip
def test_functions_and_methods(run):
    same(run)


def test_identity_of_results():
    x = tnp.arange(3.0)
    assert tnp.asarray(x) is x and tnp.asarray(x, float) is x and x.real is x and tnp.ascontiguousarray(x) is x
    assert x.view().base is x and x.base is None and x[:].base is x and x[:][1:].base is x
    assert tnp.copyto(x, 5) is None and x.tolist() == [5, 5, 5]
    assert next(iter(x)) == 5 and [r.tolist() for r in tnp.eye(2)] == [[1, 0], [0, 1]]


def test_flags_tell_the_array():
    x = tnp.arange(6.0).reshape(2, 3)
    y = numpy.arange(6.0).reshape(2, 3)
    for name in ("c_contiguous", "f_contiguous", "contiguous", "writeable", "aligned", "owndata", "fnc", "num"):
        for f in (lambda a: a, lambda a: a.T, lambda a: a[:, 1], lambda a: a.copy()):
            assert getattr(f(x).flags, name) == getattr(f(y).flags, name), name


@pytest.mark.skipif(not tnp.core.native.COMPILED, reason="without a compiler the class is Python's own")
def test_arrays_are_as_the_collector_sees_numpys():
    x = tnp.ones(3)
    assert not gc.is_tracked(x) and not gc.is_tracked(x[1:])
    many = [tnp.ones(1) for _ in range(200)]
    del many
    assert [a.tolist() for a in [tnp.full(1, i) for i in range(100)]] == [[i] for i in range(100)]


def test_results_keep_dtypes_of_another_make():
    unit = numpy.dtype("f8", metadata={"unit": "m"})
    same(lambda np: (np.ones(3, unit) + np.ones(3, unit)).dtype.metadata)
    same(lambda np: np.sqrt(np.ones(3, unit)).dtype.metadata)


@pytest.mark.parametrize(
    "key", [(1, 2), (-1, -4), (2, 0), (0, 4), (1.0, 2), (1, 2, 3), (1,), (True, 1), (10**30, 0)], ids=repr
)
@pytest.mark.parametrize("value", [7, 2.5, 2**70, "a", None], ids=repr)
@pytest.mark.parametrize("dtype", ["f8", "i8", ">f8", "f4"])
def test_elements_of_matrices_are_written(key, value, dtype):
    def run(np):
        x = np.zeros((3, 4), dtype)
        x.T[::-1][::-1].T[key] = value
        return x

    def read_only(np):
        x = np.zeros((2, 5), dtype)
        x.flags.writeable = False
        x[key] = value

    same(run)
    same(read_only)


SHORT = {
    "view": [()], "copy": [(), ("F",)], "flatten": [(), ("F",)], "ravel": [(), ("F",)], "transpose": [(), (1, 0), (0,)],
    "squeeze": [(), (0,)], "diagonal": [(), (1,), (0, 2, 1)],
    "swapaxes": [(0, 1), (-1, 0), (0, 2), (0,), (0, 2**31), (0, 1.0), (0, 10**30)],
    "reshape": [(-1,), (4, 3), ((2, 6),), (2, -1), (-1, -1), (5,), (), ((),), ([12],), (-2,), (2**70,), (2.0, 6)],
}  # fmt: skip


@pytest.mark.parametrize(("name", "args"), [(n, a) for n, all_ in SHORT.items() for a in all_], ids=repr)
@pytest.mark.parametrize("shape", [(3, 4), (12, 1, 1), (12,), (0, 12), ()], ids=repr)
def test_short_ways_of_methods(name, args, shape):
    same(lambda np: getattr(np.ones(shape)[...], name)(*args))
    same(lambda np: getattr(np.ones(shape).T[...], name)(*args))
    x, y = tnp.ones(shape), numpy.ones(shape)
    try:
        expected = getattr(y, name)(*args)
    except Exception:
        return
    r = getattr(x, name)(*args)
    assert (r is x) == (expected is y)
    assert (r.base is None) == (expected.base is None)
    assert (r.base is x) == (expected.base is y)


@pytest.mark.parametrize("shape", [0, 5, (2, 3), (), (2, -1), -1, 2.0, None, [2], 10**30], ids=repr)
def test_zeros_and_empty(shape):
    same(lambda np: np.zeros(shape))
    same(lambda np: np.empty(shape) * 0 == 5)


def test_asarray_gives_the_array():
    x = tnp.arange(3.0)
    assert tnp.asarray(x) is x and tnp.asanyarray(x) is x


def test_flat_sees_what_was_written_before_its_first_step():
    def run(np):
        x = np.arange(4.0)
        steps = x.flat
        x += 1
        return [next(steps), next(steps), steps.index, steps.coords, steps.base is x, (steps == 3).tolist()]

    same(run)


def test_functions_of_one_name_are_not_one_function():
    """Other modules of NumPy have functions of the same names, which do something else."""
    spaces = [
        (numpy.ma, tnp.ma),
        (numpy.char, tnp.char),
        (numpy.strings, tnp.strings),
        (numpy.linalg, tnp.linalg),
        (numpy.fft, tnp.fft),
    ]
    tried = 0
    for theirs, ours in spaces:
        for name in set(dir(theirs)) & set(dir(numpy)):
            if name == "test" or getattr(theirs, name) is getattr(numpy, name) or not callable(getattr(theirs, name)):
                continue
            for x in (numpy.arange(1.0, 5.0), numpy.array(["a", "b"]), 3):
                try:
                    expected = getattr(theirs, name)(x)
                except Exception:
                    continue
                found = getattr(ours, name)(tnp.array(x) if isinstance(x, numpy.ndarray) else x)
                tried += 1
                if type(expected) is numpy.ndarray:
                    assert type(found) is tnp.ndarray, (ours, name)
                elif isinstance(expected, numpy.ndarray):
                    assert type(found) is type(expected), (ours, name)
    assert tried > 100


@pytest.mark.parametrize("n", [4097, 9000, 30_000])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "c16"])
def test_operations_that_always_run_alone(n, dtype):
    """After a few times at one place they run at once, by NumPy's loop; content that waits still waits."""
    rng = numpy.random.default_rng(n)
    a, b = (rng.integers(-9, 9, n).astype(dtype) for _ in range(2))
    operations = [
        lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - 2, lambda x, y: 3 * x, lambda x, y: x**2,
        lambda x, y: x == y, lambda x, y: -x, lambda x, y: abs(x), lambda x, y: x.sum(), lambda x, y: x.copy(),
        lambda x, y: x.astype("f4"), lambda x, y: x.astype(numpy.int16), lambda x, y: x / y,
        lambda x, y: np_of(x).concatenate((x, y)), lambda x, y: np_of(x).stack([x, y, x], 1),
        lambda x, y: np_of(x).append(x, y), lambda x, y: np_of(x).clip(x, -3, 3), lambda x, y: np_of(x).clip(x, y, 3),
    ]  # fmt: skip
    if dtype == "c16":
        operations = [f for k, f in enumerate(operations) if k not in (10, 11)]
    for f in operations:
        for turn in range(8):
            x, y = tnp.array(a), tnp.array(b)
            if turn == 6:
                x = x + 0  # pending
            with numpy.errstate(all="ignore"):
                expected, found = f(a, b), f(x, y)
            assert numpy.asarray(found).tobytes() == expected.tobytes(), (f, turn)
            assert found.dtype == expected.dtype
            x[0] = 7
            assert numpy.asarray(found).tobytes() == expected.tobytes(), "the result reads what it must not"


def np_of(x):
    return tnp if isinstance(x, tnp.ndarray) else numpy


def test_joined_into_an_operand_or_kept():
    """What is written to waits for its readers, also where large arrays take the short way."""
    for n in (10, 40_000, 70_000):
        x, y, z = (tnp.array(numpy.full(n, float(k))) for k in range(3))
        waiting = z + 1 if n > 10 else tnp.array(z) + 1
        for _ in range(6):
            assert tnp.concatenate((x, y), 0, z[:1].repeat(2 * n)).size == 2 * n
            tnp.clip(x, 1, 2, z)
            assert z.sum() == n
        assert waiting.sum() == 3 * n
        assert numpy.array_equal(numpy.asarray(tnp.concatenate((x, y))), [0.0] * n + [1.0] * n)


def test_operations_that_run_alone_warn_where_the_program_is():
    x = tnp.array(numpy.zeros(50_000))
    for _ in range(8):
        with pytest.warns(RuntimeWarning, match="invalid value encountered in divide") as caught:
            tnp.evaluate(x / x)
        assert [w.filename for w in caught] == [__file__]


@pytest.mark.skipif(not tnp.core.native.COMPILED, reason="the short way is compiled")
@pytest.mark.parametrize("lazy_from", [10_000, 200_000])  # by habit, or always
@pytest.mark.parametrize(
    "operation", ["x + y", "y - x", "x * 2", "tnp.evaluate(-x)", "x.sum()", "x.copy()", "x.astype('f4')"]
)
def test_memory_is_held_while_a_loop_lets_other_threads_run(operation, lazy_from):
    """One of them may give the array new content meanwhile."""
    x, y = tnp.ones(100_000), tnp.ones(100_000)
    code, done = compile(operation, "", "eval"), threading.Event()

    def work():
        while not done.is_set():
            eval(code, {"tnp": tnp, "x": x, "y": y})

    thread = threading.Thread(target=work)
    former, tnp.config.lazy_from = tnp.config.lazy_from, lazy_from
    for _ in range(9):  # a habit by then
        eval(code, {"tnp": tnp, "x": x, "y": y})
    unused = sys.getrefcount(x._nd)
    thread.start()
    try:
        end = time.monotonic() + 20
        while time.monotonic() < end and sys.getrefcount(x._nd) <= unused:
            pass
        assert time.monotonic() < end
    finally:
        done.set()
        thread.join()
        tnp.config.lazy_from = former


@pytest.mark.parametrize("lazy_from", [1, 32768])
def test_bases_of_views_of_what_numpy_holds(lazy_from):
    """NumPy's functions return views of arrays that the program never saw, and of objects that hold memory."""

    def run(np):
        found = []
        for x in (np.linspace(-2, 3, 65), np.ones(65).reshape(5, 13), np.arange(65.0)):
            views = [x[1:], x[1:][1:], x.T, x[...], x.ravel()[:3], x.view("i8")]
            found += [[v.base is x, v.base is None, v.base is x.base, v.base is views[0].base] for v in views]
        memory = np.arange(200)
        for x in (
            np.lib.stride_tricks.as_strided(memory, (199, 2), (8, 8)),
            np.lib.stride_tricks.as_strided(memory, (199, 2), (8, 8), writeable=False),
            np.lib.stride_tricks.sliding_window_view(memory, 3),
            np.broadcast_to(memory, (3, 200)),
        ):
            found += [x.base is memory, type(x.base).__name__, x[0].base is x, x[0].base is x.base, x.T.base is x]
        return found

    with tnp.config(lazy_from=lazy_from):
        same(run)


LARGE = [
    "x + y", "x - 2.5", "3 * x", "x / y", "x > y", "-x", "abs(x)", "np.sqrt(x)", "np.exp(x)", "x.astype('f4')",
    "x.astype('i8')", "x.astype('c16')", "x.copy()", "x**2", "x * numpy.float32(2)", "np.clip(x, -1, y)", "x + y[:1]",
    "np.where(x > y, x, y)", "x[::-1] + y", "x.reshape(2, -1).T * 2", "np.arctan2(x, y)", "x + 1j",
]  # fmt: skip


@pytest.mark.parametrize("text", LARGE)
@pytest.mark.parametrize("shared", [False, True])
def test_large_results_that_do_not_wait(text, shared):
    """Memory of NumPy's, which it may write at any time, or an operation that is always read alone."""
    n = 600_000  # results of 4.8 MB have memory of the pool
    a, b = numpy.random.default_rng(3).standard_normal((2, n))
    a[:3] = numpy.nan, numpy.inf, 0
    with warnings.catch_warnings(record=True) as expected_warnings:
        warnings.simplefilter("always")
        expected = eval(text, {"np": numpy, "numpy": numpy, "x": a, "y": b})
    code = compile(text, "<large>", "eval")
    for turn in range(6):
        x, y = (tnp.asarray(k) if shared else tnp.array(k) for k in (a, b))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = eval(code, {"np": tnp, "numpy": numpy, "x": x, "y": y})
            assert type(found) is tnp.ndarray
            if shared:
                a *= -1  # seen by x, not by the result
                a *= -1
            else:
                x[...] = 0
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape), turn
            assert found.tobytes() == expected.tobytes(), turn
        assert {str(w.message) for w in caught} == {str(w.message) for w in expected_warnings}, turn
        assert found.strides == expected.strides and found.flags.owndata == expected.flags.owndata
        assert (found.base is None) == (expected.base is None)


def test_large_results_raise_as_numpy_says():
    x = tnp.asarray(numpy.zeros(600_000))
    kept = x + 1
    with numpy.errstate(all="raise"):
        for _ in range(5):
            with pytest.raises(FloatingPointError, match="invalid value encountered in divide"):
                tnp.evaluate(x / x)
    assert kept.sum() == 600_000


SEVERAL = [
    "np.nonzero(x)", "divmod(x, y)", "divmod(x, 3)", "divmod(x, 2.5)", "divmod(7, x)", "np.divmod(x, y)",
    "np.modf(x / 2)", "np.frexp(x)", "np.unique(x, True, True)", "np.broadcast_arrays(x, y)", "np.broadcast_arrays(x)",
    "np.meshgrid(x, y)", "np.histogram(x)", "np.linalg.slogdet(np.diag(x + 10))", "np.linalg.qr(np.diag(x + 10))",
    "(np.tile(x, 2),)", "(np.tile(x, (2, 3)),)", "(np.tile(x, 0),)", "(np.tile(x, -1),)", "(np.tile(x, True),)",
    "(np.outer(x, y),)", "(np.outer(x, 2),)", "(np.outer(x, [1, 2]),)", "np.atleast_1d(x, y)", "np.split(x, 2)",
]  # fmt: skip


@pytest.mark.parametrize("text", SEVERAL)
@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_several_results(text, dtype):
    def run(np):
        x = np.array([5, -1, 0, 3, 3, 8], dtype)
        y = np.array([2, 1, 4, -3, 7, 1], dtype)
        with numpy.errstate(all="ignore"):
            try:
                results = eval(text, {"np": np, "x": x, "y": y})
            except Exception as error:
                return type(error), str(error)
        kinds = []
        for r in results:
            array = isinstance(r, (numpy.ndarray, tnp.ndarray))
            assert not array or type(r) is np.ndarray
            kinds.append((array, r is x, r is y, array and (r.base is None, r.base is x, r.flags.owndata)))
        told = [(numpy.asarray(r).dtype, repr(numpy.asarray(r).tolist())) for r in results]
        for r in results:
            if isinstance(r, np.ndarray) and r.flags.writeable and r.base is None:
                r[...] = 1  # of the operands only those that NumPy's results are change with it
        return type(results), kinds, told, x.tolist(), y.tolist()

    assert run(tnp) == run(numpy)
