"""The few functions that all kernels call: copy a remainder, and gather or scatter a block of a strided operand."""

_COPY = """
define void @copy(ptr %to, ptr %from, i64 %bytes) {
entry:
 br label %test32
test32:
 %i32 = phi i64 [ 0, %entry ], [ %in32, %move32 ]
 %in32 = add i64 %i32, 32
 %c32 = icmp ule i64 %in32, %bytes
 br i1 %c32, label %move32, label %test8
move32:
 %p32 = getelementptr i8, ptr %from, i64 %i32
 %q32 = getelementptr i8, ptr %to, i64 %i32
 %v32 = load <32 x i8>, ptr %p32, align 1
 store <32 x i8> %v32, ptr %q32, align 1
 br label %test32
test8:
 %i8 = phi i64 [ %i32, %test32 ], [ %in8, %move8 ]
 %in8 = add i64 %i8, 8
 %c8 = icmp ule i64 %in8, %bytes
 br i1 %c8, label %move8, label %test1
move8:
 %p8 = getelementptr i8, ptr %from, i64 %i8
 %q8 = getelementptr i8, ptr %to, i64 %i8
 %v8 = load i64, ptr %p8, align 1
 store i64 %v8, ptr %q8, align 1
 br label %test8
test1:
 %i1 = phi i64 [ %i8, %test8 ], [ %in1, %move1 ]
 %in1 = add i64 %i1, 1
 %c1 = icmp ule i64 %in1, %bytes
 br i1 %c1, label %move1, label %done
move1:
 %p1 = getelementptr i8, ptr %from, i64 %i1
 %q1 = getelementptr i8, ptr %to, i64 %i1
 %v1 = load i8, ptr %p1, align 1
 store i8 %v1, ptr %q1, align 1
 br label %test1
done:
 ret void
}
define void @pad(ptr %to, ptr %from, i64 %count, i64 %width, i64 %size) {
entry:
 %bytes = mul i64 %count, %size
 %last = sub i64 %bytes, %size
 %end = mul i64 %width, %size
 call void @copy(ptr %to, ptr %from, i64 %bytes)
 %source = getelementptr i8, ptr %to, i64 %last
 br label %loop
loop:
 %at = phi i64 [ %bytes, %entry ], [ %next, %loop ]
 %target = getelementptr i8, ptr %to, i64 %at
 call void @copy(ptr %target, ptr %source, i64 %size)
 %next = add i64 %at, %size
 %c = icmp ult i64 %next, %end
 br i1 %c, label %loop, label %done
done:
 ret void
}
"""

# Counts over the last `nd` dimensions like an odometer; the inner loop runs along the last one.
_MOVE = """
define void @NAME(ptr %block, ptr %base, ptr %shape, ptr %strides, i64 %nd, i64 %start, i64 %n, i64 %size) {
entry:
 %index = alloca i64, i64 64
 %mover = call ptr @chosen_NAME(ptr %strides, i64 %nd, i64 %size)
 %last = sub i64 %nd, 1
 %sp = getelementptr i64, ptr %strides, i64 %last
 %step = load i64, ptr %sp
 %np = getelementptr i64, ptr %shape, i64 %last
 %length = load i64, ptr %np
 %ip = getelementptr i64, ptr %index, i64 %last
 br label %split
split:
 %d = phi i64 [ %last, %entry ], [ %dn, %split ]
 %rest = phi i64 [ %start, %entry ], [ %restn, %split ]
 %off = phi i64 [ 0, %entry ], [ %offn, %split ]
 %dp = getelementptr i64, ptr %shape, i64 %d
 %dim = load i64, ptr %dp
 %stp = getelementptr i64, ptr %strides, i64 %d
 %st = load i64, ptr %stp
 %x = urem i64 %rest, %dim
 %restn = udiv i64 %rest, %dim
 %xp = getelementptr i64, ptr %index, i64 %d
 store i64 %x, ptr %xp
 %xs = mul i64 %x, %st
 %offn = add i64 %off, %xs
 %dn = sub i64 %d, 1
 %dc = icmp sge i64 %dn, 0
 br i1 %dc, label %split, label %run
run:
 %at = phi i64 [ %offn, %split ], [ %atn, %carried ]
 %done = phi i64 [ 0, %split ], [ %donen, %carried ]
 %i = load i64, ptr %ip
 %row = sub i64 %length, %i
 %todo = sub i64 %n, %done
 %less = icmp ult i64 %row, %todo
 %count = select i1 %less, i64 %row, i64 %todo
 %outer = getelementptr i8, ptr %base, i64 %at
 %skip = mul i64 %done, %size
 %inner = getelementptr i8, ptr %block, i64 %skip
 call void %mover(ptr %inner, ptr %outer, i64 %count, i64 %step)
 br label %moved
moved:
 %donen = add i64 %done, %count
 %more = icmp ult i64 %donen, %n
 br i1 %more, label %wrap, label %exit
wrap:
 store i64 0, ptr %ip
 %back = mul i64 %i, %step
 %at0 = sub i64 %at, %back
 br label %carry
carry:
 %e = phi i64 [ %last, %wrap ], [ %en, %full ]
 %ata = phi i64 [ %at0, %wrap ], [ %atb, %full ]
 %en = sub i64 %e, 1
 %ep = getelementptr i64, ptr %index, i64 %en
 %y = load i64, ptr %ep
 %yn = add i64 %y, 1
 %esp = getelementptr i64, ptr %strides, i64 %en
 %es = load i64, ptr %esp
 %edp = getelementptr i64, ptr %shape, i64 %en
 %ed = load i64, ptr %edp
 %wraps = icmp eq i64 %yn, %ed
 br i1 %wraps, label %full, label %carried
full:
 store i64 0, ptr %ep
 %ys = mul i64 %y, %es
 %atb = sub i64 %ata, %ys
 br label %carry
carried:
 store i64 %yn, ptr %ep
 %atn = add i64 %ata, %es
 br label %run
exit:
 ret void
}
"""

# ``count`` elements, ``step`` bytes apart in the array, side by side in the block: vectors while there are enough
_RUN = """
define internal void @NAME_HOW_SIZE(ptr %block, ptr %array, i64 %count, i64 %step) {
entry:
 br label %test
test:
 %i = phi i64 [ 0, %entry ], [ %in, %wide ]
 %in = add i64 %i, LANES
 %needed = add i64 %in, SPARE
 %enough = icmp ule i64 %needed, %count
 br i1 %enough, label %wide, label %rest
wide:
 %skip = mul i64 %i, %step
 %a = getelementptr i8, ptr %array, i64 %skip
 %b = getelementptr TYPE, ptr %block, i64 %i
WIDE br label %test
rest:
 %j = phi i64 [ %i, %test ], [ %jn, %one ]
 %more = icmp ult i64 %j, %count
 br i1 %more, label %one, label %done
one:
 %skip1 = mul i64 %j, %step
 %a1 = getelementptr i8, ptr %array, i64 %skip1
 %b1 = getelementptr TYPE, ptr %block, i64 %j
 %single = load TYPE, ptr FROM1, align 1
 store TYPE %single, ptr TO1, align 1
 %jn = add i64 %j, 1
 br label %rest
done:
 ret void
}
"""
_BYTES = 32  # of a vector
_SIZES = (1, 2, 4, 8, 16)
_HOWS = {"same": 0, "unit": 1, "pairs": 2, "reversed": -1}  # by the step, in elements; otherwise: "any"
CORE, MOVERS = ("copy", "pad"), ("gather", "scatter")


def core_text() -> str:
    """IR of what every kernel calls."""
    return _COPY


def mover_text(name: str) -> str:
    """IR of one of the `MOVERS`."""
    runs = [_run(name, how, size) for size in _SIZES for how in [*_hows(name, size), "any"]]
    return "".join([*runs, _chosen(name), _MOVE.replace("NAME", name)])


def _hows(name: str, size: int) -> list[str]:
    """The steps that have a function of their own (each costs compile time)."""
    return ["unit"] if name == "scatter" else list(_HOWS) if size in (4, 8) else ["unit", "same"]


def _chosen(name: str) -> str:
    """A function that says which run fits the step along the last dimension."""
    text = f"define internal ptr @chosen_{name}(ptr %strides, i64 %nd, i64 %size) {{\nentry:\n"
    text += " %last = sub i64 %nd, 1\n %p = getelementptr i64, ptr %strides, i64 %last\n %step = load i64, ptr %p\n"
    cases = "".join(f" i64 {size}, label %size{size}" for size in _SIZES[:-1])
    text += f" switch i64 %size, label %size{_SIZES[-1]} [{cases} ]\n"
    for size in _SIZES:
        text += f"size{size}:\n"
        found = f"@{name}_any_{size}"
        for how in _hows(name, size):
            text += f" %{how}{size} = icmp eq i64 %step, {_HOWS[how] * size}\n"
            text += f" %f{how}{size} = select i1 %{how}{size}, ptr @{name}_{how}_{size}, ptr {found}\n"
            found = f"%f{how}{size}"
        text += f" ret ptr {found}\n"
    return text + "}\n"


def _run(name: str, how: str, size: int) -> str:
    scalar, lanes = f"i{8 * size}", _BYTES // size
    wide, both = f"<{lanes} x {scalar}>", f"<{2 * lanes} x {scalar}>"
    source, target = ("%a", "%b") if name == "gather" else ("%b", "%a")

    def picked(type_: str, value: str, order: list[int]) -> str:
        mask = ", ".join(f"i32 {k}" for k in order)
        return f" %v = shufflevector {type_} {value}, {type_} poison, <{lanes} x i32> <{mask}>\n"

    lines = ""
    if how == "unit":
        lines = f" %v = load {wide}, ptr {source}, align 1\n"
    elif how == "same":
        lines = f" %s = load {scalar}, ptr %a, align 1\n %w = insertelement {wide} poison, {scalar} %s, i32 0\n"
        lines += picked(wide, "%w", [0] * lanes)
    elif how == "pairs":
        lines = f" %w = load {both}, ptr %a, align 1\n" + picked(both, "%w", list(range(0, 2 * lanes, 2)))
    elif how == "reversed":
        lines = f" %low = getelementptr i8, ptr %a, i64 {size - _BYTES}\n %w = load {wide}, ptr %low, align 1\n"
        lines += picked(wide, "%w", list(range(lanes))[::-1])
    if lines:
        lines += f" store {wide} %v, ptr {target}, align 1\n"
    else:  # a loop unrolled
        lanes = 4
        for k in range(lanes):
            at = f" %s{k} = mul i64 %step, {k}\n %a_{k} = getelementptr i8, ptr %a, i64 %s{k}\n"
            at += f" %b_{k} = getelementptr {scalar}, ptr %b, i64 {k}\n"
            lines += at + f" %v{k} = load {scalar}, ptr {source}_{k}, align 1\n"
            lines += f" store {scalar} %v{k}, ptr {target}_{k}, align 1\n"
    text = _RUN.replace("NAME", name).replace("HOW", how).replace("SIZE", str(size)).replace("TYPE", scalar)
    text = text.replace("LANES", str(lanes)).replace("WIDE", lines)
    text = text.replace("SPARE", "1" if how == "pairs" else "0")  # a vector's last element must lie before another's
    return text.replace("FROM1", source + "1").replace("TO1", target + "1")
