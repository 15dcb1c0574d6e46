"""New arrays: dtypes, orders, special values, broadcast and read-only ones, empty and 0-d ones."""

from tests.programs.writer import Writer

FLOATS = ["f8", "f8", "f8", "f4", "f4", "f2", "c16", "c8"]
INTEGERS = ["i8", "i8", "i4", "u1", "i1", "i2", "u2", "u4", "u8"]
DTYPES = [*FLOATS, *FLOATS, *INTEGERS, "b1", ">f8", ">i4", "g"]
SPECIAL = "[0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e300, 5e-324, 2.5, 0.5]"


def dtype(w: Writer) -> str:
    """The name of a numeric dtype."""
    return w.choice(DTYPES)


def shape(w: Writer) -> tuple[int, ...]:
    """The program's base shape, or one that broadcasts with it."""
    base = w.base
    if w.chance(70):
        return base
    if len(base) > 1 and w.chance(50):
        return base[1:]
    if w.chance(20):
        return ()
    return tuple(1 if w.chance(50) else n for n in base)


def numbers(w: Writer, shape: tuple[int, ...], dtype: str) -> str:
    """An expression of this shape and dtype with ordinary or special values."""
    size = 1
    for n in shape:
        size *= n
    reshaped = f".reshape({shape!r})"
    kind = w.rng.randrange(5)
    if dtype == "b1":
        return f"(np.arange({size}) * {w.choice([3, 7, 11])} % 5 < {w.choice([1, 2, 4])}){reshaped}"
    letter = dtype.lstrip(">")[0]
    if letter in "ui":
        start = 0 if letter == "u" else w.choice([0, -3, -50])
        modulus = w.choice([7, 50, 100])
        if kind == 0:
            return f"np.arange({size}, dtype='i8').astype({dtype!r}){reshaped}"
        return f"(np.arange({size}) * {w.choice([5, 11, 37])} % {modulus} + {start}).astype({dtype!r}){reshaped}"
    if kind == 0:
        return f"np.array({SPECIAL}, {dtype!r})[np.arange({size}) * {w.choice([1, 3, 7])} % 11]{reshaped}"
    if kind == 1:
        return f"np.random.default_rng({w.rng.randrange(9)}).normal(size={shape!r}).astype({dtype!r})"
    if kind == 2 and letter == "c":
        return f"((np.arange({size}) % 13 - 4) * (0.5 + 0.25j)).astype({dtype!r}){reshaped}"
    divisor, offset = w.choice([4, 8, 3, 10]), w.choice([0, 1, 5, -2])
    return f"(np.arange({size}) * {w.choice([1, 37, 91])} % 101 / {divisor} - {offset}).astype({dtype!r}){reshaped}"


def from_numbers(w: Writer) -> str:
    """An array of ordinary or special values."""
    return f"{w.new()} = {numbers(w, shape(w), dtype(w))}"


def filled(w: Writer) -> str:
    """zeros, ones, full, and an empty array that is filled at once."""
    name, s, d, order = w.new(), shape(w), dtype(w), w.choice(["C", "F"])
    value = w.choice(["1", "3", "2.5", "0", "-1"]) if d[0] != "u" else "1"
    return w.choice(
        [
            f"{name} = np.zeros({s!r}, {d!r}, order={order!r})",
            f"{name} = np.ones({s!r}, {d!r}, {order!r})",
            f"{name} = np.full({s!r}, {value}, dtype={d!r}, order={order!r})",
            f"{name} = np.empty({s!r}, {d!r}, {order!r})\n{name}[...] = {value}",
            f"{name} = np.empty({s!r}, {d!r}, {order!r}); {name}.fill({value})",
        ]
    )


def like(w: Writer) -> str:
    """zeros_like and kin, whose layout follows their model's."""
    name, a = w.new(), w.numeric()
    return w.choice(
        [
            f"{name} = np.zeros_like({a})",
            f"{name} = np.ones_like({a}, dtype='f4')",
            f"{name} = np.full_like({a}, 1, order={w.choice(['C', 'F', 'A', 'K'])!r})",
            f"{name} = np.empty_like({a}, shape={w.base!r}); {name}[...] = 1",
        ]
    )


def ranges(w: Writer) -> str:
    """arange, linspace, eye, indices, meshgrid and kin."""
    name, n = w.new(), w.base[-1]
    return w.choice(
        [
            f"{name} = np.arange({n}.0)",
            f"{name} = np.arange(1, 1 + {n} * 0.1, 0.1)[:{n}]",
            f"{name} = np.linspace(-2, 3, {n})",
            f"{name} = np.linspace(0, 1, {n}, dtype='f4')",
            f"{name} = np.eye({min(n, 40)}, {min(n, 40)}, {w.choice([0, 1, -1])})",
            f"{name} = np.tri({min(n, 40)}, dtype='f4')",
            f"{name} = np.indices({w.base[:2]!r})[0]",
            f"{name} = np.meshgrid(np.arange({min(n, 30)}.0), np.arange(3))[0]",
            f"{name} = np.logspace(0, 1, {n})",
            f"{name} = np.diag(np.arange({min(n, 20)}.0))",
        ]
    )


def shared(w: Writer) -> str:
    """Broadcast, read-only and Fortran-ordered arrays; arrays from lists, tuples and bytes."""
    name = w.new()
    a = w.numeric(lambda a: a.ndim > 0)
    s = w.names[a].shape
    return w.choice(
        [
            f"{name} = np.broadcast_to({a}, {(2, *s)!r})",
            f"{name} = np.broadcast_to({a}[..., :1], {s!r})",
            f"{name} = np.asfortranarray({a})",
            f"{name} = np.ascontiguousarray({a})",
            f"{name} = np.array({a}[..., :3].tolist())",
            f"{name} = np.array({a}, copy=False, ndmin=2) if not {a}.size else np.array({a}, ndmin=3)",
            f"{name} = np.frombuffer(bytes(range(64)), 'u1')",
            f"{name} = np.array({w.choice(['2.5', '3', 'True', '1 + 2j', 'np.float32(0.1)'])})",
            f"{name} = np.array([{a}, {a}])",
            f"{name} = np.require({a}, requirements='F')",
        ]
    )


STATEMENTS = [(8, from_numbers), (3, filled), (2, like), (2, ranges), (2, shared)]
