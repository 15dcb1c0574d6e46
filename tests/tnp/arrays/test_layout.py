"""What NumPy shows of an array besides its values: the dtype's own object, strides, flags, the identity of results."""

import sys
import textwrap

import numpy
import pytest

import tnp
from tests.programs.same import same
from tnp.core import native

COUNTED = pytest.mark.skipif(
    not native.COMPILED or sys.version_info >= (3, 14),
    reason="which operands have no name is told only by the compiled build, before Python 3.14",
)


def test_results_have_the_dtype_object_of_their_operands():
    """Equal dtypes differ in metadata, and in whether asarray gives back the very array."""
    same("""
        told = np.dtype('f8', metadata={'unit': 'm'})
        x, y, z = np.zeros(50, told), np.arange(50, dtype='>f8'), np.arange(50.0)
        [r.dtype.metadata for r in (z + z, x + x, x + z, z + x, x * 2, np.sqrt(x), (y + z) + z, z + (y + z))]
        [r.dtype.metadata for r in (np.concatenate([x, z]), np.concatenate([x, x]), np.concatenate([x]))]
        [np.asarray(r, dtype='f8') is r for r in (x, z, y + z, x + z, z + x, np.sort(y - z))]
        [np.asarray(r, dtype='f8').flags.owndata for r in (z, y + z, np.sort(y - z))]
        w = np.zeros((2, 3), '>f8')
        np.asarray(w, dtype='>f8')
        v = np.arange(9, dtype='i8').astype('>i4').view(np.dtype('>i4').newbyteorder())
        v // 1
        (v // 1) * (v // 1).max()
    """)


def test_numpy_sees_strides_as_they_are():
    """Along axes of one element, and where there are no elements; memoryviews have others for NumPy's arrays too."""
    same("""
        a = np.zeros((3, 5))
        parts = a[1:2, 1:2], a[:1, ::2], a[:0, ::2], np.full((1, 6), 1.0, order='F'), np.arange(0) + 1, a[2:1].T
        [numpy.asarray(b).strides for b in parts]
        [numpy.asarray(b)[...].strides for b in parts]
        [numpy.array(b, copy=None).T.strides for b in parts]
        [memoryview(b).strides for b in parts]
        [memoryview(numpy.asarray(b)).strides for b in parts]
        [numpy.from_dlpack(b).strides for b in parts]
    """)


def test_copies_have_numpys_order_along_axes_of_one_element():
    same("""
        a = np.broadcast_to(np.arange(6.0).reshape(1, 3, 2), (2, 1, 3, 2))
        np.array(a)
        np.nan_to_num(a, nan=1.0)
        np.lib.stride_tricks.sliding_window_view(np.nan_to_num(a), 2, axis=0)
        b = (np.arange(30.0) * 2)[None, 1::3]
        np.array(b)[1::3]
        b.astype('f4')[1::3]
    """)


def test_two_results_of_a_ufunc_are_arrays_of_the_module():
    x = tnp.arange(4.0)
    for results in (tnp.modf(x), tnp.divmod(x, 2), tnp.divmod(2, x + 1), tnp.frexp(x), divmod(x, 2)):
        assert type(results) is tuple
        assert [type(r) for r in results] == [tnp.ndarray, tnp.ndarray]
    assert type(tnp.modf(2.5)[0]) is numpy.float64


def test_an_output_is_the_very_array():
    same("""
        a = np.ones((1, 4))
        a += 1
        np.add(a.reshape(1, 4), 0, out=a) is a
        b = a.view()
        a *= 2
        [np.add(b, a, out=b) is b, np.add(b, a, out=a) is a, np.add(a, b, out=(a,)) is a]
        p, q = np.atleast_1d(a, b)
        [p is a, p is b, q is a, q is b]
        c, d = np.divmod(np.zeros(0, 'f4'), 3)
        np.add(d[::-1], c, out=d) is d
    """)


def test_the_owner_stays_the_owner_when_a_view_moves_the_memory():
    same("""
        a = np.arange(5.0) * 1
        b = np.transpose(a)
        a[1:] -= a[:-1]
        b += 1
        b *= a[::-1]
        [a.flags.owndata, b.flags.owndata, a.base is None, b.base is a]
        a
        c = a[...]
        c += 1
        c *= 2
        c
        a
        [a.flags.owndata, c.flags.owndata, c.base is a]
        d = np.linspace(-2, 3, 9)
        below = d < 0
        d[below] = 0
        d += 1
        [d.flags.owndata, d.base is None]
    """)


def test_a_window_that_foreign_code_made_stays_where_it_is():
    """Identities of arrays are used again: memory that was left must not be taken for it."""
    same("""
        for _ in range(60):
            a = np.hstack((np.arange(40.0) * 2, np.ones(40)))
            a += 1
            a *= a
            w = np.lib.stride_tricks.sliding_window_view(a, 2, axis=0)
            a += 1
            total = w.sum()
        w
        total
    """)


def test_imaginary_parts_of_real_arrays_can_be_made_writable():
    same("""
        a = np.arange(4.0) + 1
        b = a.imag
        b.flags.writeable
        b.flags.writeable = True
        [b.flags.writeable, b.flags.owndata]
        b[...] = 3
        b
        c = np.arange(4.0)
        c.flags.writeable = False
        c[...] = 1
        c.flags.writeable = True
        c[...] = 1
        c
    """)


def test_the_buffer_of_data_keeps_the_array():
    same("""
        a = np.zeros(9, 'f4') + 1
        held = numpy.frombuffer(a.data, a.dtype)
        a.resize((8,))
        a.data.obj is a
        a.data.strides
        del held
        a.resize((8,))
        a
    """)


@COUNTED
def test_a_result_over_an_unnamed_operand_has_its_order():
    """NumPy computes over the memory of large operands that nothing names; the order of the result tells."""
    text = """
        a = np.arange({n} * {n} * 1.0).reshape({n}, {n}) + 1
        f = np.asfortranarray(a)
        i = np.arange({n} * {n}).reshape({n}, {n})
        g = np.asfortranarray(i).astype('i4')
        [r.strides for r in ((f + 1) + a, (a + 1) + f, a + (f + 1), a - (f + 1), (f + 1) - a, (f * 2) / a, f + a)]
        [r.strides for r in (i + (g + 1), (g + 1) + i, (i + 1) + g, (i + 1) / g, np.add(f + 1, a), (a + 1) * (f + 1))]
        [r.strides for r in ((f + 1)[::-1] + a, (f + 1).T + f, a * (f + 1)[0], a[0] * (f + 1), a ** (f / f))]
        t = f + 1
        [(t + a).strides, (a + t).strides, t.sum(), t.flags.f_contiguous]
        r = (t + 1) + a[::-1]
        r
        with np.errstate(all='raise'): saw([((f + 1) + a).strides, (a - (f + 1)).strides])
    """
    for n in (181, 190):  # 250 KB, 282 KB
        same(text.format(n=n))


@COUNTED
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "i8"])
@pytest.mark.parametrize("times", [1, 5])  # at last the operations run at once
def test_axes_of_one_element_lie_as_in_an_operand_without_a_name(dtype, times):
    """`p()` is large and in an order that no new result would have, if NumPy's iterator made it."""
    text = f"""
    a = np.array(np.full((257, 299), 3, dtype={dtype!r}, order='F'), ndmin=3)
    two = np.array(2.0 if a.dtype.kind in 'fc' else 2)
    p = lambda: a * two
    for _ in range({times}):
        saw([r.strides for r in (p(), -p(), +p(), abs(p()), p() ** 2, p() ** 0.5, p() ** 3, p() ** -1.0, np.sin(p()))])
        saw([r.strides for r in (p() + 1, p() + 1.0, p() + True, p() + np.float32(1), p() - 1.0, 1.0 - p(), 1.0 + p())])
        saw([r.strides for r in (p() / 2, p() * 2, 2 * p(), 1j * p(), p() * 1j, 1 + p(), True + p())])
        if a.dtype.kind == 'i': saw([r.strides for r in (~p(), p() << 1, p() & 1, 1 | p(), p() // 2, p() % 2)])
        t = p()
        saw([r.strides for r in (-t, t + 1, t[...] + 1, -t[...], (-t).T, t * np.full((1, 257, 299), 2.0, order='F'))])
    """
    same(text)


UNNAMED = {
    "second": "a * (b + 0)",
    "first": "(b + 0) * a",
    "both": "(a + 0) * (b + 0)",
    "number first": "(0.1 + 0.7j) * (b + 0)",
    "number last": "(b + 0) * (0.1 + 0.7j)",
    "NumPy's number": "np.complex128(0.1 + 0.7j) * (b + 0)",
    "real numbers": "a.real * (b + 0)",
    "named": "a * c",
    "named, number first": "(0.1 + 0.7j) * c",
    "a view": "a * (b + 0)[:]",
    "half as wide": "a * (b + 0).astype('F')",
    "small": "a[:100] * (b[:100] + 0)",
}


@COUNTED
@pytest.mark.parametrize("product", UNNAMED.values(), ids=UNNAMED.keys())
def test_the_last_bits_of_a_product_tell_which_operand_had_no_name(product):
    same(f"""
    a = np.sin(np.arange(40000) * 1.7) + 1j * np.cos(np.arange(40000) * 2.3)
    b = np.exp(1j * np.arange(40000.0))
    c = b + 0
    z = {product}
    saw(z)
    """)


@COUNTED
@pytest.mark.parametrize("number", ["-1", "2.0", "True", "1j", "np.float64(3)", "np.int8(2)"])
@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_the_flags_of_a_product_tell_which_operand_had_no_name(number, dtype):
    same(f"""
    a = np.resize(np.array([1, np.inf, -2 + 3j, complex(np.nan, 1), complex(0, -np.inf)], {dtype!r}), 40000)
    {number} * (a - 3.0)
    (a - 3.0) * {number}
    t = a - 3.0
    {number} * t
    t * {number}
    """)


@COUNTED
@pytest.mark.parametrize("dtype", ["f8", "c16", "c8", "g", "i8", "f4"])
@pytest.mark.parametrize("n", [1000, 10_000, 16_385, 20_000, 33_000, 70_000])
def test_order_of_sums_over_operands_without_a_name(dtype, n):
    """NumPy computes over the memory of large ones, and counts bytes; what waits is counted in elements."""
    shape = (3, n // 3)
    for np in (numpy, tnp):
        fortran, c = np.ones(shape, dtype, "F"), np.ones(shape, bool)
        found = [
            (c + (fortran[::-1] * 2)).strides, ((fortran[::-1] * 2) + c).strides, (c + fortran * 2).strides,
            (c * (fortran - 1)).strides, ((fortran - 1) - c).strides, (c - (fortran - 1)).strides,
        ]  # fmt: skip
        if np is numpy:
            expected = found
    assert found == expected


@pytest.mark.parametrize("n", [3, 5000, 50_000])
@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize(
    "view",
    ["x[1:]", "np.lib.stride_tricks.as_strided(x, (2, 2), (1, 1))", "np.lib.stride_tricks.sliding_window_view(x, 2)"],
)
def test_what_views_refer_to_is_not_resized(n, view, gone):
    same(f"""
        x = np.ones({n})
        y = {view}
        {"del y" if gone else ""}
        try:
            x.resize({n + 3})
            saw(x.shape)
        except ValueError as error:
            saw(str(error)[:30])
    """)


@pytest.mark.parametrize("n", [63, 5000, 40_000])
@pytest.mark.parametrize("function", ["np.log(x[::-1])", "np.log(x)", "x * 3", "x[::-1] // 7"])
def test_one_pending_array_joined_to_itself(n, function):
    same(f"""
        x = np.arange(1.0, {n} + 1)
        y = {function}
        saw(np.stack([y, x, y], axis=-1))
        y = {function}
        saw(np.vstack([y, y]), np.concatenate([y, y, x]))
        y = {function}
        saw(np.concatenate([y, y[::-1]]))
    """)


@pytest.mark.parametrize("decimals", [-1, 0, 1])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("view", ["x", "x[::-1]", "x.T", "x[:, ::-1]", "x[::2]", "x[None]", "x[:, :1]"])
def test_order_of_what_is_rounded(decimals, order, view):
    for lazy_from in (1, 32768):
        with tnp.config(lazy_from=lazy_from):
            same(f"""
                x = np.arange(7 * 900.0).reshape(7, 900).copy({order!r})
                saw(np.round({view}, {decimals}).strides)
            """)


OWNERS = {
    "a name": "t = p(); saw([float(x[0, 0, 3]) for x in (-t, t**2, 1.0 + t, t + 1.0, t + c, c + t, t * c, t)])",
    "a list": "t = [p()]; saw([float(x[0, 0, 3]) for x in (-t[0], t[0]**2, 1.0 + t[0], t[0] + c, c + t[0], t[0])])",
    "a dict": "t = {1: p()}; saw([float(x[0, 0, 3]) for x in (-t[1], t[1]**2, 1.0 + t[1], t[1] + c, t.get(1), t[1])])",
    "an attribute": """
        class Holder: pass
        t = Holder(); t.x = p()
        saw([float(x[0, 0, 3]) for x in (-t.x, abs(t.x), t.x**2, 1.0 + t.x, t.x + 1.0, t.x + c, c + t.x, t.x * c, t.x)])
        """,
    "a closure": "t = p(); f = lambda: (-t, t**2, t + c, 1.0 + t, t); saw([float(x[0, 0, 3]) for x in (*f(), *f())])",
    "a default": "f = lambda t=p(): (-t, t**2, t + c, 1.0 + t, t); saw([float(x[0, 0, 3]) for x in (*f(), *f())])",
    "a generator's frame": """
        def values():
            t = p()
            yield -t; yield t**2; yield 1.0 + t; yield t + c; yield c + t; yield t
        saw([float(x[0, 0, 3]) for x in values()])
        """,
    "the caller of a method": """
        t = p()
        saw([float(x[0, 0, 3]) for x in (t.__neg__(), t.__pow__(2), t.__add__(c), t.__mul__(c), t.__radd__(1.0), t)])
        """,
}


@pytest.mark.parametrize("program", OWNERS.values(), ids=OWNERS.keys())
def test_what_somebody_holds_is_never_computed_over(program):
    """In an order and of a size in which NumPy computes over what has no name."""
    start = """
        a = np.array(np.full((257, 299), 3, dtype='f4', order='F'), ndmin=3)
        two, c = np.array(2.0), np.full((1, 257, 299), 1.0)
        p = lambda: a * two
        """
    lines = [line for text in (start, program) for line in textwrap.dedent(text).strip().splitlines()]
    same("\n".join([*lines, *lines[3:] * 5]))  # Python's interpreter adapts itself to what it sees
