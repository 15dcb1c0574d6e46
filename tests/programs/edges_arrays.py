"""NumPy's semantics that replacements get wrong: promotion, writing and aliasing, indexing.

`tests/test_sharp_edges.py` runs them: a value alone on a line is compared in bits, dtype, layout and type; a line that
raises in class and message.
"""

PROMOTION = {
    "a Python int out of range raises": """
        np.array([1], 'u1') + 300
        np.array([1], 'u1') + (-1)
        np.array([1], 'u1') * 2
        np.add(np.array([1], 'i1'), 128)
        np.array([1, 2], 'u1') > 300
        np.array([1, 2], 'u1') == -1
        """,
    "NumPy scalars are strong, Python scalars weak, 0-d arrays strong": """
        (np.ones(2, 'f4') * 2.0).dtype
        (np.ones(2, 'f4') * np.float64(2)).dtype
        (np.ones(2, 'f4') * np.array(2.0)).dtype
        (np.ones(2, 'f4') * 2).dtype
        (np.ones(2, 'i1') * 2).dtype
        (np.ones(2, 'i1') * 2.0).dtype
        (np.ones(2, 'i1') * np.int64(2)).dtype
        (np.ones(2, 'f4') * 2j).dtype
        (np.ones(2, 'f2') + np.float32(1)).dtype
        (np.ones(2, '?') + 1).dtype
        np.result_type(np.ones(2, 'f4'), 1.0)
        np.where([True, False], np.float32(1), 2.0).dtype
        np.maximum(np.ones(2, 'f4'), np.ones(2, 'f4').sum()).dtype
        """,
    "scalar arithmetic keeps its dtype and warns": """
        np.uint8(255) + 1
        np.uint8(255) + np.uint8(1)
        np.array([255], 'u1') + 1
        np.array([255], 'u1')[0] + 1
        np.int8(-128) * np.int8(-1)
        np.float32(1e38) * np.float32(10)
        np.int64(2) ** np.int64(-1)
        -np.uint8(1)
        np.uint8(300)
        """,
    "int with float32 is float64 unless the int is narrow": """
        (np.ones(1, 'i4') + np.ones(1, 'f4')).dtype
        (np.ones(1, 'i8') + np.ones(1, 'f4')).dtype
        (np.ones(1, 'i2') + np.ones(1, 'f4')).dtype
        (np.ones(1, 'u2') + np.ones(1, 'f2')).dtype
        (np.ones(1, 'i1') + np.ones(1, 'f2')).dtype
        (np.ones(1, 'i8') + np.ones(1, 'c8')).dtype
        """,
    "true division of integers is float64": """
        np.array([1], 'i1') / np.array([2], 'i1')
        np.array([1], 'u2') / 3
        (np.ones(1, 'i8') + np.ones(1, 'u8')).dtype
        np.array([5], 'i8') + np.array([2**63], 'u8')
        np.array([1, 0], 'i4') / 0
        """,
    "narrow sums widen, extremes do not": """
        np.array([100, 100], 'i1').sum()
        np.array([100, 100], 'u4').sum()
        np.array([True, True]).sum()
        np.array([100, 100], 'i1').max()
        np.array([100, 100], 'i1').prod()
        np.array([100, 100], 'i1').cumsum()
        np.cumsum([-1, 0, 1], dtype=bool)
        np.add.reduce(np.array([100, 100], 'i1'))
        np.add.reduce(np.array([100, 100], 'i1'), dtype='i1')
        np.linalg.matrix_power(np.array([[True, True], [False, True]]), 2)
        np.var(np.array([1 + 1j, 2]), dtype='f4')
        np.array([100, 100], 'i1').mean()
        np.array([[100, 100]], 'u1').sum(axis=0)
        """,
    "float16 means accumulate in float32, sums do not": """
        np.ones(70000, 'f2').mean()
        np.ones(70000, 'f2').sum()
        np.ones((70000, 1), 'f2').mean(axis=0)
        """,
    "bool is not int": """
        -np.array([True])
        np.array([True]) - np.array([False])
        np.array([True]) + np.array([True])
        np.array([True]) * np.array([False])
        np.array([True]) ** 2
        np.array([True]) / np.array([True])
        ~np.array([True])
        np.array([True]) // np.array([True])
        np.array([True]) - 1
        abs(np.array([True]))
        """,
}

WRITES = {
    "overlapping writes act as if copied first": """
        a = np.arange(5); a[1:] += a[:-1]
        a
        a = np.arange(5); a += a[::-1]
        a
        a = np.arange(5.0); a[1:] = a[:-1]
        a
        a = np.arange(5.0); a[:-1] = a[1:] * 2
        a
        a = np.arange(16.0).reshape(4, 4); a += a.T
        a
        a = np.arange(9.0); np.add(a[:-1], 1, out=a[1:])
        a
        a = np.arange(3000.0); a[1:] += a[:-1]; a[::-1][1:] *= a[1:]
        a
        """,
    "every basic slice is a writable alias": """
        a = np.arange(4.0); a[::-1][0] = 99
        a
        a = np.arange(6.0); b = a[::-2]; b += 10
        a
        b.strides
        b.base is a
        a = np.zeros((3, 3)); a[1:, ::-1][0] = [1, 2, 3]
        a
        a[..., 1][...] = 7
        a
        """,
    "reshape and ravel alias when they can": """
        a = np.zeros((2, 2)); a.reshape(4)[0] = 9
        a[0, 0]
        a.T.ravel().base is a
        np.shares_memory(a.T.ravel(), a)
        np.shares_memory(a.T.ravel('K'), a)
        a.diagonal().flags.writeable
        a.diagonal()[0] = 1
        np.broadcast_to(a, (2, 2, 2))[0] = 1
        np.broadcast_to(a, (3, 2, 2)).strides
        a.reshape(3)
        np.reshape(a, 4, copy=False) is a
        a.T.reshape(4, copy=False)
        """,
    "iteration yields views, then scalars": """
        a = np.zeros((2, 2))
        for r in a: r[0] = 7
        a
        [type(x) for x in np.arange(3.0)]
        [x.base is a for x in a]
        list(np.float64(1) * np.arange(2))
        iter(np.array(1))
        """,
    "setitem casts unsafely, augmented assignment does not": """
        x = np.zeros(3, int); x[:] = [1.9, 2.9, -1.9]
        x
        x += 0.5
        x /= 2
        np.copyto(x, np.array([1.5, 2, 3]))
        x += np.array([1, 2, 3], 'i1')
        x
        x[0] = np.nan
        x[:] = np.array([1 + 2j, 2, 3])
        x
        np.add(x, 1.5, out=x)
        y = np.ones(2, 'f4'); y += np.array([1e300, 1])
        y
        """,
    "an output operand never grows": """
        np.ones(3).__iadd__(np.ones((2, 3)))
        np.add(np.ones(3), 1, out=np.zeros((2, 3)))
        out = np.zeros((2, 3))
        np.add(np.ones(3), 1, out=out) is out
        np.add(np.ones(3), 1, out=(out,)) is out
        a = np.ones((1, 3)); a += np.ones((2, 3))
        np.add(1, 2, out=3)
        np.add(1, 2, out=(out, out))
        """,
    "where= leaves the other slots alone": """
        np.add([1, 2], 1, out=np.zeros(2, int), where=[True, False])
        np.max([1.0, 5.0], where=[True, False])
        np.max([1.0, 5.0], where=[True, False], initial=-np.inf)
        np.sum([1.0, 5.0], where=[True, False])
        np.mean([1.0, 5.0], where=[False, True])
        a = np.arange(6.0); np.divide(1, a, out=a, where=a > 0)
        a
        np.divide(1, np.zeros(2), out=np.ones(2), where=np.array([False, False]))
        """,
    "duplicate indices": """
        a = np.zeros(2); a[[0, 0, 0]] = [1, 2, 3]
        a
        a = np.zeros(2); a[[0, 0, 0]] += 1
        a
        a = np.zeros(2); np.add.at(a, [0, 0, 0], 1)
        a
        a = np.zeros((2, 2)); np.add.at(a, ([0, 0], [1, 1]), [1, 5])
        a
        a = np.arange(4); np.subtract.at(a, a > 1, 10)
        a
        np.put(a, [1, 1], [5, 6]); a
        """,
}

INDEXING = {
    "out of bounds raises": """
        a = np.arange(3)
        a[[0, 5]]
        a[3]
        a[-4]
        a[[0, 5]] = 1
        a[np.array([[0], [-9]])]
        a[1, 2]
        a[5:]
        np.take(a, [5])
        np.zeros((2, 3))[:, [3]]
        a[np.array([True, False])]
        a['x']
        a[1.0]
        a[[1.0]]
        np.array(5)[0]
        np.arange(100.0)[[1, 500]] * 2
        """,
    "separated advanced indices move to the front": """
        np.zeros((2, 3, 4))[0, :, [0, 1]].shape
        np.zeros((2, 3, 4))[:, 0, [0, 1]].shape
        np.zeros((2, 3, 4))[[0], ..., [0, 1]].shape
        np.zeros((2, 3, 4))[np.array([True, False]), :, 1].shape
        np.arange(24).reshape(2, 3, 4)[[1, 0], :, [3, 2]]
        np.arange(24).reshape(2, 3, 4)[None, [1, 0], [2, 1]]
        """,
    "a list is one index, a tuple is many": """
        np.arange(9).reshape(3, 3)[[[0, 1], [1, 2]]].shape
        np.arange(9).reshape(3, 3)[([0, 1], [1, 2])]
        np.arange(9).reshape(3, 3)[[0, 1]]
        np.arange(9).reshape(3, 3)[(0, 1)]
        np.arange(9).reshape(3, 3)[[]]
        np.arange(3)[[slice(1, 2)]]
        """,
    "scalar bools add an axis": """
        np.arange(3)[True].shape
        np.arange(3)[False].shape
        np.arange(3)[np.True_]
        np.array(5)[True]
        np.arange(6).reshape(2, 3)[True, 1]
        a = np.arange(3); a[False] = 9; a
        a[True] = 7; a
        """,
    "scalars and 0-d views": """
        a = np.arange(3)
        type(a[1])
        type(a[1, ...])
        a[1, ...][...] = 9
        a
        type(np.array(5)[()])
        type(np.array(5)[...])
        np.array(5)[None]
        a[()].base is a
        """,
}
