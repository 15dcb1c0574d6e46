"""exp of float64 on vectors, with the bits of the C library's exp.

NumPy has an exp of its own only for AVX-512; elsewhere its loop calls the C library's for one element after another.
glibc computes 2**(k/128) from a table times a polynomial in the remainder, with fused multiply-adds where the CPU has
them: the same steps on vectors give the same bits several times as fast. Numbers that need care (infinite, NaN, results
that over- or underflow) go to the C library itself. Before first use the answers are compared with NumPy's; where one
differs (another C library, another NumPy) NumPy's loop is called as for any other function.
"""

import ctypes
from functools import cache
from math import isqrt

import numpy as np

from tnp.backends.cpu.compile import Compiled, compiler, once
from tnp.backends.cpu.ir import Code

WIDTH = 4  # elements of a vector
STEPS = 7  # 2**STEPS powers of two lie in the table, between 1 and 2
_SMALLEST, _LARGEST = 2.0**-54, 512.0  # exp is 1 below; above, results may be too large or too small
# The polynomial of degree 5 that glibc uses for exp(r) - 1, |r| < log(2) / 256, from its third coefficient on
_C2, _C3, _C4, _C5 = (
    float.fromhex(x)
    for x in ("0x1.ffffffffffdbdp-2", "0x1.555555555543cp-3", "0x1.55555cf172b91p-5", "0x1.1111167a4d017p-7")
)
# 128 / log(2); log(2) / 128 as the negative of a number with trailing zeros and of the rest; 1.5 * 2**52
_INVERSE, _HIGH, _LOW, _SHIFT = (
    float.fromhex(x) for x in ("0x1.71547652b82fep+7", "-0x1.62e42fefa0000p-8", "-0x1.cf79abc9e3b3ap-47", "0x1.8p+52")
)

_LOOP_TYPE = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 5)


def _hex(x: float) -> str:
    return f"0x{np.float64(x).view(np.uint64):016X}"


def _bits(x: float) -> int:
    return int(np.float64(x).view(np.int64))


@cache
def _table() -> str:
    """Global array: for each k, by how much the double next to 2**(k/128) differs, and its bits less those of k."""
    unit = 1 << 200
    root = 2 * unit
    for _ in range(STEPS):
        root = isqrt(root * unit)
    entries, power = [], unit
    for k in range(1 << STEPS):
        nearest = power / unit
        exact = int(nearest * 2.0**52) << 148
        bits = (_bits(nearest) - (k << (52 - STEPS))) & ((1 << 64) - 1)
        entries.append(f"<2 x double> <double {_hex((power - exact) / exact)}, double 0x{bits:016X}>")
        power = power * root // unit
    return f"@exp_table = internal constant [{1 << STEPS} x <2 x double>] [{', '.join(entries)}], align 16"


def _vector(c: Code, x: str, size: str) -> str:
    """exp of a vector of ordinary numbers; ``size``: their bits without the signs."""
    n, real, ints = c.width, f"<{c.width} x double>", f"<{c.width} x i64>"

    def splat(value: float) -> str:
        return f"splat (double {_hex(value)})"

    def fma(a: str, b: str, add: str) -> str:
        return c.strict("fma", "f8", a, b, add)

    # a square of something very small would underflow
    small = c.let(f"icmp slt {ints} {size}, splat (i64 {_bits(_SMALLEST)})")
    v = c.let(f"select <{n} x i1> {small}, {real} zeroinitializer, {real} {x}")
    shifted = fma(splat(_INVERSE), v, splat(_SHIFT))
    whole = c.let(f"bitcast {real} {shifted} to {ints}")
    k = c.strict("fsub", "f8", shifted, splat(_SHIFT))
    r = fma(k, splat(_LOW), fma(k, splat(_HIGH), v))
    tail, head = _looked_up(c, c.let(f"and {ints} {whole}, splat (i64 {(1 << STEPS) - 1})"))
    top = c.let(f"shl {ints} {whole}, splat (i64 {52 - STEPS})")
    scale = c.let(f"add {ints} {c.let(f'bitcast {real} {head} to {ints}')}, {top}")
    scale = c.let(f"bitcast {ints} {scale} to {real}")
    square = c.strict("fmul", "f8", r, r)
    first = fma(fma(r, splat(_C3), splat(_C2)), square, c.strict("fadd", "f8", tail, r))
    value = fma(c.strict("fmul", "f8", square, square), fma(r, splat(_C5), splat(_C4)), first)
    return fma(scale, value, scale)


def _looked_up(c: Code, index: str) -> tuple[str, str]:
    """The two numbers of table entries, as a vector each."""
    pairs = []
    for lane in range(c.width):
        i = c.let(f"extractelement <{c.width} x i64> {index}, i64 {lane}")
        pairs.append(c.let(f"load <2 x double>, ptr {c.let(f'getelementptr <2 x double>, ptr @exp_table, i64 {i}')}"))
    # halves of a register first, then neighbours: an instruction each
    even, odd = (c.shuffle("<2 x double>", pairs[i], pairs[i + 2], [0, 1, 2, 3]) for i in (0, 1))
    tails, heads = (c.shuffle("<4 x double>", even, odd, order) for order in ([0, 4, 2, 6], [1, 5, 3, 7]))
    return tails, heads


def _sample() -> np.ndarray:
    """Numbers of every size, those between two entries of the table, and special ones."""
    step = np.log(2) / (1 << STEPS)
    between = (np.arange(-96_000, 96_000, 37) + 0.5) * step
    sizes = np.exp2(np.linspace(-58, 10, 4000)) * np.tile([1.0, -1.0], 2000)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 709.78, 709.79, -708.4, -745.1, -745.2, 5e-324, 1e308, -1e308]
    values = np.concatenate([between, np.nextafter(between, 0), sizes, np.linspace(-40, 40, 4001), special])
    return np.append(values, np.zeros(-len(values) % 16))


def module_text() -> str:
    """A loop with the signature of NumPy's: vectors while elements lie side by side, then one after another."""
    c = Code(WIDTH)
    reals, ints = f"<{WIDTH} x double>", f"<{WIDTH} x i64>"
    n, source, target = c.slot("%count", 0), c.slot("%pointers", 0, "ptr"), c.slot("%pointers", 1, "ptr")
    from_step, to_step = c.slot("%steps", 0), c.slot("%steps", 1)
    together = c.let(f"or i64 {c.let(f'xor i64 {from_step}, 8')}, {c.let(f'xor i64 {to_step}, 8')}")
    vectors = c.let(f"select i1 {c.let(f'icmp eq i64 {together}, 0')}, i64 {c.let(f'sdiv i64 {n}, {WIDTH}')}, i64 0")

    def one_by_one(first: str, count: str) -> None:
        with c.each(count) as k:
            i = c.let(f"add i64 {first}, {k}")
            a = c.let(f"getelementptr i8, ptr {source}, i64 {c.let(f'mul i64 {i}, {from_step}')}")
            b = c.let(f"getelementptr i8, ptr {target}, i64 {c.let(f'mul i64 {i}, {to_step}')}")
            value = c.let(f"call double @exp(double {c.let(f'load double, ptr {a}')}) strictfp nobuiltin")
            c.put(f" store double {value}, ptr {b}")

    with c.each(vectors) as v:
        i = c.let(f"mul i64 {v}, {WIDTH}")
        x = c.load(c.at(source, i, "f8"), "f8")
        size = c.let(f"and {ints} {c.let(f'bitcast {reals} {x} to {ints}')}, splat (i64 {(1 << 63) - 1})")
        large = c.let(f"icmp sge {ints} {size}, splat (i64 {_bits(_LARGEST)})")
        some = c.let(f"icmp ne i{WIDTH} {c.let(f'bitcast <{WIDTH} x i1> {large} to i{WIDTH}')}, 0")
        with c.when(some):
            one_by_one(i, str(WIDTH))
        with c.when(c.let(f"xor i1 {some}, true")):
            c.store(_vector(c, x, size), c.at(target, i, "f8"), "f8")
    done = c.let(f"mul i64 {vectors}, {WIDTH}")
    one_by_one(done, c.let(f"sub i64 {n}, {done}"))
    head = (
        "define i32 @exp_loop(ptr %context, ptr %pointers, ptr %count, ptr %steps, ptr %auxdata) strictfp {\nentry:\n"
    )
    c.declare("double @exp(double)")
    return "\n".join([*sorted(c.declared), _table(), head + "\n".join(c.lines) + "\n ret i32 0\n}\n"])


@once
def exp_loop() -> Compiled | None:
    """The function ``exp_loop``; None where its bits are not NumPy's."""
    if not compiler().has_fma:
        return None
    try:
        code = compiler().compile(b"exp", module_text, ("exp_loop",))
    except RuntimeError:  # no exp in this process
        return None
    function, values = _LOOP_TYPE(code.addresses["exp_loop"]), _sample()
    for a in (1, 2):  # side by side, and one by one
        x = np.repeat(values, a)[::a]
        got = np.empty_like(values)
        function(None, (ctypes.c_void_p * 2)(x.ctypes.data, got.ctypes.data), ctypes.byref(ctypes.c_ssize_t(x.size)),
                 (ctypes.c_ssize_t * 2)(x.strides[0], 8), None)  # fmt: skip
        with np.errstate(all="ignore"):
            expected = np.exp(x)
        if not ((got.view(np.int64) == expected.view(np.int64)) | (np.isnan(got) & np.isnan(expected))).all():
            return None
        values = values[::8].copy()
    return code
