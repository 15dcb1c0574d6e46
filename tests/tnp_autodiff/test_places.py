"""Places: where an array lies, what covers its memory, and reads and writes of the same place elsewhere."""

import numpy
import pytest

import tnp
from tnp import content, hot
from tnp_autodiff.places import Key, Scattered, geometry, positions

VIEWS = {
    "all": lambda x: x,
    "rows": lambda x: x[1:],
    "steps": lambda x: x[::2, ::-1],
    "transposed": lambda x: x.T,
    "flat": lambda x: x.reshape(-1),
    "an element": lambda x: x[1, 2, ...],
    "a new axis": lambda x: x[:, None],
    "stretched": lambda x: (
        numpy.broadcast_to(x[0], (2, 4)) if isinstance(x, numpy.ndarray) else tnp.broadcast_to(x[0], (2, 4))
    ),
    "empty": lambda x: x[3:],
}


@pytest.mark.parametrize("lazy_from", [1, 1 << 30])
@pytest.mark.parametrize("name", VIEWS)
def test_the_same_place_of_other_memory(name, lazy_from):
    with tnp.config(lazy_from=lazy_from):
        x = tnp.arange(12.0).reshape(3, 4) + 0.0
        place, nbytes = geometry(VIEWS[name](x))
        assert nbytes == 96
        buffer = tnp.arange(12.0) * 10
        hot.cell_of(buffer)
        want = VIEWS[name](numpy.arange(12.0).reshape(3, 4) * 10)
        assert place.get(buffer).tolist() == want.tolist()
        assert positions(place).tolist() == (want / 10).tolist()
        assert place.is_whole(Key(96, numpy.dtype(float))) == (name in ("all", "transposed", "flat", "a new axis"))


def test_pending_arrays_stay_pending():
    with tnp.config(lazy_from=1):
        x = -tnp.arange(12.0).reshape(3, 4)
        geometry(x), geometry(x.T[1:])
        assert content.pending_node(x) is not None


@pytest.mark.parametrize("name", VIEWS)
def test_adding_counts_each_element_as_often_as_it_is_seen(name):
    place, _ = geometry(VIEWS[name](tnp.arange(12.0).reshape(3, 4)))
    buffer = Key(96, numpy.dtype(float)).zeros()
    place.add(buffer, tnp.ones(place.shape))
    want = numpy.zeros(12)
    numpy.add.at(want, positions(place), 1.0)
    assert buffer.tolist() == want.tolist()


def test_overlapping_windows():
    x = tnp.arange(5.0)
    place, _ = geometry(tnp.lib.stride_tricks.sliding_window_view(x, 3))
    buffer = Key(40, numpy.dtype(float)).zeros()
    place.add(buffer, tnp.ones((3, 3)))
    assert buffer.tolist() == [1, 2, 3, 2, 1]


KEYS = [
    numpy.array([2, 0]),
    (slice(None), [1, 1]),
    numpy.arange(12).reshape(3, 4) % 3 == 0,
    ([0, 2], [3, 1]),
    (1, [2, -1]),
]


@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
def test_positions_of_computed_keys(key):
    place, _ = geometry((tnp.arange(24.0).reshape(4, 6) + 0.0)[1:, ::-1][:, 1:5])
    whole = numpy.arange(24).reshape(4, 6)[1:, ::-1][:, 1:5]
    assert positions(place, key).tolist() == whole[key].tolist()


def test_of_several_values_to_one_element_the_last_is_there():
    assert Scattered(numpy.array([3, 1, 3, 2]), numpy.dtype(float)).winners().tolist() == [False, True, True, True]
    assert Scattered(numpy.array([3, 1, 2]), numpy.dtype(float)).winners() is None


def test_parts_of_complex_numbers():
    z = tnp.zeros(3, complex)
    place, _ = geometry(z.imag)
    buffer = Key(48, numpy.dtype(complex)).zeros()
    place.add(buffer, tnp.ones(3))
    assert buffer.tolist() == [1j] * 3
