"""How one reduction combines values, as LLVM IR: NumPy's order of additions where the order shows.

A `Fold` writes two functions into a module, ``@fold`` for elements that lie one after another and ``@accumulate`` for
a row that is added to a row of results. Sums of floats follow NumPy's pairwise tree: up to 128 numbers are added up in
eight strands, more are halved, the left half a multiple of eight. Products of floats go strictly in order. Everything
else gives the same bits in any order, except that a maximum or minimum of zeros of both signs has the sign that some
vector lane left: which signs were met is recorded, and the caller lets NumPy decide when both were.
"""

from dataclasses import dataclass

import numpy as np

from tnp.backends.cpu.ir import EXACT, MANGLED, NEAREST, SCALAR, size_of

LEAF = 128  # numbers that NumPy adds up without halving
PLUS_ZERO, MINUS_ZERO = 1, 2

_KINDS = {
    "add": "add", "multiply": "mul", "maximum": "max", "minimum": "min", "logical_and": "and", "logical_or": "or",
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
}  # fmt: skip
_INTRINSIC = {"max": {"i": "smax", "u": "umax", "b": "umax"}, "min": {"i": "smin", "u": "umin", "b": "umin"}}


@dataclass(frozen=True)
class Fold:
    """The reduction of a ufunc's loop.

    Attributes
    ----------
    kind : {'add', 'mul', 'max', 'min', 'and', 'or', 'xor'}
    code : str
        What is combined: elements in memory (see `ir`).
    half : bool
        The results are float16, computed in float32 and rounded whenever one is written.
    """

    kind: str
    code: str
    half: bool = False

    @property
    def tree(self) -> bool:
        """Pairwise, so the values are not handed along from block to block."""
        return self.kind == "add" and self.code[0] in "fc"

    @property
    def strict_order(self) -> bool:
        return self.kind == "mul" and self.code[0] in "fc"

    @property
    def signs(self) -> bool:
        """The sign of a zero may depend on the order."""
        return self.kind in ("max", "min") and self.code[0] == "f"

    @property
    def parts(self) -> int:
        """Numbers in an element."""
        return 2 if self.code[0] == "c" else 1

    @property
    def scalar(self) -> str:
        return SCALAR[self.code]

    @property
    def type(self) -> str:
        """Register type of one value."""
        return f"<2 x {self.scalar}>" if self.parts == 2 else self.scalar

    @property
    def identity(self) -> str:
        """Where NumPy starts (or what never shows)."""
        if self.code[0] in "fc":
            zero = {"add": "0.0", "mul": "1.0", "max": "0xFFF0000000000000", "min": "0x7FF0000000000000"}[self.kind]
            return f"<{self.scalar} {zero}, {self.scalar} {zero}>" if self.parts == 2 else zero
        if self.kind in ("max", "min"):
            bits, signed = 8 * size_of(self.code), self.code[0] == "i"
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
            return str((low if self.kind == "max" else high) if self.code != "b1" else int(self.kind == "min"))
        if self.code == "b1":
            return str(int(self.kind == "and"))
        return {"add": "0", "mul": "1", "and": "-1", "or": "0", "xor": "0"}[self.kind]

    @property
    def dtype(self) -> np.dtype:
        """Of the values in memory."""
        return np.dtype({"b1": "?"}.get(self.code, self.code))


def fold_of(name: str, code: str) -> Fold | None:
    """The fold of ``ufunc.reduce`` over elements of that code; None where NumPy must do it."""
    kind = _KINDS.get(name)
    if kind is None or (code[0] == "c" and kind != "add"):
        return None
    if kind in ("and", "or", "xor") and (code[0] == "f" or code == "bf2" or (name[0] == "l" and code != "b1")):
        return None
    if code in ("f2", "bf2"):
        return None if kind == "mul" else Fold(kind, "f4", code == "f2" and kind == "add")
    if code == "b1" and kind in ("add", "mul"):
        kind = "or" if kind == "add" else "and"
    return Fold(kind, code)


class _Text:
    """Instructions with fresh names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.count = 0

    def let(self, text: str) -> str:
        self.count += 1
        self.lines.append(f" %t{self.count} = {text}")
        return f"%t{self.count}"

    def put(self, text: str) -> None:
        self.lines.append(text)

    def rename(self, name: str) -> None:
        """Give the last instruction's result a name that was used before."""
        self.lines[-1] = f" {name} =" + self.lines[-1].split("=", 1)[1]


def _lanes(type_: str) -> int:
    return int(type_[1:-1].split(" x ")[0]) if type_[0] == "<" else 1


def _wide(scalar: str, lanes: int) -> str:
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def _mangled(type_: str) -> str:
    scalar = type_[1:-1].split(" x ")[1] if type_[0] == "<" else type_
    return (f"v{_lanes(type_)}" if type_[0] == "<" else "") + MANGLED.get(scalar, scalar)


def _strict(t: _Text, name: str, type_: str, a: str, b: str) -> str:
    function = f"@llvm.experimental.constrained.{name}.{_mangled(type_)}"
    t.declared.add(f"declare {type_} {function}({type_}, {type_}, metadata, metadata)")
    return t.let(f"call {type_} {function}({type_} {a}, {type_} {b}, {NEAREST}) strictfp")


def _compare(t: _Text, predicate: str, type_: str, a: str, b: str) -> str:
    function = f"@llvm.experimental.constrained.fcmp.{_mangled(type_)}"
    result = _wide("i1", _lanes(type_))
    t.declared.add(f"declare {result} {function}({type_}, {type_}, metadata, metadata)")
    return t.let(f'call {result} {function}({type_} {a}, {type_} {b}, metadata !"{predicate}", {EXACT}) strictfp')


def _select(t: _Text, condition: str, type_: str, a: str, b: str) -> str:
    return t.let(f"select {_wide('i1', _lanes(type_))} {condition}, {type_} {a}, {type_} {b}")


def _combine(t: _Text, fold: Fold, type_: str, a: str, b: str, nan: bool = True) -> str:
    """One operation on values or vectors. ``nan=False``: a NaN is looked for elsewhere."""
    if fold.kind in ("max", "min"):
        if fold.code[0] != "f":
            name = f"@llvm.{_INTRINSIC[fold.kind][fold.code[0]]}.{_mangled(type_)}"
            t.declared.add(f"declare {type_} {name}({type_}, {type_})")
            return t.let(f"call {type_} {name}({type_} {a}, {type_} {b})")
        take = _compare(t, "olt" if fold.kind == "max" else "ogt", type_, a, b)
        value = _select(t, take, type_, b, a)
        return _select(t, _compare(t, "uno", type_, b, b), type_, b, value) if nan else value
    if fold.code[0] in "fc":
        return _strict(t, f"f{fold.kind}", type_, a, b)
    return t.let(f"{fold.kind} {type_} {a}, {b}")


def _rounded(t: _Text, type_: str, x: str) -> str:
    """float32 as float16 would keep it."""
    half = _wide("half", _lanes(type_))
    for name, to, of in (("fptrunc", half, type_), ("fpext", type_, half)):
        rounds = name == "fptrunc"
        function = f"@llvm.experimental.constrained.{name}.{_mangled(to)}.{_mangled(of)}"
        t.declared.add(f"declare {to} {function}({of}, metadata{', metadata' if rounds else ''})")
        x = t.let(f"call {to} {function}({of} {x}, {NEAREST if rounds else EXACT}) strictfp")
    return x


def _load(t: _Text, fold: Fold, pointer: str, index: str, lanes: int) -> str:
    """Numbers from memory, starting with number ``index``."""
    type_ = _wide(fold.scalar, lanes)
    x = t.let(f"load {type_}, ptr {t.let(f'getelementptr {fold.scalar}, ptr {pointer}, i64 {index}')}, align 1")
    if fold.code != "b1":
        return x
    zero = "zeroinitializer" if lanes > 1 else "0"
    return t.let(f"zext {_wide('i1', lanes)} {t.let(f'icmp ne {type_} {x}, {zero}')} to {type_}")


NAMES = ("fold", "join", "write", "put", "accumulate", "check", "many")


def module_text(fold: Fold, register_bytes: int) -> str:
    """IR of the functions of a fold. Values are in memory; ``n`` counts numbers that lie side by side.

    ``fold(acc, p, n)``: for a tree, acc becomes the sum; otherwise the numbers are combined with acc.
    ``join(a, b)``: a becomes both (inner node of a tree). ``write(r, b)``: the same, and r is rounded as a result.
    ``put(to, from)``: copy one value.
    ``accumulate(r, p, n)``: n numbers into n results, one each.
    ``check(acc, p, n, seen)``: which signs of zero were seen, if acc is zero; otherwise 0.
    ``many(to, p, n, count, identity)``: ``count`` results, each of its row of n numbers; returns 1 if some result is a
    zero that met zeros of both signs, otherwise 0.
    """
    width = f'"prefer-vector-width"="{8 * register_bytes}" "min-legal-vector-width"="{8 * register_bytes}"'
    type_ = fold.type
    functions, declared = [], set()

    def define(head: str, t: _Text, end: str = "") -> None:
        text = "\n".join([*t.lines, end]) if end else "\n".join(t.lines)
        functions.append(f"define {head} strictfp {width} {{\nentry:\n{text}\n}}\n")
        declared.update(t.declared)

    if fold.tree:
        define(f"internal {type_} @value(ptr %p, i64 %n)", _pairwise(fold))
        call = "ptr %p, i64 %n"
    else:
        lanes = 4 * register_bytes // size_of(fold.code)
        how = _in_order(fold) if fold.strict_order else _any_order(fold, lanes)
        define(f"internal {type_} @value({type_} %init, ptr %p, i64 %n)", how)
        call = f"{type_} %init, ptr %p, i64 %n"
    t = _Text()
    if not fold.tree:
        t.put(f" %init = load {type_}, ptr %acc, align 1")
    t.put(f" %value = call {type_} @value({call}) strictfp\n store {type_} %value, ptr %acc, align 1")
    define("void @fold(ptr %acc, ptr %p, i64 %n)", t, " ret void")
    for name in ("join", "write"):
        t = _Text()
        a, b = (t.let(f"load {type_}, ptr {p}, align 1") for p in ("%a", "%b"))
        value = _combine(t, fold, type_, a, b)
        value = _rounded(t, type_, value) if fold.half and name == "write" else value
        t.put(f" store {type_} {value}, ptr %a, align 1")
        define(f"void @{name}(ptr %a, ptr %b)", t, " ret void")
    t = _Text()
    t.put(f" store {type_} {t.let(f'load {type_}, ptr %from, align 1')}, ptr %to, align 1")
    define("void @put(ptr %to, ptr %from)", t, " ret void")
    define("void @accumulate(ptr %r, ptr %p, i64 %n)", _accumulate(fold, 2 * register_bytes), " ret void")
    define("i64 @check(ptr %acc, ptr %p, i64 %n, i64 %seen)", _check(fold, register_bytes))
    define("i64 @many(ptr %to, ptr %p, i64 %n, i64 %count, ptr %identity)", _many(fold))
    return "\n".join([*sorted(declared), *functions])


def _pairwise(fold: Fold) -> _Text:
    t, scalar, type_, parts = _Text(), fold.scalar, fold.type, fold.parts
    eight = f"<8 x {scalar}>"
    minus_zero = f"splat ({scalar} -0.0)" if parts == 2 else "-0.0"
    t.put(" %short = icmp ult i64 %n, 8\n br i1 %short, label %rest, label %test")
    t.put(f"test:\n %small = icmp ule i64 %n, {LEAF}\n br i1 %small, label %eight, label %split")
    t.put("split:\n %h = lshr i64 %n, 1\n %n2 = and i64 %h, -8\n %m = sub i64 %n, %n2")
    t.put(f" %q = getelementptr {scalar}, ptr %p, i64 %n2")
    t.put(f" %left = call {type_} @value(ptr %p, i64 %n2) strictfp")
    t.put(f" %right = call {type_} @value(ptr %q, i64 %m) strictfp")
    t.put(f" ret {type_} {_strict(t, 'fadd', type_, '%left', '%right')}")
    t.put("eight:\n %whole = and i64 %n, -8")
    first = _load(t, fold, "%p", "0", 8)
    t.put(" br label %more\nmore:\n %i = phi i64 [ 8, %eight ], [ %in, %next ]")
    t.put(f" %acc = phi {eight} [ {first}, %eight ], [ %accn, %next ]")
    t.put(" %c = icmp ult i64 %i, %whole\n br i1 %c, label %next, label %across\nnext:")
    _strict(t, "fadd", eight, "%acc", _load(t, fold, "%p", "%i", 8))
    t.rename("%accn")
    t.put(" %in = add i64 %i, 8\n br label %more\nacross:")
    total, lanes = "%acc", 8
    while lanes > parts:  # neighbours first: ((0+1)+(2+3))+((4+5)+(6+7)), by elements
        pick = [[k for k in range(lanes) if (k // parts) % 2 == side] for side in (0, 1)]
        wide = _wide(scalar, lanes)
        halves = []
        for order in pick:
            if len(order) == 1:
                halves.append(t.let(f"extractelement {wide} {total}, i32 {order[0]}"))
            else:
                mask = ", ".join(f"i32 {k}" for k in order)
                halves.append(t.let(f"shufflevector {wide} {total}, {wide} poison, <{len(order)} x i32> <{mask}>"))
        lanes //= 2
        total = _strict(t, "fadd", _wide(scalar, lanes), *halves)
    t.put(" br label %rest\nrest:\n %start = phi i64 [ %whole, %across ], [ 0, %entry ]")
    t.put(f" %sum = phi {type_} [ {total}, %across ], [ {minus_zero}, %entry ]\n br label %tail\ntail:")
    t.put(f" %j = phi i64 [ %start, %rest ], [ %jn, %one ]\n %s = phi {type_} [ %sum, %rest ], [ %sn, %one ]")
    t.put(" %d = icmp ult i64 %j, %n\n br i1 %d, label %one, label %done\none:")
    _strict(t, "fadd", type_, "%s", _load(t, fold, "%p", "%j", parts))
    t.rename("%sn")
    t.put(f" %jn = add i64 %j, {parts}\n br label %tail")
    t.put(f"done:\n ret {type_} %s")
    return t


def _in_order(fold: Fold) -> _Text:
    t, type_ = _Text(), fold.type
    t.put(" br label %next\nnext:\n %i = phi i64 [ 0, %entry ], [ %in, %next ]")
    t.put(f" %a = phi {type_} [ %init, %entry ], [ %an, %next ]")
    _combine(t, fold, type_, "%a", _load(t, fold, "%p", "%i", fold.parts))
    t.rename("%an")
    t.put(f" %in = add i64 %i, {fold.parts}")
    t.put(f" %c = icmp ult i64 %in, %n\n br i1 %c, label %next, label %done\ndone:\n ret {type_} %an")
    return t


def _any_order(fold: Fold, lanes: int) -> _Text:
    """Vectors first; where an operation may be repeated, the last vector overlaps the one before."""
    t, scalar = _Text(), fold.scalar
    wide, bits, extreme = _wide(scalar, lanes), _wide("i1", lanes), fold.signs
    repeatable = fold.kind not in ("add", "mul", "xor")
    identity = f"splat ({scalar} {fold.identity})"
    t.put(f" %whole = and i64 %n, {-lanes}\n %last = sub i64 %n, {lanes}\n br label %test\ntest:")
    t.put(f" %i = phi i64 [ 0, %entry ], [ %in, %next ]\n %acc = phi {wide} [ {identity}, %entry ], [ %accn, %next ]")
    if extreme:
        t.put(f" %nan = phi {wide} [ zeroinitializer, %entry ], [ %nann, %next ]")
    bound = "%n" if repeatable else "%whole"
    t.put(f" %c = icmp ult i64 %i, {bound}\n %room = icmp uge i64 %n, {lanes}\n %go = and i1 %c, %room")
    t.put(" br i1 %go, label %next, label %across\nnext:")
    at = "%i"
    if repeatable:
        at = t.let(f"select i1 {t.let('icmp ult i64 %i, %last')}, i64 %i, i64 %last")
    x = _load(t, fold, "%p", at, lanes)
    _combine(t, fold, wide, "%acc", x, nan=False)
    t.rename("%accn")
    if extreme:
        _select(t, _compare(t, "uno", wide, x, x), wide, x, "%nan")
        t.rename("%nann")
    t.put(f" %in = add i64 %i, {lanes}\n br label %test\nacross:")
    total, left = "%acc", lanes
    while left > 1:
        half = _wide(scalar, left // 2)
        sides = []
        for start in (0, left // 2):
            mask = ", ".join(f"i32 {start + k}" for k in range(left // 2))
            source = _wide(scalar, left)
            sides.append(
                t.let(f"extractelement {source} {total}, i32 {start}")
                if left == 2
                else t.let(f"shufflevector {source} {total}, {source} poison, <{left // 2} x i32> <{mask}>")
            )
        total, left = _combine(t, fold, half, sides[0], sides[1], nan=False), left // 2
    if extreme:
        t.declared.add(f"declare i1 @llvm.vector.reduce.or.v{lanes}i1({bits})")
        found = _compare(t, "uno", wide, "%nan", "%nan")
        any_nan = t.let(f"call i1 @llvm.vector.reduce.or.v{lanes}i1({bits} {found})")
        total = _select(t, any_nan, scalar, "0x7FF8000000000000", total)
    total = _combine(t, fold, scalar, "%init", total)
    begin = t.let("select i1 %room, i64 %n, i64 0") if repeatable else "%whole"
    t.put(f" br label %tail\ntail:\n %j = phi i64 [ {begin}, %across ], [ %jn, %one ]")
    t.put(f" %s = phi {scalar} [ {total}, %across ], [ %sn, %one ]")
    t.put(" %d = icmp ult i64 %j, %n\n br i1 %d, label %one, label %done\none:")
    _combine(t, fold, scalar, "%s", _load(t, fold, "%p", "%j", 1))
    t.rename("%sn")
    t.put(" %jn = add i64 %j, 1\n br label %tail")
    t.put(f"done:\n ret {scalar} %s")
    return t


def _accumulate(fold: Fold, bytes_: int) -> _Text:
    """Whole vectors, then single numbers (a complex sum is the sum of its parts)."""
    t, scalar = _Text(), fold.scalar
    lanes = max(2, bytes_ // (size_of(fold.code) // fold.parts))
    lanes = min(lanes, 8) if fold.half else lanes  # LLVM 22 fails on strict conversions of wider float16 vectors
    t.put(f" %whole = and i64 %n, {-lanes}\n br label %test")
    for name, step, start, bound, after in (("", lanes, "0", "%whole", "test1"), ("1", 1, "%whole", "%n", "done")):
        came = "entry" if not name else "test"
        type_ = _wide(scalar, step)
        t.put(f"test{name}:\n %i{name} = phi i64 [ {start}, %{came} ], [ %in{name}, %next{name} ]")
        t.put(f" %c{name} = icmp ult i64 %i{name}, {bound}")
        t.put(f" br i1 %c{name}, label %next{name}, label %{after}\nnext{name}:")
        old, x = (_load(t, fold, p, f"%i{name}", step) for p in ("%r", "%p"))
        value = _combine(t, fold, type_, old, x)
        value = _rounded(t, type_, value) if fold.half else value
        target = t.let(f"getelementptr {scalar}, ptr %r, i64 %i{name}")
        t.put(f" store {type_} {value}, ptr {target}, align 1")
        t.put(f" %in{name} = add i64 %i{name}, {step}\n br label %test{name}")
    t.put("done:")
    return t


def _many(fold: Fold) -> _Text:
    t, type_ = _Text(), fold.type
    bytes_ = t.let(f"mul i64 %n, {size_of(fold.code) // fold.parts}")
    init = t.let(f"load {type_}, ptr %identity, align 1")
    t.put(" br label %test\ntest:\n %q = phi i64 [ 0, %entry ], [ %qn, %next ]")
    t.put(" %both = phi i64 [ 0, %entry ], [ %bothn, %next ]\n %c = icmp ult i64 %q, %count")
    t.put(" br i1 %c, label %next, label %done\nnext:")
    row = t.let(f"getelementptr i8, ptr %p, i64 {t.let(f'mul i64 %q, {bytes_}')}")
    target = t.let(f"getelementptr i8, ptr %to, i64 {t.let(f'mul i64 %q, {size_of(fold.code)}')}")
    if fold.tree:
        value = _combine(t, fold, type_, init, t.let(f"call {type_} @value(ptr {row}, i64 %n) strictfp"))
        value = _rounded(t, type_, value) if fold.half else value
    else:
        value = t.let(f"call {type_} @value({type_} {init}, ptr {row}, i64 %n) strictfp")
    t.put(f" store {type_} {value}, ptr {target}, align 1")
    if fold.signs:
        met = t.let(f"call i64 @check(ptr {target}, ptr {row}, i64 %n, i64 0) strictfp")
        met = t.let(f"zext i1 {t.let(f'icmp eq i64 {met}, {PLUS_ZERO | MINUS_ZERO}')} to i64")
    else:
        met = "0"
    t.put(f" %bothn = or i64 %both, {met}\n %qn = add i64 %q, 1\n br label %test\ndone:\n ret i64 %both")
    return t


def _check(fold: Fold, register_bytes: int) -> _Text:
    t = _Text()
    if not fold.signs:
        t.put(" ret i64 0")
        return t
    bits, lanes = 8 * size_of(fold.code), 2 * register_bytes // size_of(fold.code)
    negative = str(-(1 << bits - 1))
    result = t.let(f"load i{bits}, ptr %acc, align 1")
    zeros = ", ".join(t.let(f"icmp eq i{bits} {result}, {v}") for v in ("0", negative))
    t.put(f" br i1 {t.let('or i1 ' + zeros)}, label %vectors, label %other\nother:\n ret i64 0\nvectors:")
    t.put(f" %whole = and i64 %n, {-lanes}\n br label %test")
    for name, step, start, bound, after, came in (
        ("", lanes, "0", "%whole", "test1", "vectors"), ("1", 1, "%whole", "%n", "done", "test"),
    ):  # fmt: skip
        type_, mask = _wide(f"i{bits}", step), _wide("i1", step)
        nothing = "zeroinitializer" if step > 1 else "0"
        t.put(f"test{name}:\n %i{name} = phi i64 [ {start}, %{came} ], [ %in{name}, %next{name} ]")
        for sign in ("plus", "minus"):
            t.put(f" %{sign}{name} = phi {type_} [ {nothing}, %{came} ], [ %{sign}n{name}, %next{name} ]")
        t.put(f" %c{name} = icmp ult i64 %i{name}, {bound}")
        t.put(f" br i1 %c{name}, label %next{name}, label %{after}\nnext{name}:")
        x = t.let(f"load {type_}, ptr {t.let(f'getelementptr i{bits}, ptr %p, i64 %i{name}')}, align 1")
        for sign, value in (("plus", "0"), ("minus", negative)):
            zero = value if step == 1 else f"splat (i{bits} {value})"
            met = t.let(f"sext {mask} {t.let(f'icmp eq {type_} {x}, {zero}')} to {type_}")
            t.put(f" %{sign}n{name} = or {type_} %{sign}{name}, {met}")
        t.put(f" %in{name} = add i64 %i{name}, {step}\n br label %test{name}")
    t.put("done:")
    wide = _wide(f"i{bits}", lanes)
    function = f"@llvm.vector.reduce.or.v{lanes}i{bits}"
    t.declared.add(f"declare i{bits} {function}({wide})")
    seen = "%seen"
    for sign, bit in (("plus", PLUS_ZERO), ("minus", MINUS_ZERO)):
        met = t.let(f"or i{bits} {t.let(f'call i{bits} {function}({wide} %{sign})')}, %{sign}1")
        met = t.let(f"select i1 {t.let(f'icmp ne i{bits} {met}, 0')}, i64 {bit}, i64 0")
        seen = t.let(f"or i64 {seen}, {met}")
    t.put(f" ret i64 {seen}")
    return t
