"""Views and copies, indexing, joining and sorting: every element's cotangent comes back to where it was read."""

import copy

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check, plain
from tnp_autodiff import LeavingTapeWarning, grad

RNG = numpy.random.default_rng(4)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))

ONE = {
    "T": lambda np, x: x.T * 1.0,
    "reshape": lambda np, x: x.reshape(4, 3) * x.T,
    "reshapeF": lambda np, x: x.reshape((4, 3), order="F"),
    "Treshape": lambda np, x: x.T.reshape(2, 6),
    "ravel": lambda np, x: np.ravel(x.T) * 1.0,
    "ravelF": lambda np, x: x.ravel("F"),
    "flatten": lambda np, x: x.flatten(),
    "flattenF": lambda np, x: x.flatten("F"),
    "np.reshape": lambda np, x: np.reshape(x.T, (2, -1)),
    "flip": lambda np, x: np.flip(x, 1) * 1.0,
    "roll": lambda np, x: np.roll(x, 1, 1),
    "roll0": lambda np, x: np.roll(x, 5),
    "rot90": lambda np, x: np.rot90(x) * 1.0,
    "repeat": lambda np, x: np.repeat(x, 2, 1),
    "repeat2": lambda np, x: x.repeat([1, 2, 3, 4], axis=1),
    "tile": lambda np, x: np.tile(x, (2, 2)),
    "pad": lambda np, x: np.pad(x, 1),
    "padedge": lambda np, x: np.pad(x, ((1, 2), (0, 1)), mode="edge"),
    "padref": lambda np, x: np.pad(x, 2, mode="reflect"),
    "padwrap": lambda np, x: np.pad(x, 1, mode="wrap"),
    "padmean": lambda np, x: np.pad(x, 1, mode="mean"),
    "padramp": lambda np, x: np.pad(x, 2, mode="linear_ramp", end_values=3.0),
    "take": lambda np, x: np.take(x, [0, 2, 2], axis=1),
    "take2": lambda np, x: x.take([1, 5, 1]),
    "taw": lambda np, x: np.take_along_axis(x, np.argsort(x, axis=1), 1),
    "compress": lambda np, x: np.compress([True, False, True], x[:, 0]),
    "extract": lambda np, x: np.extract(np.array([True, False, True]), x[:, 0]),
    "compress2": lambda np, x: np.compress([True, False, True], x, axis=0),
    "mcompress": lambda np, x: x.compress([True, False, True], axis=0),
    "diag1": lambda np, x: np.diag(x[0]),
    "diag2": lambda np, x: np.diag(x) * 1.0,
    "diagonal": lambda np, x: x.diagonal(1) * 1.0,
    "diagflat": lambda np, x: np.diagflat(x[:2]),
    "tril": lambda np, x: np.tril(x),
    "triu": lambda np, x: np.triu(x, 1),
    "delete": lambda np, x: np.delete(x, 1, axis=0),
    "resize": lambda np, x: np.resize(x, (5, 3)),
    "sort": lambda np, x: np.sort(x, axis=0),
    "sortn": lambda np, x: np.sort(x, axis=None),
    "partition": lambda np, x: np.partition(x, 2, axis=1),
    "split": lambda np, x: np.split(x, 2, axis=1)[1] * 2,
    "hsplit": lambda np, x: np.hsplit(x, 2)[0] * x[0, 0],
    "squeeze": lambda np, x: np.squeeze(x[None]) * 1.0,
    "expand": lambda np, x: np.expand_dims(x, 1) * 1.0,
    "moveaxis": lambda np, x: np.moveaxis(x, 0, 1) * 1.0,
    "swapaxes": lambda np, x: x.swapaxes(0, 1) * 1.0,
    "bto": lambda np, x: np.broadcast_to(x, (2, 3, 4)) * np.arange(24.0).reshape(2, 3, 4),
    "atleast": lambda np, x: np.atleast_3d(x) * 2,
    "swv": lambda np, x: np.lib.stride_tricks.sliding_window_view(x[0], 2) ** 2,
    "copy": lambda np, x: np.copy(x) * x.copy(),
    "diff": lambda np, x: np.diff(x, axis=1),
    "diff2": lambda np, x: np.diff(x, n=2, axis=1, prepend=0.0),
    "unwrap": lambda np, x: np.unwrap(x * 3),
    "vander": lambda np, x: np.vander(x[0], 3),
    "nan_to_num": lambda np, x: np.nan_to_num(x) * x,
    "el": lambda np, x: x[0, 1] * x[2, 2] * 1.0,
    "row": lambda np, x: x[1] * x[0],
    "neg": lambda np, x: x[::-1, ::2] * 1.0,
    "fancy": lambda np, x: x[[0, 2, 2]],
    "fancy2": lambda np, x: x[[0, 2, 2], [1, 1, 3]],
    "mix": lambda np, x: x[1:, [0, 0, 3]],
    "mask": lambda np, x: x[np.array([[True, False, True, True]] * 3)],
    "none": lambda np, x: x[:, None, [1, 2]],
    "ell": lambda np, x: x[..., 0] * 1.0,
    "npint": lambda np, x: x[numpy.int64(1)] * 1.0,
    "mask1": lambda np, x: x[np.array([True, False, True])],
    "iter": lambda np, x: sum(r[0] * r[1] for r in x) * 1.0,
    "iter1": lambda np, x: sum(e * e for e in x[0]) * 1.0,
    "fancyview": lambda np, x: x.T[::-1][[0, 1, 1]],
    "apply_along": lambda np, x: np.apply_along_axis(lambda v: v * v[0], 1, x),
    "piecewise": lambda np, x: np.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, lambda v: 3 * v]),
}
TWO = {
    "concat": lambda np, x, y: np.concatenate([x, y * 2], axis=1),
    "concat none": lambda np, x, y: np.concatenate((x, y, x), axis=None),
    "stack": lambda np, x, y: np.stack([x, y], 1),
    "vstack": lambda np, x, y: np.vstack([x, y]),
    "hstack": lambda np, x, y: np.hstack([x, y]),
    "dstack": lambda np, x, y: np.dstack([x, y]),
    "col": lambda np, x, y: np.column_stack([x, y[:, 0]]),
    "block": lambda np, x, y: np.block([[x, y], [y, x]]),
    "append": lambda np, x, y: np.append(x, y, axis=0),
    "insert": lambda np, x, y: np.insert(x, 1, y[0], axis=0),
    "select": lambda np, x, y: np.select([x > 1, x < 0], [x * x, y], 0.0),
    "choose": lambda np, x, y: np.choose(np.array([[0, 1, 1, 0]] * 3), [x, y]),
    "array": lambda np, x, y: np.array([x[0], y[1], [1, 2, 3, 4.0]]),
    "array2": lambda np, x, y: np.array([[x[0, 0], 2.0], [y[1, 2], x[0, 0]]]),
    "asarray": lambda np, x, y: np.asarray(x) * np.asarray([y[0, 0], 1, 2, 3]),
    "trapz": lambda np, x, y: np.trapezoid(x, y, axis=1),
    "full": lambda np, x, y: np.full((2, 4), x[0]) + np.full_like(x[:2], y[0, 0]),
    "linspace": lambda np, x, y: np.linspace(x[0], y[0], 5),
    "broadcast_arrays": lambda np, x, y: np.broadcast_arrays(x[0], y)[0] * np.broadcast_arrays(x[0], y)[1],
    "r_": lambda np, x, y: np.r_[x, y, x[:1]] * np.r_["0,2", x[0], y[0], 1.0:5.0][2:],
    "c_": lambda np, x, y: np.c_[x, y] + np.c_[x[0], y[0]].sum(),
    "meshgrid": lambda np, x, y: np.meshgrid(x[0], y[0])[0] * np.meshgrid(x[0], y[0])[1],
    "gradient": lambda np, x, y: np.gradient(x, axis=1) * y,
    "ediff": lambda np, x, y: np.ediff1d(x) * y[0, 0],
    "bincount": lambda np, x, y: np.bincount([0, 2, 2, 5], x[0] * y[1], minlength=8),
    "polynomials": lambda np, x, y: np.polyadd(np.polymul(x[0], y[0]), np.polyder(y[1])),
    "more polynomials": lambda np, x, y: np.polysub(np.polyint(x[0], 2, k=[1, 2]), y[1]),
    "logspace": lambda np, x, y: np.logspace(x[0], y[0], 5),
    "geomspace": lambda np, x, y: np.geomspace(1 + x[0] ** 2, 1 + y[0] ** 2, 5),
    "geomspace of negative numbers": lambda np, x, y: np.geomspace(-1 - x[0] ** 2, -1 - y[0] ** 2, 4, endpoint=False),
    "matvec": lambda np, x, y: np.matvec(x, y[0]),
    "vecmat": lambda np, x, y: np.vecmat(x[:, 0], y),
    "copies": lambda np, x, y: copy.copy(x) * copy.deepcopy(y),
    "conjugates": lambda np, x, y: (x + 1j * y).conj() * x.conjugate(),
    "sort_complex": lambda np, x, y: np.sort_complex(x * y),
    "require": lambda np, x, y: np.require(x.T, requirements="C") * np.require(y.T),
}


@pytest.mark.parametrize("name", ONE)
def test_of_one_array(name):
    check(ONE[name], A)


@pytest.mark.parametrize("name", TWO)
def test_of_two_arrays(name):
    check(TWO[name], A, B, loops=name.startswith("geomspace"))


@pytest.mark.parametrize("dtype", ["i8", "u1", "i4"])
def test_a_cast_to_integers_leaves_the_tape(dtype):
    with pytest.warns(LeavingTapeWarning, match="it is cast to") as seen:
        g = grad(lambda x: (x.astype(dtype) * x).sum())(tnp.full(2, 3.5))
    assert seen[0].filename == __file__
    assert plain(g).tolist() == [3, 3]


BUILDERS = {
    "r_": lambda np, x, y: np.r_[x[0], 1.0, y[1], x[0, 0] * y[0, 0]],
    "r_ of rows": lambda np, x, y: np.r_["0", x, y],
    "r_ along another axis": lambda np, x, y: np.r_["-1", x, y * x],
    "r_ with ranges": lambda np, x, y: np.r_[0:2:3j, x[0], 5:7],
    "c_": lambda np, x, y: np.c_[x, y[:, 0], np.ones(3)],
}


@pytest.mark.parametrize("name", BUILDERS)
def test_builders(name):
    check(BUILDERS[name], A, B)
