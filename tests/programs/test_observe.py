"""What an observation tells apart."""

import numpy
import pytest

import tnp
from tests.programs import execute
from tests.programs.observe import observe


def test_whose_class_an_array_has():
    assert observe(tnp.ones(2), "tnp") == observe(numpy.ones(2), "numpy")
    assert observe(numpy.ones(2), "tnp") != observe(numpy.ones(2), "numpy")
    assert observe([tnp.add], "tnp")[1][:2] == observe([numpy.add], "numpy")[1][:2]
    assert observe(numpy.add, "tnp") != observe(numpy.add, "numpy")
    assert observe(numpy.ndarray, "tnp") != observe(numpy.ndarray, "numpy")
    assert observe({"a": numpy.ones(2)}, "tnp") != observe({"a": numpy.ones(2)}, "numpy")


@pytest.mark.parametrize("function", [False, True])
def test_a_program_shows_it(function):
    """An array that a function of the module should have wrapped is a difference; one that the program named is not."""
    leaks = "x = np.ones(3).__array__()\nsaw(x)\n"
    theirs, ours = (execute.run(leaks, np, function=function) for np in (numpy, tnp))
    assert execute.first_difference(theirs, ours).kind == "dtype, type or layout"
    foreign = "f1 = numpy.ones(3)\nsaw(f1)\nsaw(numpy.asarray(f1))\n"
    theirs, ours = (execute.run(foreign, np, function=function) for np in (numpy, tnp))
    assert execute.first_difference(theirs, ours) is None
