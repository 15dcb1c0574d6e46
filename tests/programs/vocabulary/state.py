"""errstate blocks, warnings, lifetimes: del, rebinding, copies, cycles, threads, resize, flags."""

from tests.programs.execute import CYCLE
from tests.programs.vocabulary import elementwise, reductions, writes
from tests.programs.vocabulary.elementwise import leaf
from tests.programs.writer import Writer

INNER = [elementwise.chain, elementwise.into, writes.augmented, writes.partial, reductions.along, elementwise.cast]


def warns(w: Writer) -> str:
    """Operations that divide by zero, overflow or are invalid."""
    a = w.numeric(lambda a: a.ndim > 0)
    name = w.new()
    return w.choice(
        [
            f"{name} = 1 / ({a} - {a})",
            f"{name} = {a} // 0",
            f"{name} = {a} % 0",
            f"{name} = np.log({a} * 0)",
            f"{name} = np.sqrt(-np.abs({a}) - 1)",
            f"{name} = np.exp(np.abs({a}) * 1e6 + 1e5)",
            f"{name} = {a} * 1e300 * 1e300",
            f"{name} = {a} / 0 - {a} / 0",
            f"{name} = np.float64(1) / 0 + {a}",
            f"{name} = np.uint8(255) + np.uint8(1) + {a}",
            f"{name} = np.arccos({a} + 3)",
            f"{name} = np.reciprocal({a} * 0)",
            f"{name} = np.where({a} > 0, 1 / {a}, 0)",
        ]
    )


def quiet(w: Writer) -> str:
    """An errstate block around one to three statements."""
    kinds = w.rng.sample(["divide", "over", "under", "invalid"], 2)
    modes = [w.choice(["ignore", "warn", "raise", "ignore", "warn", "call"]) for _ in kinds]
    arguments = [f"{kind}={mode!r}" for kind, mode in zip(kinds, modes, strict=True)]
    if w.chance(20):
        arguments = [f"all={w.choice(['ignore', 'raise', 'call', 'warn'])!r}"]
    if "call" in "".join(arguments):
        arguments.append("call=called")
    inner = [w.choice(INNER)(w) if w.chance(50) else warns(w) for _ in range(w.choice([1, 2, 3]))]
    if w.chance(20):
        inner.append("saw(np.geterr())")
    body = "\n".join(inner).replace("\n", "\n    ")
    return f"with np.errstate({', '.join(arguments)}):\n    {body}"


def recorded(w: Writer) -> str:
    """Warnings taken by a recorder or turned into errors inside the program."""
    body = warns(w)
    if w.chance(50):
        return (
            "with warnings.catch_warnings(record=True) as caught:\n    warnings.simplefilter('always')\n"
            f"    {body}\nsaw([(str(m.message), m.category.__name__, m.lineno) for m in caught])"
        )
    return f"with warnings.catch_warnings():\n    warnings.simplefilter('error')\n    {body}"


def forget(w: Writer) -> str:
    """del: a pending value dies, or goes on living in its readers."""
    names = w.live()
    return f"del {w.choice(names)}" if len(names) > 3 else f"{w.new()} = {w.numeric()} + 1"


def copies(w: Writer) -> str:
    """Copies in every form, and second names."""
    a, name = w.numeric(), w.new()
    return w.choice(
        [
            f"{name} = {a}.copy({w.choice(['C', 'F', 'K', 'A'])!r})",
            f"{name} = np.copy({a})",
            f"{name} = {a}",
            f"{name} = +{a}",
            f"{name} = np.array({a})",
            f"import copy; {name} = copy.{w.choice(['copy', 'deepcopy'])}({a})",
            f"import pickle; {name} = pickle.loads(pickle.dumps({a}))",
        ]
    )


def cycle(w: Writer) -> str:
    """Arrays held by cycles, which only the collector frees."""
    a, name = w.numeric(), w.new("c")
    return w.choice(
        [
            f"{name} = [{a} * 2, {a}]; {name}.append({name}); del {name}",
            f"{name} = {{'x': {a} + 1}}; {name}['me'] = {name}; {w.new()} = {name}['x'] * 2; del {name}",
        ]
    )


def threads(w: Writer) -> str:
    """Work in another thread, on arrays that are pending in this one."""
    a, name = w.numeric(), w.new()
    return w.choice(
        [
            f"{name} = in_thread(lambda: {a} * 2 + 1)",
            f"saw(in_thread(lambda: {a}.sum()))",
            f"saw(in_thread(lambda: {a}[...].tolist())[:3] if {a}.ndim else 0)",
            f"in_thread(lambda: {a}.__setitem__(..., 1))",
        ]
    )


def resized(w: Writer) -> str:
    """ndarray.resize, which looks at who else holds the array."""
    a = w.writable(lambda a: a.flags.owndata and a.ndim > 0)
    size = w.names[a].size
    if any(CYCLE.search(s) for s in w.statements):  # whether one still holds it depends on when the collector runs
        return f"saw({size})"
    return f"{a}.resize({w.choice([(size + 3,), (max(size - 1, 0),), (size,)])!r}{w.choice(['', ', refcheck=True'])})"


def locks(w: Writer) -> str:
    """Flags and attributes that change an array in place."""
    a = w.pick(lambda a: a.ndim > 0)
    content = w.names[a]
    options = [
        f"{a}.flags.writeable = False",
        f"{a}.setflags(write=False)",
        f"{a}.flags.writeable = True",
        f"{a}.shape = {(content.size,)!r}",
        f"{a}.shape = (-1, 1)",
    ]
    if content.dtype.kind in "iu":
        options.append(f"{a}.dtype = {w.choice(['u1', 'i2'])!r}")
    return w.choice(options)


def lists(w: Writer) -> str:
    """Arrays in containers and closures, comprehensions over several."""
    a, b = w.numeric(), w.numeric()
    name = w.new()
    return w.choice(
        [
            f"{name} = sum([{a} * k for k in range(3)])",
            f"v{w.count} = [{a} + k for k in range(3)]; {name} = v{w.count}[2] - v{w.count}[0]; del v{w.count}",
            f"{name} = (lambda x, y: x * 2 - y)({a}, {leaf(w, w.names[a].shape)})",
            f"{name} = [{a}, {b}][0] * 1",
        ]
    )


STATEMENTS = [
    (3, warns),
    (5, quiet),
    (1, recorded),
    (3, forget),
    (3, copies),
    (1, cycle),
    (2, threads),
    (1, resized),
    (1, locks),
    (2, lists),
]
