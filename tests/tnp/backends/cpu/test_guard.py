"""Groups that replace what they are made from: blocks that raise a watched flag keep their inputs."""

import threading

import numpy as np
import pytest

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW, Group, is_flat, part
from tnp.backends.cpu import guard, memory, threads, windows
from tnp.backends.cpu.engine import CpuBackend
from tnp.backends.reference import ReferenceBackend

from .groups import cast_step, compiling, numpy_result, same_bits, step

ALL = DIVIDE | OVERFLOW | UNDERFLOW | INVALID
DIVISION = [step(np.divide, (~0, ~1), "dd")]
LONG = [step(np.divide, (~0, ~1), "dd"), step(np.exp, (0,), "d"), step(np.add, (1, ~2), "dd")]


@pytest.fixture(scope="module", params=["plain", "stress", "cold", "reference"])
def backend(request):
    if request.param == "reference":
        return ReferenceBackend()
    return CpuBackend(stress=False) if request.param == "cold" else compiling(request.param == "stress")


def leaves_of(n, steps, zeros, shape=None):
    rng = np.random.default_rng(n)
    a, b = rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, n)
    b[list(zeros)] = 0.0
    leaves = [a, b] if shape is None else [a.reshape(shape), b.reshape(shape)]
    return leaves if steps is DIVISION else [*leaves, np.float64(1.5)]


def undone_elements(group):
    marked = np.zeros(int(np.prod(group.shape)), bool)
    last = -1
    for start, stop in group.undone:
        assert last < start < stop <= marked.size
        marked[start:stop] = True
        last = stop
    return marked


@pytest.mark.parametrize("steps", [DIVISION, LONG], ids=["emitted", "with a loop"])
@pytest.mark.parametrize("n", [1, 63, 1024, 1025, 5000])
def test_flagged_blocks_keep_their_inputs(backend, steps, n):
    for zeros in ((), (0,), (n - 1,), (n // 2, n - 1), range(n)):
        leaves = leaves_of(n, steps, zeros)
        kept = [np.array(x) for x in leaves]
        other = np.empty(n)
        outputs = [(len(steps) - 1, leaves[0]), (0, other)]
        (expected, second), flags = numpy_result(Group(steps, kept, outputs, (n,)))
        group = Group(steps, leaves, outputs, (n,), ALL)
        assert backend.run(group) == flags
        undone = undone_elements(group)
        assert undone.any() == bool(flags)
        assert undone[list(zeros)].all()
        np.testing.assert_array_equal(leaves[0][undone], kept[0][undone])
        assert (
            same_bits(leaves[0][~undone], expected[~undone]).all() and same_bits(other[~undone], second[~undone]).all()
        )
        for start, stop in group.undone:  # as the caller ends it
            parts = [x[start:stop] if isinstance(x, np.ndarray) else x for x in leaves]
            results = [(i, out[start:stop]) for i, out in outputs]
            backend.run(Group(steps, parts, results, (stop - start,)))
        assert same_bits(leaves[0], expected).all() and same_bits(leaves[1], kept[1]).all()


def test_only_blocks_are_undone():
    engine = compiling(False)
    leaves = leaves_of(100_000, DIVISION, (3000, 70_000))
    group = Group(DIVISION, leaves, [(0, leaves[1])], (100_000,), ALL)
    assert engine.run(group) == DIVIDE
    assert 2 <= undone_elements(group).sum() <= 2048


def test_flags_that_nobody_watches(backend):
    leaves = leaves_of(3000, DIVISION, (1500,))
    expected = numpy_result(Group(DIVISION, [np.array(x) for x in leaves], [(0, leaves[0])], (3000,)))[0][0]
    for watched in (0, OVERFLOW | INVALID):
        a = leaves[0].copy()
        group = Group(DIVISION, [a, leaves[1]], [(0, a)], (3000,), watched)
        assert backend.run(group) == DIVIDE and group.undone == []
        np.testing.assert_array_equal(a, expected)


def test_flags_do_not_pass_from_block_to_block(backend):
    """A block after one that raised something is stored, and reports are of one run only."""
    leaves = leaves_of(5000, DIVISION, (10,))
    group = Group(DIVISION, leaves, [(0, leaves[0])], (5000,), ALL)
    assert backend.run(group) == DIVIDE and (group.undone or group.told)
    group.leaves[1][10] = 1.0
    assert backend.run(group) == 0 and group.undone == []


def test_without_a_destination_on_a_leaf_everything_is_stored(backend):
    leaves = leaves_of(3000, DIVISION, (1500,))
    out = np.zeros(3000)
    group = Group(DIVISION, leaves, [(0, out)], (3000,), ALL)
    assert backend.run(group) == DIVIDE and group.undone == [] and out[1500] == np.inf


@pytest.mark.parametrize("layout", ["rows", "fortran", "strided", "broadcast"])
@pytest.mark.parametrize("zeros", [(), (700,)], ids=["quiet", "flagged"])
def test_other_layouts(backend, layout, zeros):
    a, b = leaves_of(1400, DIVISION, zeros, (20, 70))
    if layout == "fortran":
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    elif layout == "strided":
        a, b = np.repeat(a, 2, axis=1)[:, ::2], b[::-1]
    elif layout == "broadcast":
        b = np.ascontiguousarray(b[:, :1])
    kept = a.copy(order="K")
    expected, flags = numpy_result(Group(DIVISION, [kept, b], [(0, a)], (20, 70)))
    group = Group(DIVISION, [a, b], [(0, a)], (20, 70), ALL)
    assert backend.run(group) == flags
    undone = undone_elements(group).reshape(20, 70)
    assert undone.any() == (bool(zeros) and not group.told)
    np.testing.assert_array_equal(a, np.where(undone, kept, expected[0]))


def test_a_step_that_numpy_runs_in_place_tells_its_own_flags():
    engine = CpuBackend(stress=False)
    for zeros, code in ((), "d"), ((700,), "d"), ((700,), "f"), ((700,), "D"):
        d, division = np.dtype(code), [step(np.divide, (~0, ~1), code * 2)]
        a, b = (x.astype(d) for x in leaves_of(1400, DIVISION, zeros))
        (expected, *_), flags = numpy_result(Group(division, [a.copy(), b], [(0, a)], (1400,)))
        group = Group(division, [a, b], [(0, a)], (1400,), ALL)
        assert engine.run(group) == flags
        assert group.told == (d.kind == "f")  # complex numbers: which operand NumPy computes over shows in the bits
        if group.told or not zeros:
            assert group.undone == [] and same_bits(a, expected).all()


def test_spare_memory_is_used_or_exchanged():
    """A cold backend leaves the leaf as it was and gives other memory; a kernel writes over the leaf."""
    for engine, exchanged in (compiling(False), False), (CpuBackend(stress=False), True):
        leaves = leaves_of(5000, LONG, (10,))
        kept = [np.array(x) for x in leaves]
        (expected,), flags = numpy_result(Group(LONG, kept, [(len(LONG) - 1, leaves[0])], (5000,)))
        group = Group(LONG, leaves, [(len(LONG) - 1, leaves[0])], (5000,), ALL)
        group.spare = True
        assert engine.run(group) == flags
        ((_, out),) = group.outputs
        assert (out is not leaves[0]) == exchanged and bool(group.undone) != exchanged
        undone = undone_elements(group)
        assert same_bits(out[~undone], expected[~undone]).all() and same_bits(leaves[0][undone], kept[0][undone]).all()


@pytest.mark.parametrize("stress", [False, True])
@pytest.mark.parametrize("where", [(), (0,), (130, 1000), range(0, 3000, 7)], ids=len)
@pytest.mark.parametrize("window", ["rows", "steps", "columns of a broadcast", "planes"])
def test_windows_go_through_memory_of_a_few_planes(monkeypatch, window, where, stress):
    """Planes that raised something keep their inputs; the others are stored."""
    engine = compiling(stress)
    monkeypatch.setattr(guard, "SLAB", 256)
    monkeypatch.setattr(windows, "SLAB", 256)
    allocated = []

    def noted(shape, *args, empty=memory.empty):
        allocated.append(int(np.prod(shape)))
        return empty(shape, *args)

    monkeypatch.setattr(memory, "empty", noted)
    a, b = leaves_of(3000, DIVISION, where, (60, 50))
    wide = np.zeros((64, 120))
    place = wide[2:62, 5:105:2] if window == "steps" else wide[2:62, 3:53]
    if window == "columns of a broadcast":
        b = np.ascontiguousarray(b[:, :1])
    if window == "planes":
        a, b, place = a.reshape(60, 5, 10), b.reshape(60, 5, 10), np.zeros((60, 5, 30))[:, :, 10:20]
    place[...] = a
    (expected,), flags = numpy_result(Group(DIVISION, [a, b], [(0, np.empty(a.shape))], a.shape))
    group = Group(DIVISION, [place, b], [(0, place)], a.shape, ALL)
    assert engine.run(group) == flags
    assert sum(allocated) <= 32 * 50
    plane = int(np.prod(a.shape[1:]))
    assert all(start % plane == 0 == stop % plane for start, stop in group.undone)
    undone = undone_elements(group).reshape(a.shape)
    assert undone.any() == bool(flags)
    if flags and len(where) < 3:
        assert not undone.all()
    np.testing.assert_array_equal(place, np.where(undone, a, expected))
    for start, stop in group.undone:
        engine.run(part(group, start, stop, False))
    np.testing.assert_array_equal(place, expected)


@pytest.fixture
def two_threads():
    former = threads.set_num_threads(2)
    yield
    threads.set_num_threads(former)


@pytest.mark.parametrize("stress", [False, True])
@pytest.mark.parametrize("watched", [0, ALL])
@pytest.mark.parametrize(("rows", "columns"), [(2, 60_000), (3, 40_000), (7, 30_000), (40, 9000), (300, 500)])
def test_no_two_threads_replace_the_same_rows(two_threads, rows, columns, watched, stress):
    """Each row is replaced once, however few and long they are."""
    engine = compiling(stress)
    wide = np.arange((rows + 2) * (columns + 2), dtype="d").reshape(rows + 2, -1)
    steps = [
        step(np.divide, (~0, ~1), "dd"),
        step(np.sqrt, (0,), "d"),
        step(np.divide, (1, ~1), "dd"),
        step(np.add, (2, ~0), "dd"),
    ]
    for _ in range(3):  # the second time by what is remembered
        place = wide[1:-1, 1:-1]
        expected = wide.copy()
        np.add(np.sqrt(place / 3.0) / 3.0, place, out=expected[1:-1, 1:-1])
        assert engine.run(Group(steps, [place, np.float64(3)], [(3, place)], place.shape, watched)) == 0
        np.testing.assert_array_equal(wide, expected)
    assert engine.stats.interpreted == 0


def test_parts_of_a_group():
    a, row, wide = np.arange(60.0).reshape(6, 10), np.arange(10.0), np.zeros((6, 20))[:, ::2]
    group = Group(LONG, [a, row, np.float64(2)], [(2, wide)], (6, 10))
    assert not is_flat(group)
    cut = part(group, 20, 50, False)
    assert cut.shape == (3, 10) and cut.leaves[1] is row and cut.leaves[2] == 2 and cut.watched == 0
    np.testing.assert_array_equal(cut.leaves[0], a[2:5])
    assert np.shares_memory(cut.outputs[0][1], wide[2:5]) and not np.shares_memory(cut.outputs[0][1], wide[5])
    group = Group(LONG, [a, a, np.float64(2)], [(2, np.zeros((6, 10)))], (6, 10))
    assert is_flat(group)
    cut = part(group, 13, 17, True)
    assert cut.shape == (4,) and cut.leaves[0].tolist() == [13, 14, 15, 16] and cut.outputs[0][1].shape == (4,)


@pytest.mark.parametrize("itemsize", [8, 16])
def test_a_small_stack_is_enough_for_large_planes(two_threads, itemsize):
    """The copies of what is replaced are as large as a plane, and a thread's stack may be small."""
    engine = compiling()
    wide = np.ones((12, 65_000), "d" if itemsize == 8 else "D")
    place = wide[1:-1, 1:-1]
    steps = [step(np.add, (~0, ~1), (wide.dtype, wide.dtype))]
    former = threading.stack_size(256 << 10)
    try:
        group = Group(steps, [place, wide.dtype.type(2)], [(0, place)], place.shape, ALL)
        thread = threading.Thread(target=engine.run, args=(group,))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(former)
    assert engine.stats.interpreted == 0 and (place == 3).all() and wide[0, 0] == wide[-1, -1] == wide[5, 0] == 1


@pytest.mark.parametrize("through", ["", "e"], ids=["alone", "through halves"])
@pytest.mark.parametrize("dtype", ["e", "f", "d", "h"])
@pytest.mark.parametrize("columns", [4, 5, 7, 8, 9])
@pytest.mark.parametrize("stress", [False, True])
def test_narrow_windows_in_place(dtype, columns, through, stress):
    """Kernels with halves do not go over short rows themselves."""
    engine = compiling(stress)
    wide = np.ones((20, columns + 2), dtype)
    place = wide[1:-1, 1:-1]
    steps = [step(np.add, (~0, ~1), (dtype, dtype))]
    if through:
        steps = [
            cast_step(~0, dtype, through),
            cast_step(0, through, dtype),
            step(np.add, (1, ~1), (dtype, dtype)),
        ]
    for _ in range(3):
        expected = place + place
        engine.run(Group(steps, [place, place.copy()], [(len(steps) - 1, place)], place.shape, ALL))
        np.testing.assert_array_equal(place, expected)


@pytest.mark.parametrize("shape", [(6, 16), (3, 5, 8)])
def test_windows_of_which_nothing_is_stored(backend, shape):
    """A group may run for its flags alone, and do nothing."""
    wide = np.ones((*shape[:-1], 40), "D")
    copy = cast_step(~0, "D", "D")
    assert backend.run(Group([copy], [wide[..., 3 : 3 + shape[-1]]], [], shape)) == 0
