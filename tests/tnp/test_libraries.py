"""Libraries that know only NumPy take tnp arrays."""

import io
import random
import statistics

import numpy
import pytest

import tnp

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")


def test_pandas():
    pandas = pytest.importorskip("pandas")
    a = tnp.arange(6.0).reshape(3, 2)
    frame = pandas.DataFrame(a, columns=["x", "y"])
    assert frame.shape == (3, 2)
    assert frame["y"].sum() == 9.0
    frame["z"] = tnp.arange(3)
    assert frame["z"].tolist() == [0, 1, 2]
    series = pandas.Series(tnp.array([1.0, 2.0, 3.0]))
    for result in (series + tnp.ones(3), tnp.ones(3) + series, numpy.add(series, tnp.ones(3))):
        assert isinstance(result, pandas.Series)
        assert result.tolist() == [2.0, 3.0, 4.0]
    assert frame[tnp.to_numpy(tnp.array([True, False, True]))].shape == (2, 3)  # pandas asks for numpy.ndarray here
    assert pandas.Index(tnp.array([3, 4])).tolist() == [3, 4]
    assert tnp.asarray(series).sum() == 6.0
    assert tnp.sum(series) == 6.0
    assert pandas.Series(tnp.array(["a", "b"], dtype=object)).tolist() == ["a", "b"]
    assert pandas.to_datetime(tnp.array(["2020-01-01"], "M8[D]"))[0].year == 2020
    assert pandas.cut(tnp.arange(4.0), tnp.array([-1.0, 1.0, 3.0])).codes.tolist() == [0, 0, 1, 1]


def test_scipy():
    pytest.importorskip("scipy")
    from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, spatial, special, stats

    a = tnp.array([[4.0, 1.0], [1.0, 3.0]])
    b = tnp.array([1.0, 2.0])
    n = numpy.asarray
    assert numpy.array_equal(linalg.solve(a, b), linalg.solve(n(a), n(b)))
    assert numpy.array_equal(special.expit(b), special.expit(n(b)))
    assert type(special.expit(b)) is tnp.ndarray
    assert stats.norm.cdf(tnp.zeros(2)).tolist() == [0.5, 0.5]
    assert stats.ttest_ind(tnp.arange(5.0), tnp.arange(5.0)).statistic == 0.0
    assert (sparse.csr_matrix(a) @ b).tolist() == [6.0, 7.0]
    assert sparse.csr_matrix(a).dot(a).shape == (2, 2)
    assert optimize.minimize(lambda x: ((tnp.asarray(x) - b) ** 2).sum(), tnp.zeros(2)).success
    assert interpolate.interp1d(tnp.arange(3.0), b.take([0, 1, 1]))(0.5) == 1.5
    assert spatial.distance.cdist(a, a).shape == (2, 2)
    assert spatial.cKDTree(a).query(b)[1] in (0, 1)
    assert ndimage.gaussian_filter(a, 1).shape == (2, 2)
    assert signal.convolve(b, b).tolist() == [1.0, 4.0, 4.0]
    assert numpy.allclose(fft.ifft(fft.fft(b)), n(b))
    assert integrate.trapezoid(b, tnp.arange(2.0)) == 1.5


def test_scikit_learn():
    pytest.importorskip("sklearn")
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LinearRegression
    from sklearn.preprocessing import StandardScaler

    x = tnp.arange(20.0).reshape(10, 2)
    y = x[:, 0] * 3 + 1
    model = LinearRegression().fit(x, y)
    assert numpy.allclose(model.predict(x), y)
    assert abs(StandardScaler().fit_transform(x).mean()) < 1e-12
    assert len(KMeans(2, n_init=1, random_state=0).fit(x).labels_) == 10


def test_matplotlib():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    data = tnp.random.default_rng(0).normal(size=(30, 4))
    counts, _, patches = axes.hist(data)
    assert len(patches) == 4
    assert len(counts) == 4
    assert len(axes.plot(tnp.arange(3.0), data[:3])) == 4
    axes.scatter(tnp.arange(3), tnp.arange(3.0), c=tnp.arange(3.0), s=tnp.ones(3))
    axes.imshow(tnp.arange(6.0).reshape(2, 3))
    axes.fill_between(tnp.arange(3.0), tnp.arange(3.0), where=tnp.array([True, True, False]))
    axes.errorbar(tnp.arange(3.0), tnp.arange(3.0), yerr=tnp.ones(3))
    axes.bar(tnp.arange(3), tnp.ones(3))
    axes.contour(tnp.arange(9.0).reshape(3, 3))
    axes.boxplot(data)
    axes.set_xlim(tnp.array([0.0, 4.0]))
    figure.savefig(io.BytesIO())
    pyplot.close(figure)


def test_pillow():
    pytest.importorskip("PIL")
    from PIL import Image

    pixels = tnp.arange(48, dtype="u1").reshape(4, 4, 3)
    image = Image.fromarray(pixels)
    assert image.size == (4, 4)
    assert tnp.asarray(image).tolist() == pixels.tolist()


def test_pyarrow():
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.array(tnp.arange(3)).to_pylist() == [0, 1, 2]
    assert pyarrow.array(tnp.arange(3), type=pyarrow.float32()).type == pyarrow.float32()
    assert pyarrow.table({"x": tnp.arange(3.0)}).num_rows == 3
    assert tnp.asarray(pyarrow.array([1.0, 2.0])).sum() == 3.0


def test_h5py(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = tnp.arange(6.0).reshape(2, 3)
        file.create_dataset("y", data=tnp.arange(3))
        file["x"][0] = tnp.ones(3)
        assert file["x"][...].tolist() == [[1.0] * 3, [3.0, 4.0, 5.0]]
        out = tnp.zeros((2, 3))
        file["x"].read_direct(tnp.to_numpy(out))
        assert out[1, 2] == 5.0
        mask = tnp.to_numpy(tnp.array([True, False, True]))  # h5py asks for numpy.ndarray here
        assert file["y"][mask].tolist() == [0, 2]


def test_buffers_and_the_standard_library(tmp_path):
    a = tnp.arange(3, dtype="i4")
    assert bytes(a) == numpy.arange(3, dtype="i4").tobytes()
    assert io.BytesIO(a).read() == bytes(a)
    (tmp_path / "a").write_bytes(a)
    assert bytearray(a)[4] == 1
    assert max(a) == 2
    assert sorted(tnp.array([3, 1]))[0] == 1
    assert [*map(type, a)] == [numpy.int32] * 3
    assert statistics.mean(tnp.array([1.0, 3.0])) == 2.0
    assert random.Random(0).choice(a) in (0, 1, 2)
