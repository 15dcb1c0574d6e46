"""In-place programs: whole writes, partial writes, overlapping writes, swaps, copyto, ufunc.at."""

import numpy

from tests.programs.vocabulary.elementwise import expression, leaf
from tests.programs.vocabulary.views import basic
from tests.programs.writer import UnavailableError, Writer


def augmented(w: Writer) -> str:
    """a += b and kin; the casting rules refuse some."""
    a = w.writable()
    unusual = ["/=", "//=", "%=", "&=", "<<=", "**=" if w.names[a].dtype.kind in "fc" else "|="]
    op = w.choice(unusual if w.chance(25) else ["+=", "-=", "*="])
    return f"{a} {op} {expression(w, w.names[a].shape, w.choice([0, 0, 1, 2]))}"


def several(w: Writer) -> str:
    """A chain of in-place operations: versions that take over one memory."""
    a = w.writable(lambda a: a.dtype.kind in "fc")
    shape = w.names[a].shape
    return f"{a} += {leaf(w, shape)}\n{a} *= {leaf(w, shape)}\n{a} -= {expression(w, shape, 1)}"


def whole(w: Writer) -> str:
    """Writes to every element."""
    a = w.writable()
    shape = w.names[a].shape
    value = definite(w, a, expression(w, shape, w.choice([0, 1, 2])))
    return w.choice(
        [
            f"{a}[...] = {value}",
            f"{a}[()] = {value}",
            f"{a}.fill({w.choice(['1', '0', '3'])})",
            f"np.copyto({a}, {value}, casting='unsafe')",
        ]
    )


def definite(w: Writer, a: str, value: str) -> str:
    """`value`, unless casting it to a's dtype has no definite answer: then something small."""
    dtype = w.names[a].dtype
    result = numpy.asarray(w.value(value))
    if dtype.kind in "iu" and result.dtype.kind in "fc":
        low = 0 if dtype.kind == "u" else -100
        if result.size and not bool(((result.real >= low) & (result.real <= 100)).all()):
            return "1.5"
    return value


def region(w: Writer) -> tuple[str, str]:
    """A writable array and a basic index into it."""
    a = w.writable(lambda a: a.ndim > 0)
    index = basic(w, w.names[a])
    w.value(f"{a}[{index}]")
    return a, index


def partial(w: Writer) -> str:
    """a[slice] = expression, a[slice] += expression."""
    a, index = region(w)
    shape = numpy.shape(w.value(f"{a}[{index}]"))
    value = definite(w, a, expression(w, shape, w.choice([0, 1, 2])))
    if w.chance(40):
        return f"{a}[{index}] {w.choice(['+=', '*=', '-='])} {value}"
    return f"{a}[{index}] = {apart(w, f'{a}[{index}]', value)}"


def apart(w: Writer, destination: str, value: str) -> str:
    """`value`, copied where NumPy itself writes over what it has still to read."""
    to, source = w.value(destination), w.value(value)
    if not isinstance(source, numpy.ndarray) or not isinstance(to, numpy.ndarray) or to.ndim != 1:
        return value
    if source.ndim and source.strides[-1] != to.strides[0] and numpy.shares_memory(to, source):
        return f"({value}).copy()"
    return value


def overlapping(w: Writer) -> str:
    """Stencils and shifts within one array."""
    a = w.writable(lambda a: a.ndim > 0 and a.shape[0] > 3)
    n = w.names[a].shape[0]
    k = w.rng.randrange(1, n - 1)
    options = [
        f"{a}[1:] = {a}[:-1]",
        f"{a}[:-1] = {a}[1:]",
        f"{a}[{k}:] += {a}[:{n - k}]",
        f"{a}[:{n - k}] = {a}[{k}:]",
        f"{a}[:] = {a}[::-1]",
        f"{a} += {a}[::-1]",
        f"{a}[1:-1] = ({a}[:-2] + {a}[2:]) * {w.choice(['0.5', '1', '2'])}"
        if w.names[a].dtype.kind in "fc"
        else f"{a}[1:] += {a}[1:]",
        f"{a}[1:] -= {a}[:-1]",
        f"{a}[::-1][1:] = {a}[1:]",
    ]
    if w.names[a].ndim > 1:
        options += [f"{a}[..., 1:] += {a}[..., :-1]", f"{a}[..., ::-1] = {a}", f"{a}[:, 0] = {a}[:, -1]"]
        if w.names[a].shape[0] == w.names[a].shape[1]:
            options += [f"{a} += {a}.T", f"{a}[...] = {a}.T"]
    return w.choice(options)


def loop(w: Writer) -> str:
    """An element loop, as naive programs have it."""
    a = w.writable(lambda a: a.ndim > 0 and a.shape[0] > 2 and a.dtype.kind in "fc")
    return f"for i in range(1, {min(w.names[a].shape[0], 12)}):\n    {a}[i] = {a}[i - 1] * 0.5 + {a}[i]"


def shared_inner(w: Writer) -> str:
    """An unnamed inner value that a pending array and the write both read."""
    a = w.writable(lambda a: a.ndim > 0 and a.shape[0] > 2 and a.dtype.kind in "fc")
    t, x, y = w.new("t"), w.new(), w.new()
    return w.choice(
        [
            f"{t} = {a}[:-1] * 2.0\n{x} = {t} + 1.0\n{y} = {t} - 2.0\ndel {t}\n{a}[1:] = {y}",
            f"{t} = {a} * {a}\n{x} = {t} + 1.0\n{t} = {t} - 2.0\n{a}[:] = {t}\ndel {t}",
            f"{t} = {a}[1:] + {a}[:-1]\n{a}[1:] = 0.5 * {t}\n{x} = {t}\ndel {t}",
            f"{x} = {a} * 3\n{y} = {x}[::-1]\n{a}[...] = 0\n{y} += 1",
        ]
    )


def swap(w: Writer) -> str:
    """Swaps through copies, tuple assignments and rebinding."""
    a = w.writable(lambda a: a.ndim > 0 and a.shape[0] > 1)
    same = list(w.live(lambda x: x.flags.writeable and x.shape == w.names[a].shape and x.dtype == w.names[a].dtype))
    b, t = w.choice(same), w.new("t")
    return w.choice(
        [
            f"{t} = {a}.copy(); {a}[...] = {b}; {b}[...] = {t}; del {t}",
            f"{a}, {b} = {b}, {a}",
            f"{a}[0], {a}[-1] = {a}[-1], {a}[0]",
            f"{a}[[0, -1]] = {a}[[-1, 0]]",
        ]
    )


def copyto(w: Writer) -> str:
    """copyto with and without a mask, putmask, place, put, fill_diagonal."""
    a = w.writable(lambda a: a.ndim > 0 and a.size > 0)
    shape = w.names[a].shape
    b = definite(w, a, leaf(w, shape))
    return w.choice(
        [
            f"np.copyto({a}, {b}, casting='unsafe')",
            f"np.copyto({a}, {b}, where=np.arange({shape[-1]}) % 2 == 0, casting='unsafe')",
            f"np.copyto({a}, {b})",
            f"np.putmask({a}, np.arange({w.names[a].size}).reshape({shape!r}) % 3 == 1, [7, 8, 9])",
            f"np.place({a}, np.arange({w.names[a].size}).reshape({shape!r}) % 3 == 1, [4, 5])",
            f"np.put({a}, [0, -1, {w.rng.randrange(w.names[a].size)}], [1, 2, 3])",
            f"np.fill_diagonal({a}, 5)",
            f"{a}.flat[::2] = 3",
            f"{a}.flat = 2",
            f"{a}.sort()" if w.names[a].dtype.kind != "c" else f"{a}.sort(axis=0)",
            f"{a}.partition({w.names[a].shape[-1] // 2}); {a}.sort()",
        ]
    )


def scatter(w: Writer) -> str:
    """ufunc.at, which counts duplicates."""
    a = w.writable(lambda a: a.ndim > 0 and a.shape[0] > 0)
    n = w.names[a].shape[0]
    rows = [w.rng.randrange(-n, n) for _ in range(4)]
    name = w.choice(["add", "multiply", "subtract", "maximum"])
    values = w.choice(["1", "2", leaf(w, w.names[a].shape[1:]) if w.names[a].ndim > 1 else "3"])
    return f"np.{name}.at({a}, {rows!r}, {values})"


def parts(w: Writer) -> str:
    """Writes through attributes and 0-d views."""
    a = w.writable(lambda a: a.size > 0)
    options = [
        f"{a}.real = 2",
        f"{a}[...][...] = 1",
        f"{a}.real[...] += 1",
        f"{a}.reshape(-1)[0] = 9",
        f"{a}.flat[0] = 4",
    ]
    if w.names[a].dtype.kind == "c":
        options += [f"{a}.imag = 1.5", f"{a}.imag += 1"]
    if w.names[a].ndim:
        options += [f"{a}[{', '.join(['0'] * w.names[a].ndim)}, ...] += 1", f"{a}.T[...] = 3"]
    return w.choice(options)


def refused(w: Writer) -> str:
    """Writes that NumPy refuses."""
    a = w.pick(lambda a: a.ndim > 0)
    options = [
        f"{a} += np.ones({(3, *w.names[a].shape, 2)!r})",
        f"{a}[{w.names[a].shape[0] + 2}] = 1",
        f"{a}[:] = [1, 2] * 40",
    ]
    locked = w.live(lambda x: not x.flags.writeable)
    if locked:
        options += [f"{w.choice(locked)}[...] = 1", f"{w.choice(locked)} += 1", f"{w.choice(locked)}.fill(0)"] * 2
    text = w.choice(options)
    if not w.names[a].size:
        raise UnavailableError
    return text


STATEMENTS = [
    (8, augmented),
    (3, several),
    (4, whole),
    (8, partial),
    (6, overlapping),
    (1, loop),
    (4, shared_inner),
    (2, swap),
    (4, copyto),
    (2, scatter),
    (2, parts),
    (1, refused),
]
