"""Writes that have to happen at once: what the other operand is."""

import pytest

from tests.programs.same import same


@pytest.mark.parametrize("dtype", ["'f8'", "float", "np.float64", "None", "[]", "np.dtype('f8')", "np.dtype('O')"])
def test_operands_of_other_classes_have_any_attribute(dtype):
    """What they call their dtype is theirs."""
    same(f"""
        class Other:
            dtype = {dtype}
            def __array__(self, dtype=None, copy=None):
                return np.arange(3.0)
        x = np.ones(3)
        x += Other()
        x
        np.multiply(x, Other(), out=x)
    """)


def test_scalars_are_operands():
    same("""
        x = np.arange(4, dtype='f4')
        x += np.float64(0.5)
        x *= np.int8(3)
        np.add(x, np.float32(2), out=x)
        x -= True
        x
    """)
