"""The overlays: the substitute's object for public names however they are reached, and the real one elsewhere."""

from collections.abc import Callable

from .results import Run

PUBLIC = """
    import numpy
    import numpy as np
    import numpy._core.umath as umath
    from numpy import *
    from numpy import add as named
    from numpy._core import _multiarray_umath, fromnumeric
    from numpy._core.fromnumeric import sum as inner
    import conformance_substitute as sub

    def test_every_path():
        assert np.sum is numpy.sum is sum is inner is fromnumeric.sum is sub.sum
        assert np.add is umath.add is _multiarray_umath.add is named is sub.add

    def test_import_inside_a_function():
        from numpy import add
        from numpy._core.umath import add as again
        assert add is again is sub.add

    def test_dict_and_dir():
        assert vars(np)["sum"] is sub.sum
        assert "sum" in dir(np) and "_overlays" not in vars(np)

    def test_a_class():
        assert np.ndarray is sub.ndarray is numpy._core.multiarray.ndarray
        assert isinstance(np.asarray([1]), np.ndarray)
"""

REAL = """
    import sys
    import numpy as np
    import conformance_substitute as sub
    import helper
    from numpy._core import _methods
    from numpy.exceptions import AxisError

    real = sys.modules["numpy"]

    def test_helpers_and_numpy_itself():
        assert helper.np is real and helper.np.sum is not sub.sum
        assert _methods._sum is real._core._methods._sum
        assert real.add is not sub.add

    def test_what_the_substitute_shares():
        assert AxisError is real.exceptions.AxisError
        assert np.float64 is real.float64 and np.pi == real.pi

    def test_patching_reaches_numpy(monkeypatch):
        monkeypatch.setattr(np._core._methods, "_sum", 1)
        assert real._core._methods._sum == 1

    def test_numpys_own_attribute_error():
        try:
            np.no_such_name
        except AttributeError as error:
            assert "module 'numpy' has no attribute 'no_such_name'" in str(error)
        else:
            assert False
"""

HELPERS = """
    import numpy as np
    from numpy import absolute
    from numpy._core import _multiarray_tests as compiled
    from numpy.testing import assert_equal

    def test_testing_converts():
        assert_equal(np.asarray([1, 2]), [1, 2])

    def test_testing_judges():
        assert_equal(np.asarray([1, 2]), [1, 3])

    def test_a_helper_that_reads():
        assert not compiled.internal_overlap(np.asarray([1, 2]))

    def test_a_helper_that_would_crash():
        compiled.test_as_c_array(np.asarray([1.0]), 0)

    def test_missing_name():
        absolute(-1)

    def test_missing_attribute():
        np.abs(-1)
"""


def results(run: Run) -> dict[str, str]:
    return {name.partition("::")[2]: outcome.result for name, outcome in run.tests()}


def test_the_substitute_for_public_names(run_tests: Callable[..., Run]) -> None:
    run = run_tests(test_public=PUBLIC)
    assert results(run) == dict.fromkeys(
        ["test_every_path", "test_import_inside_a_function", "test_dict_and_dir", "test_a_class"], "passed"
    ), list(run.tests())


def test_the_real_object_elsewhere(run_tests: Callable[..., Run]) -> None:
    run = run_tests(test_real=REAL, helper="import numpy as np\n")
    assert set(results(run).values()) == {"passed"}, list(run.tests())
    assert len(results(run)) == 4


def test_helpers_and_missing_names(run_tests: Callable[..., Run]) -> None:
    run = run_tests(test_helpers=HELPERS)
    assert results(run) == {
        "test_testing_converts": "passed",
        "test_testing_judges": "failed",
        "test_a_helper_that_reads": "passed",
        "test_a_helper_that_would_crash": "skipped",
        "test_missing_name": "failed",
        "test_missing_attribute": "failed",
    }, list(run.tests())
    messages = {name.partition("::")[2]: outcome.message for name, outcome in run.tests()}
    assert messages["test_missing_name"] == "NotImplementedError: npconform: missing name absolute"
    assert messages["test_a_helper_that_would_crash"].endswith("C helper test_as_c_array needs a numpy.ndarray")
