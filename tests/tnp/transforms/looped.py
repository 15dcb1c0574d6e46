"""Compares vmap with a loop over the examples under NumPy."""

import numpy

import tnp


def flatten(y):
    if isinstance(y, (tuple, list)):
        return [leaf for item in y for leaf in flatten(item)]
    if isinstance(y, dict):
        return [leaf for k in y for leaf in flatten(y[k])]
    return [y]


def length(args, in_axes):
    return next(a.shape[ax] for a, ax in zip(args, in_axes, strict=True) if ax is not None)


def per_argument(in_axes, args):
    return in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)


def loop(f, args, in_axes=0):
    """What a loop gives: for each result the array of all examples; the arguments are written to."""
    axes = per_argument(in_axes, args)
    views = [a if ax is None else numpy.moveaxis(a, ax, 0) for a, ax in zip(args, axes, strict=True)]
    rows = [
        [
            numpy.array(leaf)
            for leaf in flatten(f(numpy, *[v if ax is None else v[i] for v, ax in zip(views, axes, strict=True)]))
        ]
        for i in range(length(args, axes))
    ]
    return [numpy.stack([row[k] for row in rows]) for k in range(len(rows[0]))]


def assert_same(got, expected, ulp=0, what=""):
    got = tnp.to_numpy(got) if isinstance(got, tnp.ndarray) else got
    assert type(got) is numpy.ndarray, (what, type(got))
    assert got.dtype == expected.dtype, (what, got.dtype, expected.dtype)
    assert got.shape == expected.shape, (what, got.shape, expected.shape)
    if ulp and got.dtype.kind in "fc":
        eps = numpy.finfo(got.dtype).eps
        scale = numpy.abs(expected[numpy.isfinite(expected)]).max(initial=0)
        numpy.testing.assert_allclose(got, expected, rtol=ulp * eps, atol=ulp * eps * scale, err_msg=str(what))
    else:
        numpy.testing.assert_array_equal(got, expected, err_msg=str(what))
        if got.dtype.kind == "f":
            there = ~numpy.isnan(expected)
            numpy.testing.assert_array_equal(numpy.signbit(got)[there], numpy.signbit(expected)[there])


def check(f, *args, in_axes=0, ulp=0):
    """``vmap(f)`` is the loop: results and what is written to the arguments. `f` takes the module first."""
    theirs = [a.copy(order="K") for a in args]
    axes = per_argument(in_axes, args)
    with numpy.errstate(all="ignore"):
        expected = loop(f, theirs, axes)
    ours = [tnp.array(a, order="K") for a in args]
    with tnp.errstate(all="ignore"):
        got = tnp.vmap(lambda *xs: f(tnp, *xs), in_axes=tuple(axes))(*ours)
    got = flatten(got)
    assert len(got) == len(expected)
    for y, z in zip(got, expected, strict=True):
        assert_same(y, z, ulp, f)
    for y, z in zip(ours, theirs, strict=True):
        assert_same(y, z, ulp, "an argument")
