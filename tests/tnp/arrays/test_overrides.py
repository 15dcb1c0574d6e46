"""Objects of the program in NumPy's protocols: they see tnp's functions, ufuncs and arrays, as they would NumPy's."""

import textwrap

import pytest

from tests.programs.same import same

CLASSES = """
    class Duck:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            told.append((ufunc is np.add, type(ufunc) is np.ufunc, method, [type(x).__name__ for x in inputs]))
            return 'ufunc'
        def __array_function__(self, function, types, args, kwargs):
            told.append((function is np.concatenate, [t.__name__ for t in types], type(args[0]).__name__))
            return 'function'
    class Refuses:
        __array_ufunc__ = None
        def __radd__(self, other):
            return 'radd', type(other).__name__
    class Like:
        def __init__(self, dtype=float):
            self.dtype = dtype
        def __array__(self, dtype=None, copy=None):
            return np.arange(3, dtype=self.dtype)
    class Wraps(Like):
        __array_priority__ = 5
        def __array_wrap__(self, array, context=None, return_scalar=False):
            return 'wrapped', type(array).__name__, context and context[0] is np.multiply
    class Base:
        def __array_ufunc__(self, *args, **kwargs):
            return 'base'
    class Derived(Base):
        def __array_ufunc__(self, *args, **kwargs):
            return 'derived'
    class Mixed(np.lib.mixins.NDArrayOperatorsMixin):
        def __init__(self, value):
            self.value = np.asarray(value)
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            inputs = [x.value if isinstance(x, Mixed) else x for x in inputs]
            out = kwargs.pop('out', ())
            result = Mixed(getattr(ufunc, method)(*inputs, **kwargs))
            for target in out:
                target.value = result.value
            return out[0] if out else result
    told = []
    d, x = Duck(), np.arange(3.0)
"""
SESSIONS = {
    "ufuncs": "np.add(x, d), np.add.reduce(d), x + d, np.sin(d), np.multiply(x, x, out=d), told",
    "functions": "np.concatenate([x, d]), np.sum(d), np.mean(d, axis=0), np.linalg.norm(d), told",
    "like": "np.array([1], like=d), np.zeros(3, like=d), np.array([1], like=x), told",
    "refusal": "x + Refuses(), np.add(x, Refuses())",
    "arrays by __array__": """
        np.asarray(Like()), x + Like(), np.sin(Like('f4')), np.concatenate([Like(), x]), np.array([Like(), Like()])
        np.array(Like(), dtype='i2'), np.sum(Like()), x[Like(int)], np.dot(Like(), x)
        x[:] = Like(); x
        """,
    "objects stay themselves in object arrays": """
        o = np.empty(3, object); o[0] = d; o[0] is d
        o[1] = x; o[1] is x
        items = [x, 1]; o[2] = items; o[2] is items
        p = np.array([d, None, x], dtype=object); p[0] is d, p[2] is x
        """,
    "wrapping": "np.multiply(x, Wraps()), np.multiply(Wraps(), x), np.negative(Wraps())",
    "subclasses are asked first": "np.add(Base(), Derived()), np.add(Derived(), Base()), np.add(x, Base())",
    "the operators' mixin": """
        m = Mixed([1.0, 2.0])
        [y.value for y in (m + 1, 1 - m, x[:2] * m, m ** 2, -m, m < 2, m == m, m // 2)]
        m += 1; m.value
        """,
    "callbacks see arrays": """
        types = []
        def f(v):
            types.append(type(v) is np.ndarray)
            return v.sum()
        np.apply_along_axis(f, 0, np.ones((2, 3)))
        np.apply_over_axes(lambda a, axis: np.sum(a, axis), np.ones((2, 3)), 0)
        np.piecewise(x, [x < 1, x >= 1], [f, lambda v: v * 2]), np.fromfunction(lambda i, j: i + 2 * j, (2, 2)), types
        """,
    "iterators": """
        types = {type(v) is np.ndarray for v in np.nditer(x)}; types
        with np.nditer(x, op_flags=['readwrite']) as it:
            for v in it: v[...] = v * 2
        x
        it = np.nditer([x, None]); it.operands[0] is x, type(it.operands[1]) is np.ndarray
        for a, b in it: b[...] = a
        it.operands[1]
        it = np.nditer(np.arange(6).reshape(2, 3), flags=['multi_index'])
        [(it.multi_index, int(v)) for v in it]
        b = np.broadcast(x[:, None], x)
        b.shape, b.nd, len(list(b)), isinstance(b, np.broadcast), b.iters[0].base.base is x
        """,
}


@pytest.mark.parametrize("session", SESSIONS)
def test_as_in_numpy(session):
    same(textwrap.dedent(CLASSES) + textwrap.dedent(SESSIONS[session]))
