"""Views: slices, negative steps, transposes, reshapes, parts, reinterpretations."""

from typing import Any

from tests.programs.writer import UnavailableError, Writer


def cut(w: Writer, n: int) -> str:
    """One slice of a dimension of n."""
    lo, hi = sorted((w.rng.randrange(n + 1), w.rng.randrange(n + 1)))
    return w.choice(
        [":", "::-1", f"{lo}:{hi}", "1:", ":-1", "::2", "1:-1", f"{lo}:", "-3:", f"{hi}:{lo}:-1", "::-2", "1::3"]
    )


def basic(w: Writer, a: Any) -> str:
    """A basic index of an array: slices, integers, an ellipsis, a new axis."""
    parts = []
    for n in a.shape:
        if n and w.chance(20):
            parts.append(str(w.rng.randrange(-n, n)))
        else:
            parts.append(cut(w, n))
        if w.chance(25):
            break
    kind = w.rng.randrange(12)
    if kind == 0:
        parts.append("...")
    elif kind == 1:
        parts.insert(0, "...") if len(parts) == a.ndim else parts.append("...")
    elif kind == 2:
        parts.insert(0, "None")
    if w.chance(2):
        parts[:1] = [str(a.shape[0] + 1 if a.ndim else 3)]  # out of bounds
    return ", ".join(parts) or "..."


def sliced(w: Writer) -> str:
    """A name for a slice."""
    a = w.pick(lambda a: a.ndim > 0)
    return f"{w.new()} = {a}[{basic(w, w.names[a])}]"


def turned(w: Writer) -> str:
    """Transposes, flips and moved axes."""
    a = w.pick(lambda a: a.ndim > 0)
    name = w.new()
    options = [f"{name} = {a}.T", f"{name} = np.flip({a})", f"{name} = {a}[::-1]", f"{name} = np.transpose({a})"]
    if w.names[a].ndim > 1:
        options += [
            f"{name} = np.swapaxes({a}, 0, -1)",
            f"{name} = np.moveaxis({a}, 0, -1)",
            f"{name} = np.fliplr({a})",
            f"{name} = np.rot90({a})",
            f"{name} = {a}.diagonal()",
            f"{name} = np.rollaxis({a}, 1)",
            f"{name} = {a}[..., 0]",
        ]
    return w.choice(options)


def reshaped(w: Writer) -> str:
    """reshape, ravel and kin: views where NumPy's are, copies where NumPy copies."""
    a = w.pick()
    name, order = w.new(), w.choice(["C", "F", "A"])
    shape = list(w.names[a].shape)
    w.rng.shuffle(shape)
    return w.choice(
        [
            f"{name} = {a}.reshape({tuple(shape)!r}, order={order!r})",
            f"{name} = {a}.reshape(-1)",
            f"{name} = {a}.ravel({w.choice(['C', 'F', 'A', 'K'])!r})",
            f"{name} = np.reshape({a}, (-1, 1))",
            f"{name} = {a}.reshape({w.names[a].size + 1})" if w.chance(10) else f"{name} = {a}.flatten({order!r})",
            f"{name} = np.expand_dims({a}, 0)",
            f"{name} = np.squeeze({a})",
            f"{name} = np.atleast_2d({a})",
            f"{name} = {a}[..., None]",
        ]
    )


def parts(w: Writer) -> str:
    """real and imag, whole views, views of another dtype where the bits have a definite meaning."""
    a = w.numeric()
    content, name = w.names[a], w.new()
    options = [f"{name} = {a}.real", f"{name} = {a}.imag", f"{name} = {a}.view()", f"{name} = np.asarray({a})"]
    if content.dtype.kind in "iu":
        options += [f"{name} = {a}.view({d!r})" for d in ("u1", "i8", "i2", content.dtype.str.replace("i", "u"))]
    if content.dtype.kind == "c":
        half = "f8" if content.dtype.itemsize == 16 else "f4"
        options += [f"{name} = {a}.view({half!r})"] * 2 if content.dtype.itemsize < 32 else []
    if content.dtype.kind in "fiu" and content.itemsize < 16:
        options.append(
            f"{name} = {a}.view({a}.dtype.newbyteorder())" if content.dtype.kind != "f" else f"{name} = {a}.view()"
        )
    return w.choice(options)


def windows(w: Writer) -> str:
    """Overlapping windows, repeated elements, the pieces of a split, rows by iteration."""
    a = w.numeric(lambda a: a.ndim > 0 and a.shape[0] > 1)
    content, name, other = w.names[a], w.new(), w.new()
    n = content.shape[0]
    options = [
        f"{name}, {other} = np.array_split({a}, 2)",
        f"{name} = np.lib.stride_tricks.sliding_window_view({a}, 2, axis=0)",
        f"{name} = np.broadcast_to({a}[:1], {content.shape!r})",
        f"{name} = np.broadcast_arrays({a}, {a}[:1])[1] * 1",
    ]
    if content.ndim > 1 and n < 10:
        options.append(f"for {name} in {a}:\n    saw({name}[:2].tolist())")
        options.append(f"{name} = list({a})[1]")
    if content.ndim == 1:
        options.append(
            f"{name} = np.lib.stride_tricks.as_strided({a}, ({n - 1}, 2), {content.strides * 2!r}, writeable=False)"
        )
    return w.choice(options)


def attributes(w: Writer) -> str:
    """What a view says of itself: base, flags, aliasing."""
    a, b = w.pick(), w.pick()
    known = not any("numpy." in s for s in w.statements)  # what comes back from NumPy as a view has a base of its own
    return w.choice(
        [
            f"saw({f'{a}.base is {b}, ' * known}{a}.base is None, {a}.flags.owndata)",
            f"saw(np.shares_memory({a}, {b}), np.may_share_memory({a}, {b}))",
            f"saw({a}.shape, {a}.strides, {a}.ndim, {a}.size, {a}.nbytes, {a}.itemsize, {a}.dtype.str)",
            f"saw(str({a}.flags))",
            f"saw({a} is {b}{f', {a}.base is {b}.base' * known})",
            f"saw(type({a}.shape), type({a}.size), type({a}.T))",
        ]
    )


def chained(w: Writer) -> str:
    """A view of a pending result, whose producer has no name."""
    a = w.numeric(lambda a: a.ndim > 0)
    index = basic(w, w.names[a])
    text = w.choice(
        [f"({a} + 1)[{index}]", f"({a} * {a}).T", f"({a} - 2)[::-1] * 3", f"(lambda t: t + t[::-1])({a} * 2)"]
    )
    if w.value(text) is None:
        raise UnavailableError
    return f"{w.new()} = {text}"


STATEMENTS = [(7, sliced), (4, turned), (4, reshaped), (3, parts), (2, windows), (3, attributes), (3, chained)]
