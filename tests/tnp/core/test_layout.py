"""Shapes and the order of memory."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from tnp.core import layout


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_their_own_never_meet_themselves(order):
    a = numpy.zeros((4, 1, 5, 3), order=order)
    for view in (a, a[::-1], a[:, :, ::-2, 1:], a.transpose(2, 0, 3, 1), a[..., 0], a[:0], a[1, 0, 2, 1, ...]):
        assert not layout.may_meet_itself(view)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-6, 6)), max_size=3),
    st.sampled_from([1, 2, 4]),
)
def test_whoever_meets_himself_is_found(axes, itemsize):
    memory = numpy.zeros(200, "u1")
    shape, strides = [n for n, _ in axes], [s for _, s in axes]
    view = as_strided(memory[80:].view(f"u{itemsize}"), shape, strides)
    places = [
        sum(i * s for i, s in zip(index, strides, strict=True)) + byte
        for index in numpy.ndindex(*shape)
        for byte in range(itemsize)
    ]
    if len(places) != len(set(places)):
        assert layout.may_meet_itself(view)
