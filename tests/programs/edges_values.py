"""NumPy's semantics that replacements get wrong: scalars, corner values of arithmetic, layout and state.

See `tests.programs.edges_arrays`.
"""

SCALARS = {
    "full reductions are scalars": """
        type(np.arange(3).sum())
        {np.arange(3).sum(): 1}[3]
        isinstance(np.arange(3.0).mean(), float)
        type(np.sin(np.array(0.0)))
        np.sin(np.array(0.0), out=np.array(1.0))
        type(np.array([1.0]) @ np.array([2.0]))
        type(np.dot([1, 2], [3, 4]))
        type(np.array(1) + np.array(2))
        type(np.add.reduce([1, 2]))
        type(np.max(np.arange(3000.0)))
        np.arange(3.0).sum(keepdims=True)
        type(np.linalg.norm(np.ones(3)))
        type(abs(np.array(-1)))
        type(np.where(True, 1, 2))
        hash(np.float64(1.5)) == hash(1.5)
        """,
    "comparison with anything is elementwise": """
        np.arange(2) == None
        np.arange(2) == 'x'
        np.arange(2) != [1, 2]
        np.arange(2) == np.arange(3)
        np.arange(2) < 'x'
        np.arange(2) == object()
        None == np.arange(2)
        np.array(['a', 'b']) == 'a'
        np.arange(2) == [[0], [1]]
        np.float64(1) == None
        """,
    "lists, tuples and scalars are accepted": """
        np.prod((1, 128))
        np.sqrt([1, 4])
        np.sum([[1, 2], [3, 4]], 0)
        np.maximum(1, [2, 0])
        np.concatenate(([1], (2, 3)))
        np.dot([1, 2], (3, 4))
        np.array([np.arange(2), [5, 6]])
        np.sort((3, 1, 2))
        np.exp(1)
        np.array([1, [2, 3]])
        """,
    "only 0-d arrays are Python numbers": """
        int(np.array([1.5]))
        int(np.array(1.5))
        float(np.array([[1.0]]))
        bool(np.array([]))
        bool(np.array([1]))
        bool(np.array([1, 2]))
        complex(np.array(1 + 2j))
        range(np.array(3))
        [1, 2, 3][np.array(1)]
        [1, 2, 3][np.array([1])]
        'abc' * np.array(2)
        round(np.array(2.5))
        len(np.array(1))
        np.array([1, 2]).item()
        """,
    "sequence operators are arithmetic": """
        import operator
        operator.concat(np.arange(2), np.arange(2))
        np.arange(2) + [1, 2]
        [1, 2] + np.arange(2)
        [1] * np.arange(3)
        2 in np.arange(3)
        np.arange(3) in [5]
        (1, 2) == np.array([1, 2])
        """,
}

VALUES = {
    "integer division by zero": """
        np.array([-1]) // np.array([0])
        np.array([-1]) % np.array([0])
        np.array([-2**63]) // np.array([-1])
        np.array([-128], 'i1') // np.array([-1], 'i1')
        np.array([7, -7]) // np.array([-2, 2])
        np.array([7, -7]) % np.array([-2, 2])
        np.divmod(np.array([5, -5, 1]), np.array([3, 3, 0]))
        np.fmod(np.array([7, -7]), 3)
        np.array([-7.0, 7.0, 1.0]) % np.array([3.0, -3.0, 0.0])
        np.array([1.0, -1.0, 0.0]) // 0.0
        np.array([1, 2], 'u1') // 0
        """,
    "shifts by the width and more": """
        np.array([1], 'i4') << np.array([40], 'i4')
        np.array([-1], 'i4') >> np.array([40], 'i4')
        np.array([1]) << np.array([64])
        np.array([-1]) << np.array([70])
        np.array([1, 255], 'u1') >> np.array([8, 9], 'u1')
        np.array([1] * 100, 'i2') << np.arange(100, dtype='i2')
        """,
    "integers to negative powers": """
        np.array([2]) ** np.array([-1])
        np.array([2]) ** -1
        np.array([2.0]) ** -1
        np.array([2]) ** np.array([-1.0])
        np.power(np.arange(100), np.where(np.arange(100) == 99, -1, 1))
        np.array([0.0]) ** -1
        np.float_power(np.array([2]), -1)
        """,
    "float to integer casts": """
        np.array([-1.0, 256.0]).astype('u1')
        np.array([np.nan]).astype('i8')
        np.array([np.inf, -np.inf, 1e30]).astype('i8')
        np.array([3e9]).astype('i4')
        np.array([300.0, -300.0], 'f4').astype('i1')
        np.array([1.9, -1.9]).astype(int)
        np.array([1e300]).astype('f4')
        np.array([1 + 1j]).astype('f8')
        np.array([np.nan, 1.0]).astype(bool)
        np.array([2**63], 'u8').astype('i8')
        np.array([-1]).astype('u8')
        """,
    "rounding": """
        np.round(2.675, 2)
        np.round(np.array([15, 25]), -1)
        np.round([0.5, 1.5, 2.5, -0.5])
        np.rint([0.5, 1.5, -0.5])
        np.around(np.array([1.005, 2.5]), 2)
        np.round(np.array([1.25, 1.35], 'f4'), 1)
        np.array([1.5 + 2.5j]).round()
        np.round(np.array([True]))
        round(np.float64(2.5))
        np.fix([-1.5, 1.5])
        """,
    "nan and signed zero": """
        np.maximum(1, np.nan)
        np.fmax(1, np.nan)
        np.argmax([1, np.nan, 3, np.nan])
        np.sort([np.nan, 1, -np.inf])
        np.unique([np.nan, np.nan, 1])
        np.sign(-0.0)
        np.sign(np.array([-0.0, np.nan, 2.0]))
        np.array([np.nan]) ** 0
        np.maximum(np.array([-0.0, 0.0]), np.array([0.0, -0.0]))
        np.max([1, complex(np.nan, 1), complex(0, np.nan)])
        np.min([np.nan, 1.0])
        np.nanmax([np.nan, 1.0])
        np.nanmax([np.nan])
        np.signbit(np.array([0.0, -0.0]) * -1)
        np.array([-0.0]) + 0
        np.sum([-0.0, -0.0])
        np.arctan2(-0.0, [-1.0, 1.0])
        np.clip(np.array([np.nan, -1.0, 5.0]), 0, 1)
        np.minimum.reduce(np.array([3.0, np.nan, 1.0] * 100))
        """,
    "warnings come from the operation": """
        np.log([0.0])
        np.log(np.zeros(100))
        with np.errstate(divide='raise'): np.log([0.0])
        with np.errstate(divide='ignore'): a = np.log([0.0])
        a
        with np.errstate(all='call', call=called): b = np.array([1.0]) / 0
        b
        np.sqrt([-1.0]) + 1 / np.zeros(2)
        np.array([1e308]) * 10
        np.exp(np.array([1000.0]))
        np.geterr()
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            np.array([1.0]) / 0
        """,
    "the order of summation is visible": """
        np.full(10**6, np.float32(.1)).sum()
        np.cumsum(np.full(10**6, np.float32(.1)))[-1]
        np.full((10**5, 2), np.float32(.1)).sum(0)
        np.full((2, 10**5), np.float32(.1)).sum(0)[:3]
        np.full((2, 10**5), np.float32(.1)).sum(1)
        np.full((2, 10**5), np.float32(.1)).T.sum()
        np.full((2, 10**5), np.float32(.1))[:, ::2].sum()
        np.add.reduce(np.full(1001, .1))
        np.full((10, 11, 12), .1).sum((0, 2))
        np.full(1001, .1).prod()
        np.full(1001, .1 + .2j).sum()
        (np.full(10001, .1) * 3).mean()
        np.full((100, 7), .1).var(0)
        """,
}

LAYOUT = {
    "order K everywhere": """
        x = np.arange(6.0).reshape(2, 3)
        np.exp(x.T).flags.f_contiguous
        np.exp(x.T).strides
        np.copy(x.T).strides
        x.T.copy().strides
        np.zeros_like(x.T).strides
        x.T.astype('f4').strides
        (x.T + x.T).strides
        (x.T + 1).strides
        (x + np.ones((3, 2)).T).strides
        x.T.astype('f4', order='C').strides
        np.array(x.T).strides
        (np.ones((2, 3, 4)).transpose(1, 2, 0) * 2).strides
        np.where(x.T > 1, x.T, 0).strides
        np.add.outer(np.arange(2), np.arange(3)).strides
        x.T.flatten().strides
        np.concatenate([x.T, x.T]).strides
        np.sort(x.T).strides
        x[:, ::-1].copy('K').strides
        np.ones((2, 3, 4), order='F').sum(1).strides
        x.T.cumsum(0).strides
        """,
    "linear algebra raises": """
        np.linalg.inv(np.zeros((2, 2)))
        np.linalg.solve(np.zeros((2, 2)), np.ones(2))
        np.linalg.cholesky(-np.eye(2))
        np.linalg.inv(np.zeros((2, 3)))
        """,
    "AxisError is ValueError and IndexError": """
        np.sum(np.ones((2, 2)), axis=5)
        np.ones(3).mean(axis=1)
        np.concatenate([np.ones(2), np.ones(2)], axis=1)
        np.expand_dims(np.ones(2), 3)
        np.sum(np.ones((2, 2)), axis=(0, 0))
        np.flip(np.ones(2), 1)
        np.sort(np.ones(2), axis=-2)
        """,
    "arange": """
        np.arange(1, 1.3, .1)
        np.arange(0, 1, .1)
        np.arange(5, dtype='f4')
        np.arange(3, 0)
        np.arange(0, 10, 3)
        np.arange(2**31, 2**31 + 2)
        np.arange(3, dtype=bool)
        np.arange(10, 0, -2.5)
        np.linspace(0, 1, 7)
        np.linspace(0, 1, 1)
        """,
    "resize works in place": """
        a = np.arange(4.0); a.resize(6)
        a
        b = a.resize((2, 2)); b
        a
        c = a[:1]; a.resize(9)
        a.resize(9, refcheck=False); a
        np.resize(np.arange(3), 5)
        """,
    "tuples are records": """
        np.array([(1, 2)], dtype=[('x', 'i4'), ('y', 'i4')])
        a = np.zeros(2, [('x', 'i4'), ('y', 'f8')]); a[0] = (1, 2.5)
        a
        a['y'] += 1; a
        a[['x']]
        a['z']
        a[0]['x'] = 7; a
        """,
    "put of nothing": """
        a = np.arange(3)
        np.put(a, [0, 1], [])
        a
        np.put(a, [0, 9], [1])
        np.put(a, [0, 4], [5, 6], mode='wrap'); a
        np.place(a, a > 1, [])
        """,
    "random streams": """
        np.random.seed(0); np.random.rand()
        np.random.default_rng(0).random()
        np.random.RandomState(3).normal(size=3)
        np.random.default_rng(1).integers(0, 10, 5)
        np.random.seed(1); np.random.permutation(5)
        np.random.randn(2, 2)
        np.random.choice(5, 3)
        np.random.default_rng(7).standard_normal(3, dtype='f4')
        """,
    "array interfaces": """
        hasattr(np.zeros(2), '__array_interface__')
        numpy.asarray(np.array(['ab', 'cdef']))[...]
        np.array(['ab', 'cdef']).dtype
        np.zeros((2, 3)).__array_interface__['shape']
        """,
    "Python functions are descriptors, ufuncs are not": """
        class T:
            f = np.sin
            g = np.array
            h = np.arange
            k = np.add
        T().f(1.0)
        T().g([1, 2])
        T().h(3)
        T().k(1, 2)
        class U:
            f = np.sum
            def __array__(self, *args, **kwargs): return numpy.arange(3)
        U().f()
        isinstance(np.sin, np.ufunc)
        np.sin.nin, np.divmod.nout, np.add.identity, np.sin.__name__
        """,
    "instance checks of libraries": """
        isinstance(np.ones(2), np.ndarray)
        isinstance(np.ones(2).sum(), np.floating)
        type(np.ones(2)).__name__
        isinstance(5, np.ndarray)
        np.isscalar(np.ones(2).sum())
        np.iterable(np.ones(2))
        """,
}
