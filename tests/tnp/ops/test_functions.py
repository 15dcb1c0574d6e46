"""Functions of every topic on hostile operands, whose content is pending or in memory: the same as NumPy's.

Values bit for bit, types, strides, flags, exceptions and warnings are compared. Every expression gets a new operand;
its copy is recorded where arrays of one element are, so that it is pending then.
"""

import ast

import pytest

from tests.programs.same import same

OPERANDS = {
    "vector": "np.linspace(-3, 3, 24)",
    "matrix": "np.arange(24.0).reshape(4, 6) - 7",
    "NaN and infinities": "np.array([[1.5, np.nan, -np.inf, -0.0], [np.inf, 0.0, 2.5, -7], [np.nan, -2, 0.5, 3]])",
    "only NaN in a row": "np.array([[np.nan, np.nan], [1.0, np.nan], [-0.0, 0.0]])",
    "three axes": "np.arange(24, dtype='f4').reshape(2, 3, 4) / 7",
    "F order": "np.asfortranarray(np.arange(24.0).reshape(4, 6) - 7)",
    "F order, three axes": "np.asfortranarray(np.arange(24).reshape(2, 3, 4))",
    "transposed": "(np.arange(24.0).reshape(4, 6) - 7).T",
    "strided": "np.arange(48.0)[::2] - 9",
    "reversed": "np.arange(24, dtype='i4')[::-1]",
    "every other column": "np.arange(24.0).reshape(4, 6)[:, ::2]",
    "one element": "np.array([2.5])",
    "axes of length one": "np.arange(6.0).reshape(1, 6, 1)",
    "empty": "np.zeros((0,))",
    "empty rows": "np.zeros((3, 0))",
    "0-d": "np.array(-2.5)",
    "native order, named": "np.arange(-5, 7).astype('>i4').view(np.dtype('>i4').newbyteorder())",
    "bool": "np.arange(24).reshape(4, 6) % 3 == 0",
    "int8": "np.arange(-12, 12, dtype='i1').reshape(4, 6) * 9",
    "uint8": "np.arange(24, dtype='u1').reshape(4, 6) * 10",
    "uint64": "np.arange(24, dtype='u8') + 2**63",
    "float16": "np.arange(24, dtype='f2').reshape(4, 6) * 100",
    "complex": "(np.arange(12) - 5 + 1j * np.arange(12)[::-1]).reshape(3, 4)",
    "complex64": "np.arange(12).astype('c8') * (1 + 2j)",
    "other byte order": "np.arange(24, dtype='>f8').reshape(4, 6)",
    "long double": "np.arange(6, dtype='g') / 3",
    "object": "np.array([1, 2.5, -3], dtype=object)",
    "text": "np.array(['b', 'a', 'c'])",
    "dates": "np.arange('2020-01', '2020-07', dtype='M8[M]')",
}

TOPICS = {
    "movement": """
        np.transpose(x), np.reshape(x, -1), np.reshape(x, (2, -1)), np.ravel(x), np.ravel(x, 'F'), np.ravel(x, 'K')
        np.squeeze(x), np.expand_dims(x, 0), np.expand_dims(x, (0, -1)), np.moveaxis(x, 0, -1), np.rollaxis(x, -1)
        np.swapaxes(x, 0, -1), np.flip(x), np.flip(x, 0), np.fliplr(x), np.flipud(x), np.rot90(x), np.rot90(x, 2)
        np.broadcast_to(x, (2, *x.shape)), np.broadcast_to(x, x.shape), np.broadcast_to(x, (5, 5))
        np.atleast_1d(x), np.atleast_2d(x), np.atleast_3d(x), np.diagonal(x), np.diagonal(x, 1)
        np.matrix_transpose(x)
        np.real(x), np.imag(x), x.real, x.imag, x.mT, x.T, x.ravel(), x.ravel('F'), x.ravel('A'), x.flatten()
        x.view(), x.view('i1'), x.view('u2'), x.squeeze(), x.swapaxes(0, 1), x.transpose(), x.diagonal()
        x.reshape(-1), x.reshape(3, -1), x.reshape(7), x.reshape(-1, order='F'), x.reshape(-1, copy=True)
        x.reshape(-1, copy=False), x.T.reshape(-1), x.T.reshape(-1, copy=False), x[::-1].ravel()
        np.split(x, 2), np.split(x, [1, 2]), np.array_split(x, 3), np.hsplit(x, 2), np.vsplit(x, 2), np.dsplit(x, 2)
        np.unstack(x), np.split(x, 5), np.permute_dims(x), np.transpose(x, (0, 0)), np.squeeze(x, 0)
        np.reshape(x, -1, 'F')
        np.transpose(x).base is x, np.broadcast_to(x, x.shape).base is None, np.real(x) is x, np.ravel(x).base is x
        np.reshape(x, shape=(1, -1)), np.reshape(x, (x.size, 1), order='A'), np.broadcast_arrays(x, x[..., None])
        np.expand_dims(x, 9), np.moveaxis(x, 5, 0), np.diag(x), np.tril(x), np.reshape(x, 1, 2, 3, 4, 5)
        np.flip(x, axis=7)
        """,
    "joining": """
        np.concatenate([x, x]), np.concatenate((x, x, x), axis=-1), np.concatenate([x, x], axis=None)
        np.concatenate([x, x.T]), np.concatenate([x, x], axis=4), np.concatenate([x]), np.concatenate([])
        np.concatenate(x)
        np.concatenate([x, x.astype('f4')]), np.concatenate([x, x], dtype='f4'), np.concatenate([x[:1], x, x[1:]])
        np.stack([x, x]), np.stack([x, x], axis=-1), np.stack([x, x, x], 1), np.stack([x, x.T])
        np.stack([x], axis=7)
        np.vstack([x, x]), np.hstack([x, x]), np.dstack([x, x]), np.column_stack([x, x])
        np.column_stack((x, x.ravel()))
        np.vstack([x, x.ravel()]), np.hstack([x, x.T]), np.vstack((x[::2], x)), np.block([[x, x], [x, x]])
        np.append(x, x), np.append(x, x, 0), np.append(x, 3), np.append(x, [x], axis=0), np.append(x, x.T, 1)
        np.tile(x, 2), np.tile(x, (2, 1)), np.tile(x, (3, 1, 2)), np.tile(x, 0), np.tile(x, ()), np.tile(x, 1)
        np.tile(x, -1)
        np.repeat(x, 3), np.repeat(x, 2, 0), np.repeat(x, 2, axis=-1), np.repeat(x, 0), np.repeat(x, -1)
        x.repeat(2)
        np.repeat(x, [1, 2]), x.repeat(2, 1), np.repeat(x, 2, 6), np.repeat(x, 2.5), np.repeat(x, np.array([2]))
        np.roll(x, 1), np.roll(x, -2, 0), np.roll(x, 50, -1), np.roll(x, 0), np.roll(x, (1, 2), (0, 1))
        np.roll(x, 1, 5)
        np.roll(x, 1.5), np.pad(x, 1), np.pad(x, 2, 'edge'), np.pad(x, ((1, 0),), mode='wrap')
        np.concatenate([x, x], out=np.zeros((2 * len(x), *x.shape[1:]))), np.hstack([x, 1]), np.vstack(x)
        np.hstack(())
        """,
    "creation": """
        np.copy(x), np.copy(x, 'C'), np.copy(x, 'F'), x.copy(), x.copy('F'), x.copy(order='K'), np.array(x)
        np.array(x, 'f4')
        np.array(x, copy=False) is x, np.array(x, ndmin=3), np.array([x, x]), np.array(x, order='F')
        np.array(x, dtype=bool)
        np.asarray(x) is x, np.asarray(x, x.dtype) is x, np.asarray(x, 'f8'), np.asanyarray(x) is x
        np.asarray(x, 'i4')
        np.ascontiguousarray(x), np.ascontiguousarray(x) is x, np.asfortranarray(x), np.ascontiguousarray(x, 'f4')
        np.empty_like(x).strides, np.empty_like(x, 'i2').dtype, np.empty_like(x, shape=(2, 2)).strides
        np.zeros_like(x)
        np.ones_like(x), np.ones_like(x, int), np.full_like(x, 3), np.full_like(x, 2.5, 'i4')
        np.full_like(x, 300, 'u1')
        np.full_like(x, x), np.full_like(x, np.nan), np.zeros_like(x, order='F')
        np.ones_like(x, order='C', shape=3)
        np.full(3, x.ravel()[:1]), np.array(x, 'nonsense'), np.asarray(x, order='F'), np.asarray(x, copy=True) is x
        np.require(x, requirements='C'), np.array(x, subok=True), np.asarray(x, 'c16'), np.array(x, None)
        np.copy(x, 'Z')
        """,
    "differences": """
        np.diff(x), np.diff(x, 2), np.diff(x, axis=0), np.diff(x, 0), np.diff(x, -1), np.diff(x, 1, 7)
        np.diff(x, 40)
        np.diff(x, prepend=0), np.diff(x, append=x[..., :1]), np.ediff1d(x), np.ediff1d(x, 5, 6)
        np.diff(x, n=3, axis=-1), np.diff(x.ravel()[:4] / 0, 3), np.diff(x.ravel()[:4] / 0, 4), np.diff(x / 0, 2, 0)
        np.gradient(x), np.trapezoid(x), np.cross(x, x), np.outer(x, x), np.subtract.outer(x, x), np.diff(x, 1.5)
        np.add.outer(x[(..., *(None,) * 40)], x[(..., *(None,) * 40)])
        """,
    "closeness": """
        np.isclose(x, x), np.isclose(x, x + 1e-9), np.isclose(x, 1), np.isclose(2.5, x)
        np.isclose(x, x, equal_nan=True)
        np.isclose(x, x, atol=np.inf), np.isclose(x, x, rtol=x), np.isclose(x, x.T), np.isclose(x, 1 + 2j)
        np.allclose(x, x), np.allclose(x, 0), np.allclose(x, x, equal_nan=True), np.allclose(x, x[..., ::-1])
        np.array_equal(x, x), np.array_equal(x, x, equal_nan=True), np.array_equal(x, x.T), np.array_equal(x, 1)
        np.array_equiv(x, x), np.nan_to_num(x), np.nan_to_num(x, nan=1.5, posinf=7, neginf=-7)
        np.nan_to_num(x, False)
        np.nan_to_num(x, posinf='a'), np.isposinf(x), np.isneginf(x), np.isreal(x), np.iscomplex(x), np.isrealobj(x)
        """,
    "scans": """
        np.cumsum(x), np.cumsum(x, 0), np.cumsum(x, -1), x.cumsum(), x.cumsum(axis=1), np.cumsum(x, dtype='f4')
        np.cumsum(x, axis=4), np.cumprod(x), np.cumprod(x, 0), x.cumprod(1), np.cumsum(x, 1.5)
        np.cumsum(x, None, 'f8')
        np.add.accumulate(x), np.multiply.accumulate(x, -1), np.maximum.accumulate(x)
        np.add.accumulate(x, dtype='f8')
        np.nancumsum(x), np.nancumprod(x, 0), np.cumulative_sum(x), np.cumulative_sum(x, axis=0)
        np.cumulative_prod(x)
        np.cumsum(x, 0, out=np.zeros(x.shape or (1,), x.dtype)), np.logical_or.accumulate(x)
        np.subtract.accumulate(x, 0)
        """,
}  # fmt: skip

REDUCTIONS = """
    np.add.reduce(x), np.add.reduce(x, -1), np.add.reduce(x, None), np.add.reduce(x, axis=0, keepdims=True)
    np.multiply.reduce(x, None), np.maximum.reduce(x), np.minimum.reduce(x, axis=None), np.logical_or.reduce(x)
    np.logical_and.reduce(x, None), np.add.reduce(x, dtype='f8'), np.add.reduce(x, initial=3)
    np.add.reduce(x, where=x == x)
    np.subtract.reduce(x, None), np.add.reduce(x, 5), np.add.reduce(x, (0, 1)), np.add.reduce(x, ())
    np.add.reduce(x, foo=1)
    np.add.reduceat(x, [0, 1]), np.bitwise_or.reduce(x), np.add.reduce(x, 0, None, None, True), np.hypot.reduce(x)
    np.sum(x), np.sum(x, 0), np.sum(x, dtype='f4'), np.sum(x, dtype=int), np.sum(x, axis=(0, -1)), x.sum(-1)
    np.sum(x, 1.0)
    np.prod(x), np.prod(x, -1), np.prod(x, dtype='i8'), np.mean(x), np.mean(x, 0), np.mean(x, -1, keepdims=True)
    x.mean()
    np.mean(x, dtype='f4'), np.var(x), np.std(x, 0), np.std(x, ddof=1), np.any(x), np.any(x, 0), np.all(x, -1)
    np.all(x)
    np.max(x), np.amax(x, 0), np.amin(x), np.min(x, -1), np.ptp(x), np.ptp(x, 0), np.ptp(x, -1, keepdims=True)
    np.sum(x, foo=2)
    np.average(x), np.average(x, 0), np.average(x, weights=x), np.average(x, -1, x), np.average(x, weights=x * 0)
    np.average(x, returned=True), np.count_nonzero(x), np.count_nonzero(x, 0), np.count_nonzero(x > 1, axis=-1)
    np.count_nonzero(x, keepdims=True), np.argmax(x), np.argmin(x, 0), x.argmax(-1), np.median(x), x.trace()
    np.trace(x)
    np.nansum(x), np.nansum(x, 0), np.nanprod(x, -1), np.nanmean(x), np.nanmean(x, 0)
    np.nanmean(x, -1, keepdims=True)
    np.nanmax(x), np.nanmax(x, 0), np.nanmin(x, -1), np.nanmin(x), np.nanvar(x), np.nanvar(x, 0)
    np.nanstd(x, -1, ddof=1)
    np.nanstd(x), np.nanvar(x, ddof=99), np.nanvar(x, -1, keepdims=True), np.nanargmax(x), np.nanmedian(x)
    np.nansum(x, 9)
    """

INDEXING = """
    x[[0, -1]], x[[[0], [1]]], x[x == x], x[x != x], x[..., [0, 0]], x[np.array([0, 1])], x[[]], x[[99]]
    x[[True] * len(x)]
    np.take(x, [0, 2, -1]), np.take(x, [[0]], 0), np.take(x, 1, -1), np.take(x, 99), np.take(x, 99, mode='wrap')
    x.take([1, 0])
    np.take(x, [-99], mode='clip'), np.nonzero(x), x.nonzero(), np.flatnonzero(x), np.argwhere(x)
    np.compress([True], x, 0)
    np.extract(x == x, x), np.choose([0, 1], [x, x]), np.take_along_axis(x, np.argsort(x, -1), -1), np.where(x)
    np.where(x == x)
    np.where(x == x, x, 0), np.where(x == x, 1, x), np.where(x == x, x, 300), np.where(True, x, x)
    np.where(x, x, -x)
    np.select([x == x], [x]), np.select([x != x, x == x], [x, 2], -1), np.clip(x, 0, 1), np.clip(x, None, 2)
    np.round(x)
    np.round(x, 1), np.clip(x, x, 3), np.clip(x, 3, 0), np.clip(x, 0, 300), np.round(x, -1), np.clip(x)
    np.clip(x, 1), np.clip(x, a_max=1), np.clip(x, 1, None), np.clip(x, min=1), np.clip(x, 0, 1, max=2), x.clip(1)
    x.astype('a3'), x.astype(np.floating), np.empty(3, 'a').shape, np.zeros(9, np.integer), x.astype('f4')
    x.astype('nope')
    x.clip(max=1), x.clip(min=1), x.clip(1, None), x.clip(), x.clip(a_min=1), x.clip(1, min=2), x.clip(None, 1)
    np.round(x, 1.5)
    """

WRITES = """
    x[x == x] = 1
    x[x != x] = 0
    x[x == x] = 2.5
    x[x == x] = -1
    x[x == x] = True
    x[x == x] = 1000
    x[x == x] = 1e300
    x[x == x] = np.nan
    x[x == x] = np.float32(0.1)
    x[x == x] = 1j
    x[x == x] = 'a'
    x[x == x] = [1, 2]
    x[np.ones((2, 2), bool)] = 1
    x[[0, -1]] = 3
    x[[0, 0]] = x[[1, -1]]
    x[[99]] = 3
    np.putmask(x, x == x, 4)
    np.putmask(x, x == x, [1, 2])
    np.copyto(x, 5)
    np.copyto(x, 5, where=x == x)
    np.copyto(x, 2.5, where=x != x)
    np.copyto(x, x[::-1])
    np.copyto(x, 1j)
    np.place(x, x == x, [1, 2])
    np.place(x, x == x, [])
    np.put(x, [0, -1], [9, 8])
    np.put(x, [99], 1)
    np.put_along_axis(x, np.zeros((1,) * x.ndim, int), 7, 0)
    np.fill_diagonal(x, 1)
    np.clip(x, 0, 1, out=x)
    np.clip(x, 0, 1, x)
    np.round(x, 1, out=x)
    np.cumsum(x, 0, out=x)
    x.put([0], 5)
    x.fill(2)
    x.clip(0, 1, out=x)
    x.round(out=x)
    """


def expressions(text):
    """Each expression of a topic as a statement of its own."""
    for line in text.strip().splitlines():
        yield f"({line.strip()},)"


def separate(line):
    """The items of a tuple display."""
    node = ast.parse(line, mode="eval").body
    return [ast.get_source_segment(line, item) for item in node.elts]


def session(operand, text):
    lines = []
    for line in expressions(text):
        for item in separate(line):
            lines += [f"x = ({operand}).copy(order='K')", item]
    return "\n".join(lines)


def thresholds(operand):
    """Recorded from the first element on; some also with the default, where small arrays go straight to NumPy."""
    return (None, 1) if operand in ("matrix", "strided", "0-d", "object") else (1,)


@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize("topic", [*TOPICS, "reductions", "indexing"])
def test_functions(topic, operand):
    text = {**TOPICS, "reductions": REDUCTIONS, "indexing": INDEXING}[topic]
    same(session(OPERANDS[operand], text), functions=(False,), lazy_from=thresholds(operand))


@pytest.mark.parametrize("operand", OPERANDS)
def test_writes(operand):
    lines = []
    for line in WRITES.strip().splitlines():
        lines += [f"x = ({OPERANDS[operand]}).copy(order='K')", "y = x[...]", "z = x * 1", line.strip(), "x", "y", "z"]
    same("\n".join(lines), functions=(False,), lazy_from=thresholds(operand))


@pytest.mark.parametrize("operand", ["matrix", "F order", "int8", "bool"])
def test_views_of_pending_arrays_see_writes(operand):
    lines = []
    for view in ("np.transpose(x)", "np.ravel(x)", "np.split(x, 2)[1]", "np.flip(x)", "x.reshape(-1)", "np.rot90(x)"):
        lines += [
            f"x = ({OPERANDS[operand]}).copy(order='K')",
            f"v = {view}",
            "v[0] = 1",
            "x, v",
            "x[x == 1] = 0",
            "x, v",
            "v[...] = 1",
            "x, v, v.base is x",
        ]
    for view in ("np.broadcast_to(x, x.shape)", "np.diagonal(x)"):
        lines += [
            f"x = ({OPERANDS[operand]}).copy(order='K')",
            f"v = {view}",
            "v[0] = 1",
            "v.flags.writeable = True",
            "x, v",
        ]
    same("\n".join(lines))
