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
 switch i64 %size, label %moved [CASES ]
LOOPSmoved:
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

_LOOP = """moveSIZE:
 %kSIZE = phi i64 [ 0, %run ], [ %knSIZE, %moveSIZE ]
 %oSIZE = phi ptr [ %outer, %run ], [ %onSIZE, %moveSIZE ]
 %bSIZE = getelementptr TYPE, ptr %inner, i64 %kSIZE
 %vSIZE = load TYPE, ptr %FROMSIZE, align 1
 store TYPE %vSIZE, ptr %TOSIZE, align 1
 %onSIZE = getelementptr i8, ptr %oSIZE, i64 %step
 %knSIZE = add i64 %kSIZE, 1
 %kcSIZE = icmp ult i64 %knSIZE, %count
 br i1 %kcSIZE, label %moveSIZE, label %moved
"""

_SIZES = (1, 2, 4, 8, 16)
NAMES = ("copy", "pad", "gather", "scatter")


def module_text() -> str:
    """IR of all helpers."""
    parts = [_COPY]
    for name, source, target in (("gather", "o", "b"), ("scatter", "b", "o")):
        loop = _LOOP.replace("FROM", source).replace("TO", target)
        loops = "".join(loop.replace("SIZE", str(s)).replace("TYPE", f"i{8 * s}") for s in _SIZES)
        cases = "".join(f" i64 {s}, label %move{s}" for s in _SIZES)
        parts.append(_MOVE.replace("NAME", name).replace("CASES", cases).replace("LOOPS", loops))
    return "".join(parts)
