"""NumPy's semantics that replacements get wrong are right here: values, dtypes, types, warnings and exceptions."""

import pytest

from tests.programs import edges_arrays, edges_values
from tests.programs.same import same

EDGES = {
    **edges_arrays.PROMOTION,
    **edges_arrays.WRITES,
    **edges_arrays.INDEXING,
    **edges_values.SCALARS,
    **edges_values.VALUES,
    **edges_values.LAYOUT,
}


@pytest.mark.parametrize("edge", EDGES)
def test_sharp_edge(edge):
    same(EDGES[edge])


def test_the_edges_see_a_difference():
    with pytest.raises(AssertionError, match="NumPy: "):
        same("np.pi * 1", under=type("Module", (), {"pi": 3.0}))
