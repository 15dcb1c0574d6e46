"""Chains of elementwise operations: operators, ufuncs, comparisons, where, clip, casts."""

from tests.programs.writer import UnavailableError, Writer, broadcasts

UNARY = [
    "negative",
    "absolute",
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tanh",
    "floor",
    "ceil",
    "rint",
    "trunc",
    "square",
    "reciprocal",
    "sign",
    "isfinite",
    "isnan",
    "isinf",
    "log1p",
    "expm1",
    "cbrt",
    "exp2",
    "log2",
    "log10",
    "arctan",
    "positive",
    "conjugate",
    "logical_not",
    "sinh",
    "deg2rad",
    "fabs",
    "arcsin",
    "tan",
    "invert",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "true_divide",
    "floor_divide",
    "remainder",
    "power",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "hypot",
    "arctan2",
    "less",
    "greater_equal",
    "equal",
    "logical_and",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "left_shift",
    "right_shift",
    "fmod",
    "logaddexp",
    "nextafter",
    "heaviside",
    "float_power",
    "gcd",
]
OPERATORS = ["+", "-", "*", "+", "-", "*", "/", "/", "//", "%", "**", "<", ">=", "==", "!=", "&", "|", "^", "<<", ">>"]
CALM = ["+", "-", "*", "+", "-", "*", "/", "<", "==", "%"]
SCALARS = ["2", "0.5", "-1", "3.0", "1", "0", "1e3", "np.float32(1.5)", "np.int8(3)", "True", "np.array(2.0)", "7"]


def leaf(w: Writer, shape: tuple[int, ...]) -> str:
    """Something that broadcasts to `shape`: an array, a view of one, a Python or NumPy scalar."""
    options = w.like(shape)
    if options and not w.chance(15):
        return w.choice(options)
    return w.choice(SCALARS)


def expression(w: Writer, shape: tuple[int, ...], depth: int) -> str:
    """A tree of operations on things of this shape."""
    if depth <= 0:
        return leaf(w, shape)
    kind = w.rng.randrange(16)
    a = expression(w, shape, depth - 1)
    if kind < 8:
        op = w.choice(CALM if w.chance(75) else OPERATORS)
        b = expression(w, shape, depth - 2)
        return f"({a} {op} {b})" if w.chance(80) else f"({b} {op} {a})"
    if kind < 10:
        return f"np.{w.choice(UNARY)}({a})"
    if kind == 10:
        return f"np.{w.choice(BINARY)}({a}, {leaf(w, shape)})"
    if kind == 11:
        b, c = leaf(w, shape), leaf(w, shape)
        return f"np.where({b} > {c}, {a}, {c})"
    if kind == 12:
        return f"np.clip({a}, {w.choice(['-1', '0', '0.25', 'None'])}, {w.choice(['2', '1.5', '40'])})"
    if kind == 13:
        return f"({a}) ** {w.choice(['2', '0.5', '3', '-1', '1', '2.0'])}"
    if kind == 14:
        return w.choice([f"abs({a})", f"(-{a})", f"np.round({a}, {w.choice(['1', '0', '-1'])})", f"(+{a})"])
    return f"({a} * {leaf(w, shape)} + {leaf(w, shape)})"


def target(w: Writer) -> tuple[int, ...]:
    """The shape of a live numeric array."""
    return w.names[w.numeric()].shape


def chain(w: Writer) -> str:
    """A new array from an expression."""
    return f"{w.new()} = {expression(w, target(w), w.choice([1, 2, 2, 3, 4]))}"


def rebinding(w: Writer) -> str:
    """A name bound to an expression of what it was; the old array may die with pending readers."""
    a = w.numeric()
    return f"{a} = {w.choice([f'{a} * 0.5 + {a}', f'np.abs({a}) + 1', f'{a} - {leaf(w, w.names[a].shape)}'])}"


def mixed(w: Writer) -> str:
    """Two arrays whatever their shapes: mostly an error to be raised alike."""
    return f"{w.new()} = {w.numeric()} {w.choice(OPERATORS)} {w.numeric()}"


def cast(w: Writer) -> str:
    """astype within the range that has a definite answer."""
    a = w.numeric()
    content = w.names[a]
    to = ["f8", "f4", "c16", "b1", "i8", "g", "f2", ">f8"]
    if content.size == 0 or content.dtype.kind in "biu" or bool((abs(content) < 100).all()):
        to += ["i4", "i2", "i1"]
        if content.size == 0 or (content.dtype.kind != "c" and bool((content >= 0).all())):
            to += ["u1", "u2", "u4", "u8"]
    d = w.choice(to)
    return w.choice(
        [
            f"{w.new()} = {a}.astype({d!r})",
            f"{w.new()} = {a}.astype({d!r}, order={w.choice(['C', 'F', 'A', 'K'])!r}, copy=False)",
            f"{w.new()} = np.asarray({a}, dtype={d!r})",
            f"{w.new()} = np.array({a}, {d!r})",
            f"{w.new()} = np.add({a}, 1, dtype={w.choice(['f8', 'f4'])!r}, casting='unsafe')",
            f"{w.new()} = np.add({a}, 1, dtype='f4')",
        ]
    )


def into(w: Writer) -> str:
    """out=, where= with out=, several outputs."""
    out = w.writable()
    shape = w.names[out].shape
    a, b = leaf(w, shape), leaf(w, shape)
    pairs = [o for o in w.live(lambda x: x.dtype.kind in "biufc" and x.flags.writeable) if o != out]
    options = [
        f"np.{w.choice(['add', 'multiply', 'subtract', 'maximum', 'true_divide', 'hypot'])}({a}, {b}, out={out})",
        f"np.{w.choice(['sqrt', 'exp', 'negative', 'sin', 'square', 'abs'])}({a}, {out})",
        f"saw(np.add({a}, {b}, out={out}) is {out})",
        f"np.multiply({a}, {b}, out={out}, where=np.asarray({a}) > 0)",
        f"np.clip({a}, 0, 2, out={out})",
        f"np.add({out}, {b}, out={out}, casting='unsafe')",
        f"np.round({out}, 1, out={out})",
    ]
    same = [o for o in pairs if w.names[o].shape == shape]
    if same:
        options.append(f"np.divmod({a}, {b}, out=({out}, {w.choice(same)}))")
        options.append(f"np.modf({a}, out=({out}, {w.choice(same)}))")
    return w.choice(options)


def several(w: Writer) -> str:
    """Functions with two results, and ufunc methods that make arrays."""
    a = w.numeric()
    x, y = w.new(), w.new()
    return w.choice(
        [
            f"{x}, {y} = np.divmod({a}, 3)",
            f"{x}, {y} = np.modf({a})",
            f"{x}, {y} = np.frexp({a})",
            f"{x} = np.multiply.outer({a}.ravel()[:5], {w.numeric()}.ravel()[:7])",
            f"{x} = np.nan_to_num({a}, nan=1.0)",
            f"{x} = np.select([{a} > 1, {a} < 0], [{a}, 0], default=5)",
            f"{x} = np.isclose({a}, {a} + 1e-9)",
            f"{x} = np.interp({a}.real.ravel(), [0.0, 1.0, 2.0], [1.0, 3.0, -2.0])",
            f"{x} = np.copysign(np.abs({a}), -1.0)",
        ]
    )


def outlives(w: Writer) -> str:
    """Temporaries with names of their own that die before their readers are asked for."""
    shape = target(w)
    t, x, y = w.new("t"), w.new(), w.new()
    first = leaf(w, shape)
    if not broadcasts(getattr(w.value(first), "shape", ()), shape):
        raise UnavailableError
    return f"{t} = {first} * {leaf(w, shape)}\n{x} = {t} + 1\n{y} = {t} - {leaf(w, shape)}\ndel {t}"


STATEMENTS = [(16, chain), (3, rebinding), (1, mixed), (3, cast), (5, into), (2, several), (3, outlives)]
