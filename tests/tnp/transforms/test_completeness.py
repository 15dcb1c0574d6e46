"""Every public function of NumPy's has a batching rule, or is known to have none; the document says which."""

from pathlib import Path

import numpy
import pytest

import tnp
from tests.tnp_autodiff.derivatives import GIVEN_UP, NO_NUMBERS
from tnp.transforms.batching import RULES

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "vmap.md"
SPACES = {"": numpy, "linalg.": numpy.linalg, "fft.": numpy.fft}
LOOPED = """
geomspace histogram histogram2d histogram_bin_edges histogramdd packbits unpackbits poly polydiv polyfit roots
real_if_close
""".split()
OTHERS = """
asmatrix bmat row_stack min_scalar_type
""".split()


def test_every_function_has_a_rule_or_is_known_to_have_none():
    without = set()
    for prefix, space in SPACES.items():
        for name in space.__all__:
            f = getattr(space, name)
            if callable(f) and not isinstance(f, type) and f not in RULES:
                without.add(prefix + name)
    others = {*NO_NUMBERS["numpy"].split(), *[f"fft.{name}" for name in NO_NUMBERS["numpy.fft"].split()], *OTHERS}
    others |= set(GIVEN_UP["numpy"].split())
    assert without - others == set(LOOPED) - others
    assert set(LOOPED) <= without


def test_the_document_names_those_that_run_one_by_one():
    text = DOCUMENT.read_text()
    part = text[text.index("These run for one example") : text.index("## Derivatives")]
    for name in LOOPED:
        assert f"`{name}`" in part, name


@pytest.mark.parametrize("name", ["intersect1d", "union1d", "unique_values"])
def test_functions_of_sets_are_refused(name):
    arguments = [tnp.arange(3)] if name.startswith("unique") else [tnp.arange(3), tnp.arange(2)]
    with pytest.raises(tnp.transforms.DataDependentError, match=name):
        tnp.vmap(lambda x: getattr(tnp, name)(x, *arguments[1:]))(tnp.arange(6).reshape(2, 3))


def test_text_shows_all_examples():
    seen = []
    tnp.vmap(lambda x: seen.append((repr(x), str(x), tnp.array_repr(x), f"{x}")) or x)(tnp.arange(2))
    assert seen == [
        ("array([0, 1]) of 2 examples", "[0 1] of 2 examples", "array([0, 1]) of 2 examples", "[0 1] of 2 examples")
    ]
