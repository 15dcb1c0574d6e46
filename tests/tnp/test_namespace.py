"""NumPy's modules as tnp modules: which names are functions on tnp arrays."""

import numpy
import pytest

import tnp

X = "np.ma.array(np.arange(6.0).reshape(2, 3), mask=[[1, 0, 0], [0, 0, 1]])"
MASKED = {
    "of a method": f"np.ma.count({X}, 0)",
    "of a method, in a tuple": f"np.ma.nonzero({X})[0]",
    "of a method, into an array": "np.ma.sum(np.arange(6.0).reshape(2, 3), axis=0, out=np.zeros(3))",
    "of a function": "np.ma.fromfunction(lambda i: i.sort() or i, (3,))",
    "of a function, on a sequence": f"np.ma.vstack([np.arange(3), {X}])",
}


@pytest.mark.parametrize("call", MASKED.values(), ids=MASKED)
def test_functions_of_masked_arrays(call):
    """Before NumPy 2.4 they are objects of classes of its own."""
    theirs, ours = eval(call, {"np": numpy}), eval(call, {"np": tnp})
    assert type(ours) is (tnp.ndarray if type(theirs) is numpy.ndarray else type(theirs))
    assert numpy.array_equal(numpy.ma.filled(theirs, -1), numpy.ma.filled(ours, -1))


def test_every_function_of_masked_arrays_takes_over():
    """What stays NumPy's own are classes, constants, and objects with methods like those of ufuncs."""
    for name in numpy.ma.__all__:
        theirs = getattr(numpy.ma, name)
        if callable(theirs) and getattr(tnp.ma, name) is theirs:
            assert isinstance(theirs, (type, numpy.ma.core._MaskedUFunc)), name
