"""The benchmarks measure what they say: same results, statements that run, a page that is replaced part by part."""

import json
from dataclasses import replace

import numpy
import pytest

import tnp
from asv_bench import batches, floors, processes
from asv_bench.arithmetic import count
from asv_bench.calls import CALLS, timer
from asv_bench.external import NPBENCH_FLOORS, equation_of_state, npbench
from asv_bench.pairs import compare, copies, finish, identical, summarise
from asv_bench.programs import DIVISION, EXPONENTIAL, PLAIN, PROGRAMS, ROOT, SINGLE, Program
from asv_bench.table import PREFACE, Row, write
from tnp.backends.cpu.engine import SUPPORTED


def test_vmap_gives_what_the_loop_gives():
    x, w = batches.make()
    got = tnp.to_numpy(batches.at_once(tnp.array(x[:50]), tnp.array(w)))
    numpy.testing.assert_allclose(got, batches.loop(x[:50], w), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "program",
    [p for p in PROGRAMS if not p.name.endswith("10M")] + [p for p in SINGLE if p.name.endswith("100k")],
    ids=lambda program: program.name,
)
def test_programs_give_the_same_bits(program):
    inputs = program.make(numpy.random.default_rng(17))
    for _ in range(2):
        expected = program.run(numpy, *copies(numpy, inputs))
        got = program.run(tnp, *copies(tnp, inputs))
        assert finish(numpy, expected) == finish(tnp, got)
        assert identical(expected, got)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.statement)
def test_statements_run(call):
    for size in call.sizes:
        for module in (numpy, tnp):
            assert timer(module, call.statement, size).timeit(2) > 0


def test_ratio_is_the_median_of_the_pairs():
    result = summarise([4.0, 8.0, 6.0], [2.0, 2.0, 2.0])
    assert (result.numpy, result.tnp, result.ratio, result.pairs) == (6.0, 2.0, 3.0, 3)
    assert (result.lower, result.upper) == (2.5, 3.5)


def test_identical_sees_bits_and_types():
    assert identical(numpy.array([0.0]), tnp.array([0.0]))
    assert not identical(numpy.array([0.0]), tnp.array([-0.0]))
    assert not identical(numpy.array([0.0]), tnp.array([0.0], dtype="f4"))
    assert not identical(numpy.array([0.0]), tnp.array([[0.0]]))
    assert not identical((numpy.zeros(1), numpy.zeros(1)), (tnp.zeros(1), tnp.ones(1)))


def test_expressions_are_all_different_and_the_same_for_both():
    ours, theirs = (processes.expression_script(module, 10) for module in ("tnp", "numpy"))
    assert ours.replace("tnp as np", "numpy as np") == theirs
    lines = {line for line in ours.split("\\n") if "r = " in line}
    assert len(lines) == processes.EXPRESSIONS


def test_a_failing_process_is_an_error():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        processes.seconds_of("1 / 0")


def test_page_is_replaced_section_by_section(tmp_path):
    page = tmp_path / "performance.md"
    row = Row("work", "2x", "1 to 3", "1x", True)
    write(page, "CPU A", "programs", [row], "two cores")
    write(page, "CPU B", "programs", [Row("work", "5x", "", "6x", False)], "two cores")
    write(page, "CPU A", "programs", [Row("work", "7x", "", "1x", True)], "two cores")
    text = page.read_text()
    assert text.startswith(PREFACE)
    assert "2x" not in text
    assert "| work | 7x |  | 1x | yes |" in text
    assert "| work | 5x |  | 6x | **no** |" in text
    assert text.index("CPU A") < text.index("CPU B")


def test_floor_stands_beside_the_row(tmp_path):
    page = tmp_path / "performance.md"
    write(page, "CPU A", "programs", [Row("work", "2x", "1 to 3", "1x", True, "3 ms, memory")], "two cores")
    write(page, "CPU A", "calls", [Row("call", "2x", "1 to 3", "1x", True)], "two cores")
    lines = page.read_text().splitlines()
    assert "| work | measured | quartiles; NumPy → tnp | floor | asked for | reached |" in lines
    assert "| work | 2x | 1 to 3 | 3 ms, memory | 1x | yes |" in lines
    assert "| call | 2x | 1 to 3 | 1x | yes |" in lines


def test_level_that_holds_the_data():
    assert [floors.size_in_bytes(text) for text in ("512K\n", "32M", "64")] == [512 << 10, 32 << 20, 64]
    sizes = {"L2": 1000, "L3": 8000}
    assert [floors.level_of(n, 2, sizes) for n in (2000, 2001, 8000, 8001)] == ["L2", "L3", "L3", "memory"]


def test_floor_is_the_larger_need(monkeypatch):
    monkeypatch.setattr(floors, "caches", lambda: {"L2": 1000, "L3": 8000})
    monkeypatch.setattr(floors, "bandwidth", lambda working_set, cores: 1e9 * cores)
    monkeypatch.setattr(floors, "clock", lambda: 2e9)
    monkeypatch.setattr(floors, "register_bytes", lambda: 32)
    program = Program("p", lambda rng: (), lambda np: None, 1, 1, elements=1000, moved=16)
    assert floors.floor(program, 2) == floors.Floor(16_000 / 2e9, "memory")
    assert floors.floor(replace(program, one_core=True), 2) == floors.Floor(16_000 / 1e9, "memory")
    again = replace(program, elements=125, passes=8)  # 2000 bytes, eight times
    assert floors.floor(again, 2) == floors.Floor(16_000 / 2e9, "L2")
    busy = replace(program, cycles=40.0)
    assert floors.floor(busy, 2) == floors.Floor(1000 * 40 / 2e9 / 2, "arithmetic")
    assert floors.floor(replace(busy, serial=True), 2) == floors.Floor(1000 * 40 / 2e9, "arithmetic")
    assert floors.floor(replace(program, elements=0), 2) is None
    more = replace(again, held=32)  # 4000 bytes, of which half are moved, eight times
    assert floors.floor(more, 2) == floors.Floor(16_000 / 2e9, "L3")


def test_arithmetic_is_counted():
    def run(np, x, y):
        x[1:] += 0.5 * y[:-1]
        z = np.where(x > 0, np.sqrt(x), np.sin(y))
        return np.exp(z) / np.add.reduce(y)

    rng = numpy.random.default_rng(1)
    work = count(Program("p", lambda _: (rng.random(100), rng.random(100)), run, 1, 1))
    assert work.plain == 99 * 2 * PLAIN + 100 * (PLAIN + EXPONENTIAL + PLAIN)
    assert work.divider == 100 * (ROOT + DIVISION)
    assert work.cycles == max(work.plain, work.divider)
    assert work.elements == {numpy.sin: 100}
    assert [x.shape for x in work.blocks[numpy.sin]] == [(100,)]


def test_counted_arithmetic_takes_time(monkeypatch):
    monkeypatch.setattr(floors, "clock", lambda: 1e6)
    monkeypatch.setattr(floors, "register_bytes", lambda: 64)
    program = Program("p", lambda rng: (rng.random(4000),), lambda np, x: x * x, 1, 1, elements=4000, counted=True)
    assert floors.floor(program, 2) == floors.Floor(4000 * PLAIN / 1e6 / 2 / 2, "arithmetic")
    looped = replace(program, run=lambda np, x: np.sin(x))
    assert 0 < floors.counted_seconds(looped) < 1


def test_public_benchmarks_run_from_clones(tmp_path):
    """Their layout, with short programs of our own in the place of theirs."""
    folder = tmp_path / "benchmarks/equation_of_state"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(
        "def generate_inputs(size):\n    import numpy\n    return [numpy.ones(99)] * 3\n"
    )
    (folder / "eos_numpy.py").write_text("import numpy as np\ndef run(s, t, p):\n    return np.sqrt(s) * t + p\n")
    for name in NPBENCH_FLOORS:
        about = {"relative_path": name, "module_name": name, "func_name": "kernel", "init": {"func_name": "initialize"}}
        about["init"] |= {"input_args": ["N"], "output_args": ["A", "B"]}
        sizes = {"N": 50, "T": 2, "TSTEPS": 3, "TMAX": 2, "NX": 5, "NY": 10, "I": 5, "J": 5, "K": 2}
        about |= {"parameters": {"M": sizes}, "input_args": ["T", "A", "B"], "output_args": ["A"]}
        (tmp_path / "bench_info").mkdir(exist_ok=True)
        (tmp_path / f"bench_info/{name}.json").write_text(json.dumps({"benchmark": about}))
        folder = tmp_path / "npbench/benchmarks" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(
            "import numpy as np\ndef initialize(N):\n    return np.ones(N), np.ones(N)\n"
        )
        (folder / f"{name}_numpy.py").write_text("import numpy as np\ndef kernel(T, A, B):\n    A[1:] += T * B[:-1]\n")
    programs = [equation_of_state(tmp_path), *npbench(tmp_path)]
    assert len(programs) == 1 + len(NPBENCH_FLOORS)
    for program in programs:
        result = compare(program, 3)
        assert program.one_core
        assert result.same_bits
        assert result.pairs == 3
        assert count(program).cycles > 0
    inputs = programs[1].make(numpy.random.default_rng(1))
    [changed] = programs[1].run(tnp, *copies(tnp, inputs))
    assert tnp.to_numpy(changed).tolist() == [1.0] + [3.0] * 49


@pytest.mark.skipif(not SUPPORTED, reason="the clock is counted in x86-64 instructions")
def test_the_clock_is_a_processors():
    assert 2e8 < floors.clock.__wrapped__() < 2e10


def test_a_floor_is_measured_until_two_runs_agree(monkeypatch):
    """What disturbed all but one of the runs is noticed."""
    clock, spans = [0.0], iter([*range(9, 9 + floors.SAMPLES), 5, 4, 4.1, 1])
    monkeypatch.setattr(floors.time, "perf_counter", lambda: clock[0])

    def run():
        clock[0] += next(spans)

    assert floors.best(run) == 4
