"""Text of LLVM IR for vectors of NumPy's dtypes.

A dtype is named by a short code, kind and bytes ('f8', 'b1', 'c16', 'bf2'). In memory an element has its NumPy form;
in registers bool is i1, float16 and bfloat16 are the 16 bits, a complex vector is twice as many floats.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

SCALAR = {"b1": "i8", "f2": "i16", "bf2": "i16", "f4": "float", "f8": "double", "c8": "float", "c16": "double"}
SCALAR |= {f"{kind}{size}": f"i{8 * size}" for kind in "iu" for size in (1, 2, 4, 8)}
EXACT = 'metadata !"fpexcept.strict"'
NEAREST = 'metadata !"round.tonearest", ' + EXACT
# How LLVM mangles the element type in the names of intrinsics
MANGLED = {"double": "f64", "float": "f32", "half": "f16"}


@cache
def code_of(dtype: np.dtype[Any]) -> str | None:
    """The code of a dtype; None when kernels cannot hold it (longdouble, foreign byte order, objects ...)."""
    if dtype.kind == "V":
        return "bf2" if dtype.type.__name__ == "bfloat16" and dtype.isnative else None
    code = f"{dtype.kind}{dtype.itemsize}"
    return code if dtype.isnative and code in SCALAR else None


def size_of(code: str) -> int:
    """Bytes of one element in memory."""
    return int(code.lstrip("biufc"))


class Code:
    """Instructions in order, with fresh names, at one number of elements per vector.

    Parameters
    ----------
    width : int
        Elements per vector (a power of two, at least 2).
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.count = 0

    def name(self, stem: str = "v") -> str:
        self.count += 1
        return f"%{stem}{self.count}"

    def put(self, line: str) -> None:
        self.lines.append(line)

    def let(self, text: str, stem: str = "v") -> str:
        """One instruction that has a result; returns its name."""
        name = self.name(stem)
        self.lines.append(f" {name} = {text}")
        return name

    def declare(self, text: str) -> None:
        self.declared.add(f"declare {text}")

    # control
    @contextmanager
    def each(self, count: str) -> Iterator[str]:
        """A loop over 0 ... count-1 (64 bits); yields the counter."""
        before, head, body, after = (self.name(x) for x in ("before", "head", "body", "after"))
        i, following = self.name("i"), self.name("i")
        self.put(f" br label {before}\n{before[1:]}:\n br label {head}\n{head[1:]}:")
        latch = self.name("latch")
        self.put(f" {i} = phi i64 [ 0, {before} ], [ {following}, {latch} ]")
        self.put(f" br i1 {self.let(f'icmp slt i64 {i}, {count}')}, label {body}, label {after}\n{body[1:]}:")
        yield i
        self.put(f" br label {latch}\n{latch[1:]}:\n {following} = add i64 {i}, 1\n br label {head}\n{after[1:]}:")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Instructions for where an i1 is set."""
        then, after = self.name("then"), self.name("after")
        self.put(f" br i1 {condition}, label {then}, label {after}\n{then[1:]}:")
        yield
        self.put(f" br label {after}\n{after[1:]}:")

    def slot(self, array: str, index: str | int, type_: str = "i64") -> str:
        """Load element ``index`` of an array of 64-bit slots."""
        return self.let(f"load {type_}, ptr {self.slot_at(array, index)}, align 8")

    def slot_at(self, array: str, index: str | int) -> str:
        return self.let(f"getelementptr i64, ptr {array}, i64 {index}", "p")

    def put_slot(self, value: str, array: str, index: str | int, type_: str = "i64") -> None:
        self.put(f" store {type_} {value}, ptr {self.slot_at(array, index)}, align 8")

    # types
    def lanes(self, code: str) -> int:
        return 2 * self.width if code[0] == "c" else self.width

    def reg(self, code: str) -> str:
        """Register type of a vector."""
        return f"<{self.width} x i1>" if code == "b1" else f"<{self.lanes(code)} x {SCALAR[code]}>"

    def mem(self, code: str) -> str:
        """Type of the same elements in memory."""
        return f"<{self.lanes(code)} x {SCALAR[code]}>"

    def splat(self, code: str, value: str) -> str:
        """A constant of the vector type."""
        return f"splat ({'i1' if code == 'b1' else SCALAR[code]} {value})"

    # memory
    def at(self, pointer: str, index: str, code: str) -> str:
        """Address of element ``index`` of an array of ``code``."""
        if code[0] == "c":
            return self.let(f"getelementptr [2 x {SCALAR[code]}], ptr {pointer}, i64 {index}", "p")
        return self.let(f"getelementptr {SCALAR[code]}, ptr {pointer}, i64 {index}", "p")

    def load(self, pointer: str, code: str, align: int = 1) -> str:
        value = self.let(f"load {self.mem(code)}, ptr {pointer}, align {align}")
        return self.let(f"icmp ne {self.mem(code)} {value}, zeroinitializer") if code == "b1" else value

    def store(self, value: str, pointer: str, code: str, align: int = 1) -> None:
        if code == "b1":
            value = self.let(f"zext {self.reg(code)} {value} to {self.mem(code)}")
        self.put(f" store {self.mem(code)} {value}, ptr {pointer}, align {align}")

    def load_splat(self, pointer: str, code: str) -> str:
        """A vector whose elements all are the one at ``pointer``."""
        scalar, lanes = SCALAR[code], self.lanes(code)
        if code[0] == "c":
            pair = self.let(f"load <2 x {scalar}>, ptr {pointer}, align 1")
            return self.shuffle(f"<2 x {scalar}>", pair, "poison", [0, 1] * self.width)
        one = self.let(f"load {scalar}, ptr {pointer}, align 1")
        first = self.let(f"insertelement {self.mem(code)} poison, {scalar} {one}, i32 0")
        value = self.shuffle(self.mem(code), first, "poison", [0] * lanes)
        return self.let(f"icmp ne {self.mem(code)} {value}, zeroinitializer") if code == "b1" else value

    def shuffle(self, type_: str, a: str, b: str, order: list[int]) -> str:
        mask = ", ".join(f"i32 {i}" for i in order)
        return self.let(f"shufflevector {type_} {a}, {type_} {b}, <{len(order)} x i32> <{mask}>")

    # arithmetic whose floating-point flags count
    def strict(self, name: str, code: str, *args: str, rounds: bool = True) -> str:
        """A constrained intrinsic from vectors of one type to the same type."""
        type_ = self.reg(code)
        kind = f"v{self.lanes(code)}{MANGLED[SCALAR[code]]}"
        function = f"@llvm.experimental.constrained.{name}.{kind}"
        self.declare(f"{type_} {function}({', '.join([type_] * len(args))}{', metadata' * (1 + rounds)})")
        operands = ", ".join(f"{type_} {a}" for a in args)
        return self.let(f"call {type_} {function}({operands}, {NEAREST if rounds else EXACT}) strictfp")

    def convert(self, name: str, source: str, target: str, value: str, *, rounds: bool) -> str:
        """A constrained conversion between two vector types, given as ``<n x t>``."""
        kinds = "".join("." + mangle(t) for t in (target, source))
        function = f"@llvm.experimental.constrained.{name}{kinds}"
        self.declare(f"{target} {function}({source}{', metadata' * (1 + rounds)})")
        return self.let(f"call {target} {function}({source} {value}, {NEAREST if rounds else EXACT}) strictfp")

    def compare(self, predicate: str, code: str, a: str, b: str) -> str:
        """Quiet floating-point comparison; one i1 for each lane."""
        type_ = self.reg(code)
        function = f"@llvm.experimental.constrained.fcmp.{mangle(type_)}"
        result = f"<{self.lanes(code)} x i1>"
        self.declare(f"{result} {function}({type_}, {type_}, metadata, metadata)")
        return self.let(
            f'call {result} {function}({type_} {a}, {type_} {b}, metadata !"{predicate}", {EXACT}) strictfp'
        )

    def call(self, function: str, code: str, *args: str) -> str:
        """An overloaded intrinsic that raises no flags."""
        type_ = self.reg(code)
        full = f"@llvm.{function}.{mangle(type_)}"
        self.declare(f"{type_} {full}({', '.join([type_] * len(args))})")
        return self.let(f"call {type_} {full}({', '.join(f'{type_} {a}' for a in args)})")


def mangle(type_: str) -> str:
    count, scalar = type_[1:-1].split(" x ")
    return f"v{count}{MANGLED.get(scalar, scalar)}"
