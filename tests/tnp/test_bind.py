"""Copies that wait: what they were copied from may change meanwhile."""

import pytest

import tnp
from tnp import bind, content


@pytest.mark.parametrize("write", ["x[3] = 0", "x *= 2", "x[...] = 7", "x.sort()", "x.to_numpy()[5] = 1"])
def test_a_pending_copy_keeps_the_content(write):
    x = tnp.arange(100_000.0)[::-1] * 1.0
    old = x.tolist()
    y = bind.record_copy(x)
    assert content.pending_node(y) is not None
    exec(write, {"x": x})
    assert y.tolist() == old
    assert x.tolist() != old


def test_of_small_arrays_and_of_other_objects_there_is_none():
    assert bind.record_copy(tnp.ones(3)) is None
    assert bind.record_copy(tnp.array(["text"] * 100_000)) is None
