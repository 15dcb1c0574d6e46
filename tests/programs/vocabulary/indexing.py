"""Fancy and mask reads and writes, take, compress, nonzero, sorting, and the concatenate family."""

from typing import Any

from tests.programs.vocabulary.elementwise import leaf
from tests.programs.vocabulary.writes import definite
from tests.programs.writer import UnavailableError, Writer


def fancy(w: Writer, a: Any) -> str:
    """An advanced index of an array with at least one dimension."""
    n = a.shape[0]
    if n == 0:
        return w.choice(["[]", "np.zeros(0, int)"])
    rows = [w.rng.randrange(-n, n) for _ in range(w.choice([1, 3, 5]))]
    options = [
        repr(rows),
        f"np.array({rows!r})",
        f"np.arange({n}) % 3 == 1",
        f"np.array([{rows[:2]!r}, {rows[-2:]!r}])" if len(rows) > 2 else repr(rows),
        f"np.array({[r % n for r in rows]!r}, 'u1')" if n < 200 else repr(rows),
        "True" if w.chance(5) else repr(rows[:1]),
        str([n + 3]) if w.chance(5) else repr(rows),
    ]
    if a.ndim > 1 and a.shape[1]:
        m = a.shape[1]
        columns = [w.rng.randrange(-m, m) for _ in rows]
        options += [
            f"{rows!r}, {columns!r}",
            f"np.ix_({sorted({r % n for r in rows})!r}, [0, {m - 1}])",
            f":, {columns!r}",
            f"{rows[0]}, {columns!r}",
            f"::-1, {columns!r}",
            f"None, {rows!r}, 1:" if m > 1 else f"{rows!r}",
        ]
    return w.choice(options)


def gather(w: Writer) -> str:
    """Fancy and mask reads."""
    a = w.pick(lambda a: a.ndim > 0)
    content = w.names[a]
    name = w.new()
    if content.dtype.kind in "iuf" and w.chance(30):
        return f"{name} = {a}[{a} > {w.choice(['0', '1', '2.5'])}]"
    if content.shape[0] and w.chance(20):
        return w.choice(
            [
                f"{name} = np.take({a}, [0, -1, 0], axis=0)",
                f"{name} = {a}.take([{content.size + 2}, -1], mode={w.choice(['wrap', 'clip'])!r})",
                f"{name} = np.compress(np.arange({content.shape[0]}) % 2 == 0, {a}, axis=0)",
                f"{name} = np.take_along_axis({a}, np.argsort({a}, axis=0), 0)",
                f"{name} = np.nonzero({a})[0]",
                f"{name} = np.argwhere({a})",
                f"{name} = np.choose(np.arange({content.shape[0]}) % 2, [{a}.ravel()[:{content.shape[0]}], 7])",
                f"{name} = np.extract({a} == {a}, {a})",
            ]
        )
    return f"{name} = {a}[{fancy(w, content)}]"


def scatter(w: Writer) -> str:
    """Fancy and mask writes."""
    a = w.writable(lambda a: a.ndim > 0)
    index = fancy(w, w.names[a])
    shape = w.value(f"{a}[{index}]").shape
    value = definite(w, a, w.choice([leaf(w, shape), "1", "2"]))
    if w.chance(30):
        mask = f"{a} {w.choice(['> 1', '< 0', '!= ' + a, '== 0'])}"
        return f"{a}[{mask}] {w.choice(['=', '=', '+=', '*='])} {w.choice(['0', '2', '1'])}"
    return f"{a}[{index}] {w.choice(['=', '=', '=', '+=', '*='])} {value}"


def masked(w: Writer) -> str:
    """A mask with a name of its own, used after its operands changed."""
    a = w.writable(lambda a: a.ndim > 0 and a.dtype.kind in "iuf")
    mask = w.new()
    return f"{mask} = {a} > {w.choice(['0', '1', '3'])}\n{a} += 1\n{a}[{mask}] = {w.choice(['0', '5'])}"


def joined(w: Writer) -> str:
    """concatenate and its family."""
    a = w.numeric(lambda a: a.ndim > 0)
    shape = w.names[a].shape
    b = w.choice([x for x in w.like(shape) if w.value(x).shape == shape] or [a])
    name = w.new()
    return w.choice(
        [
            f"{name} = np.concatenate([{a}, {b}])",
            f"{name} = np.concatenate(({a}, {b}), axis=-1)",
            f"{name} = np.concatenate([{a}, {b}], axis=None, dtype='f8', casting='unsafe')",
            f"{name} = np.stack([{a}, {b}, {a}], axis={w.choice(['0', '-1', '1'])})",
            f"{name} = np.vstack([{a}, {b}])",
            f"{name} = np.hstack(({a}, {b}))",
            f"{name} = np.column_stack([{a}, {b}])",
            f"{name} = np.append({a}, {b}, axis=0)",
            f"{name} = np.block([[{a}, {b}], [{b}, {a}]])",
            f"{name} = np.tile({a}, 2)",
            f"{name} = np.repeat({a}, 2, axis=0)",
            f"{name} = np.roll({a}, {w.choice(['1', '-2', '3'])}, axis={w.choice(['None', '0', '-1'])})",
            f"{name} = np.pad({a}, 1, mode={w.choice(['constant', 'edge', 'wrap'])!r})"
            if all(shape)
            else f"{name} = {a}.copy()",
            f"{name} = np.insert({a}, 0, 5, axis=0)",
            f"{name} = np.delete({a}, 0, axis=0)" if shape[0] else f"{name} = {a}.copy()",
            f"{name} = np.r_[{a}, {b}]",
        ]
    )


def ordered(w: Writer) -> str:
    """sort, argsort, searchsorted, unique and counting."""
    a = w.numeric(lambda a: a.ndim > 0)
    kind, name = w.names[a].dtype.kind, w.new()
    options = [
        f"{name} = np.sort({a}, axis={w.choice(['0', '-1', 'None'])})",
        f"{name} = np.argsort({a}, kind='stable')",
        f"{name} = np.unique({a})",
        f"{name} = np.searchsorted(np.arange(5.0), {a}.real)",
        f"saw(np.array_equal({a}, {a}), np.allclose({a}, {a}, equal_nan=True))",
        f"saw(np.isin({a}, [1, 2, 3]).sum())",
    ]
    if kind in "iu" and w.names[a].size and int(w.names[a].min()) >= 0 and int(w.names[a].max()) < 1000:
        options.append(f"{name} = np.bincount({a}.ravel())" if w.names[a].dtype != "u8" else f"{name} = {a}.copy()")
    return w.choice(options)


def integers(w: Writer) -> str:
    """Integer arrays that later statements index with, and uses of them."""
    held = w.live(prefix="i")
    a = w.numeric(lambda a: a.ndim > 0 and a.shape[0] > 0)
    n = w.names[a].shape[0]
    if not held or w.chance(30):
        return f"{w.new('i')} = np.array({[w.rng.randrange(n) for _ in range(4)]!r})"
    i = w.choice(held)
    if int(w.names[i].max()) >= n:
        raise UnavailableError
    return w.choice(
        [f"{w.new()} = {a}[{i}]", f"{a}[{i}] = 1", f"{i}[0] = 0", f"{w.new()} = {a}[{i}] * 2 + {a}[{i}[::-1]]"]
    )


STATEMENTS = [(4, gather), (5, scatter), (2, masked), (4, joined), (2, ordered), (2, integers)]
