"""What walks over the elements of a reduction: functions compiled once per machine, the same for all reductions.

They compute the elementwise steps block by block with the functions of `driver`, and hand each block, which lies in the
first-level cache, to the functions of `folds`. A reduction's form says which walk:

    i64 rows(args, task, first, last, 0, 0)        results first ... last-1, each the fold of whole rows
    i64 pieces(args, task, first, last, 0, 0)      pieces of one long row, each a subtree; `join` puts them together
    i64 join(args, task, 0, 0, 0, 0)
    i64 columns(args, task, first, last, c0, c1)   rows added to rows: of some outer rows, some columns

All return floating-point flags. A task is a table of 64-bit slots: those named below, then FOLD_SLOTS for each fold.
The values of a pass, one for each fold, are VALUE_SLOTS slots each: the value, and the signs of the zeros it met.
"""

from tnp.backends.cpu.driver import PLACES
from tnp.backends.cpu.folds import MINUS_ZERO, PLUS_ZERO
from tnp.backends.cpu.ir import Code

# Slots of a task. Functions of `driver`; number of folds; numbers in an element; 1 if some fold is a tree; results that
# a row is added to in turn (outer reduced rows); number of results (or of outer rows); elements in a row; rows that are
# added up (columns); elements that NumPy would buffer; elements of a block; 1 if rows are addressed one by one; the
# pieces (first element and count of each); their values; elements of a piece at most; number of pieces; rows in a block
(WORKSPACE, START, ROW, BLOCK, FINISH, FOLDS, PARTS, TREES, OUTER, ROWS, LENGTH, REDUCED, SEGMENT, LIMIT, BY_ROWS,
 PIECES, VALUES, CUT, PIECE_COUNT, PACKED, AMBIGUOUS, HEADER) = range(22)  # fmt: skip
# Slots of a fold: the operand's place; functions of `folds`; bytes of a value; results; identity
(PLACE, FOLD, JOIN, WRITE, PUT, ACCUMULATE, CHECK, MANY, SIZE, OUT, IDENTITY, _, FOLD_SLOTS) = range(13)
VALUE_SLOTS = 3
NAMES = ("rows", "pieces", "join", "columns")

_KERNEL = "ptr %args, ptr %task, i64 %first, i64 %last, i64 %c0, i64 %c1"


class _Function:
    """One function's text, with shorthands for the task."""

    def __init__(self, result: str, name: str, parameters: str) -> None:
        self.code = Code(2)
        self.result = result
        self.head = f"define {result} @{name}({parameters}) strictfp {{\nentry:\n"

    def number(self, slot: int) -> str:
        return self.code.slot("%task", slot)

    def fold(self, j: str, slot: int, type_: str = "i64") -> str:
        at = self.code.let(f"mul i64 {j}, {FOLD_SLOTS}")
        return self.code.slot("%task", self.code.let(f"add i64 {at}, {HEADER + slot}"), type_)

    def value(self, values: str, j: str) -> str:
        return self.code.slot_at(values, self.code.let(f"mul i64 {j}, {VALUE_SLOTS}"))

    def elements(self, j: str) -> str:
        """What a fold combines of the block."""
        return self.code.slot("%work", self.let("add", self.fold(j, PLACE), PLACES), "ptr")

    def call(self, function: str, *arguments: str, result: str = "void") -> str:
        text = f"call {result} {function}({', '.join(arguments)}) strictfp"
        if result != "void":
            return self.code.let(text)
        self.code.put(f" {text}")
        return ""

    def given(self, slot: int) -> str:
        return self.code.slot("%task", slot, "ptr")

    def values(self) -> str:
        c = self.code
        return c.let(f"alloca i64, i64 {c.let(f'mul i64 {self.number(FOLDS)}, {VALUE_SLOTS}')}, align 16")

    def reset(self, values: str) -> None:
        self.call("@reset", "ptr %task", f"ptr {values}")

    def begin(self) -> None:
        """A thread's workspace."""
        c = self.code
        size = self.call(self.given(WORKSPACE), "ptr %args", result="i64")
        c.put(f" %work = alloca i8, i64 {size}, align 64")
        self.call(self.given(START), "ptr %work", "ptr %args")

    def finish(self) -> str:
        return self.end(self.call(self.given(FINISH), "ptr %work", "ptr %args", result="i64"))

    def least(self, a: str, b: str) -> str:
        return self.code.let(f"select i1 {self.code.let(f'icmp slt i64 {a}, {b}')}, i64 {a}, i64 {b}")

    def parts_of(self, n: str, size: str) -> str:
        """How many pieces of ``size`` cover ``n``."""
        c = self.code
        return c.let(f"udiv i64 {c.let(f'add i64 {n}, ' + c.let(f'sub i64 {size}, 1'))}, {size}")

    def let(self, operation: str, a: str, b: str | int) -> str:
        return self.code.let(f"{operation} i64 {a}, {b}")

    def end(self, value: str = "") -> str:
        return self.head + "\n".join(self.code.lines) + f"\n ret {self.result} {value}\n}}\n"


def _reset() -> str:
    f = _Function("void", "reset", "ptr %task, ptr %values")
    with f.code.each(f.number(FOLDS)) as j:
        value = f.value("%values", j)
        for k in (0, 1):
            f.code.put_slot(f.fold(j, IDENTITY + k), value, k)
        f.code.put_slot("0", value, 2)
    return f.end()


def _leaf() -> str:
    """Compute a block and fold it."""
    f = _Function("void", "leaf", "ptr %work, ptr %args, ptr %task, ptr %values, i64 %first, i64 %m")
    f.call(f.given(BLOCK), "ptr %work", "ptr %args", "i64 %first", "i64 %m")
    c = f.code
    n = f.let("mul", "%m", f.number(PARTS))
    with c.each(f.number(FOLDS)) as j:
        value, elements = f.value("%values", j), f.elements(j)
        f.call(f.fold(j, FOLD, "ptr"), f"ptr {value}", f"ptr {elements}", f"i64 {n}")
        check = f.fold(j, CHECK, "ptr")
        with c.when(c.let(f"icmp ne ptr {check}, null")):
            arguments = f"ptr {value}", f"ptr {elements}", f"i64 {n}", f"i64 {c.slot(value, 2)}"
            c.put_slot(f.call(check, *arguments, result="i64"), value, 2)
    return f.end()


def _unite(f: _Function, function: int, values: str, others: str) -> None:
    """Combine two sets of values."""
    c = f.code
    with c.each(f.number(FOLDS)) as j:
        a, b = f.value(values, j), f.value(others, j)
        f.call(f.fold(j, function, "ptr"), f"ptr {a}", f"ptr {b}")
        c.put_slot(f.let("or", c.slot(a, 2), c.slot(b, 2)), a, 2)


def _left(f: _Function) -> str:
    """Elements of the left half: a multiple of eight numbers."""
    numbers = f.let("mul", "%n", f.number(PARTS))
    return f.let("udiv", f.let("and", f.let("lshr", numbers, 1), -8), f.number(PARTS))


def _walk() -> str:
    """The tree of n elements."""
    head = "ptr %work, ptr %args, ptr %task, ptr %values"
    f = _Function("void", "walk", f"{head}, i64 %first, i64 %n")
    c = f.code
    c.put(f" br i1 {c.let(f'icmp ule i64 %n, {f.number(LIMIT)}')}, label %small, label %large\nsmall:")
    f.call("@leaf", head, "i64 %first", "i64 %n")
    c.put(" ret void\nlarge:")
    left = _left(f)
    others = f.values()
    f.call("@walk", head, "i64 %first", f"i64 {left}")
    f.reset(others)
    right = f"i64 {f.let('add', '%first', left)}", f"i64 {f.let('sub', '%n', left)}"
    f.call("@walk", "ptr %work, ptr %args, ptr %task", f"ptr {others}", *right)
    _unite(f, JOIN, "%values", others)
    return f.end()


def _scan() -> str:
    """Block after block."""
    head = "ptr %work, ptr %args, ptr %task, ptr %values"
    f = _Function("void", "scan", f"{head}, i64 %first, i64 %n")
    limit = f.number(LIMIT)
    with f.code.each(f.parts_of("%n", limit)) as b:
        done = f.let("mul", b, limit)
        m = f.least(limit, f.let("sub", "%n", done))
        f.call("@leaf", head, f"i64 {f.let('add', '%first', done)}", f"i64 {m}")
    return f.end()


def _keep(f: _Function, values: str, at: str) -> None:
    """Write results; note where only NumPy knows the sign of a zero."""
    c = f.code
    with c.each(f.number(FOLDS)) as j:
        value = f.value(values, j)
        target = c.let(f"getelementptr i8, ptr {f.fold(j, OUT, 'ptr')}, i64 {f.let('mul', at, f.fold(j, SIZE))}")
        f.call(f.fold(j, PUT, "ptr"), f"ptr {target}", f"ptr {value}")
        check = f.fold(j, CHECK, "ptr")
        with c.when(c.let(f"icmp ne ptr {check}, null")):
            arguments = f"ptr {value}", "ptr null", "i64 0", f"i64 {c.slot(value, 2)}"
            met = f.call(check, *arguments, result="i64")
            with c.when(c.let(f"icmp eq i64 {met}, {PLUS_ZERO | MINUS_ZERO}")):
                c.put_slot("1", "%task", AMBIGUOUS)


def _rows() -> str:
    f = _Function("i64", "rows", _KERNEL)
    c = f.code
    f.begin()
    results, values = f.values(), f.values()
    length, segment = f.number(LENGTH), f.number(SEGMENT)
    trees, by_rows = (c.let(f"icmp ne i64 {f.number(s)}, 0") for s in (TREES, BY_ROWS))
    in_order = c.let(f"xor i1 {trees}, true")
    packed, todo = f.number(PACKED), f.let("sub", "%last", "%first")
    many = c.let(f"icmp ne i64 {packed}, 0")
    with c.when(many), c.each(f.parts_of(todo, packed)) as b:  # several short rows in a block
        done = f.let("mul", b, packed)
        count = f.least(packed, f.let("sub", todo, done))
        start = f.let("add", "%first", done)
        where = f"i64 {f.let('mul', start, length)}", f"i64 {f.let('mul', count, length)}"
        f.call(f.given(BLOCK), "ptr %work", "ptr %args", *where)
        with c.each(f.number(FOLDS)) as j:
            target = c.let(f"getelementptr i8, ptr {f.fold(j, OUT, 'ptr')}, i64 {f.let('mul', start, f.fold(j, SIZE))}")
            at = f.let("add", f.let("mul", j, FOLD_SLOTS), HEADER + IDENTITY)
            numbers = f"i64 {f.let('mul', length, f.number(PARTS))}", f"i64 {count}", f"ptr {c.slot_at('%task', at)}"
            both = f.call(f.fold(j, MANY, "ptr"), f"ptr {target}", f"ptr {f.elements(j)}", *numbers, result="i64")
            with c.when(c.let(f"icmp ne i64 {both}, 0")):
                c.put_slot("1", "%task", AMBIGUOUS)
    with c.when(c.let(f"xor i1 {many}, true")), c.each(todo) as i:
        item = f.let("add", "%first", i)
        f.reset(results)
        with c.each(f.number(OUTER)) as o:
            row = f.let("add", f.let("mul", o, f.number(ROWS)), item)
            with c.when(by_rows):
                f.call(f.given(ROW), "ptr %work", "ptr %args", f"i64 {row}")
            base = c.let(f"select i1 {by_rows}, i64 0, i64 {f.let('mul', row, length)}")
            with c.each(f.parts_of(length, segment)) as s:
                done = f.let("mul", s, segment)
                what = f"i64 {f.let('add', base, done)}", f"i64 {f.least(segment, f.let('sub', length, done))}"
                with c.when(trees):
                    f.reset(values)
                    f.call("@walk", "ptr %work, ptr %args, ptr %task", f"ptr {values}", *what)
                    _unite(f, WRITE, results, values)
                with c.when(in_order):
                    f.call("@scan", "ptr %work, ptr %args, ptr %task", f"ptr {results}", *what)
        _keep(f, results, item)
    return f.finish()


def _pieces() -> str:
    f = _Function("i64", "pieces", _KERNEL)
    c = f.code
    f.begin()
    trees = c.let(f"icmp ne i64 {f.number(TREES)}, 0")
    in_order = c.let(f"xor i1 {trees}, true")
    with c.each(f.let("sub", "%last", "%first")) as i:
        item = f.let("add", "%first", i)
        values = c.slot_at(f.given(VALUES), f.let("mul", item, f.let("mul", f.number(FOLDS), VALUE_SLOTS)))
        piece = c.slot_at(f.given(PIECES), f.let("mul", item, 2))
        what = "ptr %work, ptr %args, ptr %task", f"ptr {values}", f"i64 {c.slot(piece, 0)}", f"i64 {c.slot(piece, 1)}"
        f.reset(values)
        for condition, walk in ((trees, "@walk"), (in_order, "@scan")):
            with c.when(condition):
                f.call(walk, *what)
    return f.finish()


def _gather() -> str:
    """The tree whose lowest nodes are the pieces; ``next`` counts them."""
    f = _Function("void", "gather", "ptr %task, ptr %values, i64 %n, ptr %next")
    c = f.code
    c.put(f" br i1 {c.let(f'icmp ule i64 %n, {f.number(CUT)}')}, label %small, label %large\nsmall:")
    piece = c.slot("%next", 0)
    words = f.let("mul", f.number(FOLDS), VALUE_SLOTS)
    source = c.slot_at(f.given(VALUES), f.let("mul", piece, words))
    with c.each(words) as k:
        c.put_slot(c.slot(source, k), "%values", k)
    c.put_slot(f.let("add", piece, 1), "%next", 0)
    c.put(" ret void\nlarge:")
    left = _left(f)
    others = f.values()
    f.call("@gather", "ptr %task", "ptr %values", f"i64 {left}", "ptr %next")
    f.call("@gather", "ptr %task", f"ptr {others}", f"i64 {f.let('sub', '%n', left)}", "ptr %next")
    _unite(f, JOIN, "%values", others)
    return f.end()


def _join() -> str:
    f = _Function("i64", "join", _KERNEL)
    c = f.code
    f.begin()
    results, values, following = f.values(), f.values(), c.let("alloca i64, align 8")
    c.put_slot("0", following, 0)
    f.reset(results)
    length, segment = f.number(LENGTH), f.number(SEGMENT)
    trees = c.let(f"icmp ne i64 {f.number(TREES)}, 0")
    with c.when(trees), c.each(f.parts_of(length, segment)) as s:
        n = f.least(segment, f.let("sub", length, f.let("mul", s, segment)))
        f.call("@gather", "ptr %task", f"ptr {values}", f"i64 {n}", f"ptr {following}")
        _unite(f, WRITE, results, values)
    with c.when(c.let(f"xor i1 {trees}, true")), c.each(f.number(PIECE_COUNT)) as piece:
        words = f.let("mul", f.number(FOLDS), VALUE_SLOTS)
        _unite(f, WRITE, results, c.slot_at(f.given(VALUES), f.let("mul", piece, words)))
    _keep(f, results, "0")
    return f.finish()


def _columns() -> str:
    f = _Function("i64", "columns", _KERNEL)
    c = f.code
    f.begin()
    length, reduced, limit, packed = (f.number(s) for s in (LENGTH, REDUCED, LIMIT, PACKED))
    by_rows, many = (c.let(f"icmp ne i64 {x}, 0") for x in (f.number(BY_ROWS), packed))

    def accumulate(at: str, offset: str, count: str) -> None:
        with c.each(f.number(FOLDS)) as j:
            size = f.fold(j, SIZE)
            result = c.let(f"getelementptr i8, ptr {f.fold(j, OUT, 'ptr')}, i64 {f.let('mul', at, size)}")
            elements = c.let(f"getelementptr i8, ptr {f.elements(j)}, i64 {f.let('mul', offset, size)}")
            n = f.let("mul", count, f.number(PARTS))
            f.call(f.fold(j, ACCUMULATE, "ptr"), f"ptr {result}", f"ptr {elements}", f"i64 {n}")

    with c.each(f.let("sub", "%last", "%first")) as i:
        outer = f.let("add", "%first", i)
        start, target = f.let("mul", outer, reduced), f.let("mul", outer, length)
        with c.when(many), c.each(f.parts_of(reduced, packed)) as b:
            done = f.let("mul", b, packed)
            count = f.least(packed, f.let("sub", reduced, done))
            first = f.let("mul", f.let("add", start, done), length)
            size = f.let("mul", count, length)
            f.call(f.given(BLOCK), "ptr %work", "ptr %args", f"i64 {first}", f"i64 {size}")
            with c.each(count) as q:
                accumulate(target, f.let("mul", q, length), length)
        with c.when(c.let(f"xor i1 {many}, true")), c.each(f.parts_of(f.let("sub", "%c1", "%c0"), limit)) as b:
            column = f.let("add", "%c0", f.let("mul", b, limit))
            m = f.least(limit, f.let("sub", "%c1", column))
            with c.each(reduced) as r:
                row = f.let("add", start, r)
                with c.when(by_rows):
                    f.call(f.given(ROW), "ptr %work", "ptr %args", f"i64 {row}")
                base = c.let(f"select i1 {by_rows}, i64 0, i64 {f.let('mul', row, length)}")
                f.call(f.given(BLOCK), "ptr %work", "ptr %args", f"i64 {f.let('add', base, column)}", f"i64 {m}")
                accumulate(f.let("add", target, column), "0", m)
    return f.finish()


def module_text() -> str:
    """IR of the walks."""
    return "".join(g() for g in (_reset, _leaf, _walk, _scan, _rows, _pieces, _gather, _join, _columns))
