"""The emitted nodes of a plan as LLVM IR, and the program that runs them (see `driver`).

Nodes are put into segments: a segment is one function, ``void seg<n>(places, from, to)``, that runs over elements
from ... to-1 (whole vectors) and keeps values in registers; between segments run the NumPy loops, on scratch memory
of one block a value. ``places`` is the driver's table of addresses.

A program of one segment may go from row to row itself (`Program.strided`): ``void seg0(places, steps, dims, count,
from, to)`` runs over these columns of ``count`` rows, the first of which begin at ``places``; ``steps[k * dims]`` leads
from a row of operand k to its next. The last vector of a row ends where the row does, so it does some elements of the
vector before again. They get the same values and raise the same flags, unless a result replaces what it is made from:
such programs are not made so.

Another kind of kernel (a reduction) makes a `Program` whose wanted steps are outputs reached as SCRATCH, compiles its
`text`, and calls the driver's start, row, block and finish from its own function: `driver` says how.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping

from tnp.backends.cpu import casts, driver
from tnp.backends.cpu.inner_loops import BLOCK, find_loop
from tnp.backends.cpu.ir import Code, size_of
from tnp.backends.cpu.plan import Node, Plan
from tnp.backends.cpu.reach import GATHERED, ROW, SCALAR, SCRATCH, UNIT

_HOW = {SCALAR: driver.DIRECT, ROW: driver.ROW_VALUE, UNIT: driver.SIDE_BY_SIDE, GATHERED: driver.MOVED,
        SCRATCH: driver.WORK}  # fmt: skip
_UNBOUNDED = 1 << 60
# Bytes between blocks of scratch. Blocks of 8 KiB side by side would share one set of the first cache's, of eight or
# twelve lines: with 24 of them equation_of_state took 22 ms, so it takes 13. An odd number of lines reaches every set.
_APART = 5 * 64


class Program:
    """The order of work in a block, and the IR of its segments.

    Parameters
    ----------
    plan : Plan
    dims : int
        Length of the shape among a kernel's arguments; 0 where every operand is flat or one value.
    by_rows : bool
        The last dimension makes the rows. Otherwise there is one row: all elements in order.
    register_bytes : int
        Of the machine's vector registers.
    lanes : int
        A power of two that is at most the length of a row: vectors must not be wider for the program to be `strided`.
        0: it shall not be.

    Attributes
    ----------
    names : tuple of str
        The functions of its module, `text`.
    blocked : bool
        False: one segment does it all, whatever the number of elements.
    strided : bool
    """

    def __init__(self, plan: Plan, dims: int, by_rows: bool, register_bytes: int, lanes: int = 0) -> None:
        self.plan, self.dims, self.by_rows = plan, dims, by_rows
        self.loops = [i for i, n in enumerate(plan.nodes) if n.kind == "loop"]
        self.operands = len(plan.leaf_classes) + len(plan.out_classes)
        self.out_of = {node: len(plan.leaf_classes) + o for o, node in enumerate(plan.stored)}
        self.width = _vector_width(plan, register_bytes)
        self._levels()
        self._slots()
        moved = {GATHERED, SCRATCH} & set(self.classes)
        self.strided = lanes > 1 and not (self.loops or self.segments > 1 or self.slot or moved or plan.aliased)
        if lanes < 8 and any(n.code == "f2" for n in plan.nodes):  # LLVM's strict conversions: not tried on fewer
            self.strided = False
        if self.strided:
            self.width = min(self.width, lanes)
        self.register_bits = 8 * register_bytes
        self.contents = [self._content(s) for s in range(self.segments)]
        filled = [s for s, content in enumerate(self.contents) if any(content)]
        self.segment_of = {s: f"seg{n}" for n, s in enumerate(filled)}
        self.names = tuple(self.segment_of.values())
        self.strided = self.strided and bool(self.names)  # else there is nothing to do
        self.blocked = bool(self.loops) or self.segments > 1 or bool(moved)

    @property
    def classes(self) -> list[str]:
        """How each operand is reached; leaves, then outputs."""
        return self.plan.leaf_classes + self.plan.out_classes

    def _levels(self) -> None:
        """Which segment computes each node: loops as early as they can, emitted nodes as late as they can."""
        nodes, plan = self.plan.nodes, self.plan
        self.users: list[list[int]] = [[] for _ in nodes]
        early = [0] * len(nodes)
        for i, node in enumerate(nodes):
            for a in node.args:
                self.users[a].append(i)
                early[i] = max(early[i], early[a] + (nodes[a].kind == "loop"))
        late = {plan.stored[o] for o in plan.aliased}  # written when everything has been read
        self.direct = {  # loops that write straight to their destination
            i for i in plan.stored
            if nodes[i].kind == "loop" and i not in late and all(nodes[u].kind == "loop" for u in self.users[i])
        }  # fmt: skip
        stored = [i for i in plan.stored if i not in self.direct]
        last = max(early, default=0)  # of steps that nobody reads, too: they may raise flags
        last = max([last] + [early[i] + 1 for i in stored if nodes[i].kind == "loop"])
        self.level = [last] * len(nodes)
        for i in reversed(range(len(nodes))):
            if nodes[i].kind == "loop":
                self.level[i] = early[i]
            for a in nodes[i].args:
                if nodes[a].kind != "loop":
                    self.level[a] = min(self.level[a], self.level[i])
        self.segments = last + 1
        # the segment in which a stored node goes to its destination
        self.stored_in = {i: max(self.level[i], early[i] + (nodes[i].kind == "loop")) for i in stored}
        self.stored_in |= {i: last for i in stored if i in late}

    def _slots(self) -> None:
        """Scratch of one block for every value that outlives its segment; slots are used again."""
        nodes = self.plan.nodes
        until: dict[int, int] = {}
        for i, node in enumerate(nodes):
            if node.kind == "leaf":
                continue
            ends = [self.level[u] for u in self.users[i] if not node.const or nodes[u].kind == "loop"]
            if i in self.stored_in:
                ends.append(self.stored_in[i])
            to_loop = any(nodes[u].kind == "loop" for u in self.users[i])
            if node.kind == "loop":
                needed = i not in self.direct
            else:
                needed = to_loop or (not node.const and max(ends, default=0) > self.level[i])
            if needed:
                until[i] = max(ends, default=self.level[i])
        self.slot: dict[int, int] = {}
        self.slot_bytes: list[int] = []
        free_after: list[int] = []
        for i in sorted(until, key=lambda i: (self.level[i], nodes[i].kind == "loop")):
            size = BLOCK * size_of(nodes[i].code)
            fits = [s for s, b in enumerate(self.slot_bytes) if b == size and free_after[s] < self.level[i]]
            if not fits:
                fits = [len(self.slot_bytes)]
                self.slot_bytes.append(size)
                free_after.append(0)
            self.slot[i], free_after[fits[0]] = fits[0], until[i]

    def place(self, i: int) -> int:
        """Where the driver's table has the address of a node's elements."""
        if self.plan.nodes[i].kind == "leaf":
            return self.plan.nodes[i].leaf
        return self.operands + self.slot[i] if i in self.slot else self.out_of[i]

    def _content(self, s: int) -> tuple[list[int], list[int]]:
        """The nodes that a segment computes and those that it stores in an output."""
        nodes = self.plan.nodes
        mine = [i for i, n in enumerate(nodes) if n.kind in ("emit", "cast") and self.level[i] == s]
        mine = [i for i in mine if not nodes[i].const or i in self.slot or self._is_for_flags(i)]
        return mine, [i for i, when in self.stored_in.items() if when == s]

    @property
    def key(self) -> bytes:
        """All that `text` follows from, besides these modules: short, where making the text takes longer."""
        nodes = [(n.kind, n.spelled, n.code, n.args, n.const, n.leaf) for n in self.plan.nodes]
        # What is fetched before a segment runs does not show in it: only one that fetches by itself knows the ways
        reached = "".join(self.classes) if self.strided else ""
        ends = self.plan.stored, sorted(self.plan.aliased)
        return repr((nodes, reached, *ends, self.width, self.register_bits, self.strided)).encode()

    def text(self) -> str:
        """The module."""
        texts: list[str] = []
        declared: set[str] = set()
        given = "ptr %steps, i64 %dims, i64 %count, " if self.strided else ""
        bits = self.register_bits
        for s, name in self.segment_of.items():
            code = self._segment(*self.contents[s])
            declared |= code.declared
            texts.append(
                f"define void @{name}(ptr %places, {given}i64 %from, i64 %to) strictfp "
                f'"prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}" {{\nentry:\n'
                + "\n".join(code.lines) + "\n}\n"
            )  # fmt: skip
        return "\n".join([*sorted(declared), *texts])

    def _is_for_flags(self, i: int) -> bool:
        """Is the value of nobody's concern, but not what computing it raises?"""
        return not self.users[i] and i not in self.stored_in

    def _segment(self, mine: list[int], stores: list[int]) -> Code:
        """One loop over vectors. Everything is read before anything is stored."""
        c, nodes = Code(self.width), self.plan.nodes
        bases: dict[int, str] = {}
        have: dict[int, str] = {}

        def base(place: int) -> str:
            if place not in bases:
                bases[place] = c.slot("%places", place, "ptr")
            return bases[place]

        def constant(i: int) -> str:
            if i not in have:
                node = nodes[i]
                have[i] = (
                    c.load_splat(base(node.leaf), node.code) if node.kind == "leaf"
                    else self._value(c, node, [constant(a) for a in node.args])
                )  # fmt: skip
            return have[i]

        operands = [a for i in mine for a in nodes[i].args]
        needed = list(dict.fromkeys(operands + mine + stores))
        constants = [i for i in needed if nodes[i].const]
        places = [self.place(i) for i in needed if not nodes[i].const and i not in mine]
        places += [self.out_of[i] for i in stores] + [self.place(i) for i in mine if i in self.slot]
        if self.strided:
            for i in filter(self._is_fixed, constants):
                constant(i)
            rows = [k for k, how in enumerate(self.plan.leaf_classes) if how == ROW]
            advance = self._begin_row(c, dict.fromkeys(rows + places), bases)
        for i in constants:
            constant(i)
        for place in places:
            base(place)
        if self.strided:
            c.put(" br label %loop\nloop:\n %j = phi i64 [ %start, %row ], [ %next, %loop ]")
        else:
            c.put(" br label %loop\nloop:\n %j = phi i64 [ %from, %entry ], [ %next, %loop ]")

        def value(i: int) -> str:
            if i not in have:
                code = nodes[i].code
                align = 1 if nodes[i].kind == "leaf" else min(64, self.width * size_of(code))
                have[i] = c.load(c.at(base(self.place(i)), "%j", code), code, align)
            return have[i]

        for i in mine:
            if not nodes[i].const:
                have[i] = self._value(c, nodes[i], [value(a) for a in nodes[i].args])
        for i in stores:
            value(i)
        for i in mine:
            if i in self.slot:
                code = nodes[i].code
                c.store(have[i], c.at(base(self.place(i)), "%j", code), code, min(64, self.width * size_of(code)))
        for i in stores:
            c.store(have[i], c.at(base(self.out_of[i]), "%j", nodes[i].code), nodes[i].code)
        if self.strided:
            advance()
        else:
            c.put(f" %next = add i64 %j, {c.width}\n %more = icmp ult i64 %next, %to")
            c.put(" br i1 %more, label %loop, label %done\ndone:\n ret void")
        return c

    def _is_fixed(self, i: int) -> bool:
        """Is this constant the same for all rows?"""
        node = self.plan.nodes[i]
        return (
            self.plan.leaf_classes[node.leaf] == SCALAR if node.kind == "leaf" else all(map(self._is_fixed, node.args))
        )

    def _begin_row(self, c: Code, places: Iterable[int], bases: dict[int, str]) -> Callable[[], None]:
        """The loop over rows; what it returns ends the loops. Fills `bases` with the addresses of a row."""
        ends = []
        c.put(f" %last = sub i64 %to, {c.width}\n %narrow = icmp slt i64 %last, %from")
        c.put(" %start = select i1 %narrow, i64 %last, i64 %from")  # of columns: there is room, before them
        heads = []
        for place in places:
            first = c.slot("%places", place, "ptr")
            step = c.slot("%steps", c.let(f"mul i64 %dims, {place}"))
            bases[place], following = c.name("row"), c.name("row")
            heads.append(f" {bases[place]} = phi ptr [ {first}, %entry ], [ {following}, %end ]")
            ends.append(f" {following} = getelementptr i8, ptr {bases[place]}, i64 {step}")
        c.put(" br label %row\nrow:\n %r = phi i64 [ 0, %entry ], [ %below, %end ]")
        for head in heads:
            c.put(head)

        def advance() -> None:
            c.put(f" %after = add i64 %j, {c.width}\n %beyond = icmp sgt i64 %after, %last")
            c.put(" %next = select i1 %beyond, i64 %last, i64 %after\n %more = icmp slt i64 %j, %last")
            c.put(" br i1 %more, label %loop, label %end\nend:\n %below = add i64 %r, 1")
            for end in ends:
                c.put(end)
            c.put(" %again = icmp slt i64 %below, %count\n br i1 %again, label %row, label %done\ndone:\n ret void")

        return advance

    def _value(self, c: Code, node: Node, values: list[str]) -> str:
        codes = tuple(self.plan.nodes[a].code for a in node.args)
        if node.kind == "cast":
            return casts.cast(c, values[0], codes[0], node.code)
        assert node.emit is not None
        return node.emit(c, values, codes)

    def slots(self, functions: Mapping[str, int]) -> "array[int]":
        """The program itself, for the driver.

        Parameters
        ----------
        functions : mapping of str to int
            Addresses of this program's segments and of `common_functions`.
        """
        nodes = self.plan.nodes
        leaves = len(self.plan.leaf_classes)
        scratch = 0
        codes = [nodes[i].code for i in range(leaves)] + [nodes[i].code for i in self.plan.stored]
        emitted = {a for i, n in enumerate(nodes) if n.kind in ("emit", "cast") for a in n.args} | set(self.stored_in)
        table: list[int] = []
        for k, how in enumerate(self.classes):
            size = size_of(codes[k])
            entry = [_HOW[how], size, 0, 0, driver.NO_TAIL]
            if how in (GATHERED, SCRATCH):
                entry[driver.OWN] = scratch
                scratch += BLOCK * size + _APART
                if how == GATHERED:
                    entry[driver.MOVER] = functions["gather" if k < leaves else "scatter"]
            elif how == UNIT and (k in emitted if k < leaves else self.plan.stored[k - leaves] in self.stored_in):
                entry[driver.TAIL] = scratch
                scratch += -(-self.width * size // 64) * 64
            table += entry
        for size in self.slot_bytes:
            table.append(scratch)
            scratch += size + _APART
        instructions: list[int] = []
        count = 0
        for s in range(self.segments):
            if s in self.segment_of:
                instructions += [driver.SEGMENT, functions[self.segment_of[s]]] + [0] * (driver.INSTRUCTION_SLOTS - 2)
                count += 1
            for i in self.loops:
                if self.level[i] == s:
                    instructions += self._call(i)
                    count += 1
        header = [0] * driver.HEADER
        header[driver.OPERANDS], header[driver.LEAVES] = self.operands, leaves
        header[driver.DIMS], header[driver.BY_ROWS] = self.dims, self.by_rows
        header[driver.BLOCK_LENGTH] = BLOCK if self.blocked else _UNBOUNDED
        header[driver.WIDTH], header[driver.PLACE_COUNT] = self.width, self.operands + len(self.slot_bytes)
        header[driver.SCRATCH_BYTES], header[driver.INSTRUCTIONS] = scratch, count
        return array("q", header + table + instructions)

    def _call(self, i: int) -> list[int]:
        nodes, node = self.plan.nodes, self.plan.nodes[i]
        assert node.ufunc is not None
        loop = find_loop(node.ufunc, node.dtypes)
        assert loop is not None
        size = size_of(node.code)
        out = self.out_of[i] if i in self.direct else self.place(i)
        words = [driver.NUMPY_LOOP, loop.function, loop.context, loop.auxdata, 0 if i in self.direct else size]
        words += [len(node.args) + 1]
        for a in node.args:
            words += [self.place(a), 0 if nodes[a].const else size_of(nodes[a].code)]
        words += [out, size]
        return words + [0] * (driver.INSTRUCTION_SLOTS - len(words))


def _vector_width(plan: Plan, register_bytes: int) -> int:
    """Elements per vector: the most common size of element fills a register, or several where there is little to do.

    Several registers at a time are a loop unrolled, and comparisons store whole registers of bools.
    """
    sizes = [size_of(n.code) for n in plan.nodes if n.kind == "emit" and n.code != "b1"]
    sizes = sizes or [size_of(n.code) for n in plan.nodes]
    if any(n.code == "f2" for n in plan.nodes):
        return 8  # LLVM 22 aborts the process on strict conversions of 16 halves
    width = max(2, register_bytes // min(8, max(set(sizes), key=sizes.count)))
    work = sum(n.kind in ("emit", "cast") for n in plan.nodes)
    widest = max(size_of(n.code) for n in plan.nodes)
    # LLVM 22 never ends on strict operations of sixteen registers, and aborts on vectors of 256 bytes if it has to
    # split them twice
    most = max(2, min(4 * register_bytes, 128) // widest)
    return min(64, most, width * (4 if work <= 3 else 2 if work <= 6 else 1))
