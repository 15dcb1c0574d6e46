"""Derivatives against central differences of the same program under NumPy.

A program is ``f(np, *arrays)``. Its value under tnp has NumPy's bits; its gradient (reverse mode) and its tangent
(forward mode) are those of differences; and its second derivatives, forward over reverse and reverse over reverse, are
differences of the gradient.
"""

import warnings

import numpy

import tnp
from tnp.core.interpreter import quietly
from tnp_autodiff import ForwardAccumulator, GradientTape, grad, jvp, vjp

STEP, SECOND_STEP = 1e-6, 1e-5


def draw(rng, shape, dtype=float):
    x = rng.normal(size=shape)
    return x + 1j * rng.normal(size=shape) if numpy.dtype(dtype).kind == "c" else x


def plain(x):
    """A NumPy copy of the values."""
    with quietly():
        return numpy.array(tnp.to_numpy(tnp.asarray(x)))


def close(got, want, tolerance):
    got, want = plain(got), numpy.asarray(want)
    assert got.shape == want.shape
    scale = 1 + numpy.abs(want).max(initial=0)
    numpy.testing.assert_allclose(got / scale, want / scale, rtol=0, atol=tolerance)


def gradient_by_differences(f, xs, i, weights):
    """Of Re(sum(conj(weights) * f)): df/dx + i df/dy where argument `i` is complex."""
    g = numpy.zeros_like(xs[i])
    for k in numpy.ndindex(xs[i].shape):
        for unit in (1,) if xs[i].dtype.kind == "f" else (1, 1j):
            change = []
            for sign in (1, -1):
                moved = [x.copy() for x in xs]
                moved[i][k] += sign * STEP * unit
                change.append(numpy.asarray(f(numpy, *moved)))
            slope = (change[0] - change[1]) / (2 * STEP)
            g[k] += unit * numpy.sum(numpy.real(numpy.conj(weights) * slope))
    return g


def check(f, *xs, second=None, exact=True, tolerance=1e-6, seed=0, batched=True, loops=False):
    """Everything that the module says, for arguments `xs`; of complex ones second derivatives if `second` is True.

    `loops`: `tnp.vmap` has no rule for it and runs it one by one.
    """
    rng = numpy.random.default_rng(seed)
    xs = [numpy.array(x) for x in xs]
    value = numpy.asarray(f(numpy, *[x.copy() for x in xs]))
    weights = draw(rng, value.shape, value.dtype)
    arrays = [tnp.array(x) for x in xs]
    with GradientTape() as tape:
        tape.watch(arrays)
        y = f(tnp, *arrays)
    if exact:
        numpy.testing.assert_array_equal(plain(y), value)
    else:
        close(y, value, 1e-13)
    gradients = tape.gradient(y, arrays, tnp.array(weights), unconnected_gradients="zero")
    for i, g in enumerate(gradients):
        close(g, gradient_by_differences(f, xs, i, weights), tolerance)
    check_forward(f, xs, rng, tolerance)
    if batched:
        with warnings.catch_warnings():
            if loops:
                warnings.simplefilter("ignore", tnp.transforms.VmapLoopWarning)
            check_examples(f, xs, weights, rng)
    if second if second is not None else all(x.dtype.kind == "f" for x in xs):
        check_second(f, xs, weights, rng)


def check_examples(f, xs, weights, rng):
    """The same for several examples at once (`tnp.vmap`), in every order, is what a loop gives."""
    examples = [[x * scale for x in xs] for scale in (1, 0.75, 0.5)]
    batch = [tnp.array(numpy.stack(items)) for items in zip(*examples, strict=True)]
    numbers = tuple(range(len(xs)))

    def number(*arrays):
        y = tnp.array(weights.conj()) * f(tnp, *arrays)
        return tnp.real(y.sum()) if y.dtype.kind == "c" else y.sum()

    def alone(g, *more):
        rows = [g(*[tnp.array(x) for x in e], *m) for e, *m in zip(examples, *more, strict=True)]
        return [numpy.stack([plain(y) for y in ys]) for ys in zip(*rows, strict=True)]

    with numpy.errstate(all="ignore"):
        values = tnp.vmap(lambda *xs: (f(tnp, *xs),))(*batch)
        for got, want in zip(values, alone(lambda *xs: (f(tnp, *xs),)), strict=True):
            close(got, want, 1e-12)
        gradients = alone(grad(number, numbers))
        for got in (
            tnp.vmap(grad(number, numbers))(*batch),
            grad(lambda *b: tnp.vmap(number)(*b).sum(), numbers)(*batch),
        ):
            for g, want in zip(got, gradients, strict=True):
                close(g, want, 1e-10)
        y, pull = vjp(lambda *xs: f(tnp, *xs), *[tnp.array(x) for x in xs])
        cotangents = tnp.array(draw(rng, (3, *numpy.shape(y)), y.dtype))
        for k, got in enumerate(zip(*tnp.vmap(pull)(cotangents), strict=True)):
            for g, want in zip(got, pull(cotangents[k]), strict=True):
                close(g, plain(want), 1e-10)


def check_forward(f, xs, rng, tolerance):
    tangents = [draw(rng, x.shape, x.dtype) for x in xs]
    arrays = [tnp.array(x) for x in xs]
    with ForwardAccumulator(arrays, [tnp.array(t) for t in tangents]) as accumulator:
        y = f(tnp, *arrays)
    ahead, behind = (f(numpy, *[x + sign * STEP * t for x, t in zip(xs, tangents, strict=True)]) for sign in (1, -1))
    slope = (numpy.asarray(ahead) - numpy.asarray(behind)) / (2 * STEP)
    close(accumulator.jvp(y, unconnected_gradients="zero"), slope, tolerance)


def check_second(f, xs, weights, rng):
    tangents = [draw(rng, x.shape, x.dtype) for x in xs]
    numbers = tuple(range(len(xs)))

    def number(*arrays):
        y = tnp.array(weights.conj()) * f(tnp, *arrays)
        return tnp.real(y.sum()) if y.dtype.kind == "c" else y.sum()

    def along(*arrays):
        gs = gradient(*arrays)
        return sum([tnp.real(g * tnp.array(t).conj()).sum() for g, t in zip(gs, tangents, strict=True)])

    gradient = grad(number, numbers)
    arrays = [tnp.array(x) for x in xs]
    ahead, behind = (
        gradient(*[tnp.array(x + step * t) for x, t in zip(xs, tangents, strict=True)])
        for step in (SECOND_STEP, -SECOND_STEP)
    )
    slopes = [(plain(a) - plain(b)) / (2 * SECOND_STEP) for a, b in zip(ahead, behind, strict=True)]
    forward = jvp(gradient, arrays, [tnp.array(t) for t in tangents])[1]
    reverse = grad(along, numbers)(*arrays) if any(numpy.any(s) for s in slopes) else slopes
    for got, other, want in zip(forward, reverse, slopes, strict=True):
        close(got, want, 1e-5)
        close(other, want, 1e-5)
