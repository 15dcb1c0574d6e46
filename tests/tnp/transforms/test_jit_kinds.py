"""Compiled functions of every kind of number, layout and size, against the functions: bits, dtypes, strides."""

import warnings

import numpy
import pytest

import tnp as np
from tests.tnp.transforms.test_jit import agree

rng = numpy.random.default_rng


def v(n, dtype="f8"):
    return lambda s: np.array((rng(s).normal(size=n) * 5).astype(dtype))


CASES = {
    "complex": (lambda z: (z * z.conj() + abs(z), z.real * 2, np.exp(z), (z * z).sum()), v(9, "c16")),
    "f4": (lambda x: (np.sin(x) * x, x.sum(), x.mean(), x**3, np.where(x > 0, x, 0.5)), v(33, "f4")),
    "f2": (lambda x: (x + x * 2, np.exp(x), x.sum()), v(33, "f2")),
    "int": (lambda x: (x // 3, x % 4, x << 1, x.sum(), x * 2.5, x.max(), -x, x**2, (x > 0) & (x < 3)), v(33, "i8")),
    "i4": (lambda x: (x // 3, x % 4, x.sum(), x * 2, x.mean(), x + 1.5), v(33, "i4")),
    "u1": (lambda x: (x + x, x * 2, x.sum(), ~x, x > 3), lambda s: np.array(rng(s).integers(0, 255, 33).astype("u1"))),
    "bool": (
        lambda x: (x & ~x, x.sum(), x.any(), x.all(), x * 2.0, x | True, np.logical_not(x)),
        lambda s: np.array(rng(s).integers(0, 2, 33).astype("?")),
    ),
    "strided": (
        lambda x: (x[::2] * 2 + x[1::2], np.sin(x[::-1]), x[::-2].sum(), np.exp(x[::3]) * x[::3], x[::-1] + x),
        v(34),
    ),
    "3d": (
        lambda x: (
            x.sum(axis=(0, 2)),
            x.sum(axis=1),
            x.transpose(2, 0, 1) * 2,
            x.max(axis=0),
            x.reshape(6, -1).sum(0),
            x.mean(axis=-1, keepdims=True) * x,
            x.sum(axis=(0, 1)),
            x[:, 1].sum(),
        ),
        lambda s: np.array(rng(s).normal(size=(3, 4, 5))),
    ),
    "F": (
        lambda x: (x * 2, x.T + 1, x.sum(0), x.sum(1), np.sin(x), x @ x.T, x.copy(), x.max(1)),
        lambda s: np.asfortranarray(np.array(rng(s).normal(size=(4, 6)))),
    ),
    "big": (lambda x: (np.sin(x) * x + 1, x.sum(), x[1:] - x[:-1]), v(200001)),
    "zero": (lambda x: (x * 2, x.sum(), x + x), v(0)),
    "one": (
        lambda x: (np.sin(x) * 2, x.sum(), np.maximum(x, 0), x**2.5, np.exp(x)),
        lambda s: np.array(abs(rng(s).normal(size=1))),
    ),
    "0d": (lambda x: (np.sin(x) * 2, x + 1, x * x, x[()], x[...]), lambda s: np.array(numpy.float64(s + 1.5))),
    "overl": (
        lambda x: (
            x.__setitem__(slice(2, None), x[:-2] * 2),
            x.__setitem__(slice(None, -1), x[1:]),
            x.__iadd__(x[::-1]),
        )[:1],
        v(21),
    ),
    "mixed": (
        lambda x: (
            x.astype("f4") + x,
            x.astype("i4") * 2,
            (x > 0).astype("f8") + x.astype("?"),
            np.arange(7) * x,
            np.add(x, 1, dtype="f8"),
        ),
        v(7),
    ),
    "var": (
        lambda x: (
            x.var(),
            x.std(),
            np.median(x),
            np.percentile(x, 30),
            np.ptp(x),
            np.linalg.norm(x),
            np.cumsum(x),
            np.diff(x),
        ),
        v(50),
    ),
    "minus0": (
        lambda x: (
            np.maximum(x * 0.0, -0.0 * x),
            (x * 0).sum(),
            np.minimum(x * 0.0, 0.0),
            np.clip(x * 0, -0.0, 0.0),
            (x * -0.0).max(),
            (x * 0).min(),
            np.fmax(x * 0, -x * 0),
        ),
        v(37),
    ),
    "nan": (
        lambda x: (
            np.maximum(x * np.nan, x),
            (x * np.nan).sum(),
            (x * np.nan).max(),
            np.where(np.isnan(x * np.nan), 1, x),
        ),
        v(37),
    ),
    "matmuls": (
        lambda a: (
            a @ a,
            a @ a.T,
            a[0] @ a,
            a @ a[0],
            a[:, 0] @ a[:, 1],
            np.dot(a, a),
            a[::2] @ a[:, ::2],
            (a @ a)[1:] @ a[:, 1],
            np.matmul(a[None], a),
            a.T @ a,
        ),
        lambda s: np.array(rng(s).normal(size=(7, 7))),
    ),
    "loop": (lambda x: [*[x.__setitem__(i, np.sin(x[i - 1]) + x[i]) for i in range(1, 10)][:0], x.sum()], v(10)),
    "pow": (
        lambda x: (x**2, x**-1, x**0.5, x**3, x**2.0, abs(x) ** -1.5, x**0, 2**x, x**1, np.power(x, 2), np.square(x)),
        lambda s: np.array(abs(rng(s).normal(size=11)) + 0.1),
    ),
    "ipow": (
        lambda x: (x.__ipow__(2), x.__ipow__(0.5), x.__ipow__(3))[0],
        lambda s: np.array(abs(rng(s).normal(size=11)) + 0.1),
    ),
    "divs": (
        lambda x: (x // 2, x % 1.5, divmod(x, 2), np.floor_divide(x, 0.7), np.remainder(x, -2), np.fmod(x, 2)),
        v(20),
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_kinds(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(*CASES[kind])
