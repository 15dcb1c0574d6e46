"""Observations: values, texts, elements, truth, lists, layouts."""

from tests.programs.writer import Writer


def look(w: Writer) -> str:
    """Observe an array whole."""
    return f"saw({w.pick()})"


def text(w: Writer) -> str:
    """repr, str and format."""
    a = w.pick()
    return w.choice(
        [f"saw(repr({a}))", f"saw(str({a}))", f"saw(f'{{{a}}}')", f"saw(np.array2string({a}, precision=3))"]
    )


def element(w: Writer) -> str:
    """One element, as a scalar of the right type."""
    a = w.pick(lambda a: a.size > 0)
    content = w.names[a]
    index = ", ".join(str(w.rng.randrange(-n, n)) for n in content.shape) or "()"
    return w.choice(
        [
            f"saw({a}[{index}])",
            f"saw({a}.item({w.rng.randrange(content.size)}))",
            f"saw({a}.flat[{w.rng.randrange(content.size)}])",
            f"saw(float({a}[{index}].real))",
            # the hash of a NaN is its address
            f"saw({a}[{index}] != {a}[{index}] or hash({a}[{index}]) == hash({a}[{index}].item()))",
            f"{w.new('v')} = {a}[{index}]",
        ]
    )


def truth(w: Writer) -> str:
    """bool, int, float, len, iteration, membership."""
    a = w.pick()
    return w.choice(
        [
            f"saw(bool({a}))",
            f"saw(len({a}))",
            f"saw(float({a}))",
            f"saw(int({a}.real.sum()) if np.isfinite({a}.real.sum()) and abs({a}.real.sum()) < 1e9 else 0)",
            f"saw(2 in {a}, 1e9 in {a})",
            f"saw([type(x) for x in {a}.ravel()[:3]])",
            f"saw(bool(({a} == {a}).all()), ({a} != {a}).any())",
        ]
    )


def lists(w: Writer) -> str:
    """tolist, bytes of integers, iteration."""
    a = w.pick(lambda a: a.size < 50)
    if w.names[a].dtype.kind in "biu":
        return w.choice([f"saw({a}.tolist())", f"saw({a}.tobytes({w.choice(['C', 'F', 'A'])!r}))"])
    return f"saw(repr({a}.tolist()))"


def scalars(w: Writer) -> str:
    """Arithmetic on the scalars that reads and reductions gave."""
    names = [n for n in w.names if n[0] == "v" and n[1:].isdigit()]
    if not names:
        return look(w)
    v = w.choice(names)
    return w.choice(
        [f"saw({v})", f"saw({v} + 1)", f"{w.new()} = {w.numeric()} * {v}", f"saw({v} * {w.numeric()})", f"saw(-{v})"]
    )


STATEMENTS = [(5, look), (2, text), (4, element), (2, truth), (2, lists), (2, scalars)]
