"""Subclasses of the array class: NumPy decides which class a result has, and `__array_finalize__` sees what it sees."""

import copy
import gc
import pickle
import textwrap
import weakref

import numpy
import pytest

import tnp
from tests.programs.same import same

CLASSES = """
    class Quantity(np.ndarray):
        __array_priority__ = 12
        def __new__(cls, x, unit=None):
            made = np.asarray(x).view(cls)
            made.unit = unit
            return made
        def __array_finalize__(self, parent):
            self.unit = getattr(parent, 'unit', 'no unit') if parent is not None else 'constructed'
    class Metre(Quantity):
        __array_priority__ = 13
    class Wrapped(np.ndarray):
        def __array_wrap__(self, array, context=None, return_scalar=False):
            made = array.view(Wrapped)
            made.context = None if context is None else (context[0].__name__, len(context[1]), context[2])
            return made
    class Counted(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            told.append((ufunc is np.add, method, [type(x).__name__ for x in inputs]))
            plain = [x.view(np.ndarray) if isinstance(x, Counted) else x for x in inputs]
            return getattr(ufunc, method)(*plain, **kwargs)
        def __array_function__(self, function, types, args, kwargs):
            told.append((function is np.sort, [t.__name__ for t in types]))
            return super().__array_function__(function, types, args, kwargs)
    class Halves(np.ndarray):
        def sum(self, *args, **kwargs):
            return super().sum(*args, **kwargs) / 2
        @property
        def shape2(self):
            return self.shape * 2
        def __getitem__(self, key):
            told.append(('item', type(self).__name__))
            return super().__getitem__(key)
    told = []
    q = Quantity(np.arange(6.0).reshape(2, 3), 'kg')
    def show(x):
        return type(x).__name__, getattr(x, 'unit', None), np.asarray(x).tolist()
"""
SESSIONS = {
    "operators": """
        [show(x) for x in (q + 1, 1 + q, -q, q == q, q @ q.T, q ** 2, abs(q), divmod(q, 2)[0], q > 1)]
        r = q; r += 1; r is q, show(r)
        show(np.ones(3) * q), show(q * np.ones(3)), show(Metre(np.ones(3), 'm') + q), show(q + Metre(np.ones(3), 'm'))
        """,
    "functions": """
        [show(x) for x in (np.add(q, 1), np.sort(q), np.zeros_like(q), np.sum(q, 0), np.sum(q, keepdims=True))]
        [show(x) for x in (np.concatenate([q, q]), np.insert(q, 0, 1, 0), np.median(q, 0), np.linspace(q, q + 1, 2))]
        [show(x) for x in (np.array(q), np.array(q, subok=True), np.asarray(q), np.asanyarray(q), np.copy(q))]
        np.asanyarray(q) is q, np.array(q, copy=False, subok=True) is q
        [show(x) for x in (np.empty_like(q, subok=False) * 0, np.broadcast_to(q, (2, 2, 3), subok=True), np.diff(q))]
        [show(x) for x in (np.cumsum(q, 1), np.round(q, 1), np.where(q > 1, q, 0), np.squeeze(q), np.split(q, 2)[0])]
        show(np.add(q, 1, out=Quantity(np.zeros((2, 3)), 's')))
        """,
    "methods and views": """
        [show(x) for x in (q[1:], q[0], q[[0]], q[q > 1], q.T, q.reshape(-1), q.copy(), q.real, q.astype(int))]
        q[0, 0], type(q.sum()).__name__, show(q.sum(0)), show(q.max(axis=1)), show(q.ravel())
        show(q.view('i8')), show(q.view(np.ndarray))
        q[1:].base is q, q.view(np.ndarray).base is q, q.T.base is q, q[1:][:1].base is q
        v = np.asarray(q); v[0, 0] = 99; q[0, 0], q[1:].flags.owndata, q.copy().flags.owndata
        q.sort(); show(q)
        q[0] = 5; q.fill(3); show(q)
        list(map(show, q))
        """,
    "text": """
        q, str(q), repr(q[0]), f"{q}"
        """,
    "wrapping": """
        w = np.arange(3.0).view(Wrapped)
        np.add(w, 1).context, np.divmod(w, 2)[1].context, np.sin(w).context, (w + 1).context
        type(np.add.reduce(w)).__name__, type(w.sum()).__name__
        """,
    "overriding ufuncs and functions": """
        c = np.arange(3.0).view(Counted)
        c + 1, np.add.reduce(c), np.sort(c), np.ones(3) * c, np.concatenate([c, np.ones(1)]), told
        """,
    "methods of its own": """
        h = np.arange(4.0).view(Halves)
        h.sum(), np.sum(h), h.shape2, h[1], np.take(h, [0, 1]).tolist(), told[:1]
        """,
    "constructed": """
        s = Quantity.__new__(Quantity, [1, 2]); s.unit
        np.ndarray.__new__(Quantity, (2,), float).unit, np.ndarray.__new__(Metre, shape=(1,)).unit
        """,
    "finalize sets the shape": """
        class Flat(np.ndarray):
            def __array_finalize__(self, parent):
                if self.ndim == 2:
                    self.shape = (self.size,)
        np.arange(4).reshape(2, 2).view(Flat).shape, np.arange(3).view(Flat).reshape(3, 1).shape
        """,
    "priority": """
        class Low(np.ndarray):
            __array_priority__ = -5
        class High(np.ndarray):
            __array_priority__ = 5
        a, b = np.ones(2).view(Low), np.ones(2).view(High)
        [type(x).__name__ for x in (np.add(a, b), np.add(b, a), np.add(a, 1), np.add(np.ones(2), a), a + b)]
        """,
}


@pytest.mark.parametrize("session", SESSIONS)
def test_as_in_numpy(session):
    same(textwrap.dedent(CLASSES) + textwrap.dedent(SESSIONS[session]))


class Tagged(tnp.ndarray):
    def __array_finalize__(self, parent):
        self.tag = getattr(parent, "tag", None)


def test_pickles_and_copies():
    s = tnp.arange(6.0).reshape(2, 3).view(Tagged)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        t = pickle.loads(pickle.dumps(s, protocol))
        assert type(t) is Tagged
        assert t.tolist() == s.tolist()
    assert type(copy.copy(s)) is type(copy.deepcopy(s)) is Tagged


def test_state_of_a_subclass_can_be_extended():
    class Named(tnp.ndarray):
        def __reduce__(self):
            function, args, state = super().__reduce__()
            return function, args, (*state, self.name)

        def __setstate__(self, state):
            self.name = state[-1]
            super().__setstate__(state[:-1])

    globals()["Named"] = Named
    Named.__qualname__ = "Named"
    s = tnp.arange(3).view(Named)
    s.name = "n"
    t = pickle.loads(pickle.dumps(s))
    assert (t.name, t.tolist(), type(t)) == ("n", [0, 1, 2], Named)


def test_results_are_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        s = tnp.arange(6.0).view(Tagged)
        alive = [weakref.ref(x) for x in (s + 1, tnp.sort(s), s[1:], s.sum(keepdims=True))]
        assert [ref() for ref in alive] == [None] * 4
        ref = weakref.ref(s)
        del s
        assert ref() is None
    finally:
        gc.enable()


def test_writes_through_a_base_class_view_are_seen():
    with tnp.config(lazy_from=1):
        s = tnp.arange(100.0).view(Tagged)
        v = tnp.asarray(s)
        v += 1
        assert s[3] == 4.0
        assert numpy.asarray(s)[3] == 4.0
        (s + 0)[:] = 7
        assert v[3] == 4.0
