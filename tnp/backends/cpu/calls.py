"""What every launch does, in C where that can be built: recognise the group, put its arguments together, call."""

import ctypes
import os
from collections.abc import Sequence
from functools import reduce
from operator import or_
from struct import pack
from typing import Any

import numpy as np

from tnp.backends.base import FAST, Group
from tnp.backends.cpu import threads
from tnp.core.native import address
from tnp.core.primitive import Reduction

__all__ = ["DATA", "Function", "arguments", "on_threads", "signature"]

# Where an array keeps its data pointer, and a NumPy scalar its value: behind the object's header
DATA = object.__basicsize__

try:
    if os.environ.get("TNP_PURE"):
        raise ImportError("TNP_PURE is set")
    from tnp.backends.cpu._calls import Function, arguments, on_threads, signature
except ImportError:
    _Four = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, *[ctypes.c_int64] * 4)
    _Five = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, *[ctypes.c_int64] * 5)

    class Function:  # type: ignore[no-redef]
        """A function of `driver` or `walks`: its arguments, then 4 or 5 numbers."""

        def __init__(self, address: int) -> None:
            self.four, self.five = _Four(address), _Five(address)

        def __call__(self, args: bytes, *numbers: int) -> int:
            return int((self.four if len(numbers) == 4 else self.five)(args, *numbers))

    def on_threads(function: Any, args: bytes, chunks: Sequence[tuple[int, ...]]) -> int:
        """``function(args, *chunk)`` for each chunk, on the threads; all that it returned, by bits."""
        found: list[int] = []
        threads.run_chunks(lambda chunk: found.append(function(args, *chunk)), chunks)
        return reduce(or_, found, 0)

    def arguments(program: int, operands: list[Any], numbers: bytes) -> bytes:
        """What a kernel is called with: its program, where its operands' addresses stand, shape and strides."""
        return pack(f"{1 + len(operands)}q", program, *[id(a) + DATA for a in operands]) + numbers

    def signature(group: Group) -> Any:
        """What groups have in common that one kernel runs in the same way; None if it takes a closer look.

        It names objects by their identity: whoever keeps it keeps them.
        """
        if 0 in group.shape:
            return None
        steps: list[tuple[Any, ...]] = []
        for s in group.steps:
            axes = dict(s.params)["axis"] if isinstance(s.prim, Reduction) else None
            steps.append((id(s.prim), id(s.dtype), s.params is FAST, s.args, axes, *map(id, s.in_dtypes)))
        operands: list[tuple[Any, ...]] = []
        for a in (*group.leaves, *(out for _, out in group.outputs)):
            if type(a) is np.ndarray:
                operands.append((id(a.dtype), a.shape, a.strides, a.flags.aligned))
            elif isinstance(a, np.generic):
                operands.append((id(type(a)),))
            else:
                return None
        places = [address(a) if type(a) is np.ndarray else None for a in group.leaves]
        outputs, aliased = [], False
        for i, out in group.outputs:
            at = address(out)
            same = [k for k, place in enumerate(places) if place == at]
            aliased = aliased or bool(same)
            outputs.append((i, *same))
        watched = group.watched if aliased else 0
        return group.shape, tuple(steps), len(places), tuple(operands), tuple(outputs), watched
