"""Reductions, scans and what is made of them."""

from tests.programs.vocabulary.elementwise import expression
from tests.programs.writer import UnavailableError, Writer

NAMES = [
    "sum",
    "mean",
    "prod",
    "max",
    "min",
    "any",
    "all",
    "var",
    "std",
    "ptp",
    "argmax",
    "argmin",
    "count_nonzero",
    "median",
    "nansum",
    "nanmax",
]


def axis(w: Writer, ndim: int) -> str:
    """An axis argument for an array of `ndim` dimensions; now and then a wrong one."""
    options = ["None", "0", "-1"]
    if ndim > 1:
        options += ["1", "0", str(-ndim)]
    if ndim > 2:
        options += ["(0, 2)", "2", "(0, 1)"]
    if w.chance(3):
        options = [str(ndim), "(0, 0)"]
    return w.choice(options)


def full(w: Writer) -> str:
    """Reductions of everything, observed at once or kept as a scalar."""
    a = w.numeric()
    call = w.choice(
        [f"{a}.sum()", f"{a}.mean()", f"np.{w.choice(NAMES)}({a})", f"{a}.max()", f"{a}.min()", f"{a}.prod()"]
    )
    return w.choice([f"saw({call})", f"{w.new('v')} = {call}", f"saw(type({call}))"])


def along(w: Writer) -> str:
    """Reductions along axes, of arrays and of expressions."""
    a = w.numeric(lambda a: a.ndim > 0)
    text = a if w.chance(60) else expression(w, w.names[a].shape, 2)
    keep = w.choice(["", ", keepdims=True"])
    name = w.choice(["sum", "mean", "max", "min", "prod", "any", "all", "var", "std", "argmax", "sum", "mean"])
    where = axis(w, w.names[a].ndim)
    if name == "argmax" and where[0] == "(":
        where = "0"
    return f"{w.new()} = np.{name}({text}, axis={where}{keep})"


def normalised(w: Writer) -> str:
    """An array and its own reduction in one expression, as in softmax and centring."""
    a = w.numeric(lambda a: a.ndim > 0 and a.size > 0)
    name = w.new()
    return w.choice(
        [
            f"{name} = {a} - {a}.mean(-1, keepdims=True)",
            f"{name} = np.exp({a} - {a}.max(-1, keepdims=True))\n{name} /= {name}.sum(-1, keepdims=True)",
            f"{name} = ({a} - np.mean({a}, axis=0)) / (np.std({a}, axis=0) + 1)",
            f"{name} = {a} / ({a}.sum() + 1)",
            f"{name} = {a} * {a}.max()",
        ]
    )


def options(w: Writer) -> str:
    """dtype=, out=, where=, initial=."""
    a = w.numeric(lambda a: a.ndim > 0)
    shape = w.names[a].shape
    name = w.new()
    out = [o for o in w.live(lambda x: x.flags.writeable and x.dtype.kind in "fc") if w.names[o].shape == shape[1:]]
    choices = [
        f"{name} = np.sum({a}, axis=0, dtype={w.choice(['f8', 'f4', 'i8', 'c16'])!r})",
        f"{name} = np.sum({a}, axis=-1, where={a} > 1)",
        f"{name} = np.max({a}, axis=-1, where={a} > 1, initial=-5)",
        f"{name} = np.add.reduce({a})",
        f"{name} = np.multiply.reduce({a}, axis=-1)",
        f"{name} = np.logical_or.reduce({a}, axis=0)",
        f"{name} = np.add.reduceat({a}, [0, {min(2, shape[0] - 1)}, 0], axis=0)" if shape[0] else "saw(0)",
        f"saw(np.max({a}, where={a} > 1))",
    ]
    if out:
        choices += [f"np.sum({a}, axis=0, out={w.choice(out)})", f"np.mean({a}, axis=0, out={w.choice(out)})"] * 3
    return w.choice(choices)


def scans(w: Writer) -> str:
    """cumsum, cumprod, diff and kin."""
    a = w.numeric(lambda a: a.ndim > 0)
    last = w.choice(["0", "-1"])
    name = w.new()
    return w.choice(
        [
            f"{name} = np.cumsum({a}, axis={last})",
            f"{name} = np.cumsum({a})",
            f"{name} = {a}.cumprod(axis={last})",
            f"{name} = np.diff({a}, axis={last})",
            f"{name} = np.diff({a}, n=2)",
            f"{name} = np.maximum.accumulate({a}, axis={last})",
            f"{name} = np.add.accumulate({a}, dtype='f8')",
            f"{name} = np.ediff1d({a})",
        ]
    )


def scan_into(w: Writer) -> str:
    """A scan over its own operand."""
    a = w.writable(lambda a: a.ndim > 0 and a.dtype.kind in "fc")
    return w.choice([f"np.cumsum({a}, axis=0, out={a})", f"np.add.accumulate({a}, axis=-1, out={a})"])


def products(w: Writer) -> str:
    """Matrix products of what fits."""
    a = w.numeric(lambda a: 1 <= a.ndim <= 2 and a.dtype.kind in "fiub")
    shape = w.names[a].shape
    fitting = [
        b for b in w.live(lambda x: x.dtype.kind in "fiub" and 1 <= x.ndim <= 2) if w.names[b].shape[0] == shape[-1]
    ]
    if not fitting:
        raise UnavailableError
    b = w.choice(fitting)
    name = w.new()
    return w.choice([f"{name} = {a} @ {b}", f"{name} = np.dot({a}, {b})", f"{name} = np.inner({a}, {a})"])


STATEMENTS = [(4, full), (7, along), (3, normalised), (3, options), (3, scans), (1, scan_into), (1, products)]
