"""Dtypes outside arithmetic: strings, objects, structures, dates; self-contained statements."""

from tests.programs.writer import Writer


def dates(w: Writer) -> str:
    """datetime64 and timedelta64."""
    x, y = w.new("d"), w.new("d")
    return w.choice(
        [
            f"{x} = np.arange('2001-01-01', '2001-01-09', dtype='M8[D]')\n{y} = {x} - {x}[0]\n{x}[2:4] += 5\n"
            f"saw({x}, {y}, {y}.sum(), {x}.max())",
            f"{x} = np.array([1, 5, 'NaT'], 'm8[s]')\nsaw({x} * 2, {x} / {x}[0], np.isnat({x}), {x}.astype('i8')[:2])",
        ]
    )


def strings(w: Writer) -> str:
    """Fixed-width text and bytes."""
    x = w.new("d")
    return w.choice(
        [
            f"{x} = np.array(['ab', 'c', 'defg'])\n{x}[1] = 'longer than'\nsaw({x}, {x} == 'ab', np.sort({x}), {x}[0])",
            f"{x} = np.array([b'x', b'yz'])\nsaw({x}.astype('U'), np.strings.upper({x}), {x}[::-1], {x}.tolist())",
        ]
    )


def objects(w: Writer) -> str:
    """Object arrays of Python numbers."""
    a, x = w.numeric(), w.new("d")
    return w.choice(
        [
            f"{x} = np.array([1, 2**80, 3], object)\n{x} += 1\nsaw({x}, {x} * 2, {x}.sum(), {x}[1])",
            f"{x} = {a}.ravel()[:4].astype(object)\nsaw({x}, {x} + {x}, len({x}.tolist()))",
            f"{x} = np.array([None, 'a', [1]], dtype=object)\nsaw({x} == None, {x}[2])",
        ]
    )


def records(w: Writer) -> str:
    """Structured arrays, whose fields are views."""
    x, y, a = w.new("d"), w.new("d"), w.new()
    return (
        f"{x} = np.zeros(4, [('p', 'f8'), ('q', 'i2', (2,))])\n{x}['p'] = np.arange(4.0) * 0.5\n"
        f"{y} = {x}['p']\n{y} += 1\n{x}['q'][1:, 0] = 3\n{a} = {x}['p'] * 2\n"
        f"{x}[0] = (9.0, 1)\nsaw({x}, {x}[1], {x}['q'].sum(0), {a})"
    )


def random(w: Writer) -> str:
    """Random streams, and shuffles in place."""
    name = w.new()
    a = w.pick(lambda a: a.flags.writeable and a.ndim > 0)
    return w.choice(
        [
            f"np.random.seed({w.rng.randrange(9)}); {name} = np.random.rand(4)",
            f"np.random.default_rng(3).shuffle({a})",
            f"{name} = np.random.default_rng(1).integers(0, 9, {w.base!r})",
            f"{name} = np.random.default_rng(2).permutation({a})",
            f"{name} = np.random.default_rng(5).standard_normal({w.base!r}, dtype='f4')",
            f"{name} = np.zeros({w.base!r}); np.random.default_rng(5).random(out={name})",
        ]
    )


STATEMENTS = [(1, dates), (1, strings), (1, objects), (1, records), (1, random)]
