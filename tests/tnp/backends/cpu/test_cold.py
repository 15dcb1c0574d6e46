"""What runs before a kernel exists, when one is compiled, and what is remembered."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from tnp.backends import cache
from tnp.backends.base import DIVIDE, Group
from tnp.backends.cpu import background, engine, interpret, threads
from tnp.backends.cpu.compile import CommonFunctions, Compiler, common_functions
from tnp.backends.cpu.engine import CpuBackend

from .groups import cast_step, check, hostile, laid_out, numpy_result, same_bits, step, where_step

D = np.dtype("f8")


def mixed_steps():
    """Casts, a choice, comparisons and loops; leaves: float64, int32, a scalar."""
    return [
        cast_step(~1, "i4", "f8"),
        step(np.multiply, (0, ~0), "dd"),
        step(np.less, (1, ~2), "dd"),
        where_step((2, 1, ~0), "f8"),
        step(np.exp, (3,), "d"),
        step(np.divide, (4, ~2), "dd"),
        cast_step(5, "f8", "f4"),
    ]


def mixed_group(size, seed=0, divisor=0.7):
    leaves = [hostile(D, size, seed), hostile(np.dtype("i4"), size, seed), np.float64(divisor)]
    outputs = [(5, np.empty(size)), (6, np.empty(size, "f4")), (2, np.empty(size, bool))]
    return Group(mixed_steps(), leaves, outputs, (size,))


@pytest.fixture
def cold():
    """A backend that never compiles."""
    backend = CpuBackend(stress=False)
    backend.compile_ns = 1 << 62
    return backend


@pytest.fixture(autouse=True)
def ready():
    common_functions()
    yield
    background.finish()


@pytest.mark.parametrize("size", [1, 10, 5000, interpret.BLOCKED_FROM + 5, interpret.THREADED_FROM + 77])
def test_groups_run_without_a_kernel(cold, size, monkeypatch):
    monkeypatch.setattr(engine, "LOAD_NS", 1 << 62)
    check(cold, mixed_group(size))
    assert (cold.stats.interpreted, cold.stats.launched) == (1, 0)


def test_blocks_write_where_a_leaf_lies(cold, monkeypatch):
    monkeypatch.setattr(engine, "LOAD_NS", 1 << 62)
    size = interpret.THREADED_FROM
    a, b = hostile(D, size), hostile(D, size, 1)
    with np.errstate(all="ignore"):
        sums = a + b
        products = sums * a
    outputs = [(0, a), (1, b)]
    cold.run(Group([step(np.add, (~0, ~1), "dd"), step(np.multiply, (0, ~0), "dd")], [a, b], outputs, (size,)))
    np.testing.assert_array_equal(a, sums)
    np.testing.assert_array_equal(b, products)


def test_a_result_that_goes_to_two_places_and_is_read_again(cold):
    size = interpret.BLOCKED_FROM + 77
    a, b = hostile(D, size, 1), hostile(D, size, 2)
    steps = [step(np.add, (~0, ~1), "dd"), step(np.multiply, (0, ~1), "dd"), step(np.subtract, (1, 0), "dd")]
    outputs = [(0, np.empty(size)), (0, np.empty(size)), (2, np.empty(size)), (1, np.empty(size, "f4"))]
    check(cold, Group(steps, [a, b], outputs, (size,)))
    check(cold, Group(steps, [a, b], [(0, b.copy()), (2, np.empty(size))], (size,)))


@pytest.mark.parametrize("size", [1, 70, 300_000, 3_000_001])
def test_a_copy_takes_no_kernel(size):
    backend = CpuBackend(stress=False)
    for dtype in "?eD":
        x = hostile(np.dtype(dtype), size)
        out = np.empty_like(x)
        assert backend.run(Group([cast_step(~0, dtype, dtype)], [x], [(0, out)], (size,))) == 0
        assert out.tobytes() == x.tobytes()
        assert backend.run(Group([cast_step(~0, dtype, dtype)], [out], [(0, out)], (size,))) == 0  # onto itself
        assert out.tobytes() == x.tobytes()
    assert backend.stats.launched == backend.stats.interpreted == 0


def test_strided_groups_run_without_a_kernel(cold):
    a = laid_out(hostile(D, 600).reshape(20, 30), "strided")
    outputs = [(1, laid_out(np.zeros((20, 30)), "negative"))]
    steps = [step(np.add, (~0, ~1), "dd"), step(np.negative, (0,), "d")]
    check(cold, Group(steps, [a, hostile(D, 30)], outputs, (20, 30)))
    assert cold.stats.interpreted == 1


def test_what_numpy_alone_can_do(cold):
    """No kernel holds long doubles, times or foreign byte orders."""
    backend = CpuBackend(stress=True)
    for dtype in ("g", ">f8"):
        x = np.array([1.5, 2.5, -3.0]).astype(dtype)
        out = np.empty(3, dtype)
        one = step(np.multiply, (~0, ~0), np.dtype(dtype).newbyteorder("=").char * 2)
        assert backend.run(Group([one], [x, x], [(0, out)], (3,))) == 0
        assert (out == x * x).all()
    times = np.array(["2020-01-01", "2021-03-04"], "M8[D]")
    out = np.empty(2, "m8[D]")
    backend.run(Group([step(np.subtract, (~0, ~1), ("M8[D]", "M8[D]"))], [times, times[::-1]], [(0, out)], (2,)))
    assert (out == times - times[::-1]).all()
    assert backend.stats.interpreted == 3 and backend.stats.launched == 0


def test_a_small_group_is_compiled_once_it_ran_often():
    backend = CpuBackend(stress=False)
    backend.compile_ns = engine.LOAD_NS
    for _ in range(20_000):
        check(backend, mixed_group(200))
        if backend.stats.kernels:
            break
    background.finish()
    interpreted, launched = backend.stats.interpreted, backend.stats.launched
    assert interpreted > 3  # not at once
    check(backend, mixed_group(200))
    assert backend.stats.launched == launched + 1 and backend.stats.interpreted == interpreted
    assert backend.stats.compiled + backend.stats.from_disk == 1


def test_a_large_group_is_compiled_at_once():
    backend = CpuBackend(stress=False)
    backend.compile_ns = 1_000_000
    check(backend, mixed_group(1_000_000))
    assert (backend.stats.launched, backend.stats.interpreted) == (1, 0)


def test_kernels_come_from_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_chosen", str(tmp_path))
    counts = []
    for _ in range(2):
        backend = CpuBackend(stress=True)
        check(backend, mixed_group(100))
        counts.append((backend.stats.compiled, backend.stats.from_disk))
    assert counts == [(1, 0), (0, 1)]


def test_the_oldest_kernels_are_forgotten(monkeypatch):
    monkeypatch.setattr(engine, "MOST_KERNELS", 16)
    backend = CpuBackend(stress=True)
    x, out = hostile(D, 10), np.empty(10)
    for length in range(1, 40):
        group = Group([step(np.add, (i - 1, ~0), "dd") for i in range(length)], [x], [(length - 1, out)], (10,))
        group.steps[0] = step(np.add, (~0, ~0), "dd")
        check(backend, group)
        check(backend, Group([step(np.negative, (~0,), "d")], [x], [(0, out)], (10,)))  # always in use
        assert backend._count <= 16
    assert backend.stats.compiled + backend.stats.from_disk == 40  # none twice
    assert sum(map(len, backend._entries.values())) == backend._count


def test_hooks_and_counts():
    backend, seen = CpuBackend(stress=True), []
    backend.hooks.append(lambda *launch: seen.append(launch))
    for _ in range(3):
        backend.run(Group([step(np.exp, (~0,), "d")], [np.ones(100)], [(0, np.empty(100, "f4"))], (100,)))
    assert [(name, nbytes) for name, _, nbytes in seen] == [("exp_cast", 1200)] * 3
    assert all(seconds > 0 for _, seconds, _ in seen)
    stats = backend.stats
    assert (stats.launched, stats.distinct, stats.bytes_read, stats.bytes_written) == (3, 1, 2400, 1200)


def test_threads_share_a_backend():
    """Structures appear in several threads at once; flags stay with their own run."""
    backend, errors = CpuBackend(stress=True), []

    def work(seed):
        try:
            for size in (65, 66, 1030, 3000):
                for divisor in (0.7, 0.0):
                    check(backend, mixed_group(size, seed, divisor))
                a, b = np.ones(size), np.ones(size)
                b[seed] = seed % 2
                found = backend.run(Group([step(np.divide, (~0, ~1), "dd")], [a, b], [(0, np.empty(size))], (size,)))
                assert found == (0 if seed % 2 else DIVIDE)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def test_the_compiler_is_not_imported_before_it_is_needed():
    program = (
        "import sys, numpy as np\n"
        "from tnp.backends.cpu.engine import CpuBackend\n"
        "from tnp.backends.base import Group, Step\n"
        "from tnp.core.primitive import Elementwise\n"
        "add = Elementwise(name='add', impl=np.add, ufunc=np.add)\n"
        "d = np.dtype('f8')\n"
        "out = np.empty(5)\n"
        "CpuBackend().run(Group([Step(add, (~0, ~0), (d, d), d)], [np.ones(5)], [(0, out)], (5,)))\n"
        "assert (out == 2).all()\n"
        "print([m for m in ('numba', 'llvmlite') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("ufunc", [np.add, np.less, np.divide, np.exp, np.maximum, np.isnan], ids=lambda u: u.__name__)
def test_one_step_alone_is_numpys_own_call(ufunc):
    backend = CpuBackend(stress=False)
    former = threads.set_num_threads(1)
    try:
        for dtype in "fd":
            one = step(ufunc, (~0, ~1)[: ufunc.nin], dtype * ufunc.nin)
            x, y = (hostile(np.dtype(dtype), 6000, k).reshape(60, 100) for k in range(2))
            whole = np.arange(6000, dtype="i2").reshape(60, 100)
            for operands in ((x, y), (x[:, ::-1], y), (x, y[:1]), (x, y.dtype.type(0.5)), (whole, y)):
                with np.errstate(invalid="ignore"):
                    group = Group([one], list(operands[: ufunc.nin]), [(0, np.empty((60, 100), one.dtype))], (60, 100))
                check(backend, group)
            if one.dtype == dtype:
                (expected,), flags = numpy_result(Group([one], [x.copy(), y][: ufunc.nin], [(0, x)], (60, 100)))
                assert backend.run(Group([one], [x, y][: ufunc.nin], [(0, x)], (60, 100))) == flags
                assert same_bits(x, expected).all()
        assert backend.stats.launched == backend.stats.interpreted == 0 and not backend._entries
    finally:
        threads.set_num_threads(former)


def test_common_functions_are_compiled_when_asked_for():
    functions = CommonFunctions()
    assert functions["block"]
    assert not {"gather", "scatter", "strided", "guarded"} & functions.keys()
    assert functions["gather"] == functions["gather"] != functions["strided"]
    assert not {"scatter", "guarded"} & functions.keys()


def test_a_new_structure_does_not_wait_for_the_compiler(monkeypatch):
    at_work, go_on = threading.Event(), threading.Event()
    compile_now = Compiler.compile

    def slow(self, *arguments, **options):
        at_work.set()
        go_on.wait(60)
        return compile_now(self, *arguments, **options)

    monkeypatch.setattr(Compiler, "compile", slow)
    backend = CpuBackend(stress=True)  # compiles at once
    compiling = threading.Thread(target=backend.run, args=(mixed_group(5000),))
    compiling.start()
    try:
        assert at_work.wait(60)
        backend.stress = False
        other = Group(
            [step(np.multiply, (~0, ~0), "dd"), step(np.add, (0, ~0), "dd")], [hostile(D, 500, 1)], [], (500,)
        )
        other.outputs.append((1, np.empty(500)))
        running = threading.Thread(target=backend.run, args=(other,), daemon=True)
        running.start()
        running.join(20)
        assert not running.is_alive()
    finally:
        go_on.set()
        compiling.join()


def test_what_all_kernels_call_is_made_ready_before_one_pays(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "_chosen", str(tmp_path))  # goes before the environment's
    monkeypatch.setattr(engine, "LOAD_NS", 0)
    made = []
    monkeypatch.setattr(engine, "common_functions", lambda: made.append(1))
    backend = CpuBackend(stress=False)
    backend.compile_ns = 1 << 62
    backend.run(mixed_group(5000))
    background.finish()
    assert made == []  # it may never run again
    backend.run(mixed_group(5000))
    background.finish()
    assert made == [1]
    assert backend.stats.compiled == 0
