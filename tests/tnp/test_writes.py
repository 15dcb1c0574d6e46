"""Writes that have to happen at once: what the other operand is."""

import sys

import pytest

import tnp
from tests.programs import execute
from tests.programs.same import same
from tnp import content


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


KERNELS_HOLD = ["?", "i2", "f8", "c8"]
NUMPY_HOLDS = [">f8", "g", "M8[s]", "U1", "i4,f8", "O", tnp.dtypes.StringDType(na_object=[])]


@pytest.mark.parametrize("dtype", KERNELS_HOLD + NUMPY_HOLDS, ids=str)
def test_a_copy_waits_only_if_kernels_hold_its_dtype(dtype):
    with execute.at_rest(sys.stderr), tnp.config(lazy_from=1):
        x = tnp.array(["0", "1"]).astype("i8").astype(dtype)
        y = x[::-1].copy()
        x[...] = y
        assert (content.pending_whole(x) is not None) == (dtype in KERNELS_HOLD)
        assert x.tolist() == y.tolist()
