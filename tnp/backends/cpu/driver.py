"""What walks over rows and blocks: functions compiled once per machine, the same for all kernels.

A fused group compiles only its arithmetic, as segments (see `emit`); a program says in which order segments and NumPy's
loops run on a block of up to 1024 elements. The functions here interpret that program:

    i64 run(args, row0, row1, first, last)    a whole elementwise kernel; returns the floating-point flags
    i64 strided(args, row0, row1, first, last)    the same for a kernel whose one segment goes from row to row itself
    i64 replacing(args, report, row0, row1, slab)    the same for results that replace leaves, some rows at a time
    i64 guarded(args, found, watched, first, last)    the same for results that replace what they are made from
    i64 workspace(args)                       bytes that `start` needs, 64-byte aligned
    void start(work, args)                    once per thread: addresses; clears the floating-point status
    void row(work, args, r)                   addresses of row r
    void block(work, args, first, count)      the steps for elements first ... first+count-1 of that row
    i64 finish(work, args)                    puts the status back; the flags, in the processor's order of bits

A reduction calls the last five from its own function. After `block` a result that was wanted as SCRATCH lies,
contiguous, at the address in slot ``PLACES + operand`` of ``work`` (operands: leaves first, then outputs).

`guarded` computes blocks of BLOCK_LENGTH elements of one row; outputs reached as SCRATCH are copied to their
destination when a block is done, unless it raised one of the flags ``watched``: then nothing of these outputs is
stored, and the block's first element is noted in ``found`` (their number, then each).

All of this is 64-bit slots. ``args``: the program's address, one address for every operand (SCALAR: of the value;
otherwise of the array object's data field; SCRATCH: unused), then the shape (of `dims` numbers) and each operand's
strides. The program: the numbers named below, then OPERAND_SLOTS for each operand, an offset for each block of
scratch memory, and INSTRUCTION_SLOTS for each instruction.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tnp.backends.cpu.ir import Code

# Slots of the program
OPERANDS, LEAVES, DIMS, BY_ROWS, BLOCK_LENGTH, WIDTH, PLACE_COUNT, SCRATCH_BYTES, INSTRUCTIONS, HEADER = range(10)
# Slots of an operand: how it is reached, bytes an element, gather or scatter, its scratch, memory for its remainder
HOW, SIZE, MOVER, OWN, TAIL, OPERAND_SLOTS = range(6)
DIRECT, ROW_VALUE, SIDE_BY_SIDE, MOVED, WORK = range(5)
# Slots of an instruction: a segment (function) or a loop (function, context, auxdata, bytes of a result element,
# number of arguments, then the place and the step of each)
KIND, FUNCTION, CONTEXT, AUXDATA, RESULT_SIZE, COUNT, ARGUMENTS, INSTRUCTION_SLOTS = 0, 1, 2, 3, 4, 5, 6, 16
SEGMENT, NUMPY_LOOP = 0, 1
# Slots of the workspace: flags seen, the status word before, memory for calls; then three tables of addresses
SEEN, SAVED, STATUS, CALL_COUNT, CALL_POINTERS, CALL_STEPS, PLACES = 0, 1, 2, 3, 4, 9, 16
NO_TAIL = -1

CORE = ("run", "workspace", "start", "row", "block", "keep_flags", "finish")  # the others are `walk_text`'s


class _Function:
    """One function's text, with shorthands for the program."""

    def __init__(self, result: str, name: str, parameters: str) -> None:
        self.code = Code(2)
        self.head = f"define {result} @{name}({parameters}) strictfp {{\nentry:\n"
        self.program = self.code.slot("%args", 0, "ptr")

    def number(self, slot: int) -> str:
        return self.code.slot(self.program, slot)

    def operand(self, k: str, slot: int) -> str:
        at = self.code.let(f"mul i64 {k}, {OPERAND_SLOTS}")
        return self.code.slot(self.program, self.code.let(f"add i64 {at}, {HEADER + slot}"))

    def table(self, which: int) -> str:
        """Addresses of the block (0), of its padded remainder (1), of the row (2)."""
        size = self.code.let(f"mul i64 {self.number(PLACE_COUNT)}, {which}")
        return self.code.slot_at("%work", self.code.let(f"add i64 {size}, {PLACES}"))

    def scratch(self) -> str:
        """The workspace after its tables, at a multiple of 64 bytes."""
        c = self.code
        size = c.let(f"mul i64 {self.number(PLACE_COUNT)}, 24")
        size = c.let(f"and i64 {c.let(f'add i64 {size}, {8 * PLACES + 63}')}, -64")
        return c.let(f"getelementptr i8, ptr %work, i64 {size}")

    def offset(self, pointer: str, bytes_: str) -> str:
        return self.code.let(f"getelementptr i8, ptr {pointer}, i64 {bytes_}")

    def is_(self, value: str, number: int) -> str:
        return self.code.let(f"icmp eq i64 {value}, {number}")

    def call(self, name: str, *arguments: str) -> None:
        self.code.put(f" call void @{name}({', '.join(arguments)}) strictfp")

    def end(self, result: str = "void") -> str:
        return self.head + "\n".join(self.code.lines) + f"\n ret {result}\n}}\n"


def _workspace() -> str:
    f = _Function("i64", "workspace", "ptr %args")
    c = f.code
    tables = c.let(f"mul i64 {f.number(PLACE_COUNT)}, 24")
    size = c.let(f"add i64 {c.let(f'add i64 {tables}, {8 * PLACES + 64}')}, {f.number(SCRATCH_BYTES)}")
    return f.end(f"i64 {size}")


def _start() -> str:
    f = _Function("void", "start", "ptr %work, ptr %args")
    c = f.code
    blocks, tails, rows, scratch = f.table(0), f.table(1), f.table(2), f.scratch()
    operands = f.number(OPERANDS)
    with c.each(operands) as k:
        how = f.operand(k, HOW)
        place = c.slot_at("%args", c.let(f"add i64 {k}, 1"))
        address = c.let(f"load ptr, ptr {place}")
        c.put_slot(address, rows, k, "ptr")
        own = f.offset(scratch, f.operand(k, OWN))
        with c.when(f.is_(how, WORK)):
            c.put_slot(own, rows, k, "ptr")
        array = c.let(f"and i1 {c.let(f'icmp ne i64 {how}, {WORK}')}, {c.let(f'icmp ne i64 {how}, {DIRECT}')}")
        with c.when(array):
            c.put_slot(c.let(f"load ptr, ptr {address}"), rows, k, "ptr")
        c.put_slot(c.slot(rows, k, "ptr"), blocks, k, "ptr")
        c.put_slot(c.slot(rows, k, "ptr"), tails, k, "ptr")
    offsets = c.let(f"add i64 {c.let(f'mul i64 {operands}, {OPERAND_SLOTS}')}, {HEADER}")
    with c.each(c.let(f"sub i64 {f.number(PLACE_COUNT)}, {operands}")) as k:
        at = f.offset(scratch, c.slot(f.program, c.let(f"add i64 {offsets}, {k}")))
        place = c.let(f"add i64 {operands}, {k}")
        c.put_slot(at, blocks, place, "ptr")
        c.put_slot(at, tails, place, "ptr")
    # the floating-point status: remembered, then cleared (NumPy's loops may also set the old unit's)
    c.put(f" call void @llvm.x86.sse.stmxcsr(ptr {c.slot_at('%work', SAVED)})")
    _clear_status(c)
    return f.end()


def _clear_status(c: Code) -> None:
    saved, status = c.slot_at("%work", SAVED), c.slot_at("%work", STATUS)
    c.put_slot("0", "%work", SEEN)
    c.put_slot("0", "%work", STATUS)
    old = c.let(f"load volatile i32, ptr {saved}")
    c.put(f" store volatile i32 {c.let(f'and i32 {old}, -64')}, ptr {status}")
    c.put(f" call void @llvm.x86.sse.ldmxcsr(ptr {status})")
    c.put(' call void asm sideeffect "fnclex", "~{fpsr},~{dirflag},~{flags}"()')


def _begin_anew(c: Code, seen: str, total: str) -> None:
    """Add the flags `seen` in a part of the work to `total`, so that those of the next part are its own."""
    with c.when(c.let(f"icmp ne i64 {c.let(f'and i64 {seen}, 63')}, 0")):
        before = c.let(f"load i64, ptr {total}")
        c.put(f" store i64 {c.let(f'or i64 {seen}, {before}')}, ptr {total}")
        _clear_status(c)


def _keep_flags() -> str:
    """Remember the flags raised so far: some of NumPy's loops clear them."""
    f = _Function("void", "keep_flags", "ptr %work, ptr %args")
    c = f.code
    c.put(f" call void @llvm.x86.sse.stmxcsr(ptr {c.slot_at('%work', STATUS)})")
    word = c.let('call i16 asm sideeffect "fnstsw $0", "={ax},~{dirflag},~{fpsr},~{flags}"()')
    status = c.let(f"or i64 {c.slot('%work', STATUS)}, {c.let(f'zext i16 {word} to i64')}")
    c.put_slot(c.let(f"or i64 {c.slot('%work', SEEN)}, {status}"), "%work", SEEN)
    return f.end()


def _finish() -> str:
    f = _Function("i64", "finish", "ptr %work, ptr %args")
    c = f.code
    f.call("keep_flags", "ptr %work", "ptr %args")
    c.put(f" call void @llvm.x86.sse.ldmxcsr(ptr {c.slot_at('%work', SAVED)})")
    seen = c.slot("%work", SEEN)
    return f.end(f"i64 {c.let(f'and i64 {seen}, 63')}")


def _row() -> str:
    """Counts over all dimensions but the last."""
    f = _Function("void", "row", "ptr %work, ptr %args, i64 %r")
    c = f.code
    rows, blocks, tails, operands, dims = f.table(2), f.table(0), f.table(1), f.number(OPERANDS), f.number(DIMS)
    shape = c.slot_at("%args", c.let(f"add i64 {operands}, 1"))
    outer = c.let(f"sub i64 {dims}, 1")

    @contextmanager
    def arrays() -> Iterator[str]:
        with c.each(operands) as k:
            how = f.operand(k, HOW)
            array = c.let(f"and i1 {c.let(f'icmp ne i64 {how}, {WORK}')}, {c.let(f'icmp ne i64 {how}, {DIRECT}')}")
            with c.when(array):
                yield k

    with arrays() as k:
        address = c.let(f"load ptr, ptr {c.slot('%args', c.let(f'add i64 {k}, 1'), 'ptr')}")
        c.put_slot(address, rows, k, "ptr")
    c.put_slot("%r", "%work", CALL_COUNT)
    with c.each(outer) as n:
        d = c.let(f"sub i64 {c.let(f'sub i64 {outer}, {n}')}, 1")
        rest, length = c.slot("%work", CALL_COUNT), c.slot(shape, d)
        quotient = c.let(f"udiv i64 {rest}, {length}")
        c.put_slot(quotient, "%work", CALL_COUNT)
        index = c.let(f"sub i64 {rest}, {c.let(f'mul i64 {quotient}, {length}')}")
        with arrays() as k:
            following = c.let(f"add i64 {k}, 1")
            strides = c.slot_at(shape, c.let(f"mul i64 {dims}, {following}"))
            moved = f.offset(c.slot(rows, k, "ptr"), c.let(f"mul i64 {index}, {c.slot(strides, d)}"))
            c.put_slot(moved, rows, k, "ptr")
    with arrays() as k:
        for table in (blocks, tails):
            c.put_slot(c.slot(rows, k, "ptr"), table, k, "ptr")
    return f.end()


def _block() -> str:
    f = _Function("void", "block", "ptr %work, ptr %args, i64 %first, i64 %m")
    c = f.code
    blocks, tails, rows, scratch = f.table(0), f.table(1), f.table(2), f.scratch()
    operands, leaves, width = f.number(OPERANDS), f.number(LEAVES), f.number(WIDTH)
    whole = c.let(f"and i64 %m, {c.let(f'sub i64 0, {width}')}")
    rest = c.let(f"sub i64 %m, {whole}")
    ragged = c.let(f"icmp ne i64 {rest}, 0")
    up = c.let(f"add i64 {whole}, {width}")
    one = c.let(f"icmp ne i64 {f.number(BY_ROWS)}, 0")
    counted = c.let(f"select i1 {one}, i64 1, i64 {f.number(DIMS)}")  # dimensions that elements are counted over
    skip = c.let(f"sub i64 {f.number(DIMS)}, {counted}")
    shape = c.slot_at("%args", c.let(f"add i64 {operands}, 1"))

    def move(k: str) -> None:
        before = c.let(f"mul i64 {f.number(DIMS)}, {c.let(f'add i64 {k}, 1')}")
        mine = c.let(f"add i64 {before}, {skip}")
        mover = c.let(f"inttoptr i64 {f.operand(k, MOVER)} to ptr")
        numbers = f"i64 {counted}, i64 %first, i64 %m, i64 {f.operand(k, SIZE)}"
        c.put(
            f" call void {mover}(ptr {c.slot(blocks, k, 'ptr')}, ptr {c.slot(rows, k, 'ptr')}, "
            f"ptr {c.slot_at(shape, skip)}, ptr {c.slot_at(shape, mine)}, {numbers}) strictfp"
        )

    with c.each(operands) as k:
        how, size = f.operand(k, HOW), f.operand(k, SIZE)
        with c.when(f.is_(how, SIDE_BY_SIDE)):
            c.put_slot(f.offset(c.slot(rows, k, "ptr"), c.let(f"mul i64 %first, {size}")), blocks, k, "ptr")
        with c.when(f.is_(how, MOVED)):
            own = f.offset(scratch, f.operand(k, OWN))
            c.put_slot(own, blocks, k, "ptr")
            c.put_slot(own, tails, k, "ptr")
            with c.when(c.let(f"icmp slt i64 {k}, {leaves}")):
                move(k)
                with c.when(ragged):
                    end = f.offset(own, c.let(f"mul i64 {whole}, {size}"))
                    f.call("pad", f"ptr {end}", f"ptr {end}", f"i64 {rest}", f"i64 {width}", f"i64 {size}")
        tail = f.operand(k, TAIL)
        with c.when(c.let(f"and i1 {ragged}, {c.let(f'icmp ne i64 {tail}, {NO_TAIL}')}")):
            memory, done = f.offset(scratch, tail), c.let(f"mul i64 {whole}, {size}")
            c.put_slot(f.offset(memory, c.let(f"sub i64 0, {done}")), tails, k, "ptr")
            with c.when(c.let(f"icmp slt i64 {k}, {leaves}")):
                end = f.offset(c.slot(blocks, k, "ptr"), done)
                f.call("pad", f"ptr {memory}", f"ptr {end}", f"i64 {rest}", f"i64 {width}", f"i64 {size}")
    spaces = c.let(f"sub i64 {f.number(PLACE_COUNT)}, {operands}")
    begin = c.let(f"add i64 {c.let(f'mul i64 {operands}, {OPERAND_SLOTS}')}, {spaces}")
    begin = c.slot_at(f.program, c.let(f"add i64 {begin}, {HEADER}"))
    with c.each(f.number(INSTRUCTIONS)) as n:
        at = c.slot_at(begin, c.let(f"mul i64 {n}, {INSTRUCTION_SLOTS}"))
        kind, function = c.slot(at, KIND), c.slot(at, FUNCTION, "ptr")
        with c.when(f.is_(kind, SEGMENT)):
            with c.when(c.let(f"icmp ne i64 {whole}, 0")):
                c.put(f" call void {function}(ptr {blocks}, i64 0, i64 {whole}) strictfp")
            with c.when(ragged):
                c.put(f" call void {function}(ptr {tails}, i64 {whole}, i64 {up}) strictfp")
        with c.when(f.is_(kind, NUMPY_LOOP)):
            pointers, steps, count = (c.slot_at("%work", s) for s in (CALL_POINTERS, CALL_STEPS, CALL_COUNT))
            with c.each(c.slot(at, COUNT)) as a:
                argument = c.slot_at(at, c.let(f"add i64 {c.let(f'mul i64 {a}, 2')}, {ARGUMENTS}"))
                place = c.slot(blocks, c.slot(argument, 0), "ptr")
                c.put_slot(place, pointers, a, "ptr")
                c.put_slot(c.slot(argument, 1), steps, a)
                c.put_slot(place, "%work", PLACES - 1, "ptr")  # the last is the result
            c.put_slot("%m", "%work", CALL_COUNT)
            f.call("keep_flags", "ptr %work", "ptr %args")
            context, auxdata = c.slot(at, CONTEXT, "ptr"), c.slot(at, AUXDATA, "ptr")
            c.let(
                f"call i32 {function}(ptr {context}, ptr {pointers}, ptr {count}, ptr {steps}, ptr {auxdata}) strictfp"
            )
            size = c.slot(at, RESULT_SIZE)  # 0: goes straight to its destination
            with c.when(c.let(f"and i1 {ragged}, {c.let(f'icmp ne i64 {size}, 0')}")):
                end = f.offset(c.slot("%work", PLACES - 1, "ptr"), c.let(f"mul i64 {whole}, {size}"))
                f.call("pad", f"ptr {end}", f"ptr {end}", f"i64 {rest}", f"i64 {width}", f"i64 {size}")
    with c.each(c.let(f"sub i64 {operands}, {leaves}")) as o:
        k = c.let(f"add i64 {o}, {leaves}")
        size, tail = f.operand(k, SIZE), f.operand(k, TAIL)
        with c.when(c.let(f"and i1 {ragged}, {c.let(f'icmp ne i64 {tail}, {NO_TAIL}')}")):
            end = f.offset(c.slot(blocks, k, "ptr"), c.let(f"mul i64 {whole}, {size}"))
            f.call("copy", f"ptr {end}", f"ptr {f.offset(scratch, tail)}", f"i64 {c.let(f'mul i64 {rest}, {size}')}")
        with c.when(f.is_(f.operand(k, HOW), MOVED)):
            move(k)
    return f.end()


def _run() -> str:
    f = _Function("i64", "run", "ptr %args, i64 %r0, i64 %r1, i64 %c0, i64 %c1")
    c = f.code
    memory = c.let(f"alloca i8, i64 {c.let('call i64 @workspace(ptr %args)')}, align 64")
    f.code.put(f" %work = getelementptr i8, ptr {memory}, i64 0")
    f.call("start", "ptr %work", "ptr %args")
    by_rows = c.let(f"icmp ne i64 {f.number(BY_ROWS)}, 0")
    length = f.number(BLOCK_LENGTH)
    size = c.let("sub i64 %c1, %c0")
    short = c.let(f"sub i64 {length}, 1")
    blocks = c.let(f"udiv i64 {c.let(f'add i64 {size}, {short}')}, {length}")
    with c.each(c.let("sub i64 %r1, %r0")) as n:
        with c.when(by_rows):
            f.call("row", "ptr %work", "ptr %args", f"i64 {c.let(f'add i64 %r0, {n}')}")
        with c.each(blocks) as b:
            done = c.let(f"mul i64 {b}, {length}")
            left = c.let(f"sub i64 {size}, {done}")
            m = c.let(f"select i1 {c.let(f'icmp ult i64 {left}, {length}')}, i64 {left}, i64 {length}")
            f.call("block", "ptr %work", "ptr %args", f"i64 {c.let(f'add i64 %c0, {done}')}", f"i64 {m}")
    return f.end(f"i64 {c.let('call i64 @finish(ptr %work, ptr %args)')}")


class _Rows:
    """What functions over rows know: `steps` are those of operands from row to row, `dims` slots apart."""

    def __init__(self, f: _Function) -> None:
        c = f.code
        self.f, operands = f, f.number(OPERANDS)
        self.dims = f.number(DIMS)
        shape = c.slot_at("%args", c.let(f"add i64 {operands}, 1"))
        self.columns = c.slot(shape, c.let(f"sub i64 {self.dims}, 1"))
        across = c.let(f"sub i64 {self.dims}, 2")
        self.steps = c.slot_at(shape, c.let(f"add i64 {self.dims}, {across}"))
        self.length = c.slot(shape, across)
        function = c.let(f"add i64 {c.let(f'mul i64 {operands}, {OPERAND_SLOTS}')}, {HEADER + FUNCTION}")
        self.segment = c.slot(f.program, function, "ptr")

    def step(self, k: str) -> str:
        return self.f.code.slot(self.steps, self.f.code.let(f"mul i64 {self.dims}, {k}"))

    @contextmanager
    def planes(self, row0: str, row1: str) -> Iterator[tuple[str, str]]:
        """Rows that lie evenly: the first of them, to which the places are set, and how many."""
        c, length = self.f.code, self.length
        first = c.let(f"udiv i64 {row0}, {length}")
        last = c.let(f"udiv i64 {c.let(f'sub i64 {row1}, 1')}, {length}")
        with c.each(c.let(f"sub i64 {c.let(f'add i64 {last}, 1')}, {first}")) as n:
            begin = c.let(f"mul i64 {c.let(f'add i64 {first}, {n}')}, {length}")
            end = c.let(f"add i64 {begin}, {length}")
            begin = c.let(f"select i1 {c.let(f'icmp slt i64 {begin}, {row0}')}, i64 {row0}, i64 {begin}")
            end = c.let(f"select i1 {c.let(f'icmp slt i64 {end}, {row1}')}, i64 {end}, i64 {row1}")
            self.f.call("row", "ptr %work", "ptr %args", f"i64 {begin}")
            yield begin, c.let(f"sub i64 {end}, {begin}")


def _strided() -> str:
    """Plane by plane: the segment advances from row to row, and its last vector of a row overlaps the one before."""
    f = _Function("i64", "strided", "ptr %args, i64 %r0, i64 %r1, i64 %c0, i64 %c1")
    c = f.code
    c.put(f" %work = alloca i8, i64 {c.let('call i64 @workspace(ptr %args)')}, align 64")
    f.call("start", "ptr %work", "ptr %args")
    rows, places = _Rows(f), f.table(0)
    with rows.planes("%r0", "%r1") as (_, count):
        numbers = f"i64 {rows.dims}, i64 {count}, i64 %c0, i64 %c1"
        c.put(f" call void {rows.segment}(ptr {places}, ptr {rows.steps}, {numbers}) strictfp")
    return f.end(f"i64 {c.let('call i64 @finish(ptr %work, ptr %args)')}")


# Slots of a report: flags to watch, memory for the copies (each at a multiple of COPY_ALIGNED bytes, with as many to
# spare), and pairs of leaf and output; after these, how many slabs raised such flags and the first row of each
WATCHED, COPIES, PAIR_COUNT, PAIRS = 0, 1, 2, 3
COPY_ALIGNED = 64


def _replacing() -> str:
    """What outputs replace is copied aside, a slab of rows at a time; the segment reads the copy."""
    f = _Function("i64", "replacing", "ptr %args, ptr %report, i64 %r0, i64 %r1, i64 %slab")
    c = f.code
    c.put(f" %work = alloca i8, i64 {c.let('call i64 @workspace(ptr %args)')}, align 64")
    total, steps = c.let("alloca i64"), c.let(f"alloca i64, i64 {f.number(OPERANDS)}")
    c.put(f" store i64 0, ptr {total}")
    f.call("start", "ptr %work", "ptr %args")
    rows, places = _Rows(f), f.table(0)
    watched, pairs = c.slot("%report", WATCHED), c.slot("%report", PAIR_COUNT)
    with c.each(f.number(OPERANDS)) as k:
        c.put_slot(rows.step(k), steps, k)
    memory = c.slot("%report", COPIES, "ptr")  # one after another: the copies of the pairs
    all_bytes = c.let("alloca i64")
    c.put(f" store i64 0, ptr {all_bytes}")
    copies = c.let(f"alloca i64, i64 {pairs}")

    def pair(p: str, which: int) -> str:
        return c.slot("%report", c.let(f"add i64 {c.let(f'mul i64 {p}, 2')}, {PAIRS + which}"))

    with c.each(pairs) as p:
        leaf = pair(p, 0)
        row_bytes = c.let(f"mul i64 {rows.columns}, {f.operand(leaf, SIZE)}")
        c.put_slot(row_bytes, steps, leaf)
        before = c.let(f"load i64, ptr {all_bytes}")
        c.put_slot(before, copies, p)
        size = c.let(f"mul i64 {row_bytes}, %slab")
        size = c.let(f"and i64 {c.let(f'add i64 {size}, {2 * COPY_ALIGNED - 1}')}, -{COPY_ALIGNED}")
        c.put(f" store i64 {c.let(f'add i64 {before}, {size}')}, ptr {all_bytes}")
    found = c.slot_at("%report", c.let(f"add i64 {c.let(f'mul i64 {pairs}, 2')}, {PAIRS}"))

    def move(start: str, begin: str, count: str, back: bool) -> None:
        """Copy rows of each pair aside, or back."""
        with c.each(pairs) as p:
            leaf = pair(p, 0)
            operand = pair(p, 1) if back else leaf
            bytes_, step = c.slot(steps, leaf), rows.step(operand)
            done = c.let(f"mul i64 {c.let(f'sub i64 {begin}, {start}')}, {bytes_}")
            aside = f.offset(f.offset(memory, c.slot(copies, p)), done)
            place = c.slot(places, operand, "ptr")
            with c.each(count) as n:
                here = f.offset(place, c.let(f"mul i64 {n}, {step}"))
                there = f.offset(aside, c.let(f"mul i64 {n}, {bytes_}"))
                to, source = (here, there) if back else (there, here)
                f.call("copy", f"ptr {to}", f"ptr {source}", f"i64 {bytes_}")
            if not back:
                c.put_slot(aside, places, leaf, "ptr")

    size, short = c.let("sub i64 %r1, %r0"), c.let("sub i64 %slab, 1")
    with c.each(c.let(f"udiv i64 {c.let(f'add i64 {size}, {short}')}, %slab")) as n:
        start = c.let(f"add i64 %r0, {c.let(f'mul i64 {n}, %slab')}")
        stop = c.let(f"add i64 {start}, %slab")
        stop = c.let(f"select i1 {c.let(f'icmp slt i64 {stop}, %r1')}, i64 {stop}, i64 %r1")
        with rows.planes(start, stop) as (begin, count):
            move(start, begin, count, False)
            numbers = f"i64 1, i64 {count}, i64 0, i64 {rows.columns}"
            c.put(f" call void {rows.segment}(ptr {places}, ptr {steps}, {numbers}) strictfp")
        f.call("keep_flags", "ptr %work", "ptr %args")
        seen = c.slot("%work", SEEN)
        with c.when(c.let(f"icmp ne i64 {c.let(f'and i64 {seen}, {watched}')}, 0")):
            slabs = c.let(f"add i64 {c.slot(found, 0)}, 1")
            c.put_slot(slabs, found, 0)
            c.put_slot(start, found, slabs)
            with rows.planes(start, stop) as (begin, count):
                move(start, begin, count, True)
        _begin_anew(c, seen, total)
    c.put_slot(c.let(f"load i64, ptr {total}"), "%work", SEEN)
    return f.end(f"i64 {c.let('call i64 @finish(ptr %work, ptr %args)')}")


def _guarded() -> str:
    f = _Function("i64", "guarded", "ptr %args, ptr %found, i64 %watched, i64 %first, i64 %last")
    c = f.code
    c.put(f" %work = alloca i8, i64 {c.let('call i64 @workspace(ptr %args)')}, align 64")
    total = c.let("alloca i64")
    c.put(f" store i64 0, ptr {total}")
    f.call("start", "ptr %work", "ptr %args")
    length, leaves = f.number(BLOCK_LENGTH), f.number(LEAVES)
    outputs = c.let(f"sub i64 {f.number(OPERANDS)}, {leaves}")
    size, short = c.let("sub i64 %last, %first"), c.let(f"sub i64 {length}, 1")
    with c.each(c.let(f"udiv i64 {c.let(f'add i64 {size}, {short}')}, {length}")) as b:
        done = c.let(f"mul i64 {b}, {length}")
        left, at = c.let(f"sub i64 {size}, {done}"), c.let(f"add i64 %first, {done}")
        m = c.let(f"select i1 {c.let(f'icmp ult i64 {left}, {length}')}, i64 {left}, i64 {length}")
        f.call("block", "ptr %work", "ptr %args", f"i64 {at}", f"i64 {m}")
        f.call("keep_flags", "ptr %work", "ptr %args")
        seen = c.slot("%work", SEEN)
        flagged = c.let(f"icmp ne i64 {c.let(f'and i64 {seen}, %watched')}, 0")
        with c.when(flagged):
            count = c.let(f"add i64 {c.slot('%found', 0)}, 1")
            c.put_slot(count, "%found", 0)
            c.put_slot(at, "%found", count)
        with c.when(c.let(f"xor i1 {flagged}, true")), c.each(outputs) as o:
            k = c.let(f"add i64 {o}, {leaves}")
            with c.when(f.is_(f.operand(k, HOW), WORK)):
                bytes_ = f.operand(k, SIZE)
                array = c.slot("%args", c.let(f"add i64 {k}, 1"), "ptr")
                target = f.offset(c.let(f"load ptr, ptr {array}"), c.let(f"mul i64 {at}, {bytes_}"))
                source = c.slot("%work", c.let(f"add i64 {k}, {PLACES}"), "ptr")
                f.call("copy", f"ptr {target}", f"ptr {source}", f"i64 {c.let(f'mul i64 {m}, {bytes_}')}")
        _begin_anew(c, seen, total)
    c.put_slot(c.let(f"load i64, ptr {total}"), "%work", SEEN)
    return f.end(f"i64 {c.let('call i64 @finish(ptr %work, ptr %args)')}")


_STATUS_WORD = "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)\n"


def core_text() -> str:
    """IR of the functions that every kernel needs; they call `copy` and `pad` of `helpers`."""
    return _STATUS_WORD + "".join(part() for part in (_keep_flags, _workspace, _start, _finish, _row, _block, _run))


def walk_text(name: str) -> str:
    """IR of ``strided``, ``replacing`` or ``guarded``; they call the functions of `core_text`."""
    declared = "".join(
        f"declare {result} @{function}({parameters})\n"
        for result, function, parameters in [
            ("i64", "workspace", "ptr"),
            ("void", "start", "ptr, ptr"),
            ("void", "row", "ptr, ptr, i64"),
            ("void", "block", "ptr, ptr, i64, i64"),
            ("void", "keep_flags", "ptr, ptr"),
            ("i64", "finish", "ptr, ptr"),
            ("void", "copy", "ptr, ptr, i64"),
        ]
    )
    return _STATUS_WORD + declared + {"strided": _strided, "replacing": _replacing, "guarded": _guarded}[name]()
