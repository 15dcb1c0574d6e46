"""NumPy's own arrays and buffers over the same memory: exports, adoption, mutation from outside.

`numpy` is the real NumPy in every program; a name that begins with f is an array of its. NumPy's ``asarray`` gives its
own arrays back unchanged, where an export can only be a new array over the same memory: the ``[...]`` make both views.
"""

from tests.programs.vocabulary.elementwise import leaf
from tests.programs.writer import Writer


def exported(w: Writer) -> str:
    """An array handed to NumPy, whole or in part, before or after more work is pending on it."""
    a = w.numeric()
    name = w.new("f")
    return w.choice(
        [
            f"{name} = numpy.asarray({a})[...]",
            f"{name} = numpy.asarray({a}).ravel(order='K')[::-1]",
            f"{name} = numpy.asarray({a}.T)[...]",
            f"{name} = numpy.frombuffer({a}.data, {a}.dtype) if {a}.flags.c_contiguous else numpy.zeros(3)",
            f"{name} = numpy.asarray({a} + 1)[...]",
        ]
    )


def mutated(w: Writer) -> str:
    """A write through the foreign name."""
    f = w.pick(lambda f: f.size > 0 and f.flags.writeable and f.dtype.kind in "iufcb", prefix="f")
    index = "()" if w.names[f].ndim == 0 else w.choice(["0", "-1", "...", "::2"])
    return w.choice([f"{f}[{index}] = 5", f"{f}[{index}] += 1", f"numpy.multiply({f}, 2, out={f})", f"{f}.fill(3)"])


def watched(w: Writer) -> str:
    """What the foreign name sees after our writes."""
    f = w.pick(prefix="f")
    return w.choice([f"saw({f}.copy())", f"saw({f}.tolist() if {f}.size < 50 else {f}.ravel()[:5].tolist())"])


def adopted(w: Writer) -> str:
    """A foreign array under our name."""
    f = w.pick(prefix="f")
    name = w.new()
    return w.choice([f"{name} = np.asarray({f})[...]", f"{name} = np.array({f})", f"{name} = np.asarray({f}).T[...]"])


def made(w: Writer) -> str:
    """A foreign array that NumPy made, and that nobody else may hold."""
    n = w.base[-1]
    name = w.new("f")
    return w.choice(
        [
            f"{name} = numpy.arange({n}.0)",
            f"{w.new()} = np.asarray(numpy.arange({n}.0) * 0.5)",
            f"{name} = numpy.asfortranarray(numpy.ones({w.base!r}))",
            f"{w.new()} = np.asarray(numpy.arange({2 * n}, dtype='i4')[::2])",
        ]
    )


def mixed(w: Writer) -> str:
    """Operations on both kinds at once."""
    f = w.pick(lambda f: f.dtype.kind in "iufcb", prefix="f")
    shape = w.names[f].shape
    a = w.choice(w.like(shape) or [w.numeric()])
    name = w.new()
    return w.choice(
        [
            f"{name} = np.asarray({a} + {f})",
            f"{name} = np.asarray({f} * {a})",
            f"{name} = np.maximum({f}, {a})",
            f"{name} = np.where({f} > 1, {f}, {a})",
            f"{name} = np.concatenate([np.ravel({f}), np.ravel({a})])",
            f"saw(np.sum({f}))",
        ]
    )


def written(w: Writer) -> str:
    """Our array with a foreign value, and a foreign array with ours."""
    f = w.pick(lambda f: f.flags.writeable and f.dtype.kind in "fc", prefix="f")
    value = leaf(w, w.names[f].shape)
    a = w.writable(lambda a: a.shape == w.names[f].shape and a.dtype.kind in "fc")
    return w.choice([f"{a}[...] = {f}", f"{a} += {f}", f"{f}[...] = {value}", f"np.copyto({a}, {f})"])


def view_of_memory(w: Writer) -> str:
    """A memoryview that lives on while we write."""
    a = w.writable(
        lambda a: a.ndim > 0 and a.size > 0 and a.dtype.kind in "iuf" and a.dtype.isnative and a.dtype.char != "e"
    )
    name = w.new("m")
    zero = ", ".join(["0"] * w.names[a].ndim)
    return (
        f"{name} = memoryview({a})\n{a} += {a}\nsaw({name}[{zero}], {name}.shape, {name}.strides, {name}.format)\n"
        f"{name}[{zero}] = 7\nsaw({a}[{zero}])"
    )


def released(w: Writer) -> str:
    """The foreign name is gone: the memory is ours alone again."""
    f = w.pick(prefix="f")
    return f"del {f}"


STATEMENTS = [
    (3, exported),
    (4, mutated),
    (2, watched),
    (2, adopted),
    (1, made),
    (2, mixed),
    (2, written),
    (1, view_of_memory),
    (1, released),
]
