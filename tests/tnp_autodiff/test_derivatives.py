"""Every public name is in a list of tests/tnp_autodiff/derivatives.py, and is what the list says."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff import derivatives
from tests.tnp_autodiff.differences import check, draw, plain
from tnp_autodiff import GradientTape, LeavingTapeWarning, NotDifferentiableError, grad, jvp, vjp

CALLS = {f"{space}.{name}": (space, name, call) for space, name, call in derivatives.calls()}


@pytest.mark.parametrize("space", derivatives.SPACES)
def test_every_public_name_is_in_one_list(space):
    missing = sorted(set(derivatives.public(space)) - set(derivatives.listed(space)))
    assert not missing, f"in no list of tests/tnp_autodiff/derivatives.py: {missing}"


def test_the_document_is_current():
    if f"NumPy {numpy.__version__}." not in derivatives.FILE.read_text():
        pytest.skip("docs/derivatives.md was made with another NumPy, which has other names")
    assert derivatives.FILE.read_text() == derivatives.text(derivatives.survey())


# Under vmap: random numbers differ between the examples; these ask for values that differ; those run one by one
LOOKING = {"numpy.trim_zeros", "numpy.place", "numpy.extract"}
LOOPS = {"numpy.geomspace", "numpy.polyfit", "numpy.real_if_close"}


def taken(space, name):
    """The function of a call, under NumPy too, and the operands of float64."""
    f, names = derivatives.program(derivatives.CALLS[space][name])

    def g(np, *xs):
        if np is numpy and space == "tnp":
            return plain(f(tnp, *xs))
        return f(np, *xs) * 1.0

    return g, names


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_and_derivatives(name):
    space, short, call = CALLS[name]
    f, names = taken(space, short)
    for letter in "dD":
        if derivatives.accepted(call, letter):
            made = derivatives.operands(letter)
            xs = [made[n] for n in names]
            batched = not space.startswith("numpy.random") and name not in LOOKING
            check(f, *xs, second=True, exact=space != "tnp", tolerance=3e-6, batched=batched, loops=name in LOOPS)


def modes(f, xs, seed):
    """The cotangents of the operands, the tangent of the result, and the two inner products that must be equal."""
    rng = numpy.random.default_rng(seed)
    letters = [x.dtype for x in xs]
    y, pull = vjp(lambda *xs: f(tnp, *xs), *[tnp.array(x) for x in xs])
    dtype = numpy.asarray(plain(y)).dtype
    g = numpy.asarray(draw(rng, numpy.shape(y), dtype)).astype(dtype)
    ts = [numpy.asarray(draw(rng, x.shape, d)).astype(d) for x, d in zip(xs, letters, strict=True)]
    gs = [plain(x) for x in pull(tnp.array(g))]
    t = plain(jvp(lambda *xs: f(tnp, *xs), [tnp.array(x) for x in xs], [tnp.array(t) for t in ts])[1])
    left = numpy.real(numpy.conj(g).astype("G") * t).sum()
    right = sum([numpy.real(numpy.conj(a).astype("G") * b).sum() for a, b in zip(gs, ts, strict=True)])
    return gs, t, left, right


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_dtype(name):
    """Gradients are of the source's dtype and those of double precision, up to rounding; the modes are transposes."""
    space, short, _ = CALLS[name]
    f, names = taken(space, short)
    for letter in derivatives.dtypes(space, short):
        kind = numpy.dtype(letter).kind
        made = derivatives.operands(letter)
        xs = [made[n] for n in names]
        gs, t, left, right = modes(f, xs, 1)
        assert [g.dtype for g in gs] == [x.dtype for x in xs]
        eps = float(numpy.finfo(letter).eps)
        scale = 1 + max([float(numpy.abs(g).max(initial=0)) for g in gs] + [float(numpy.abs(t).max(initial=0))])
        assert abs(left - right) < 500 * max(eps, 1e-19) * scale
        wide = "D" if kind == "c" else "d"
        if letter not in "dD":
            want, along, *_ = modes(f, [x.astype(wide) for x in xs], 1)
            tolerance = 100 * max(eps, 2e-16) * scale
            for got, w in zip([*gs, t], [*want, along], strict=True):
                numpy.testing.assert_allclose(got.astype(w.dtype), w, rtol=0, atol=tolerance)


def forms(space, name):
    """Calls that the function may take."""
    if space == "numpy.ndarray":
        return [f"x.{name}()", f"x.{name}(y)", f"x.{name}(v)", f"x.{name}"]
    if space.startswith("numpy.random"):
        make = "np.random.default_rng(1)" if space.endswith("Generator") else "np.random"
        return [f"{make}.{name}({a})" for a in ("x, y", "y", "v", "y, x, y", "v, np.eye(4)", "4, x", "4")]
    prefix = space.replace("numpy", "np")
    return [f"{prefix}.{name}({a})" for a in ("x", "x, y", "s", "v", "v, y[0, :2]", "[[x]]", "v, y[0]", "x, 3")]


def first_accepted(space, name):
    for call in forms(space, name):
        f, names = derivatives.program(call)
        made = derivatives.operands("d")
        try:
            with numpy.errstate(all="ignore"):
                f(numpy, *[made[n] for n in names])
        except Exception:
            continue
        return f, [tnp.array(made[n]) for n in names]
    return None


def of(lists, spaces=derivatives.SPACES):
    return [(space, name) for space in spaces for name in lists.get(space, "").split()]


def floats(result):
    """The arrays and numbers of floating dtypes in a result."""
    if isinstance(result, (tuple, list)):
        return [y for r in result for y in floats(r)]
    return [result] if isinstance(result, (tnp.ndarray, numpy.generic)) and result.dtype.kind in "fc" else []


@pytest.mark.parametrize(("space", "name"), of(derivatives.FLAT))
def test_flat(space, name):
    f, xs = first_accepted(space, name)
    with GradientTape() as tape:
        tape.watch(xs)
        results = floats(f(tnp, *xs))
    found = tape.gradient(results, xs, unconnected_gradients="zero")
    assert all(not plain(g).any() for g in found)


@pytest.mark.parametrize(("space", "name"), of(derivatives.CONSTANT, ["numpy"]))
def test_constant(space, name):
    taken = first_accepted(space, name)
    if taken is None:
        pytest.skip("takes integers or no arrays")
    f, xs = taken
    with GradientTape() as tape:
        tape.watch(xs)
        results = floats(f(tnp, *xs))
    if results:
        assert all(g is None or not plain(g).any() for g in tape.gradient(results, xs))


@pytest.mark.parametrize(("space", "name"), of(derivatives.REFUSED))
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_refused(space, name):
    f, xs = first_accepted(space, name)
    with pytest.raises(NotDifferentiableError, match=rf"{name} has no derivative rule"):
        grad(lambda *xs: sum([tnp.real(y).sum() for y in floats(f(tnp, *xs))]), range(len(xs)))(*xs)


LEAVING = """
x.tolist()|x.tobytes()|x.__array__()|x.item(0)|float(x[0, 0])|complex(x[0, 0])|x.data|np.asmatrix(x)|np.bmat([[x]])
"""


@pytest.mark.parametrize("call", LEAVING.strip().split("|"))
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_leaving(call):
    f, _ = derivatives.program(call)
    with pytest.warns(LeavingTapeWarning):
        grad(lambda x: (f(tnp, x), x.sum())[1])(derivatives.operands("d")["x"])
