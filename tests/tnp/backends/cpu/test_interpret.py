"""Groups without a kernel: NumPy's steps, into memory of the pool where NumPy would lay a result out by rows."""

import weakref

import numpy as np
import pytest

from tnp.backends.base import Group
from tnp.backends.cpu import guard, interpret, memory
from tnp.backends.cpu.engine import CpuBackend
from tnp.backends.cpu.interpret import Recipe

from .groups import cast_step, numpy_result, same_bits, step, where_step

STEPS = [
    step(np.subtract, (~0, ~1), "dd"),
    step(np.exp, (0,), "d"),
    cast_step(1, "d", "f"),
    step(np.greater, (~0, ~1), "dd"),
    where_step((3, 1, 0), "d"),
    step(np.multiply, (4, ~2), "dd"),
]
N, M = 300, 90


def big(seed):
    return np.random.default_rng(seed).uniform(-2, 2, (N + 2, M + 2))


LAYOUTS = {
    "by rows": lambda a: a[:N, :M].copy(),
    "windows": lambda a: a[1:-1, 1:-1],
    "by columns": lambda a: np.asfortranarray(a[:N, :M]),
    "backwards": lambda a: a[::-1, ::-1][:N, :M],
    "one row": lambda a: np.broadcast_to(a[0, :M], (N, M)),
    "one column": lambda a: np.broadcast_to(a[:N, :1], (N, M)),
    "every other": lambda a: np.repeat(a, 2, axis=1)[:N, : 2 * M : 2],
}


@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", LAYOUTS)
def test_bits_and_flags_of_any_layout(first, second):
    leaves = [LAYOUTS[first](big(1)), LAYOUTS[second](big(2)), np.float64(1.5)]
    outs = [(5, np.empty((N, M))), (2, np.empty((N, M), "f"))]
    group = Group(STEPS, leaves, outs, (N, M))
    expected, flags = numpy_result(Group(STEPS, leaves, [(i, np.empty_like(out)) for i, out in outs], (N, M)))
    assert Recipe(STEPS).run(group) == flags
    for (_, out), want in zip(outs, expected, strict=True):
        assert same_bits(out, want).all()


def test_results_by_rows_have_memory_of_the_pool_and_others_numpys():
    a, b = big(1)[1:-1, 1:-1], big(2)[1:-1, 1:-1]
    made = interpret._pooled([a, b], np.dtype(float))
    assert made.shape == (N, M) and made.flags.c_contiguous and id(made.base) in memory._held_roots
    assert interpret._pooled([a, np.float64(2)], np.dtype("f")).dtype == np.float32
    assert interpret._pooled([np.asfortranarray(a), b], np.dtype(float)) is None
    assert interpret._pooled([a[:, ::-1]], np.dtype(float)) is None
    assert interpret._pooled([np.float64(2)], np.dtype(float)) is None
    assert interpret._pooled([np.broadcast_to(a[0], (N, M)), b], np.dtype(float)) is None


def test_what_no_later_step_reads_is_let_go_at_once():
    alive, seen = [], []

    def noting(call):
        def run(*operands, out=None):
            value = call(*operands, out=out)
            seen.append(sum([r() is not None for r in alive]))
            alive.append(weakref.ref(value))
            return value

        return run

    chain = [step(np.add, (~0, ~0), "dd")] + [step(np.multiply, (i, ~0), "dd") for i in range(6)]
    recipe = Recipe(chain)
    recipe.calls = [(noting(call), args) for call, args in recipe.calls]
    out = np.empty((N, M))
    recipe.run(Group(chain, [big(1)[1:-1, 1:-1]], [(6, out)], (N, M)))
    assert max(seen) == 1  # the operand
    assert seen == [0, *[1] * 6]


def test_windows_without_a_kernel_run_in_slabs(monkeypatch):
    a, b = big(1), big(2)
    place, sizes = a[1:-1, 1:-1], []
    run = Recipe.run
    monkeypatch.setattr(Recipe, "run", lambda self, group: sizes.append(np.prod(group.shape)) or run(self, group))
    monkeypatch.setattr(guard, "FEW", 64 * M)
    steps = [step(np.subtract, (~1, ~2), "dd"), step(np.multiply, (0, ~3), "dd"), step(np.subtract, (~0, 1), "dd")]
    leaves = [place, b[1:-1, 1:-1], b[1:-1, :-2], np.float64(0.5)]
    want = place - 0.5 * (leaves[1] - leaves[2])
    group = Group(steps, leaves, [(2, place)], (N, M), 15)
    CpuBackend(stress=False).run(group)
    assert same_bits(a[1:-1, 1:-1], want).all()
    assert len(sizes) > 1 and max(sizes) <= 64 * M
