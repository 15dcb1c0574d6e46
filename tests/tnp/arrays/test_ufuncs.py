"""What NumPy's ufunc class is to inspection and pickling."""

import inspect
import pickle

import numpy

import tnp


def test_the_class_says_where_it_is_from():
    cls = type(tnp.add)
    assert type(cls.__module__) is type(type(numpy.add).__module__) is str
    assert getattr(inspect.getmodule(cls), cls.__qualname__) is cls
    assert pickle.loads(pickle.dumps(cls)) is cls
    assert repr(cls) == f"<class '{cls.__module__}.{cls.__qualname__}'>"


def test_ufuncs_pickle_by_name():
    assert pickle.loads(pickle.dumps(tnp.add)) is tnp.add
