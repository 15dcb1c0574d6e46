"""docs/api_status.md is what happens, and what must be native is."""

import numpy
import pytest

from tests import api_status
from tests.programs import execute


@pytest.fixture(scope="module")
def found():
    """The status of every public name, found without pytest's recorder of warnings: under one, nothing waits."""
    import io

    with execute.at_rest(io.StringIO()):
        return api_status.survey()


def must_be_native():
    yield from (("numpy", name) for name in [*api_status.NATIVE, *api_status.native_ufuncs()])
    yield from (("numpy.ndarray", name) for name in api_status.NATIVE_METHODS)
    yield from (("numpy.ufunc", name) for name in api_status.NATIVE_UFUNC_METHODS)


def test_what_must_be_native_is(found):
    fallen = [f"{space}.{name}" for space, name in must_be_native() if found[space].get(name) in ("host", "not run")]
    assert not fallen, f"NumPy's functions are called for want of native ones: {fallen}"


def test_the_document_is_current(found):
    if f"NumPy {numpy.__version__}" not in api_status.FILE.read_text():
        pytest.skip("docs/api_status.md was made with another NumPy, which has other names")
    said = api_status.checked_in()
    changed = {
        f"{space}.{name}": (said.get(space, {}).get(name), kind)
        for space, names in found.items()
        for name, kind in names.items()
        if said.get(space, {}).get(name) != kind
    }
    assert not changed, f"python -m tests.api_status --write makes it current; (said, found): {changed}"
    assert {s: set(n) for s, n in said.items()} == {s: set(n) for s, n in found.items()}
