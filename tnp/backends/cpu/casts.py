"""NumPy's casts between dtypes, as vector instructions.

Float to integer goes through int32 or int64 and is then cut, as C compilers do on x86: LLVM's own narrow conversions
differ outside the range.
"""

from collections.abc import Callable

from tnp.backends.cpu.ir import Code, size_of


def cast(c: Code, x: str, source: str, target: str) -> str:
    """The vector ``x`` of dtype ``source`` as ``target``."""
    if source == target:
        return x
    if source[0] == "c":
        return _from_complex(c, x, source, target)
    if target[0] == "c":
        part = f"f{size_of(target) // 2}"
        real = cast(c, x, source, part)
        order = [i for lane in range(c.width) for i in (lane, c.width)]
        return c.shuffle(c.reg(part), real, "zeroinitializer", order)
    if source in ("f2", "bf2"):
        if target == "b1":
            return c.let(f"icmp ne {c.reg(source)} {_shifted(c, x, source)}, zeroinitializer")
        wide = half_to_float(c, x) if source == "f2" else bfloat_to_float(c, x)
        return cast(c, wide, "f4", target)
    if target in ("f2", "bf2"):
        return _to_sixteen(c, x, source, target)
    kinds = source[0] + target[0]
    if target == "b1":
        if source[0] == "f":
            return c.compare("une", source, x, "zeroinitializer")
        return c.let(f"icmp ne {c.reg(source)} {x}, zeroinitializer")
    if source == "b1":
        if target[0] == "f":
            return c.let(f"select {c.reg('b1')} {x}, {c.reg(target)} {c.splat(target, '1.0')}, "
                         f"{c.reg(target)} zeroinitializer")  # fmt: skip
        return c.let(f"zext {c.reg(source)} {x} to {c.reg(target)}")
    if kinds == "ff":
        wider = size_of(target) > size_of(source)
        return c.convert("fpext" if wider else "fptrunc", c.reg(source), c.reg(target), x, rounds=not wider)
    if target[0] == "f":
        return c.convert("sitofp" if source[0] == "i" else "uitofp", c.reg(source), c.reg(target), x, rounds=True)
    if source[0] == "f":
        return _float_to_int(c, x, source, target)
    if size_of(source) == size_of(target):
        return x
    how = "trunc" if size_of(target) < size_of(source) else "sext" if source[0] == "i" else "zext"
    return c.let(f"{how} {c.reg(source)} {x} to {c.reg(target)}")


def _from_complex(c: Code, x: str, source: str, target: str) -> str:
    part = f"f{size_of(source) // 2}"
    if target[0] == "c":
        wider = size_of(target) > size_of(source)
        return c.convert("fpext" if wider else "fptrunc", c.reg(source), c.reg(target), x, rounds=not wider)
    if target == "b1":
        lanes = c.compare("une", source, x, "zeroinitializer")
        both = f"<{2 * c.width} x i1>"
        even, odd = (c.shuffle(both, lanes, "poison", list(range(k, 2 * c.width, 2))) for k in (0, 1))
        return c.let(f"or {c.reg('b1')} {even}, {odd}")
    return cast(c, real_part(c, x, source), part, target)


def real_part(c: Code, x: str, source: str) -> str:
    return c.shuffle(c.reg(source), x, "poison", list(range(0, 2 * c.width, 2)))


def _shifted(c: Code, x: str, code: str) -> str:
    """The bits without the sign: zero exactly for both zeros."""
    return c.let(f"shl {c.reg(code)} {x}, {c.splat(code, '1')}")


def half_to_float(c: Code, x: str) -> str:
    """Eight elements at a time: LLVM has no wider strict conversion (it ends the process)."""

    def extend(part: str, n: int) -> str:
        bits = c.let(f"bitcast <{n} x i16> {part} to <{n} x half>")
        return c.convert("fpext", f"<{n} x half>", f"<{n} x float>", bits, rounds=False)

    return _by_parts(c, x, "i16", "float", 8, extend)


def bfloat_to_float(c: Code, x: str) -> str:
    wide = c.let(f"zext {c.reg('bf2')} {x} to {c.reg('i4')}")
    high = c.let(f"shl {c.reg('i4')} {wide}, {c.splat('i4', '16')}")
    return c.let(f"bitcast {c.reg('i4')} {high} to {c.reg('f4')}")


def _to_sixteen(c: Code, x: str, source: str, target: str) -> str:
    if source == "f8" and target == "f2":
        x = _double_to_odd_float(c, x)
    else:
        x = cast(c, x, source, "f4")
    if target == "bf2":
        return _float_to_bfloat(c, x)
    return _float_to_half(c, x)


def _float_to_half(c: Code, x: str) -> str:
    """Four elements at a time: LLVM knows no wider strict conversion on every processor."""

    def cut(part: str, n: int) -> str:
        bits = c.convert("fptrunc", f"<{n} x float>", f"<{n} x half>", part, rounds=True)
        return c.let(f"bitcast <{n} x half> {bits} to <{n} x i16>")

    return _by_parts(c, x, "float", "i16", 4, cut)


def _by_parts(c: Code, x: str, source: str, target: str, most: int, convert: Callable[[str, int], str]) -> str:
    """A conversion between vectors of two scalar types, of at most ``most`` elements at a time."""
    width = min(most, c.width)
    whole = f"<{c.width} x {source}>"
    parts = [convert(c.shuffle(whole, x, "poison", list(range(k, k + width))), width)
             for k in range(0, c.width, width)]  # fmt: skip
    while len(parts) > 1:
        type_ = f"<{width} x {target}>"
        parts = [c.shuffle(type_, *pair, list(range(2 * width))) for pair in zip(parts[::2], parts[1::2], strict=True)]
        width *= 2
    return parts[0]


def _double_to_odd_float(c: Code, x: str) -> str:
    """A float32 that rounds to float16 as the double would: cut toward zero, last bit set if anything was cut."""
    double, float_, int_ = c.reg("f8"), c.reg("f4"), c.reg("i4")
    near = c.convert("fptrunc", double, float_, x, rounds=True)
    back = c.convert("fpext", float_, double, near, rounds=False)
    inexact = c.compare("one", "f8", back, x)
    above = c.compare("ogt", "f8", c.call("fabs", "f8", back), c.call("fabs", "f8", x))
    bits = c.let(f"bitcast {float_} {near} to {int_}")
    cut = c.let(f"add {int_} {bits}, {c.splat('i4', '-1')}")
    cut = c.let(f"select {c.reg('b1')} {above}, {int_} {cut}, {int_} {bits}")
    odd = c.let(f"or {int_} {cut}, {c.splat('i4', '1')}")
    bits = c.let(f"select {c.reg('b1')} {inexact}, {int_} {odd}, {int_} {bits}")
    return c.let(f"bitcast {int_} {bits} to {float_}")


def _float_to_bfloat(c: Code, x: str) -> str:
    """Round to nearest even on the bits; NaN becomes the quiet NaN of its sign."""
    int_ = c.reg("i4")
    bits = c.let(f"bitcast {c.reg('f4')} {x} to {int_}")
    high = c.let(f"lshr {int_} {bits}, {c.splat('i4', '16')}")
    even = c.let(f"and {int_} {high}, {c.splat('i4', '1')}")
    bias = c.let(f"add {int_} {even}, {c.splat('i4', '32767')}")
    rounded = c.let(f"lshr {int_} {c.let(f'add {int_} {bits}, {bias}')}, {c.splat('i4', '16')}")
    sign = c.let(f"and {int_} {high}, {c.splat('i4', '32768')}")
    quiet = c.let(f"or {int_} {sign}, {c.splat('i4', '32704')}")
    nan = c.compare("uno", "f4", x, x)
    value = c.let(f"select {c.reg('b1')} {nan}, {int_} {quiet}, {int_} {rounded}")
    return c.let(f"trunc {int_} {value} to {c.reg('bf2')}")


def _float_to_int(c: Code, x: str, source: str, target: str) -> str:
    size = size_of(target)
    if target == "u8":
        return _float_to_uint64(c, x, source)
    through = "i4" if size < 4 or target == "i4" else "i8"
    value = c.convert("fptosi", c.reg(source), c.reg(through), x, rounds=False)
    return cast(c, value, through, target)


def _float_to_uint64(c: Code, x: str, source: str) -> str:
    """Values from 2**63 on are shifted down, converted and the high bit is put back."""
    bound = c.splat(source, "0x43E0000000000000")  # 2**63; LLVM writes float32 constants as doubles too
    large = c.compare("oge", source, x, bound)
    shift = c.let(f"select {c.reg('b1')} {large}, {c.reg(source)} {bound}, {c.reg(source)} zeroinitializer")
    low = c.strict("fsub", source, x, shift)
    value = c.convert("fptosi", c.reg(source), c.reg("i8"), low, rounds=False)
    high = c.let(f"select {c.reg('b1')} {large}, {c.reg('i8')} {c.splat('i8', str(-(2**63)))}, "
                 f"{c.reg('i8')} zeroinitializer")  # fmt: skip
    return c.let(f"xor {c.reg('i8')} {value}, {high}")
