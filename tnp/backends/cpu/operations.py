"""The operations that kernels compute themselves: plain arithmetic, with NumPy's bits and flags.

`emitted(name, codes)` finds the emitter of a ufunc's loop. Whatever has none runs through NumPy's own inner loop.
(Clip of floats is a case of its own: `extremes.extreme_of`.)
"""

from collections.abc import Callable
from functools import cache

from tnp.backends.cpu import extremes
from tnp.backends.cpu.ir import SCALAR, Code, size_of

Emitter = Callable[[Code, list[str], tuple[str, ...]], str]


def emitted(name: str, codes: tuple[str, ...]) -> Emitter | None:
    """Emitter of the loop of ufunc ``name`` over dtypes ``codes``, or None."""
    if name == "where":
        return _where
    if len(set(codes)) > 1 or codes[0] in ("f2", "bf2"):
        return None
    if codes[0][0] == "f" and name in extremes.NAMES:
        return extremes.extreme(name, codes) if name != "clip" else None
    return EMITTERS.get((name, codes[0][0]))


@cache
def _sign_mask(code: str) -> str:
    return str(1 << (8 * _part_size(code) - 1))


def _part_size(code: str) -> int:
    return size_of(code) // 2 if code[0] == "c" else size_of(code)


def _bits(c: Code, code: str) -> str:
    """Type of the integers that hold the lanes of a float vector."""
    return f"<{c.lanes(code)} x i{8 * _part_size(code)}>"


def _splat(type_: str, value: str | int) -> str:
    return f"splat ({type_[1:-1].split(' x ')[1]} {value})"


def _instruction(name: str) -> Emitter:
    return lambda c, x, k: c.let(f"{name} {c.reg(k[0])} {', '.join(x)}")


def _strict(name: str, *, rounds: bool = True) -> Emitter:
    return lambda c, x, k: c.strict(name, k[0], *x, rounds=rounds)


def _same(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    return x[0]


def _twice(emit: Emitter) -> Emitter:
    return lambda c, x, k: emit(c, [x[0], x[0]], k)


def _compare_float(predicate: str) -> Emitter:
    return lambda c, x, k: c.compare(predicate, k[0], x[0], x[1])


def _compare_int(predicate: str) -> Emitter:
    return lambda c, x, k: c.let(f"icmp {predicate} {c.reg(k[0])} {x[0]}, {x[1]}")


def _nonzero(c: Code, x: str, code: str) -> str:
    if code == "b1":
        return x
    if code[0] == "f":
        return c.compare("une", code, x, "zeroinitializer")
    return c.let(f"icmp ne {c.reg(code)} {x}, zeroinitializer")


def _logical(name: str) -> Emitter:
    return lambda c, x, k: c.let(f"{name} {c.reg('b1')} {_nonzero(c, x[0], k[0])}, {_nonzero(c, x[1], k[0])}")


def _not(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    return c.let(f"xor {c.reg('b1')} {_nonzero(c, x[0], k[0])}, {c.splat('b1', '1')}")


def _invert(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    return c.let(f"xor {c.reg(k[0])} {x[0]}, {c.splat(k[0], '-1')}")


def _negate_int(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    return c.let(f"sub {c.reg(k[0])} zeroinitializer, {x[0]}")


def _negate_float(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    return c.let(f"fneg {c.reg(k[0])} {x[0]}")


def _conjugate(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    type_ = _bits(c, k[0])
    scalar = type_[1:-1].split(" x ")[1]
    mask = ", ".join(f"{scalar} 0, {scalar} {_sign_mask(k[0])}" for _ in range(c.width))
    bits = c.let(f"bitcast {c.reg(k[0])} {x[0]} to {type_}")
    bits = c.let(f"xor {type_} {bits}, <{mask}>")
    return c.let(f"bitcast {type_} {bits} to {c.reg(k[0])}")


def _absolute_int(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    type_ = c.reg(k[0])
    below = c.let(f"icmp slt {type_} {x[0]}, zeroinitializer")
    return c.let(f"select {c.reg('b1')} {below}, {type_} {_negate_int(c, x, k)}, {type_} {x[0]}")


def _absolute_float(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    return c.call("fabs", k[0], x[0])


def _reciprocal(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    return c.strict("fdiv", k[0], c.splat(k[0], "1.0"), x[0])


def _extreme_int(predicate: str) -> Emitter:
    def emit(c: Code, x: list[str], k: tuple[str, ...]) -> str:
        first = c.let(f"icmp {predicate} {c.reg(k[0])} {x[0]}, {x[1]}")
        return c.let(f"select {c.reg('b1')} {first}, {c.reg(k[0])} {x[0]}, {c.reg(k[0])} {x[1]}")

    return emit


def _shift(name: str) -> Emitter:
    """A count outside 0 ... bits-1 (negative ones are large unsigned numbers) shifts everything out."""

    def emit(c: Code, x: list[str], k: tuple[str, ...]) -> str:
        type_, bits = c.reg(k[0]), 8 * size_of(k[0])
        inside = c.let(f"icmp ult {type_} {x[1]}, {c.splat(k[0], str(bits))}")
        rest = c.splat(k[0], str(bits - 1)) if name == "ashr" else "zeroinitializer"
        count = c.let(f"select {c.reg('b1')} {inside}, {type_} {x[1]}, {type_} {rest}")
        value = c.let(f"{name} {type_} {x[0]}, {count}")
        if name == "ashr":  # the sign remains
            return value
        return c.let(f"select {c.reg('b1')} {inside}, {type_} {value}, {type_} zeroinitializer")

    return emit


def _sign_int(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    type_ = c.reg(k[0])
    above = c.let(f"icmp {'sgt' if k[0][0] == 'i' else 'ugt'} {type_} {x[0]}, zeroinitializer")
    one = c.let(f"zext {c.reg('b1')} {above} to {type_}")
    if k[0][0] == "u":
        return one
    below = c.let(f"icmp slt {type_} {x[0]}, zeroinitializer")
    return c.let(f"select {c.reg('b1')} {below}, {type_} {c.splat(k[0], '-1')}, {type_} {one}")


def _sign_float(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    """1, -1, 0 (of either sign: 0), NaN."""
    type_, choose = c.reg(k[0]), c.reg("b1")
    above = c.compare("ogt", k[0], x[0], "zeroinitializer")
    below = c.compare("olt", k[0], x[0], "zeroinitializer")
    nan = c.compare("uno", k[0], x[0], x[0])
    value = c.let(f"select {choose} {above}, {type_} {c.splat(k[0], '1.0')}, {type_} zeroinitializer")
    value = c.let(f"select {choose} {below}, {type_} {c.splat(k[0], '-1.0')}, {type_} {value}")
    return c.let(f"select {choose} {nan}, {type_} {x[0]}, {type_} {value}")


def _test_bits(predicate: str) -> Emitter:
    """isnan, isinf, isfinite: the bits without the sign against those of infinity."""

    def emit(c: Code, x: list[str], k: tuple[str, ...]) -> str:
        type_, size = _bits(c, k[0]), size_of(k[0])
        infinity = {4: 0x7F800000, 8: 0x7FF0000000000000}[size]
        bits = c.let(f"bitcast {c.reg(k[0])} {x[0]} to {type_}")
        bits = c.let(f"and {type_} {bits}, {_splat(type_, (1 << (8 * size - 1)) - 1)}")
        return c.let(f"icmp {predicate} {type_} {bits}, {_splat(type_, infinity)}")

    return emit


def _signbit(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    type_ = _bits(c, k[0])
    bits = c.let(f"bitcast {c.reg(k[0])} {x[0]} to {type_}")
    return c.let(f"icmp slt {type_} {bits}, zeroinitializer")


def _copysign(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    return c.call("copysign", k[0], *x)


def _constant(value: str) -> Emitter:
    return lambda c, x, k: c.splat("b1", value)


def _where(c: Code, x: list[str], k: tuple[str, ...]) -> str:
    condition, choose = x[0], c.reg("b1")
    if k[1][0] == "c":  # both lanes of an element
        condition = c.shuffle(choose, condition, "poison", [lane // 2 for lane in range(2 * c.width)])
        choose = f"<{2 * c.width} x i1>"
    return c.let(f"select {choose} {condition}, {c.reg(k[1])} {x[1]}, {c.reg(k[1])} {x[2]}")


EMITTERS: dict[tuple[str, str], Emitter] = {}


def _table(name: str, **by_kind: Emitter) -> None:
    for kinds, emit in by_kind.items():
        for kind in kinds:
            EMITTERS[name, kind] = emit


_or, _and, _xor = _instruction("or"), _instruction("and"), _instruction("xor")
_table("add", b=_or, iu=_instruction("add"), fc=_strict("fadd"))
_table("subtract", iu=_instruction("sub"), fc=_strict("fsub"))
_table("multiply", b=_and, iu=_instruction("mul"), f=_strict("fmul"))
_table("divide", f=_strict("fdiv"))
_table("square", iu=_twice(_instruction("mul")), f=_twice(_strict("fmul")))
_table("sqrt", f=_strict("sqrt"))
_table("reciprocal", f=_reciprocal)
_table("negative", iu=_negate_int, fc=_negate_float)
_table("positive", iufc=_same)
_table("absolute", bu=_same, i=_absolute_int, f=_absolute_float)
_table("fabs", f=_absolute_float)
_table("conjugate", iuf=_same, c=_conjugate)
_table("floor", biu=_same, f=_strict("floor", rounds=False))
_table("ceil", biu=_same, f=_strict("ceil", rounds=False))
_table("trunc", biu=_same, f=_strict("trunc", rounds=False))
_table("rint", f=_strict("rint"))
_table("sign", iu=_sign_int, f=_sign_float)
_table("copysign", f=_copysign)
_table("signbit", f=_signbit)
_table("isnan", biu=_constant("0"), f=_test_bits("ugt"))
_table("isinf", biu=_constant("0"), f=_test_bits("eq"))
_table("isfinite", biu=_constant("1"), f=_test_bits("ult"))
_table("invert", b=_not, iu=_invert)
_table("bitwise_and", biu=_and)
_table("bitwise_or", biu=_or)
_table("bitwise_xor", biu=_xor)
_table("left_shift", iu=_shift("shl"))
_table("right_shift", i=_shift("ashr"), u=_shift("lshr"))
_table("logical_and", biuf=_logical("and"))
_table("logical_or", biuf=_logical("or"))
_table("logical_xor", biuf=_logical("xor"))
_table("logical_not", biuf=_not)
for _name, _signed, _unsigned in (("maximum", "sgt", "ugt"), ("minimum", "slt", "ult")):
    for _alias in (_name, _name.replace("imum", "").replace("max", "fmax").replace("min", "fmin")):
        _table(_alias, i=_extreme_int(_signed), bu=_extreme_int(_unsigned))
for _name, _float, _signed, _unsigned in (
    ("equal", "oeq", "eq", "eq"),
    ("not_equal", "une", "ne", "ne"),
    ("less", "olt", "slt", "ult"),
    ("less_equal", "ole", "sle", "ule"),
    ("greater", "ogt", "sgt", "ugt"),
    ("greater_equal", "oge", "sge", "uge"),
):
    _table(_name, f=_compare_float(_float), i=_compare_int(_signed), bu=_compare_int(_unsigned))

# Vectors are as wide as the machine's registers for elements of this size
assert set(SCALAR) >= {"f8", "f4"}
