"""Programs: each instruction gives NumPy's bits, and says what it raised."""

import numpy as np
import pytest

from tnp.backends.base import DIVIDE, INVALID, Step
from tnp.backends.cpu.engine import CpuBackend
from tnp.backends.program import ARENA, Choose, Launch, Move, Multiply, Place, Reduce, Spread, Unfit
from tnp.core.elementwise import PRIMITIVES
from tnp.core.native import COMPILED, address

pytestmark = pytest.mark.skipif(not COMPILED, reason="programs need a compiler")
F8, BOOL = np.dtype("f8"), np.dtype(bool)
rng = np.random.default_rng(3)
SHAPES = [
    ((1,), (0,)), ((7,), (0,)), ((300,), (0,)), ((20, 30), (0, 1)), ((20, 30), (0,)), ((20, 30), (1,)),
    ((3, 4, 5), (0, 2)), ((3, 4, 5), (1,)), ((30, 3), (0,)), ((1, 9), (0,)), ((2000,), (0,)),
]  # fmt: skip


@pytest.fixture
def backend():
    return CpuBackend(stress=False)


def place(block, nd):
    """The place of an array that lies at the beginning of a block, or of a view of one."""
    base = nd if nd.base is None else nd.base
    return Place(block, address(nd) - address(base), nd.shape, nd.strides, nd.dtype)


def run(backend, instructions, *blocks, arena=64):
    program = backend.assemble(instructions, np.zeros(arena, "u1"), np.zeros(8, "u1"))
    flags = program.run([address(b) for b in blocks])
    program.release()
    return flags


def step(name, *args):
    prim = PRIMITIVES[getattr(np, name)]
    return Step(prim, args, (F8,) * len(args), F8)


def test_launch(backend):
    x, y, out = rng.normal(size=50), rng.normal(size=50), np.empty(50)
    steps = [step("sin", ~0), step("multiply", 0, ~1), step("add", 1, ~2)]
    launch = Launch(steps, [place(0, x), place(1, y), np.float64(2.5)], [(2, place(2, out))], (50,), None, False)
    assert run(backend, [launch], x, y, out) == 0
    assert out.tobytes() == (np.sin(x) * y + 2.5).tobytes()


def test_numbers_in_blocks_and_strided_results(backend):
    x, s, out = rng.normal(size=(6, 5)), np.array(3.0), np.zeros((6, 10))
    launch = Launch(
        [step("multiply", ~0, ~1)], [place(0, x), place(1, s)], [(0, place(2, out[:, ::2]))], (6, 5), None, False
    )
    program = backend.assemble([launch], np.zeros(64, "u1"), np.zeros(8, "u1"))
    for k in (3.0, 4.0):
        s[...] = k
        assert program.run([address(x), address(s), address(out)]) == 0
        program.release()
        assert (out[:, ::2] == x * k).all()
        assert not out[:, 1::2].any()


def test_flags(backend):
    x, out = np.array([0.0, 1.0, -1.0]), np.empty(3)
    for quiet in (False, True):
        divide = Launch([step("divide", ~1, ~0)], [place(0, x), np.float64(1)], [(0, place(1, out))], (3,), None, quiet)
        root = Launch([step("sqrt", ~0)], [place(0, x)], [(0, place(1, out))], (3,), None, quiet)
        assert run(backend, [divide], x, out) == (0 if quiet else DIVIDE)
        assert run(backend, [divide, root], x, out) == (0 if quiet else DIVIDE | INVALID)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8", "u4"])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_reduce(backend, ufunc, dtype, shape, axes):
    x = (1 + rng.normal(size=shape)).astype(dtype)
    if ufunc in (np.maximum, np.minimum) and dtype == "c16":
        return
    for nd in (x, x.T if x.ndim > 1 else x[::-1]):
        with np.errstate(all="ignore"):
            want = ufunc.reduce(nd, axis=axes)
        out = np.empty(want.shape, nd.dtype)
        if want.dtype != nd.dtype:
            continue
        base = nd if nd.base is None else nd.base
        reduce = Reduce(ufunc, place(0, nd), axes, place(1, out), False)
        if not backend.does(reduce):
            with pytest.raises(Unfit):
                run(backend, [reduce], base, out)
            continue
        assert run(backend, [reduce], base, out) >= 0
        assert out.tobytes() == np.asarray(want).tobytes()


def test_every_usual_reduction_is_done(backend):
    for shape, axes in [((10,), (0,)), ((20, 30), (0,)), ((20, 30), (1,)), ((20, 30), (0, 1))]:
        x = np.empty(shape)
        out = np.empty([n for d, n in enumerate(shape) if d not in axes])
        for ufunc in (np.add, np.maximum):
            assert backend.does(Reduce(ufunc, place(0, x), axes, place(1, out), False)), (ufunc, shape, axes)


@pytest.mark.parametrize(
    ("a", "b"), [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((40, 50), (50, 60))]
)
@pytest.mark.parametrize("raw", [np.matmul, np.dot])
def test_multiply(backend, raw, a, b):
    x, y = rng.normal(size=a), rng.normal(size=b)
    want = np.asarray(raw(x, y))
    out = np.empty(want.shape)
    assert run(backend, [Multiply(raw, place(0, x), place(1, y), place(2, out), False)], x, y, out) == 0
    assert out.tobytes() == want.tobytes()


def test_move(backend):
    x, out = rng.normal(size=(4, 6)), np.zeros((6, 8))
    for source in (x, x.T[::-1], np.broadcast_to(x[0], (3, 6)), x[:, :1], x[1, 2:3]):
        target = out.T[: source.shape[0], : source.shape[1]] if source.ndim == 2 else out[0, :1]
        base = x
        offset = address(source) - address(base)
        move = Move(Place(0, offset, source.shape, source.strides, F8), place(1, target))
        assert run(backend, [move], x, out) == 0
        assert (target == source).all()


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "u1"])
def test_choose_and_spread(backend, dtype):
    x = (rng.normal(size=30) * 9).astype(dtype)
    for mask in (x > 0, np.ones(30, bool), np.zeros(30, bool)):
        chosen, out = np.zeros(30, dtype), np.zeros(30, dtype)
        other = ~mask
        choose = Choose(place(0, x), place(1, mask), place(2, chosen), 0)
        assert (
            run(backend, [choose, Spread(place(2, chosen), place(1, mask), place(3, out), 0)], x, mask, chosen, out)
            == 0
        )
        assert chosen[: mask.sum()].tolist() == x[mask].tolist()
        assert (out[mask] == x[mask]).all()
        assert not out[other].any()
        if mask.sum() != other.sum():
            spread = Spread(place(2, chosen), place(3, other), place(0, x), 0)
            assert run(backend, [choose, spread], x, mask, chosen, other) == -1


def test_a_program_runs_once_at_a_time(backend):
    x, y = np.arange(3.0), np.zeros(3)
    program = backend.assemble([Move(place(0, x), place(1, y))], np.zeros(64, "u1"), np.zeros(8, "u1"))
    blocks = [address(x), address(y)]
    assert [program.run(blocks), program.run(blocks)] == [0, -2]
    program.release()
    assert program.run(blocks) == 0
    assert y.tolist() == [0, 1, 2]


def test_arena_and_explanations(backend):
    x, out = rng.normal(size=4), np.empty(4)
    apart = Place(ARENA, 0, (4,), (8,), F8)
    program = backend.assemble(
        [Move(place(0, x), apart), Move(apart, place(1, out))], np.zeros(64, "u1"), np.zeros(8, "u1")
    )
    program.run([address(x), address(out)])
    assert (out == x).all()
    assert program.arena[:32].view("f8").tolist() == x.tolist()
    assert program.explain() == ["move to (4,) float64"] * 2


def test_what_no_kernel_can_hold(backend):
    x = np.zeros(3, "g")
    launch = Launch(
        [Step(PRIMITIVES[np.add], (~0, ~0), (x.dtype,) * 2, x.dtype)],
        [place(0, x)],
        [(0, place(0, x))],
        (3,),
        None,
        False,
    )
    with pytest.raises(Unfit):
        run(backend, [launch], x)
    assert backend.supports(PRIMITIVES[np.add], (x.dtype, x.dtype)) is None
    assert backend.supports(PRIMITIVES[np.add], (F8, F8)) == "exact"
    assert backend.supports(PRIMITIVES[np.sin], (F8,)) == "loop"
