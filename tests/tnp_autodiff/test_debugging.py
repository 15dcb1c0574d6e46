"""The first NaN is named, with its operation and line, and only there where it was asked for."""

import inspect
import threading

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import plain
from tnp_autodiff import GradientTape, debug_nans, grad, jvp


def root(x):
    return tnp.sqrt(x * x).sum()  # the line


def logarithm(x):
    return tnp.log(x).sum()  # the line


def length(x):
    return tnp.where(x > 0, tnp.arcsin(x), 0.0).sum()  # the line


def solved(a):
    return tnp.linalg.norm(tnp.reciprocal(a) - tnp.reciprocal(a))  # the line


def fails(f, x, name, of=grad):
    with debug_nans(), pytest.raises(FloatingPointError) as error:
        of(f)(tnp.array(x))
    text = str(error.value)
    assert name in text.splitlines()[0]
    lines, first = inspect.getsourcelines(f)
    [offset] = [i for i, line in enumerate(lines) if "# the line" in line]
    assert f"{__file__}:{first + offset}" in text


def tangent(f):
    return lambda x: jvp(f, (x,), (tnp.zeros(x.shape),))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_operation_and_its_line():
    fails(root, [0.0], "the gradient of numpy.multiply is NaN")
    fails(logarithm, [-1.0, 1.0], "numpy.log made NaN")
    fails(length, [2.0], "numpy.arcsin made NaN")
    fails(solved, [0.0], "numpy.subtract made NaN")
    fails(logarithm, [-1.0], "numpy.log made NaN", of=tangent)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_of_infinite_gradients():
    with debug_nans(), pytest.raises(FloatingPointError, match=r"a gradient is NaN(.|\n)*opposite sign"):
        grad(lambda x: (tnp.sqrt(x) - tnp.sqrt(x)).sum())(tnp.zeros(1))
    with debug_nans(), pytest.raises(FloatingPointError, match=r"by the result of numpy.add is NaN"):
        grad(lambda x: (lambda y: (tnp.sqrt(y) - tnp.sqrt(y)).sum())(x + 1.0))(-tnp.ones(1))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_gradient_asked_after_the_block():
    x = tnp.zeros(1)
    with debug_nans(), GradientTape() as tape:
        tape.watch(x)
        y = tnp.sqrt(x * x)
    with pytest.raises(FloatingPointError, match=r"numpy\.multiply"):
        tape.gradient(y, x)


def test_numbers_pass_and_given_nans_are_not_made():
    x = tnp.array([1.0, numpy.nan])
    with debug_nans():
        assert plain(grad(lambda x: tnp.nansum(x * 2.0))(x)).tolist() == [2, 0]
        second = grad(lambda x: grad(lambda x: tnp.sin(x) ** 2)(x))(0.3)
    assert float(second) == pytest.approx(2 * numpy.cos(0.6))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_switch_and_its_thread():
    debug_nans()
    try:
        with pytest.raises(FloatingPointError):
            grad(root)(tnp.zeros(1))
        with debug_nans(False):
            assert numpy.isnan(plain(grad(root)(tnp.zeros(1))))
        found = []
        thread = threading.Thread(target=lambda: found.append(plain(grad(root)(tnp.zeros(1)))))
        thread.start()
        thread.join()
        assert numpy.isnan(found[0])
        with pytest.raises(FloatingPointError):
            grad(root)(tnp.zeros(1))
    finally:
        debug_nans(False)
    assert numpy.isnan(plain(grad(root)(tnp.zeros(1))))
