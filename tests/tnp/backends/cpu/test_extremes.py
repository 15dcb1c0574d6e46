"""Maximum, minimum, fmax, fmin and clip: NumPy's zeros and NaNs, emitted or not."""

import numpy as np
import pytest

from tnp.backends.base import Group
from tnp.backends.cpu import extremes

from .groups import check, step

PAIRS = [np.maximum, np.minimum, np.fmax, np.fmin]
CLIP = getattr(np, "_core", np).umath.clip


def zeros(n, seed, dtype="d"):
    return np.where(np.random.default_rng(seed + n).random(n) < 0.5, -0.0, 0.0).astype(dtype)


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("ufunc", [*PAIRS, CLIP], ids=lambda u: u.__name__)
@pytest.mark.parametrize("scalars", [False, True])
def test_signed_zeros_at_every_place(engine, ufunc, dtype, scalars):
    one = step(ufunc, tuple(~i for i in range(ufunc.nin)), dtype * ufunc.nin)
    negative = step(np.negative, (~0,), dtype)
    then = step(ufunc, (0, *(~i for i in range(1, ufunc.nin))), dtype * ufunc.nin)
    for n in (1, 2, 3, 4, 7, 8, 9, 15, 17, 31, 33, 63, 65, 100, 1023, 1025):
        x = zeros(n, 1, dtype)
        for sign in (0.0, -0.0) if scalars else (0,):
            bounds = [np.dtype(dtype).type(sign if i else -sign) if scalars else zeros(n, 2 + i, dtype)
                      for i in range(ufunc.nin - 1)]  # fmt: skip
            check(engine, Group([one], [x, *bounds], [(0, np.empty(n, dtype))], (n,)), f"{n}")
            check(engine, Group([negative, then], [x, *bounds], [(1, np.empty(n, dtype))], (n,)), f"{n}, fused")


@pytest.mark.parametrize("ufunc", PAIRS, ids=lambda u: u.__name__)
def test_rows_and_strides(engine, ufunc):
    one = step(ufunc, (~0, ~1), "dd")
    x = zeros(3 * 130, 1).reshape(3, 130)
    for other in (zeros(130, 2), zeros(3, 3).reshape(3, 1), x[:, ::-1], np.asfortranarray(x)):
        if other.shape == (130,) or engine.fusible(one.prim, one.in_dtypes, other):
            check(engine, Group([one], [x, other], [(0, np.empty((3, 130)))], (3, 130)))


def test_clip_between_columns(engine):
    """NumPy has another loop where both bounds are one for a whole row."""
    one = step(CLIP, (~0, ~1, ~2), "ddd")
    for low, high in ((zeros(7, 1).reshape(7, 1), zeros(7, 2).reshape(7, 1)), (np.array(0.0), np.array(-0.0))):
        check(engine, Group([one], [zeros(7 * 60, 3).reshape(7, 60), low, high], [(0, np.empty((7, 60)))], (7, 60)))


def test_numpy_is_asked(monkeypatch):
    """A NumPy whose remainders choose the other zero is not imitated."""

    real = np.maximum

    def other_remainder(a, b):
        result, swapped = real(a, b), real(b, a)
        result[len(result) & -4 :] = swapped[len(result) & -4 :]
        return result

    other_remainder.nin = 2
    monkeypatch.setattr(np, "maximum", other_remainder)
    assert extremes.extreme.__wrapped__("maximum", ("f8", "f8")) is None


def test_integers_are_never_positional():
    for ufunc in PAIRS:
        assert not extremes.positional(step(ufunc, (~0, ~1), "ll"), [np.ones(3, int)] * 2, (3,))
