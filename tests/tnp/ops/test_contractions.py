"""math="fast": contractions through matrix products, within the documented distance of NumPy's."""

import warnings

import numpy
import pytest

import tnp
from tnp.ops import contractions

CASES = [
    ("ij,jk->ik", (50, 60), (60, 40)),
    ("ij,jk", (50, 60), (60, 40)),
    ("ji, jk -> ki", (60, 50), (60, 40)),
    ("ij,kj->ik", (50, 60), (40, 60)),
    ("bij,bjk->bik", (7, 30, 20), (7, 20, 25)),
    ("bij,kbj->kbi", (7, 30, 20), (25, 7, 20)),
    ("bqhd,bkhd->bhqk", (2, 20, 3, 32), (2, 24, 3, 32)),
    ("abcd,cdef->aebf", (6, 5, 7, 8), (7, 8, 9, 4)),
    ("...ij,...jk->...ik", (2, 3, 20, 30), (2, 3, 30, 25)),
    ("...ij,jk", (2, 3, 20, 30), (30, 25)),
    ("ij,jk,kl->il", (30, 31), (31, 32), (32, 33)),
    ("ea,fb,abcd,gc,hd->efgh", (5, 5), (5, 5), (5, 5, 5, 5), (5, 5), (5, 5)),
]
ELSEWHERE = [  # NumPy's loop, with its bits
    ("ij,j->i", (300, 400), (400,)),
    ("ii,ij->j", (300, 300), (300, 400)),
    ("ij,kl->ijkl", (20, 30), (20, 30)),
    ("ij,jk->ik", (300, 1), (200, 400)),
    ("ij,jk->ik", (5, 6), (6, 7)),
    ("bij,bij->b", (30, 40, 50), (30, 40, 50)),
    ("ij,jk->i", (60, 70), (70, 80)),
]


def operands(shapes, dtype, seed=1):
    rng = numpy.random.default_rng(seed)
    reals = [rng.normal(size=s) for s in shapes]
    return [(x + 1j * rng.normal(size=x.shape) if dtype in "FD" else x).astype(dtype) for x in reals]


def fast(*args, **kwargs):
    with tnp.config(math="fast"):
        return tnp.einsum(*args, **kwargs)


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_fast_is_within_the_documented_distance_and_numpy_math_is_exact(case, dtype, monkeypatch):
    subscripts, *shapes = case
    given = operands(shapes, dtype)
    want = numpy.einsum(subscripts, *given)
    ours = [tnp.array(x) for x in given]
    exact = tnp.einsum(subscripts, *ours)
    assert tnp.to_numpy(exact).tobytes() == want.tobytes()
    products = []
    monkeypatch.setattr(contractions, "_contract", lambda *a, f=contractions._contract: products.append(1) or f(*a))
    got = fast(subscripts, *ours)
    assert products
    assert type(got) is tnp.ndarray
    assert (got.dtype, got.shape, got.flags.owndata) == (want.dtype, want.shape, True)
    if len(shapes) == 2:
        assert got.strides == want.strides
    terms = numpy.prod([n for x, n in sizes(subscripts, shapes).items() if x not in subscripts.split("->")[-1]])
    scale = numpy.einsum(subscripts, *map(abs, given))
    few = 4 * (terms if "->" in subscripts else 60) * numpy.finfo(dtype).eps
    assert (abs(tnp.to_numpy(got) - want) <= few * scale).all()


def sizes(subscripts, shapes):
    inputs = subscripts.replace(" ", "").replace("...", "").split("->")[0].split(",")
    return {x: n for t, s in zip(inputs, shapes, strict=True) for x, n in zip(t[::-1], s[::-1], strict=False)}


@pytest.mark.parametrize("case", ELSEWHERE, ids=str)
def test_what_is_no_product_of_large_matrices_has_numpys_bits(case):
    subscripts, *shapes = case
    given = operands(shapes, "d")
    got = tnp.to_numpy(fast(subscripts, *map(tnp.array, given)))
    assert got.tobytes() == numpy.einsum(subscripts, *given).tobytes()


@pytest.mark.parametrize("dtype", ["i8", "f2", ">f8", "O"])
def test_other_dtypes_have_numpys_results(dtype):
    x = numpy.arange(2500).reshape(50, 50).astype(dtype)
    got = tnp.to_numpy(fast("ij,jk->ik", tnp.array(x), tnp.array(x)))
    want = numpy.einsum("ij,jk->ik", x, x)
    assert got.dtype == want.dtype
    assert (got == want).all() or dtype == "f2"


def test_out_is_written_and_returned_also_where_it_is_an_operand():
    a, b = map(tnp.array, operands([(40, 40), (40, 40)], "d"))
    want = numpy.einsum("ij,jk->ik", tnp.to_numpy(a), tnp.to_numpy(b))
    view = a[:]
    assert fast("ij,jk->ik", a, b, out=a) is a
    numpy.testing.assert_allclose(tnp.to_numpy(view), want, rtol=1e-12, atol=1e-12)


def test_out_of_another_shape_is_numpys_to_refuse():
    a, b = map(tnp.array, operands([(40, 40), (40, 40)], "d"))
    with pytest.raises(ValueError, match="broadcast"):
        fast("ij,jk->ik", a, b, out=tnp.zeros((40, 41)))


def test_it_does_not_warn_as_einsum_does_not():
    x = tnp.array(numpy.full((50, 50), 1e300))
    with warnings.catch_warnings(), tnp.errstate(all="raise"):
        warnings.simplefilter("error")
        assert tnp.isinf(fast("ij,jk->ik", x, x)).all()


@pytest.mark.parametrize("subscripts", ["ij,jk->iq", "ij,jk->ii", "ij,jkl->il", "ij->ij,jk", "i.j,jk->ik", "ij,j1->i1"])
def test_wrong_subscripts_are_numpys_to_refuse(subscripts):
    given = operands([(50, 50), (50, 50)], "d")
    with pytest.raises(ValueError) as ours:
        fast(subscripts, *map(tnp.array, given))
    with pytest.raises(ValueError) as numpys:
        numpy.einsum(subscripts, *given)
    assert str(ours.value) == str(numpys.value)


def test_a_traced_or_pending_operand_is_finished_first():
    a, b = map(tnp.array, operands([(200, 200), (200, 200)], "d"))
    got = fast("ij,jk->ik", a + 1.0, b * 2.0)
    want = (tnp.to_numpy(a) + 1.0) @ (tnp.to_numpy(b) * 2.0)
    numpy.testing.assert_allclose(tnp.to_numpy(got), want, rtol=1e-10, atol=1e-10)
