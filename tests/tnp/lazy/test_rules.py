"""Laziness is never observable: the rules that keep it so, one by one.

Each session runs under NumPy and tnp, with its arrays recorded from the first element on, as a module's names and as
local variables; what it shows must be the same. Rules that need a process of their own are in test_processes.py.
"""

import sys

import numpy as np
import pytest

import tnp
from tests.programs import engine
from tests.programs.same import same

WARNINGS = {
    "a recorder sees only the warnings of its block": """
        a = np.zeros(100)
        b = 1 / a
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter('always')
            c = np.log(a)
            d = b * 2
        [(str(m.message), m.category, m.lineno) for m in w]
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter('always')
            c + 1, d
        len(w)
        """,
    "a filter that raises does so at the call": """
        a = np.zeros(100)
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            b = 1 / a
        with warnings.catch_warnings():
            warnings.filterwarnings('error', 'divide by zero')
            c = np.sqrt(a - 1)
            d = np.log(a)
        """,
    "integers of the same size by two names": """
        q, l = np.arange(100, dtype='q'), np.arange(100, dtype='l')
        seen = []
        for x, y in (q, l), (l, q), (q, 0), (l, np.longlong(0)), (q, np.long(0)):
            z = x // y
            x = x.copy()
            x //= y
            seen += [x.tolist(), x.dtype.char, np.remainder(x, y, out=x).tolist(), z.tolist(), z.dtype.char]
        seen
        """,
    "the filters are those of the call": """
        a = np.zeros(100)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            b = 1 / a
        b[3]
        c = np.sqrt(a - 1)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            c[0]
        """,
    "showwarning of the program's own is called at the call": """
        a = np.zeros(100)
        told = []
        with warnings.catch_warnings():
            warnings.showwarning = lambda *args: told.append((str(args[0]), args[3]))
            b = 1 / a
            saw(len(told))
            c = np.log(a) + b
        told
        """,
    "errstate modes raise, call and log act inside the block": """
        a = np.zeros(100)
        log = []
        class Log:
            def write(self, text): log.append(text)
        with np.errstate(all='raise'): b = 1 / a
        with np.errstate(divide='call', call=called): b = 1 / a
        with np.errstate(divide='log', call=Log()): c = 1 / a
        log
        with np.errstate(over='raise'): c = np.exp(a + 1000)
        with np.errstate(over='raise'): c = (a + 1e200) ** 2
        with np.errstate(invalid='raise'): d = np.sqrt(a - 1) * 2
        """,
    "the errstate is that of the call": """
        a = np.zeros(100)
        with np.errstate(all='ignore'):
            b = np.log(a)
            c = b - b
        b[0]
        c[0]
        d = np.log(a)
        with np.errstate(all='ignore'): d[0]
        """,
    "an errstate made by seterr counts": """
        a = np.zeros(100)
        old = np.seterr(divide='ignore')
        b = 1 / a
        np.seterr(**old)['divide']
        b[0]
        c = 1 / a
        c[0]
        """,
    "each operation warns once, in program order, from its line": """
        a = np.array([-1.0, 0.0, 1.0] * 40)
        b = np.log(a)
        c = 1 / a
        d = np.sqrt(a) + b + c
        e = d * d
        e
        d
        b
        """,
    "a dropped operation still warns": """
        a = np.zeros(100)
        b = 1 / a
        del b
        c = np.log(a)
        c = a + 1
        c
        """,
    "an operation of which one element is read warns for all": """
        a = np.arange(100.0)
        b = np.log(a)
        b[50]
        c = np.sqrt(a - 50)[::-1]
        c[0]
        """,
    "masked-off elements do not warn": """
        a = np.arange(100.0)
        out = np.zeros(100)
        np.divide(1, a, out=out, where=a > 0)
        np.log(a, out=out, where=a > 0) is out
        out
        np.where(a > 0, 1 / (a + (a == 0)), 0)
        """,
    "select does not hide the warning of what it drops": """
        a = np.arange(100.0)
        b = np.where(a > 0, 1 / a, 0)
        b
        np.where(a > 200, np.sqrt(-1 - a), 1.0)
        """,
    "comparisons with nan are quiet, invalid arithmetic is not": """
        a = np.full(100, np.nan)
        a < 1, a == a
        a + 1, np.maximum(a, 0), np.sqrt(a)
        np.full(100, np.inf) - np.inf
        np.full(100, np.inf) * 0
        """,
    "integer warnings": """
        a = np.arange(100)
        a // 0
        a % (a - 50)
        np.full(100, -2**63) // -1
        np.divmod(a, 0)
        np.full(100, 127, 'i1') + np.int8(1)
        """,
    "cast warnings": """
        a = np.full(100, 1e300)
        a.astype('f4')
        (a * 1e10).astype('i8')
        b = np.zeros(100, 'f4'); b[...] = a
        b += a
        c = np.zeros(100, 'i4'); c[:50] = np.nan
        """,
    "a reduction's flags are its own": """
        x = np.arange(100.0) / 10
        y = (np.arange(100.0) - 50) // 0
        y.mean()
        x[1]
        """,
    "a block that warned is computed once more from what it read": """
        a = np.arange(200.0) - 100
        a /= a
        a
        b = np.arange(200.0); b **= -1
        b
        c = np.arange(200.0) - 3; np.log(c, out=c)
        c
        d = np.arange(200.0); d -= 5; d /= d; d *= 2; np.sqrt(d - 3, out=d)
        d
        """,
}

AT_THE_CALL = {
    "shape errors": """
        a, b = np.ones(100), np.ones(101)
        a + b
        a += np.ones((2, 100))
        np.where(a > 0, b, 1)
        a[:50] = np.ones(51)
        np.concatenate([a.reshape(10, 10), b])
        """,
    "dtype errors": """
        a = np.arange(100)
        a += 0.5
        a & 1.5
        np.sin(a, out=np.zeros(100, int))
        np.bitwise_and(a, 1.0)
        np.add(a, 1, dtype='i1')
        a + 'x'
        np.ones(100, 'u1') + 256
        """,
    "errors that depend on data": """
        a = np.arange(100)
        a ** (a - 50)
        a[a + 1]
        a[np.where(a == 99, 100, a)] = 1
        np.ones(3)[(np.arange(3) * 40).astype('i8')]
        np.repeat(a[:3], a[:3] - 1)
        np.linalg.inv(np.zeros((10, 10)) * 1)
        bool(a > 1)
        """,
}

WRITES = {
    "whole writes leave older readers alone": """
        a, b, c, d = np.arange(100.0), np.ones(100), np.full(100, 2.0), np.arange(100.0) * 3
        y = a * 2
        a += b
        z = a * 2
        a *= c
        a -= d
        y, z, a
        a[...] = 5
        x = a + 1
        a.fill(7)
        np.copyto(a, b)
        x, a
        np.add(a, b, out=c); np.multiply(c, a, out=c)
        c
        """,
    "arrays that are false": """
        a, b, c = np.zeros(1), np.zeros(1, int) * 2, np.zeros(1, bool)
        t = a * 2
        v = a[:]
        a += t
        t, v, a
        w = np.where(c, a, b) + t
        a[:] = w * 0 - a
        a[...] = t; t[...] = a
        c ^= c
        w, a, t, c, np.add(a, b, out=a) is a
        y = a[:1] - b
        a[0] = 0
        y, a.sum(), (y * 0).any(), b.max()
        del y, t, w
        """,
    "swaps": """
        a, b = np.arange(100.0), np.arange(100.0) * -1
        t = a.copy(); a[...] = b; b[...] = t
        a, b
        a, b = b + 1, a - 1
        a, b
        a[...], b[...] = b, a
        a, b
        """,
    "views see pending writes, old and new ones": """
        a = np.arange(100.0)
        v = a[::-1]
        w = a[10:20]
        a += 1
        v
        a *= 2
        u = a[::3]
        w
        v += 1
        a
        u[0] = 100
        a, v, w
        """,
    "a write through a view reaches pending values of the base": """
        a = np.arange(100.0) * 2
        v = a[10:]
        b = a + 1
        v[...] = 0
        b
        a
        r = (np.arange(100.0) + 1).reshape(10, 10)
        t = r.T
        s = r * 2
        t[0] = -1
        s, r
        """,
    "an inner value with other readers survives the write": """
        a = np.arange(100.0)
        t = a[:-1] * 2.0
        x = t + 1.0
        y = t - 2.0
        del t
        a[1:] = y
        x
        y
        a
        t = a * a
        x = t + 1.0
        t = t - 2.0
        a[:] = t
        del t
        x, a
        """,
    "a named operand of an overlapping write keeps its value": """
        u = np.arange(100.0)
        t = u[:-2] + u[2:]
        u[1:-1] = 0.5 * t
        t
        u
        t = u * 2
        u[::2] = t[1::2]
        t, u
        """,
    "partial writes act as if copied first": """
        u = np.arange(200.0)
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
        u
        u[1:] += u[:-1]
        u[:-1] = u[1:] * 2
        u[::-1] = u * 1
        u
        g = np.arange(400.0).reshape(20, 20)
        g[1:-1, 1:-1] = 0.25 * (g[:-2, 1:-1] + g[2:, 1:-1] + g[1:-1, :-2] + g[1:-1, 2:])
        g
        g += g.T
        g[...] = g[::-1, ::-1] - g
        g
        """,
    "readers of few elements": """
        s = np.array([3.0])
        big = np.broadcast_to(s, (300,))
        y = big * 2
        z = s + 1
        s[0] = 5
        y, z, big
        a = np.arange(64.0)
        y = a + 1
        a[3] = 0
        y
        a = np.arange(65.0)
        y = a + 1
        a[3] = 0
        y
        """,
    "element loops": """
        a = np.arange(100.0)
        y = a * 2
        for i in range(1, 100): a[i] = a[i - 1] * 0.5 + a[i]
        a
        y
        for i in range(100): a[i] = np.sin(a[i])
        a
        """,
    "scatters": """
        a = np.arange(100.0)
        y = a + 1
        np.add.at(a, [1, 1, 5], 10)
        y
        z = a * 2
        a[[3, 4, 3]] = [7, 8, 9]
        z, a
        w = a - 1
        a[a > 50] = 0
        w, a
        m = a > 10
        a += 100
        a[m] = -1
        a
        """,
    "host functions that write": """
        a = np.arange(100.0)[::-1] * 1.5
        y = a + 1
        a.sort()
        y
        z = a * 2
        np.random.default_rng(0).shuffle(a)
        z
        w = a + 3
        np.nan_to_num(a, copy=False)
        np.put(a, [1, 2], [5, 6])
        w, a
        """,
    "a read and a view of one pending value in one kernel": """
        t = np.arange(100.0) * 2
        t + t[::-1]
        u = np.arange(100.0) + 1
        np.where(u > u[::-1], u, u[::-1] * 2)
        v = (np.arange(100.0) * 3).reshape(10, 10)
        v + v.T
        (v + 1)[:, ::-1] - (v + 1)
        """,
    "out= of other dtypes and layouts": """
        a = np.arange(100.0)
        o = np.zeros(100, 'f4')
        np.add(a, 1, out=o), o
        o = np.zeros((10, 10), order='F')
        np.multiply(a.reshape(10, 10), 2, out=o), o.strides
        o = np.zeros(200)[::2]
        np.add(a, a, out=o), o.base
        np.add(a, a, out=a[::-1])
        a
        i = np.arange(100)
        np.multiply(i, 2.5, out=i, casting='unsafe')
        """,
}

REFERENCES = {
    "base, aliasing and identity": """
        a = np.arange(100.0) * 2
        v = a[::2]
        v.base is a, a.base is None
        v[::2].base is a
        np.shares_memory(a, v), np.may_share_memory(a[:50], a[50:])
        (a + 0).base
        a.reshape(10, 10).base is a
        b = a
        b += 1
        a is b, a
        a[...] is a
        """,
    "resize checks references": """
        a = np.arange(100.0) * 2
        v = a[:3]
        a.resize(120)
        del v
        a.resize(120)
        a.shape, a[-1]
        b = np.arange(100.0) + 1
        y = b * 2
        b.resize(50)
        y.sum(), b.sum()
        c = np.arange(100.0) + 1; d = c
        c.resize(50)
        """,
    "attributes of pending arrays": """
        a = np.arange(100.0).reshape(10, 10)
        b = a.T * 2
        b.strides, b.flags.f_contiguous, b.dtype, b.shape
        b.flags.owndata, b.flags.writeable
        b.shape = (100,)
        b.shape = (10, 10)
        c = a + 1
        c.shape = (20, 5)
        c
        c.dtype = 'i8'
        c[0]
        d = a + 1; d.flags.writeable = False
        d += 1
        d
        """,
    "scalars of pending arrays are scalars": """
        a = np.arange(100.0) * 2
        type(a[3]), type(a.sum()), type(a.max()), type((a > 3).any())
        s = a.sum()
        a += 1
        s, a.sum()
        {a[0]: 1}
        x = np.array(2.0) * 3
        type(x), x
        y = np.array([2.0, 3.0])[0] * np.array(1.5)
        type(y)
        """,
    "exports share memory": """
        a = np.arange(100.0) * 2
        f = numpy.asarray(a)[...]
        y = a + 1
        f[3] = -1
        y[3], a[3]
        a += 10
        f[3], f.copy()
        a[5] = 0
        f[5]
        """,
    "memoryviews share memory": """
        a = np.arange(100.0) * 2
        m = memoryview(a)
        z = a * 2
        m[7] = 1000.0
        z[7], a[7]
        a += 1
        m[7], m[8]
        """,
    "exports of views of views": """
        a = np.arange(100.0) * 2
        f = numpy.asarray(a)[10:][::2][1:]
        y = a * 3
        f[...] = 0
        y, a
        a *= 2
        a += 1
        f.copy()
        del f
        z = a + 1
        a *= 0
        z, a
        """,
    "foreign arrays": """
        f = numpy.arange(100.0)
        a = np.asarray(f)[...]
        y = a + 1
        f[0] = 50
        y[0], a[0]
        a += 1
        f.copy()
        b = np.array(f)
        z = b * 2
        f[1] = 70
        z[1], b[1]
        """,
    "addresses are for ever": """
        import ctypes
        a = np.arange(100.0) * 2
        p = ctypes.cast(a.ctypes.data, ctypes.POINTER(ctypes.c_double))
        a += 1
        p[3]
        p[3] = 9.0
        a[3]
        b = np.arange(100.0) + 1
        q = ctypes.cast(b.__array_interface__['data'][0], ctypes.POINTER(ctypes.c_double))
        y = b * 2
        b *= 3
        q[5], y[5]
        """,
    "containers and cycles": """
        a = np.arange(100.0)
        c0 = [a * 2]
        c0.append(c0)
        y = c0[0] + 1
        del c0
        import gc
        gc.collect() >= 0
        y
        class Box: pass
        x = Box(); x.me = x; x.a = a + 5; z = x.a * 2; del x
        gc.collect() >= 0
        z
        """,
    "finalizers may use arrays": """
        a = np.arange(100.0) * 2
        class Last:
            def __init__(self, a): self.a = a
            def __del__(self): saw(self.a.sum())
        x = Last(a + 1)
        y = a * 3
        del x
        x = Last(y - 1); x.me = x; del x
        import gc
        gc.collect() >= 0
        y
        """,
    "copies and pickles of pending arrays": """
        import copy, pickle
        a = np.arange(100.0) * 2
        b = copy.copy(a + 1)
        c = pickle.loads(pickle.dumps(a * 3))
        d = copy.deepcopy([a, a])
        d[0] is d[1]
        a += 1
        b, c, d[0]
        """,
}

RULES = {**WARNINGS, **AT_THE_CALL, **WRITES, **REFERENCES}


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule):
    if (
        rule == "memoryviews share memory"
        and sys.version_info < (3, 12)
        and engine.counts(tnp)["hot path"] != "compiled"
    ):
        pytest.skip("Python 3.11 gives buffers of compiled classes only")
    same(RULES[rule], lazy_from=(None, 1))


def test_views_of_what_waits_keep_their_own_dtype_object():
    """Equal dtypes that are two objects are two to NumPy: it buffers, and writes back in another order."""
    results = []
    for module in (np, tnp):
        a = (module.arange(200_000) % 50 + 1).astype("i1")
        b = a.view(a.dtype.newbyteorder())
        same = b.dtype is a.dtype
        module.divmod(a, a, out=(b, a))
        results.append((same, b.dtype, np.asarray(b).tobytes()))
    assert results[0] == results[1]
    assert not results[0][0]
