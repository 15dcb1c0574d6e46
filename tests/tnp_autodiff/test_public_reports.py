"""Reports of wrong or undefined gradients in other projects, each with the right value, by both modes.

The names are repositories on github.com and numbers of their issues and pull requests.
"""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import GradientTape, Variable, custom_gradient, grad, jvp, recompute_grad

nan, inf, pi = numpy.nan, numpy.inf, numpy.pi
GRID = numpy.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])
S = numpy.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
R = numpy.random.default_rng(0).normal(size=(3, 2, 3, 2))


def lengths(x):
    n = tnp.sqrt(tnp.sum(x**2, axis=1))
    return tnp.where(n > 0.5, n, tnp.ones_like(n)).sum()


def first_column(x):
    """x[0, 0] takes all elements in, one after another."""
    chart = tnp.zeros((1, 1))
    for i in range(3):
        chart[0, 0] = tnp.sum(tnp.array([x[i], chart[0, 0]]))
    return chart[0, 0]


def block(x):
    b = tnp.zeros((4, 4))
    b[:2, :2] = x
    return b.sum()


def rows(x):
    r = tnp.zeros(3)
    for m in range(3):
        r[m] = tnp.sum(x[m] * x[0])
    return r.sum()


def in_place_on_a_view(x):
    base = x * 1.0
    v = base[1]
    v *= x[0]
    base[1:, 0] += v[1]
    return (base * base).sum()


def in_place_on_a_view_without_writes(x):
    v = x[1] * x[0]
    base = tnp.stack([x[0], v, x[2]])
    base = base + v[1] * tnp.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    return (base * base).sum()


def products(x):
    a = tnp.ones(2)
    tnp.multiply.at(a, [0, 0, 0], x)
    return a[0] + a[1]


def windows(x):
    view = tnp.lib.stride_tricks.sliding_window_view(x, (3, 3))[::2, ::2]
    return (view**2.0).sum()


def seen(size, step, width):
    """How often windows of so many elements see each element."""
    count = numpy.zeros(size)
    for i in range(0, size - width + 1, step):
        count[i : i + width] += 1
    return count


def chosen_by_itself(x):
    y = tnp.zeros(3)
    y[tnp.to_numpy(tnp.array([1, 2, 3])) - 1] = x
    return y.sum()


def choice(value):
    """`where` with a constant condition."""
    return lambda ok, f, g: lambda x: tnp.where(numpy.array(ok), f(x), g(x)).sum() * value


def logdet_by_cholesky(x):
    return 2 * tnp.sum(tnp.log(tnp.diag(tnp.linalg.cholesky(x))))


def inverse_by_cholesky(x):
    low = tnp.linalg.inv(tnp.linalg.cholesky(x)).T
    return tnp.trace(low @ low.T)


def two_largest(x):
    u, s, v = tnp.linalg.svd(x)
    return s[0] + 0.0 * (u[:, 0] * v[0]).sum()


REPORTS = [
    # branches that are not taken
    ("jax-ml/jax#347", lengths, GRID, GRID / numpy.array([[5**0.5], [5.0], [1.0]])),
    ("jax-ml/jax#1052", choice(1.0)([False, True, False], lambda x: 0.0 * x, lambda x: tnp.arctan2(x, x)),
     [3.0, 0.0, -5.0], [0, 0, 0]),
    ("tensorflow/tensorflow#38349", lambda x: tnp.where(x < 15, x, tnp.power(10.0, tnp.exp(x))), 10.0, 1),
    ("tensorflow/tensorflow#2540", lambda x: tnp.where(x > 0, 0.0, tnp.exp(x)), 1e10, 0),
    ("tensorflow/tensorflow#27684", lambda a: tnp.where(R[0, 0, 0] >= 0, a * tnp.log(tnp.array(R[0, 0, 0])), 0.0).sum(),
     1.0, numpy.log(R[0, 0, 0][R[0, 0, 0] >= 0]).sum()),
    ("tensorflow/tensorflow#20355", lambda x: tnp.where(x < 0, 1 / (1 - x), tnp.log(x + 1)).sum(),
     [1.0, -1.0], [0.5, 0.25]),
    ("tinygrad/tinygrad#12409", lambda x: tnp.where(x == 0, 0.0, x * tnp.sqrt(x)).sum(), [0.0], [0]),
    # norms at zero
    ("jax-ml/jax#3058", tnp.linalg.norm, [0.0, 0.0], [0, 0]),
    ("jax-ml/jax#4177", lambda x: tnp.linalg.norm(x) ** 2, [0.0, 0.0], [0, 0]),
    ("HIPS/autograd#151", tnp.linalg.norm, [0.0, 0.0, 0.0], [0, 0, 0]),
    ("HIPS/autograd#617", lambda x: (tnp.linalg.norm(x, axis=-1) ** 2).sum(), [[0.0, 0.0], [3.0, 4.0]],
     [[0, 0], [6, 8]]),
    ("pytorch/pytorch#2421", tnp.linalg.norm, [0.0], [0]),
    # absolute values at zero
    ("HIPS/autograd#100", abs, 0.0, 0),
    ("jax-ml/jax#10515", lambda x: tnp.sum(abs(x)), [[1 + 0j, 2.0], [0.0, -1.0]], [[1, 1], [0, -1]]),
    ("FluxML/Zygote.jl#1472", lambda x: abs(x).sum(), [0j], [0]),
    # ties
    ("pytorch/pytorch#56734", lambda x: tnp.maximum(x[0], x[1]), [2.0, 2.0], [0.5, 0.5]),
    ("Theano/Theano#4568", tnp.max, [1.0, 1.0], [0.5, 0.5]),
    ("jax-ml/jax#13600", lambda x: x.max(), [1.0, 1.0], [0.5, 0.5]),
    ("jax-ml/jax#13600 by index", lambda x: x[int(numpy.argmax(plain(x)))], [1.0, 1.0], [1, 0]),
    ("apache/mxnet#18563", lambda x: tnp.max(x, axis=0).sum(), numpy.ones((4, 3)), numpy.full((4, 3), 0.25)),
    ("HIPS/autograd#141", lambda x: tnp.max(tnp.stack([x, x])), 3.0, 1),
    # near zero
    ("pytorch/pytorch#56760", tnp.sinc, 0.0, 0),
    ("jax-ml/jax#34139", tnp.sinc, 1e-6, -(pi**2) / 3 * 1e-6),
    ("pytorch/pytorch#187803", grad(tnp.sinc), 0.0, -(pi**2) / 3),
    ("jax-ml/jax#39799", tnp.sqrt, 5e-324, 0.5 / numpy.sqrt(5e-324)),
    ("ml-explore/mlx#2451", lambda x: tnp.arctan2(x, tnp.array([2.0, 3, 4, 5])).sum(), [1.0, 2, 3, 4],
     [2 / 5, 3 / 13, 4 / 25, 5 / 41]),
    ("coin-or/CppAD#120", lambda v: tnp.arctan2(v[1], v[0]), [1.0, 0.0], [0, 1]),
    ("jax-ml/jax#18605", lambda x: tnp.arctan2(x, 1e-10), 1e-10, 5e9),
    ("pytorch/pytorch#98276", tnp.angle, 5.6843e-14 + 1e-13j, (-1e-13 + 5.6843e-14j) / (5.6843e-14**2 + 1e-26)),
    # infinite arguments
    ("jax-ml/jax#6811", lambda x: tnp.logsumexp(tnp.stack([tnp.array(-inf), -inf + x])), 1.0, 0),
    ("pytorch/pytorch#31829", tnp.logsumexp, [-inf, -inf], [0, 0]),
    ("jax-ml/jax#2107", tnp.softplus, 0.0, 0.5),
    ("keras-team/keras#23616", lambda x: tnp.logaddexp(x[0], x[1]), [2.0, 2.0], [0.5, 0.5]),
    ("jax-ml/jax#764", lambda x: tnp.tanh(x).sum(), [190.0, 200.0], [0, 0]),
    ("jax-ml/jax#777", lambda x: (1 / (1 + tnp.exp(-x))).sum(), [-1000.0, -200.0, 0.0], [0, numpy.exp(-200), 0.25]),
    ("JuliaDiff/ForwardDiff.jl#745", lambda a: a[0] * tnp.exp(-a[1]), [1.0, -1e3], [inf, -inf]),
    # powers and products
    ("stan-dev/math#3031", lambda x: (x ** tnp.array([0.0, 1.0, 1.5, 2.0, 0.5])).sum(), [0.0] * 5, [0, 1, 0, 0, inf]),
    ("tensorflow/tfjs#346", lambda x: tnp.power(0.0, x), 2.0, 0),
    ("tensorflow/tensorflow#3862", lambda x: tnp.cumprod(x).sum(), [0.0], [1]),
    ("tensorflow/tensorflow#119430", lambda x: tnp.cumprod(x).sum(), [0.0, 2, 3], [9, 0, 0]),
    ("tensorflow/tensorflow#119430 at the end", lambda x: tnp.cumprod(x).sum(), [2.0, 3, 0], [4, 2, 6]),
    ("tensorflow/tensorflow#119430 twice", lambda x: tnp.cumprod(x).sum(), [2.0, 0, 0, 3], [1, 2, 0, 0]),
    ("Theano/Theano#5197", lambda x: (tnp.cumprod(x) ** 2).sum(), [1.0, 0.0], [2, 0]),
    ("tinygrad/tinygrad#17404", tnp.prod, [0.0, 2, 3], [6, 0, 0]),
    ("tinygrad/tinygrad#17404 twice", tnp.prod, [0.0, 0, 3], [0, 0, 0]),
    # deviations
    ("pytorch/pytorch#4320", lambda x: x.std(axis=0).mean(), numpy.ones((4, 2)), numpy.zeros((4, 2))),
    ("jax-ml/jax#11716", tnp.std, [1.0, 1.0], [0, 0]),
    ("jax-ml/jax#8128", tnp.nanstd, [nan, 1.0, 2, 3, 4], numpy.array([0, -1.5, -0.5, 0.5, 1.5]) / (4 * 1.25**0.5)),
    ("jax-ml/jax#9040", lambda x: tnp.nanmean(x**2), [nan, 1.0, 2, 3, 4], [0, 0.5, 1, 1.5, 2]),
    ("PaddlePaddle/Paddle#42385", tnp.nanmedian, [nan, 2.0, 3, 2, 3, nan], [0, 0, 0.5, 0.5, 0, 0]),
    # bounds
    ("pytorch/pytorch#7049", lambda x: tnp.clip(x, 0.0, 1.0).sum(), [0.0, 1.0, 2.0], [1, 1, 0]),
    ("Theano/Theano#633", lambda x: tnp.clip(x, 0.0, x), 5.0, 1),
    # linear algebra
    ("HIPS/autograd#56", logdet_by_cholesky, S, numpy.linalg.inv(S)),
    ("pytorch/pytorch#22807", lambda x: tnp.log(tnp.linalg.eigvalsh(x)).sum(), S, numpy.linalg.inv(S)),
    ("pytorch/pytorch#18825", inverse_by_cholesky, S, -numpy.linalg.inv(S) @ numpy.linalg.inv(S)),
    ("jax-ml/jax#669", lambda x: tnp.linalg.eigh(x).eigenvalues.sum(), numpy.eye(3), numpy.eye(3)),
    ("jax-ml/jax#2311", two_largest, numpy.ones((5, 5)), numpy.full((5, 5), 0.2)),
    ("HIPS/autograd#115", lambda x: tnp.einsum("ii->", x), GRID[:2], numpy.eye(2)),
    ("HIPS/autograd#242", lambda x: tnp.sum(tnp.einsum("abcd->bd", x) ** 2), R,
     numpy.broadcast_to(2 * R.sum((0, 2))[:, None], R.shape)),
    ("ooples/AiDotNet.Tensors#779", lambda x: tnp.real(tnp.fft.rfft(x)).sum(), [[1.0], [2.0]], [[1], [1]]),
    # writes and views
    ("HIPS/autograd#58", block, GRID[:2], numpy.ones((2, 2))),
    ("HIPS/autograd#177", rows, GRID, [GRID.sum(0) + GRID[0], GRID[0], GRID[0]]),
    ("HIPS/autograd#13", first_column, [1.0, 2, 3], [1, 1, 1]),
    ("pytorch/pytorch#3313", in_place_on_a_view, GRID, plain(grad(in_place_on_a_view_without_writes)(GRID))),
    ("jax-ml/jax#1104", chosen_by_itself, [1.0, 2, 3], [1, 1, 1]),
    ("jax-ml/jax#12469", products, [2.0, 3, 5], [15, 10, 6]),
    ("pytorch/pytorch#20806", windows, numpy.ones((8, 8)), 2 * numpy.outer(seen(8, 2, 3), seen(8, 2, 3))),
]  # fmt: skip


@pytest.mark.parametrize(("report", "f", "x", "want"), REPORTS, ids=[r[0] for r in REPORTS])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_right_values(report, f, x, want):
    x, want = numpy.array(x), numpy.array(want)
    g = plain(grad(f)(tnp.array(x)))
    numpy.testing.assert_allclose(g, want, rtol=1e-12, atol=1e-13)
    for unit in (1.0,) if x.dtype.kind == "f" else (1.0, 1j):
        for k in numpy.ndindex(x.shape):
            t = numpy.zeros_like(x)
            t[k] = unit
            along = float(plain(jvp(f, (tnp.array(x),), (tnp.array(t),))[1]))
            numpy.testing.assert_allclose(along, (numpy.conj(unit) * want[k]).real, rtol=1e-12, atol=1e-13)


def test_enough_reports_of_each_project():
    projects = [name.split()[0].split("#") for name, *_ in REPORTS]
    assert len({tuple(p) for p in projects}) >= 50
    assert {"jax-ml/jax", "HIPS/autograd", "tensorflow/tensorflow", "pytorch/pytorch"} <= {p[0] for p in projects}


def test_in_place_division_by_complex_numbers():
    """HIPS/autograd#77."""

    def f(x, in_place):
        z = tnp.exp(1j * tnp.linspace(0, 3, 10))
        p = tnp.exp(1j * x - 0.1)
        h = z + 1.0
        if in_place:
            h /= (z - p) * (z - tnp.conj(p))
        else:
            h = h / ((z - p) * (z - tnp.conj(p)))
        return tnp.mean(abs(h))

    assert float(grad(f)(0.1, True)) == pytest.approx(-107.22571311244289, rel=1e-12)
    assert float(grad(f)(0.1, False)) == pytest.approx(-107.22571311244289, rel=1e-12)


def test_one_array_as_two_arguments_of_a_recomputed_function():
    """tensorflow/tensorflow#36999."""
    x = tnp.ones(3)
    with GradientTape() as tape:
        tape.watch(x)
        y = recompute_grad(lambda a, b: a + b)(x, x)
    assert tape.gradient(y, x).tolist() == [2, 2, 2]


def test_variables_reach_the_gradient_function():
    """tensorflow/tensorflow#31945."""
    outside = Variable(3.0, name="outside")

    @custom_gradient
    def f(x):
        return x * outside, lambda g, variables=None: (g * outside, [g * x for _ in variables])

    with GradientTape() as tape:
        y = f(tnp.array(2.0))
    assert tape.gradient(y, outside) == 2
