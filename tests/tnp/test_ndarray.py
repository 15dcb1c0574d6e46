"""The array's Python side: every method and attribute, protocols, conversions; the same as NumPy's."""

import copy
import gc
import inspect
import pickle
import sys

import numpy
import pytest

import tnp
from tests.programs.same import same

METHODS = {
    "reductions": """
        a = np.arange(24.0).reshape(2, 3, 4) - 5
        a.sum(), a.sum(1), a.sum(axis=(0, 2), keepdims=True), a.sum(dtype='f4')
        a.mean(0), a.std(1, ddof=1), a.var(-1), a.prod(2)
        a.max(1), a.min(initial=-9), a.argmax(), a.argmin(2), a.any(0), a.all()
        a.cumsum(), a.cumprod(1), a.trace(), a.trace(1, 0, 2)
        a.sum(out=np.zeros(()), axis=None)
        a.max(where=a > 0, initial=0)
        """,
    "shape": """
        a = np.arange(24).reshape(2, 3, 4)
        a.reshape(6, 4), a.reshape((4, -1)), a.reshape(4, 6, order='F'), a.reshape([24])
        a.ravel(), a.flatten('F'), a.squeeze(), a[None].squeeze(0), a.T, a.mT, a.transpose(1, 0, 2), a.transpose()
        a.swapaxes(0, 2).strides, a.diagonal(), a.repeat(2, 1), a.repeat([1, 2], axis=0)
        a.reshape(5)
        a.transpose(0, 0, 1)
        a.squeeze(1)
        np.arange(3).mT
        """,
    "choosing": """
        a = np.array([[3, 1], [2, 5]])
        a.take([0, 1, 3]), a.take([[1]], 1), a.compress([True, False], 0)
        a.nonzero(), np.arange(5).searchsorted([2, 7], side='right')
        a.argsort(), a.argsort(0), a.argpartition(1), a.item(3), a.item(1, 0), a.tolist()
        a.put([0, 3], [9, 8]); a
        a.fill(3); a
        a.item(9)
        """,
    "order": """
        a = np.array([[3.0, np.nan, 1], [2, 5, 0]])
        a.sort(); a
        a.sort(0, kind='stable'); a
        a.partition(1); a
        a.sort(axis=3)
        b = np.array([(2, 'b'), (1, 'a')], dtype=[('x', int), ('y', 'U1')]); b.sort(order='y'); b
        """,
    "conversion": """
        a = np.array([[1.5, -2], [3, 4]])
        a.astype(int), a.astype('f4', copy=False), a.astype('f8', copy=False) is a
        a.view('i8'), a.view(np.ndarray) is a
        a.byteswap(), a.tobytes(), a.tobytes('F'), a.copy('F').strides
        a.round(), a.clip(0, 2), a.conj(), a.conjugate(), a.dot(a), a.dot([1, 2])
        a.real, a.imag, a.astype('c8').imag
        a.getfield('f4', 4), a.setfield(1, 'i4', 4), a
        np.array([1, 2], 'i4').view('u1'), np.arange(4, dtype='u1').view('i2')
        np.arange(3, dtype='u1').view('i2')
        a.T.view('i4')
        a.astype('S4')
        a.astype('f4', casting='safe')
        """,
    "attributes": """
        a = np.ones((2, 3), 'f4')
        a.shape, a.strides, a.ndim, a.size, a.nbytes, a.itemsize, a.dtype, a.flags, a.device
        a.T.flags.f_contiguous, a.flags['C'], a.flags.num, a.flags.fnc, a.flags.forc, a.flags.behaved
        a.shape = 6; a.shape
        a.strides = (4,); a.strides
        a.shape = 4
        a.dtype = 'i4'; a
        a.ctypes.shape[0], a.ctypes.strides[0], a.ctypes.data % 4
        a.nope
        a.nope = 1
        a.size = 3
        a.flags.writeable = False; a[0] = 1
        del a.shape
        a.base, a[:1].base is a, a.data.format, a.flat[2], len(a.flat), list(a.flat)
        a.__array_interface__['typestr'], a.__doc__ is not None
        """,
    "operators": """
        a, b = np.array([7, -3, 2]), np.array([2, 2, 3])
        a + b, a - b, a * b, a / b, a // b, a % b, a ** b, divmod(a, b), a << 1, a >> 1, a & b, a | b, a ^ b
        1 + a, 1 - a, 2 * a, 1 / a, 7 // a, 7 % a, 2 ** b, divmod(7, a), 1 << b, 99 >> b, 1 & a, 1 | a, 1 ^ a
        -a, +a, ~a, abs(a), a < b, a <= b, a == b, a != b, a > b, a >= b, 2 < a, a @ b, [1, 2, 3] @ a
        a.__add__('x'), a.__eq__(object()), a.__radd__(1)
        a + 'x'
        a @ 1
        a ** 2, pow(a, 2), a ** 0.5
        pow(a, 2, 3)
        a < 'x'
        a += 1.5
        a @= np.eye(3, dtype=int)
        a
        a **= 2; a //= 2; a %= 5; a <<= 1; a |= 1; a
        """,
    "items": """
        a = np.arange(12).reshape(3, 4)
        a[1], a[1, 2], a[-1, ::2], a[..., 0], a[None, 1], a[[0, 2]], a[a > 5], a[1:, [0, 3]], a[np.array(1)], a[()]
        a[np.int8(1)], a[True], a[np.ix_([0, 1], [1, 2])], a[(1, 2)], a[slice(None), 1], a[:, None, 0]
        a[3]
        a[0, 0, 0]
        a['x']
        a[1.5]
        a[::0]
        a[[1.5]]
        a[a > 5, 0]
        a[[0, 1], [0, 1, 2]]
        a[0] = 'x'
        a[0] = [1, 2, 3]
        a[0, 0] = 1.9; a[1] = [True] * 4; a[:, 1] = a[:, 0]; a[a > 9] = -1; a
        del a[0]
        a.__getitem__(1), 5 in a, list(a[0]), len(a), [*a[0]]
        iter(np.array(3))
        len(np.array(3))
        """,
    "text": """
        a = np.arange(6.0).reshape(2, 3) / 3
        repr(a), str(a), f'{a}', '%s' % a, repr(a[0, 0]), repr(np.arange(2000.0)), repr(np.array(2.5))
        repr(np.zeros((0, 2)))
        f'{np.array(2.5):.3f}', f'{a[0, 1]:8.3f}'
        f'{a:.3f}'
        with np.printoptions(precision=2): saw(repr(a))
        repr(np.array([1, 2], 'i1')), repr(np.array(['a'])), repr(np.array([None])), repr(a > 0.5), repr(a * 1j)
        repr(np.ones(3, 'f4')), str(np.array([1e300, 1e-300])), np.array2string(a, separator=', ')
        """,
    "dunders": """
        a = np.array([1.5, 2.5])
        hash(a)
        bool(a)
        bool(np.array([3])), bool(np.array(0.0)), int(np.array(3.7)), float(np.array(2)), complex(np.array(1))
        np.array(5).__index__()
        np.array(5.0).__index__()
        a.__len__(), a.__contains__(1.5), a.__copy__() is a, a.__deepcopy__({}) is a
        a.__array_namespace__().__name__ in ('numpy', 'tnp')
        np.ndarray[int, float].__origin__ is np.ndarray, np.ndarray[int, float].__args__
        a.__array_wrap__(np.ones(2))
        a.__setstate__ is not None, a.__sizeof__(), np.zeros((10, 10)).__sizeof__(), a[:1].__sizeof__()
        a.__abs__(), a.__pos__(), a.__matmul__(a), a.__dlpack_device__()
        """,
    "constructor": """
        np.ndarray((2, 2), 'i4', b'0123456789abcdef')
        np.ndarray((3,), buffer=np.arange(6.0), offset=8, strides=(16,))
        np.ndarray((2,), 'f8', buffer=np.arange(6.0), offset=1000)
        x = np.arange(6.0); y = np.ndarray((2,), buffer=x); y[0] = 9; x
        np.ndarray(3).shape, np.ndarray([2, 3], order='F').strides, np.ndarray(shape=()).shape
        np.ndarray()
        np.ndarray('x')
        isinstance(x, np.ndarray), np.ndarray.__name__, np.ndarray.__mro__[-1] is object
        """,
    "dtypes": """
        np.strings.add(np.array(['a', 'bc']), 'x')
        np.array([1, None, 'x'], object)[1:], np.array([b'a']) == b'a', np.array(['2020-01-01'], 'M8[D]') + 1
        np.array([(1, 2.0)], 'i4,f8')['f0'], np.array([(1, 2.0)], 'i4,f8')[0], np.array([1, 2], '>i4') + 1
        np.array([1], 'V4').dtype
        np.arange(3, dtype='m8[s]').sum(), np.array([1.5], 'g') * 2, np.array([2**70]), np.array([1, "a"])
        np.array([1 + 1j, 2])
        np.array([[1, 2], [3]], dtype=object)
        np.array([1, 2], dtype='nope')
        """,
    "the program's own objects": """
        d = {'a': 1}; e = {'b': np.arange(2)}; a = np.array([[d, e], [d, e]], order='F')
        a[0, 0] is d, a[1, 1] is e, a[0, 1] is a[1, 1], a.tolist()[0][0] is d, a.ravel()[0] is d
        a[0, 0] = e; a[0, 0] is e
        np.full(2, d)[1] is d, np.asarray(d)[()] is d, np.append(a, d)[-1] is d, np.where(True, a, d)[0, 1] is e
        """,
    "rarely asked": """
        np.ndarray[int, int].__args__
        np.ndarray[()]
        np.ndarray[int, int, int]
        np.eye(3).resize(refcheck='hi')
        x, y = np.zeros((2, 1)), np.zeros(3); b = np.broadcast(np.broadcast(x, y), y)
        [i.base is z for i, z in zip(b.iters, (x, y, y))]
        np.eye(2).__array_function__(np.reshape, (np.ndarray,), np.eye(2), {})
        np.eye(2).__array_function__(np.reshape, (np.ndarray,), (np.eye(2),), (2, 1))
        M = type('M', (np.ndarray,), {}); m = np.arange(3).view(M)
        type(m.__array_wrap__(np.array(3), None, True)) is M, type(m.__array_wrap__(np.array(3))) is M
        np.arange(3).__array_wrap__(np.array(3), None, True)
        text = np.hypot.__doc__; np.hypot.__doc__ = 'x'; np.hypot.__doc__, np.hypot.__dict__['__doc__']
        del np.hypot.__doc__; np.hypot.__doc__ == text, 'other' in vars(np.hypot)
        """,
}


@pytest.mark.parametrize("topic", METHODS)
def test_methods(topic):
    same(METHODS[topic])


def test_every_public_name_of_ndarray_is_there():
    missing = {name for name in dir(numpy.ndarray) if not hasattr(tnp.ndarray, name)} - {"__array_struct__"}
    assert not missing


SIGNED = ["ndarray.reshape"] if numpy.ndarray.reshape.__text_signature__ else []  # not before NumPy 2.4


@pytest.mark.parametrize("name", ["ndarray.__complex__", "flatiter.copy", "broadcast.reset", *SIGNED])
def test_self_is_positional(name):
    owner, method = name.split(".")
    first = next(iter(inspect.signature(getattr(getattr(tnp, owner), method)).parameters.values()))
    assert first.kind is inspect.Parameter.POSITIONAL_ONLY


def test_docstrings_are_there():
    public = [name for name in dir(numpy.ndarray) if name[0] != "_"]
    documented = [name for name in public if inspect.getdoc(getattr(numpy.ndarray, name))]
    assert not [name for name in documented if not inspect.getdoc(getattr(tnp.ndarray, name))]


@pytest.mark.parametrize("name", ["itemset", "newbyteorder", "ptp"])
def test_what_numpy_2_removed_is_refused_as_by_numpy(name):
    with pytest.raises(AttributeError) as numpys:
        getattr(numpy.ones(3), name)
    with pytest.raises(AttributeError) as ours:
        getattr(tnp.ones(3), name)
    assert str(ours.value) == str(numpys.value).replace("numpy.ndarray", "tnp.ndarray")


# ------------------------------------------------------------------------------------------------ with NumPy itself
def test_numpy_functions_give_our_arrays():
    a = tnp.arange(3.0)
    for result in (
        numpy.sin(a),
        numpy.add(a, 1),
        numpy.arange(3.0) + a,
        numpy.concatenate([a, a]),
        numpy.where(a > 1, a, 0),
    ):
        assert type(result) is tnp.ndarray
    assert type(numpy.add.reduce(a)) is numpy.float64
    f = numpy.ones(3)
    f += a
    assert type(f) is numpy.ndarray
    assert f.tolist() == [1.0, 2.0, 3.0]
    assert numpy.add(a, 1, out=f) is f
    assert numpy.add(f, 1, out=a) is a
    assert a.tolist() == [2.0, 3.0, 4.0]


def test_asarray_shares_and_array_copies():
    f = numpy.arange(6.0)
    a = tnp.asarray(f)
    f[0] = 9
    assert a[0] == 9
    a[1] = 8
    assert f[1] == 8
    back = numpy.asarray(a)
    assert numpy.shares_memory(back, f)
    assert not numpy.shares_memory(numpy.asarray(tnp.array(f)), f)
    assert type(a.to_numpy() if hasattr(a, "to_numpy") else tnp.to_numpy(a)) is numpy.ndarray


def test_buffer_protocol():
    a = tnp.arange(6.0).reshape(2, 3)
    view = memoryview(a)
    assert (view.shape, view.strides, view.format, view.readonly) == ((2, 3), (24, 8), "d", False)
    a += 1
    assert view[1, 2] == 6.0
    view[0, 0] = 50.0
    assert a[0, 0] == 50.0
    assert bytes(memoryview(a.T.copy())) == a.T.tobytes()
    a.flags.writeable = False
    assert memoryview(a).readonly
    assert memoryview(tnp.arange(6.0)[::2]).strides == (16,)
    with pytest.raises((ValueError, BufferError)):
        memoryview(tnp.array(["2001-01-01"], "M8[D]"))


def test_dlpack_both_ways():
    a = tnp.arange(6.0)
    f = numpy.from_dlpack(a)
    a[2] = 40
    assert f[2] == 40
    b = tnp.from_dlpack(numpy.arange(3))
    assert type(b) is tnp.ndarray
    assert b.tolist() == [0, 1, 2]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    def several(np):
        return [
            np.arange(6.0).reshape(2, 3),
            np.arange(6)[::2],
            np.asfortranarray(np.ones((2, 3))),
            np.array(["a", None]),
        ]

    for ours, theirs in zip(several(tnp), several(numpy), strict=True):
        again = pickle.loads(pickle.dumps(ours, protocol))
        expected = pickle.loads(pickle.dumps(theirs, protocol))
        assert type(again) is tnp.ndarray
        assert again.tolist() == expected.tolist()
        assert (again.dtype, again.strides, again.flags.writeable) == (expected.dtype, expected.strides, True)


def test_copies_are_deep_enough():
    a = tnp.arange(3.0)
    for b in (copy.copy(a), copy.deepcopy(a), a.copy()):
        b[0] = 5
        assert a[0] == 0
        assert type(b) is tnp.ndarray
    o = tnp.array([[1], None], object)
    assert copy.copy(o)[0] is o[0]
    assert copy.deepcopy(o)[0] is not o[0]


def test_iteration_gives_numpy_scalars_and_our_views():
    assert [type(x) for x in tnp.arange(2.0)] == [numpy.float64] * 2
    rows = list(tnp.zeros((2, 2)))
    assert all(type(row) is tnp.ndarray for row in rows)


def test_subclasses_of_our_array():
    class Named(tnp.ndarray):
        pass

    a = tnp.arange(3.0).view(Named)
    assert type(a) is Named
    assert a.tolist() == [0.0, 1.0, 2.0]
    assert isinstance(a + 1, tnp.ndarray)


def test_classes_that_take_part_in_operations():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "radd"

    class Takes:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return ufunc.__name__, method

        def __array_function__(self, function, types, args, kwargs):
            return function.__name__

    assert tnp.arange(3) + Other() == "radd"
    assert tnp.arange(3) * Takes() == ("multiply", "__call__")
    assert tnp.sin(Takes()) == ("sin", "__call__")
    assert tnp.concatenate([tnp.arange(3), Takes()]) == "concatenate"


def test_arrays_are_garbage_collected():
    a = tnp.array([None], object)
    a[0] = a
    alive = [a]
    alive.clear()
    del a
    gc.collect()
    assert sys.getrefcount(None) > 0  # no crash


def test_large_arrays_are_weakly_referable():
    import weakref

    a = tnp.zeros(10)
    ref = weakref.ref(a)
    del a
    assert ref() is None
