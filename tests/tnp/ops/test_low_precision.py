"""bfloat16: promotion and elementwise bits are those of ml_dtypes; sums and means round once."""

import io

import ml_dtypes
import numpy
import pytest

import tnp
from tests.programs import execute

BF16 = numpy.dtype(ml_dtypes.bfloat16)
SINGLE = numpy.dtype(numpy.float32)


@pytest.fixture(params=[1, 1 << 40], ids=["recorded", "at once"])
def recorded(request):
    """Operations are recorded, or run at once; warnings go where they go in a program."""
    with execute.at_rest(io.StringIO()), numpy.errstate(all="ignore"), tnp.config(lazy_from=request.param):
        yield request.param == 1


def values(n=1000, seed=0):
    return numpy.random.default_rng(seed).standard_normal(n).astype(BF16)


def same(ours, theirs):
    ours = ours.to_numpy() if isinstance(ours, tnp.ndarray) else ours
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    canonical = [numpy.where(numpy.isnan(x.astype(float)), numpy.nan, x.astype(float)) for x in (ours, theirs)]
    numpy.testing.assert_array_equal(*canonical)


def test_the_dtype_is_a_name_of_the_module():
    assert tnp.bfloat16 is ml_dtypes.bfloat16
    a = tnp.array([1, 2.5, 3], dtype=tnp.bfloat16)
    assert a.dtype == BF16
    same(a, numpy.array([1, 2.5, 3], BF16))
    assert tnp.zeros(3, tnp.bfloat16).dtype == tnp.ones(3, tnp.bfloat16).dtype == BF16


@pytest.mark.parametrize(
    "operation",
    [
        lambda np, a, b: a + b,
        lambda np, a, b: (a * b + a) / b - 1,
        lambda np, a, b: a * 2.5,
        lambda np, a, b: 3 - a,
        lambda np, a, b: -abs(a),
        lambda np, a, b: np.sqrt(np.abs(a)),
        lambda np, a, b: np.exp(a),
        lambda np, a, b: np.tanh(a) * np.log1p(np.abs(b)),
        lambda np, a, b: np.maximum(a, b),
        lambda np, a, b: a < b,
        lambda np, a, b: np.isnan(a / 0),
        lambda np, a, b: np.where(a > b, a, b),
        lambda np, a, b: np.where(a > 0, a, 0.1),
        lambda np, a, b: a.astype(np.float32) + b,
        lambda np, a, b: a + np.arange(1000, dtype=np.float32),
        lambda np, a, b: a + np.arange(1000, dtype=np.float64),
        lambda np, a, b: a + np.arange(1000, dtype=np.float16),
        lambda np, a, b: a + np.arange(1000, dtype=np.int32),
        lambda np, a, b: a + np.arange(1000, dtype=np.int8),
        lambda np, a, b: np.linspace(-3, 3, 1000).astype(a.dtype),
        lambda np, a, b: (a * 100).astype(np.int32),
        lambda np, a, b: (a > 0).astype(a.dtype),
        lambda np, a, b: np.concatenate([a, b * 2]),
        lambda np, a, b: np.stack([a + b, b])[::-1].T,
        lambda np, a, b: a[::-1] * b[::-1],
        lambda np, a, b: np.clip(a, -1, 1),
        lambda np, a, b: a.reshape(10, 100).max(1),
        lambda np, a, b: np.diff(a),
        lambda np, a, b: a**2,
    ],
)
def test_elementwise_operations_round_one_by_one(operation, recorded):
    a, b = values(), values(seed=1)
    same(operation(tnp, tnp.array(a), tnp.array(b)), operation(numpy, a, b))


def test_operations_are_recorded():
    with execute.at_rest(io.StringIO()), tnp.config(lazy_from=1):
        a = tnp.array(values())
        b = a * 2 + 1
        assert b._nd is None, "nothing was recorded"
        b += a
        assert b._nd is None
        same(b, values() * 2 + 1 + values())


def test_a_sum_of_ones_is_their_number(recorded):
    ones = tnp.ones(1000, tnp.bfloat16)
    for total in (
        ones.sum(),
        tnp.sum(ones),
        tnp.add.reduce(ones),
        (ones * 1).sum(),
        ones.dot(ones),
        tnp.inner(ones, ones),
    ):
        assert type(total) is ml_dtypes.bfloat16
        assert total == 1000
    assert ones.mean() == tnp.mean(ones) == 1
    assert ones.var() == ones.std() == 0


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_and_means_round_once(axis, keepdims, recorded):
    a = values(1200).reshape(30, 40)
    wide = a.astype(SINGLE)
    for name in ("sum", "mean", "var", "std"):
        exact = numpy.asarray(getattr(wide.astype(float), name)(axis=axis, keepdims=keepdims))
        for got in (
            getattr(tnp.array(a), name)(axis=axis, keepdims=keepdims),
            getattr(tnp, name)(tnp.array(a), axis, keepdims=keepdims),
        ):
            got = numpy.asarray(got)
            assert got.dtype == BF16
            assert got.shape == exact.shape
            # rounded once: the unit roundoff of 8 significant bits is 2**-8; and float32's own error
            numpy.testing.assert_allclose(got.astype(float), exact, rtol=2**-8 + 1e-5, atol=1e-5)


def test_a_sum_into_out():
    out = tnp.zeros(3, tnp.bfloat16)
    assert tnp.sum(tnp.ones((1000, 3), tnp.bfloat16), axis=0, out=out) is out
    same(out, numpy.full(3, 1000, BF16))


def test_other_dtypes_of_ml_dtypes_are_not_taken_for_numpys(recorded):
    """Their letters are letters of NumPy's dtypes."""
    for name in ("float8_e4m3b11fnuz", "float8_e5m2", "float8_e4m3fn", "int4", "uint4"):
        dtype = numpy.dtype(getattr(ml_dtypes, name))
        a = numpy.array([1, 2, 3, 1], dtype)
        same(tnp.array(a) + tnp.array(a), a + a)
        same(tnp.concatenate([tnp.array(a), tnp.array(a)]), numpy.concatenate([a, a]))


def test_division_by_zero_warns(recorded):
    a = numpy.zeros(4, BF16)
    stream = io.StringIO()
    with execute.at_rest(stream), numpy.errstate(all="warn"):
        b = tnp.array(a) + 1
        c = b / tnp.array(a)
        tnp.evaluate(c)
    assert "divide by zero encountered in divide" in stream.getvalue()
