"""A group made ready for emission: casts written out as nodes, each node either emitted or a NumPy loop."""

from functools import partial
from typing import Any

import numpy as np

from tnp.backends.base import FAST, Step
from tnp.backends.cpu.extremes import extreme_of
from tnp.backends.cpu.inner_loops import find_loop
from tnp.backends.cpu.ir import code_of
from tnp.backends.cpu.multiply_add import products
from tnp.backends.cpu.operations import Emitter, emitted
from tnp.backends.cpu.reach import GATHERED, ROW, SCALAR
from tnp.backends.cpu.vector_math import vector_function
from tnp.core.primitive import Elementwise

FLOAT32 = np.dtype(np.float32)
_BITS_OF_BFLOAT = {"nextafter", "spacing", "sign"}  # float32 has other neighbours; ml_dtypes keeps the sign of zeros


class Node:
    """One value of a plan.

    Attributes
    ----------
    kind : {'leaf', 'cast', 'emit', 'loop'}
    code : str
        Of the result (see `ir`).
    args : tuple of int
        Nodes.
    emit : Emitter or None
    spelled : str
        Names the emitter, the dtypes of the operands being known.
    ufunc, dtypes
        Of a loop.
    leaf : int
    const : bool
        The same for all elements of a row.
    """

    __slots__ = ("args", "code", "const", "dtypes", "emit", "kind", "leaf", "spelled", "ufunc")

    def __init__(self, kind: str, code: str, args: tuple[int, ...], const: bool) -> None:
        self.kind, self.code, self.args, self.const = kind, code, args, const
        self.emit: Emitter | None = None
        self.ufunc: np.ufunc | None = None
        self.dtypes: tuple[np.dtype[Any], ...] = ()
        self.leaf, self.spelled = -1, ""

    def emitted_by(self, name: str, emit: Emitter) -> None:
        self.emit = emit
        self.spelled = f"{name} {emit.args}" if isinstance(emit, partial) else name


class Unplannable(Exception):
    """A step that no kernel can hold; the group runs through NumPy's ufuncs."""


class Plan:
    """The elementwise steps of a group as a graph of nodes.

    Parameters
    ----------
    steps : sequence of Step
        Other families' steps are left out; what they read is found in `values`.
    leaves : sequence of (dtype, how it is reached: 's', 'c', 'u' or 'g')
    outputs : sequence of (step, dtype, how it is reached: 'u', 'g' or 'w')
        What is stored. Read `stored` for the nodes.
    aliased : frozenset of int
        Outputs that are the same place as a leaf.
    fast_bytes : int
        Bytes of a vector register, for steps whose function may be the C library's (`FAST`); 0: none may.
    fused : bool
        Those steps may multiply and add with one rounding.

    Attributes
    ----------
    nodes : list of Node
        Producers first; the leaves that are used come first of all.
    values : dict of int to int
        The node of each step.
    stored : list of int
        The node of each output, casts included.
    """

    def __init__(
        self,
        steps: list[Step],
        leaves: list[tuple[np.dtype[Any], str]],
        outputs: list[tuple[int, np.dtype[Any], str]],
        aliased: frozenset[int] = frozenset(),
        fast_bytes: int = 0,
        fused: bool = False,
    ) -> None:
        self.nodes: list[Node] = []
        self._fast_bytes = fast_bytes
        self.values: dict[int, int] = {}
        self.leaf_classes, self.out_classes, self.aliased = [c for _, c in leaves], [c for _, _, c in outputs], aliased
        self._casts: dict[tuple[int, str], int] = {}
        self._leaf_nodes: dict[int, int] = {}
        for i, (dtype, how) in enumerate(leaves):
            node = Node("leaf", _code(dtype), (), how in (SCALAR, ROW))
            node.leaf = i
            self._leaf_nodes[i] = self._add(node)
        sums = products(steps, {i for i, _, _ in outputs}) if fused else {}
        inside = {found.product for found in sums.values()}
        for i, step in enumerate(steps):
            if i in sums:
                found = sums[i]
                args = tuple(map(self.node_of, found.operands))
                node = Node("emit", _code(step.dtype), args, all(self.nodes[a].const for a in args))
                node.emitted_by("fma", found.emit)
                self.values[i] = self._add(node)
            elif isinstance(step.prim, Elementwise) and i not in inside:
                self.values[i] = self._step(step, step.prim)
        self.stored: list[int] = []
        for i, dtype, _ in outputs:
            value = self.cast(self.values[i], _code(dtype))
            if value in self.stored:  # at two places
                value = self._add(Node("cast", self.nodes[value].code, (value,), self.nodes[value].const))
            self.stored.append(value)

    def node_of(self, argument: int) -> int:
        """The node of a step's operand: a step (``i >= 0``) or a leaf (``~i``)."""
        return self.values[argument] if argument >= 0 else self._leaf_nodes[~argument]

    def cast(self, node: int, code: str) -> int:
        """The node of that value as another dtype."""
        source = self.nodes[node]
        if source.code == code:
            return node
        if source.code == "bf2" and code[0] in "iu":  # ml_dtypes has answers of its own outside the range
            raise Unplannable("astype")
        if (node, code) not in self._casts:
            self._casts[node, code] = self._add(Node("cast", code, (node,), source.const))
        return self._casts[node, code]

    def _add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _step(self, step: Step, prim: Elementwise) -> int:
        if prim.name == "astype":
            return self.cast(self.node_of(step.args[0]), _code(step.dtype))
        dtypes, code = step.in_dtypes, _code(step.dtype)
        rounded = code
        if "bf2" in map(code_of, dtypes) and prim.ufunc is not None:  # in float32, rounded at each operation
            if prim.ufunc.__name__ in _BITS_OF_BFLOAT:
                raise Unplannable(prim.name)
            dtypes = tuple(FLOAT32 if code_of(d) == "bf2" else d for d in dtypes)
            code = "f4" if code == "bf2" else code
        codes = tuple(_code(d) for d in dtypes)
        args = tuple(self.cast(self.node_of(a), k) for a, k in zip(step.args, codes, strict=True))
        name = prim.name if prim.ufunc is None else prim.ufunc.__name__
        emit = emitted(name, codes)
        if name == "clip" and emit is None:
            emit = extreme_of(name, codes, step.args, self.leaf_classes)
            if not emit and any(a < 0 and self.leaf_classes[~a] == GATHERED for a in step.args[1:]):
                raise Unplannable(name)  # NumPy has another loop for bounds that are one for a whole row
        if emit is None and self._fast_bytes and step.params is FAST:
            emit = vector_function(name, codes, self._fast_bytes)
        const = emit is not None and all(self.nodes[a].const for a in args)
        node = Node("emit" if emit else "loop", code, args, const)
        node.ufunc, node.dtypes = prim.ufunc, dtypes
        if emit:
            node.emitted_by(name, emit)
        if not emit and (node.ufunc is None or find_loop(node.ufunc, dtypes) is None):
            raise Unplannable(prim.name)
        return self.cast(self._add(node), rounded)


def _code(dtype: np.dtype[Any]) -> str:
    code = code_of(dtype)
    if code is None:
        raise Unplannable(str(dtype))
    return code
