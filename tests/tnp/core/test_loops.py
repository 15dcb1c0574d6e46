"""Which operands are numbers to the engine."""

import numpy
import pytest

from tests.programs.same import same
from tnp.core import loops
from tnp.core.dtypes import is_number
from tnp.core.elementwise import PRIMITIVES

MISSING = {
    "no hash": "[]",
    "a hash that raises": "type('Missing', (), {'__hash__': lambda self: 1 / 0})()",
}


@pytest.mark.parametrize("missing", MISSING.values(), ids=MISSING)
def test_no_dtype_is_hashed(missing):
    """The hash of a dtype of strings is made from the program's object for missing ones."""
    same(f"""
        text = np.dtypes.StringDType(na_object={missing})
        x = np.array(['b', 'a', 'c'], dtype=text)
        n = np.arange(3)
        mask = n > 0
        (x + x).tolist(), (x * n).tolist(), (x == x[::-1]).tolist(), np.isnan(x).tolist()
        np.where(mask, x, x[::-1]).tolist()
        np.max(x), np.sum(x), np.any(x), np.add.reduce(x)
        n.astype(text).tolist(), n.astype(text).astype(float), np.asarray(n + 1.5, dtype=text).tolist()
        x += x
        x.tolist()
        np.add(x, x, out=x).tolist()
    """)


@pytest.mark.parametrize("letter", "?bBhHiIlLqQefdgFDGSUVOMmT")
def test_numbers(letter):
    dtype = numpy.dtype(letter)
    assert loops.is_numeric(dtype) == is_number(dtype) == (letter not in "gGSUVOMmT")
    if dtype.itemsize > 1 and letter in "hHiIlLqQefdFD":
        assert not loops.is_numeric(dtype.newbyteorder())


def test_weak_operands_have_a_loop_with_numbers():
    single, add = numpy.dtype("f4"), PRIMITIVES[numpy.add]
    for weak in (int, float):
        assert loops.find_loop(add, [single, weak]) == ((single, single), single, True)
    assert loops.find_loop(add, [single, complex])[1] == numpy.dtype("F")
    assert loops.find_loop(add, [numpy.dtype("T"), int]) is None
