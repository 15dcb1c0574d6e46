"""Operators and ufunc calls where the direct path does not apply: recorded, or NumPy's own on the same memory."""

import operator

import numpy as _np

from tnp import bind, content, host, writes
from tnp.arrays import temporaries
from tnp.core import native
from tnp.core.elementwise import PRIMITIVES
from tnp.core.interpreter import DECLINED, recorder
from tnp.host import call, rewrap, run, unwrap
from tnp.hot import ndarray, writable
from tnp.ops.products import product
from tnp.tracing import is_value

_NDARRAY = _np.ndarray

OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "lshift": operator.lshift, "rshift": operator.rshift,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "matmul": operator.matmul, "pow": operator.pow,
    "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne, "gt": operator.gt,
    "ge": operator.ge, "neg": operator.neg, "pos": operator.pos, "abs": operator.abs, "invert": operator.invert,
}  # fmt: skip


UFUNCS = {
    "add": _np.add, "sub": _np.subtract, "mul": _np.multiply, "truediv": _np.true_divide, "floordiv": _np.floor_divide,
    "mod": _np.remainder, "lshift": _np.left_shift, "rshift": _np.right_shift, "and": _np.bitwise_and,
    "or": _np.bitwise_or, "xor": _np.bitwise_xor, "pow": _np.power, "lt": _np.less, "le": _np.less_equal,
    "eq": _np.equal, "ne": _np.not_equal, "gt": _np.greater, "ge": _np.greater_equal, "neg": _np.negative,
    "pos": _np.positive, "abs": _np.absolute, "invert": _np.invert,
}  # fmt: skip


class Operator:
    """An operator: its name, NumPy's methods for it."""

    def __init__(self, name):
        self.name = name
        self.plain = getattr(_NDARRAY, f"__{name}__")
        self.reflected = getattr(_NDARRAY, f"__r{name}__", None)
        self.inplace = getattr(_NDARRAY, f"__i{name}__", None)
        self.commutes = name in temporaries.COMMUTATIVE
        self.elided = name in temporaries.ELIDED
        self.ufunc = UFUNCS.get(name, _np.matmul)
        self.prim = PRIMITIVES.get(self.ufunc)
        self.function = OPERATORS[name]


def binary(op, a, b):
    """``a op b`` where `a` is a tnp array: recorded, or NumPy's method decides what it can take."""
    kept = temporaries.over(op, a, b, native.references(a), native.references(b))
    if kept is not None:
        return inplace(op, kept, b if kept is a else a)
    if host.intercept is not None:
        r = host.intercept(op.ufunc, (a, b), {}, op.function)
        if r is not DECLINED:
            return r
    if op.prim is not None:
        r = bind.elementwise(op.prim, (a, b))
    else:  # the product of matrices, the only one that is no primitive
        r = product(a, b)
    if r is not None:
        return r
    seen = []
    return rewrap(op.plain(unwrap(a, seen), unwrap(b, seen)), seen)


def reflected(op, a, b):
    """``b op a`` where `a` is a tnp array, and `b` did not know what to do."""
    if temporaries.over_reflected(op, a, b, native.references(a)):
        return inplace(op, a, b)
    if host.intercept is not None:
        r = host.intercept(op.ufunc, (b, a), {}, op.function)
        if r is not DECLINED:
            return r
    if op.prim is not None:
        r = bind.elementwise(op.prim, (b, a))
        if r is not None:
            return r
    seen = []
    return rewrap(op.reflected(unwrap(a, seen), unwrap(b, seen)), seen)


def inplace(op, a, b):
    """``a op= b``."""
    if host.intercept is not None:
        if is_value(a):
            return power(a, b) if op.name == "pow" else binary(op, a, b)
        r = host.intercept(op.inplace, (a, b), {})
        if r is not DECLINED:
            return r
    short = shortcut(a, b) if op.name == "pow" and type(a) is ndarray else None
    if op.prim is not None:
        r = writes.inplace(op.prim, a, b) if short is None else writes.into(short, (a,), a)
        if r is not None:
            return r
    seen = []
    other = unwrap(b, seen)
    writable(a)
    nd = unwrap(a, seen)
    r = op.inplace(nd, other)
    return a if r is nd else rewrap(r, seen)


def over_itself(prim, a):
    """The operation on `a` alone, over its memory."""
    if writes.into(prim, (a,), a) is None:
        writable(a)
        nd = unwrap(a, [])
        prim.ufunc(nd, out=nd)
    return a


def unary(op, a):
    if recorder() is not None:
        r = host.intercepted(op.ufunc, (a,), {})
        if r is not DECLINED:
            return r
    if op.prim is not None:
        if temporaries.over_unary(op.name, a, native.references(a)):
            return over_itself(op.prim, a)
        r = bind.elementwise(op.prim, (a,))
        if r is not None:
            return r
    seen = []
    return rewrap(op.plain(unwrap(a, seen)), seen)


def shortcut(a, b):
    """NumPy's shortcut for the Python numbers 2, -1 and 0.5 as exponents: a primitive, or None."""
    t = type(b)
    if (t is int and (b == 2 or b == -1)) or (t is float and b == 0.5):
        kind = content.look(a).dtype.kind
        ufunc = _np.square if b == 2 and t is int else _np.reciprocal if b == -1 else _np.sqrt
        if kind in "fc" or (ufunc is _np.square and kind in "iu"):
            return PRIMITIVES[ufunc]
    return None


def power(a, b):
    """``a ** b``."""
    prim = shortcut(a, b) if recorder() is None or not is_value(a) else None
    op = hot_operators["pow"]
    if prim is None:
        r = _product(a, b) if content.is_fast() and type(b) in (int, float) and b in (3, 4) else None
        return binary(op, a, b) if r is None else r
    if recorder() is not None:
        r = host.intercepted(prim.ufunc, (a,), {})
        if r is not DECLINED:
            return r
    if temporaries.over_unary("pow", a, native.references(a)):
        return over_itself(prim, a)
    r = bind.elementwise(prim, (a,))
    if r is not None:
        return r
    seen = []
    return rewrap(op.plain(unwrap(a, seen), b), seen)


def _product(a, b):
    """A small power as products, which differ from NumPy's in the last bits; None where it has to run at once."""
    multiply = PRIMITIVES[_np.multiply]
    square = bind.elementwise(multiply, (a, a)) if content.dtype_of(a).kind == "f" else None
    return None if square is None else bind.elementwise(multiply, (square, a if b == 3 else square))


PAIRS = (_np.divmod, _np.frexp, _np.modf)  # two results: NumPy's loop on the memory


def call_ufunc(raw, args, kwargs):
    """A ufunc call that is not small, or has keywords."""
    if host.intercept is not None:
        r = host.intercept(raw, args, kwargs)
        if r is not DECLINED:
            return r
    prim = PRIMITIVES.get(raw)
    if raw is _np.matmul and len(args) == 2 and not kwargs:
        r = product(*args)
        if r is not None:
            return r
    if prim is not None and len(args) == raw.nin:
        if not kwargs:
            r = bind.elementwise(prim, args)
            if r is not None:
                return r
        elif len(kwargs) == 1 and "out" in kwargs:
            out = kwargs["out"]
            if type(out) is tuple and len(out) == 1:
                out = out[0]
            if type(out) is ndarray:
                r = writes.into(prim, args, out)
                if r is not None:
                    return r
    elif (
        prim is not None
        and len(args) == raw.nin + 1
        and not kwargs
        and type(args[-1]) is ndarray
        and raw is not _np.maximum  # of these two NumPy deprecates the positional output
        and raw is not _np.minimum
    ):
        r = writes.into(prim, args[:-1], args[-1])
        if r is not None:
            return r
    outs = kwargs.get("out")
    if type(outs) is tuple and len(outs) == 2 and type(outs[0]) is ndarray and type(outs[1]) is ndarray:
        a, b = outs
        if a is not b and writable(a) is writable(b):  # two arrays are two objects for NumPy, which locks them
            view = b if b._base is not None else a
            view._nd = view._nd.view()
    if len(args) > raw.nin:
        for x in args[raw.nin :]:
            if isinstance(x, ndarray):
                writable(x)
    return run(raw, args, kwargs) if prim is not None or raw in PAIRS else call(raw, args, kwargs)


hot_operators = {name: Operator(name) for name in OPERATORS}


def divmod_(x, other):
    r = host.intercepted(_np.divmod, (x, other), {})
    if r is not DECLINED:
        return r
    seen = []
    return rewrap(_NDARRAY.__divmod__(unwrap(x, seen), unwrap(other, seen)), seen)


def rdivmod(x, other):
    r = host.intercepted(_np.divmod, (other, x), {})
    if r is not DECLINED:
        return r
    seen = []
    return rewrap(_NDARRAY.__rdivmod__(unwrap(x, seen), unwrap(other, seen)), seen)
