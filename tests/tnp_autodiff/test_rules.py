"""Every public function of NumPy's has a rule, or is known to have none; the document says the same."""

import re
from pathlib import Path

import numpy
import pytest

from tnp_autodiff.recorder import CALLS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "autodiff.md"
SPACES = {"": numpy, "linalg.": numpy.linalg, "fft.": numpy.fft}

# Functions of arrays of numbers that a gradient is refused by way of
WITHOUT_RULE = """
histogram histogram2d histogramdd i0 intersect1d poly polydiv real_if_close roots setdiff1d setxor1d union1d unique
unique_all unique_counts unique_inverse unique_values asarray_chkfinite bmat asmatrix row_stack
"""
# Functions whose arrays are no numbers to differentiate by: indices, shapes, texts, bytes, settings
NO_NUMBERS = """
arange base_repr bartlett binary_repr blackman busday_count busday_offset datetime_as_string datetime_data
diag_indices diag_indices_from einsum_path empty eye fft.fftfreq fft.rfftfreq format_float_positional
format_float_scientific from_dlpack frombuffer fromfile fromfunction fromiter frompyfunc fromregex fromstring
genfromtxt get_include get_printoptions getbufsize geterr geterrcall hamming hanning identity indices info is_busday
isdtype isfortran isin isnat issubdtype ix_ kaiser load loadtxt mask_indices mintypecode nested_iters ones packbits
printoptions promote_types ravel_multi_index save savetxt savez savez_compressed set_printoptions setbufsize seterr
seterrcall show_config show_runtime test tril_indices tril_indices_from triu_indices triu_indices_from typename
unpackbits unravel_index zeros
"""


NOT_RULES = "linalg fft nextafter frexp i0 out where reduce r_ c_"  # that the section speaks of


def public():
    """Functions that are no ufuncs; of those tests/tnp_autodiff/rules/test_elementwise.py speaks."""
    for prefix, space in SPACES.items():
        for name in space.__all__:
            value = getattr(space, name)
            if callable(value) and not isinstance(value, (type, numpy.ufunc)):
                yield prefix + name, value


def test_every_public_function_has_a_rule_or_is_known_to_have_none():
    without = {name for name, function in public() if function not in CALLS}
    known = {*WITHOUT_RULE.split(), *NO_NUMBERS.split()}
    assert without == known & {name for name, _ in public()}


def said():
    text = DOCUMENT.read_text()
    section = text[text.index("## Which functions") : text.index("A gradient by way of any other")]
    for line in re.split(r"\n- ", section)[1:]:
        prefix = "linalg." if line.startswith("`linalg`") else ""
        for name in re.findall(r"`([a-z_0-9]+)`", line):
            if name not in NOT_RULES.split():
                yield prefix + name


@pytest.mark.parametrize("name", sorted(set(said())))
def test_the_document_promises_what_there_is(name):
    space, _, short = name.rpartition(".")
    spaces = (SPACES[f"{space}." if space else ""], numpy.ndarray, numpy.random)
    functions = [getattr(where, short, None) for where in spaces]
    methods = ("stack", "concatenate", "accumulate", "outer", "at")
    builders = [getattr(type(f), "__getitem__", None) for f in functions]
    assert short in methods or any(f is not None and f in CALLS for f in functions + builders)
