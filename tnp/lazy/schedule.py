"""Running what is pending: which storages get memory, the backend's call, and the warnings of what ran."""

import os
import threading
from collections.abc import Container
from functools import partial
from typing import Any

import numpy as np

from tnp.backends.base import DIVIDE, INVALID, OVERFLOW, UNDERFLOW, Backend
from tnp.core.cells import Node, Place, Storage, dropped
from tnp.core.primitive import Reduction
from tnp.lazy.fusion import build, collect, first_barrier, view
from tnp.lazy.graph import earlier_warners, pending_readers
from tnp.lazy.lone import remember
from tnp.lazy.warn import Where, give, happened

lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child must not inherit the lock from a thread that it has not
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
_FLAG = {"divide": DIVIDE, "over": OVERFLOW, "under": UNDERFLOW, "invalid": INVALID}

Due = tuple[int, Where, str, list[str]]  # a warning: serial of the operation, where, its name, the kinds


class Schedule:
    """Runs pending storages on one backend."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.kernels = 0
        self.flags = 0  # of the last kernel
        self.seen = 0  # of all kernels since somebody set it to 0
        self.due: list[Due] = []  # warnings found, not yet given

    def force(self, storage: Storage) -> None:
        """Give `storage` its memory."""
        if storage.node is not None:
            self.run([storage])

    def finish(self, storage: Storage) -> None:
        """`force`, for what a kernel meets that must be there before: a chain of such takes no stack."""
        waiting = [storage]
        while waiting:
            s = waiting[-1]
            barrier = first_barrier(s, self.backend.fusible) if s.node is not None else None
            if barrier is not None:
                waiting.append(barrier)
                continue
            waiting.pop()
            self.force(s)

    def run(self, targets: list[Storage]) -> None:
        """Compute the storages `targets` (of one shape) in one kernel."""
        with lock:
            order = collect(targets, self.finish, self.backend.fusible)
            targets = [t for t in targets if t.node is not None]
            if not targets:
                return
            outputs = {}
            for s in order:
                if s in targets or (s.live and (s.uses > 1 or s.node.ran or s.node.version)):
                    outputs[s] = self.allocate(s.node)
            self.launch(order, outputs)
            settle(outputs)

    def allocate(self, node: Node) -> Any:
        order = node.order
        if order is None:
            return self.backend.empty(node.shape, node.dtype)
        full = self.backend.empty(tuple(node.shape[i] for i in order), node.dtype)
        return full.transpose(np.argsort(order))

    def launch(self, order: list[Storage], outputs: dict[Storage, Any]) -> None:
        """Run the storages `order` as one kernel into ``outputs`` (storage -> destination), with their warnings."""
        self.kernels += 1
        flags = self.flags = self.backend.run(build(order, outputs))
        self.seen |= flags
        due = replay(order, flags) if flags else []
        alone = len(order) == 1
        for s in order:
            s.node.ran = True
            if s.node.site:
                remember(s.node.site, alone)
        if due:
            self.warn(due)

    def warn(self, due: list[Due]) -> None:
        """Give the warnings `due`, after those of operations that the program wrote before them."""
        outermost = not self.due
        self.due += due
        if outermost:
            try:
                while earlier := earlier_warners(max(serial for serial, *_ in self.due)):
                    for s in reversed(earlier):  # the last first: their kernels run the others
                        if s.node is not None and not s.node.ran:
                            self.run([s])
                ordered = sorted(self.due, key=lambda d: d[0])
            finally:
                self.due = []
            for _, where, name, kinds in ordered:
                give(where, name, kinds)

    def serve(self, storage: Storage, but: Container[Storage] = ()) -> None:
        """Run everything pending that reads `storage`, except the storages `but`: it is about to be written."""
        waiting = [s for s in pending_readers(storage) if s not in but]
        by_shape: dict[tuple[int, ...], dict[Storage, None]] = {}  # inner: an ordered set
        for s in waiting:
            for top in roots(s):
                if top not in but:
                    by_shape.setdefault(top.node.shape, {})[top] = None
        for same in by_shape.values():
            self.run([s for s in same if s.node is not None])

    def finish_dropped(self) -> None:
        """Run, without results, operations that could warn and that the program let go."""
        while dropped:
            s = dropped.pop()
            if s.node is not None and not s.node.ran and s.uses == 0:
                with lock:
                    order = collect([s], self.finish, self.backend.fusible)
                    if s.node is not None:
                        self.launch(order, {})
                        s.node = None

    def finish_warners(self) -> None:
        """Run everything pending that could warn."""
        for s in reversed(earlier_warners(1 << 62)):  # the last first: their kernels run the others
            if s.node is not None and not s.node.ran:
                self.run([s])

    def before_warning(self) -> None:
        """`finish_warners`, unless the warning comes from inside a kernel."""
        if not lock._is_owned():  # type: ignore[attr-defined]
            self.finish_warners()

    def store(self, dest: Storage, place: Any, value: Storage) -> None:
        """Write the pending storage `value` straight into `place`, a view of the memory of the storage `dest`.

        As if copied first: where the value depends on the memory that changes, it goes through a buffer; storages
        inside it that somebody else still wants are kept.
        """
        with lock:
            order = collect([value], self.finish, self.backend.fusible)
            inside = set(order)
            self.serve(dest, inside)
            order = [s for s in order if s.node is not None]
            if value.node is None:
                place[...] = value.full
                return
            touched: set[Storage] = set()
            clash = False
            for s in order:
                for a in s.node.args:
                    p = a if type(a) is Storage else a.storage if type(a) is Place else None
                    if p in touched:
                        touched.add(s)
                    elif p is dest:
                        nd = view(a) if type(a) is Place else dest.full
                        if np.may_share_memory(nd, place):
                            touched.add(s)
                            clash = True
            outputs = {}
            for s in order:
                wanted = s.live and (s.uses > 1 or s.node.ran or s.node.version)
                if s in touched:
                    wanted = s.live or any(u not in inside for u in pending_readers(s))
                if wanted or (s is value and clash):
                    outputs[s] = self.allocate(s.node)
            if value in outputs:
                self.launch(order, outputs)
                place[...] = outputs[value]
                if not value.live and not pending_readers(value):
                    del outputs[value]
            else:
                self.launch(order, {**outputs, value: place})
            settle(outputs)


def settle(outputs: dict[Storage, Any]) -> None:
    """The storages have their memory; their nodes let go of what they read."""
    for s, nd in outputs.items():
        s.full = nd
        s.node = None


def roots(storage: Storage) -> list[Storage]:
    """The pending storages above `storage`, itself included, that somebody holds."""
    found, stack, seen = [], [storage], {storage}
    while stack:
        s = stack.pop()
        if s.live:
            found.append(s)
            continue
        above = pending_readers(s)
        if not above:
            found.append(s)
        for u in above:
            if u not in seen:
                seen.add(u)
                stack.append(u)
    return found


def replay(order: list[Storage], flags: int) -> list[Due]:
    """Which operation raised which flag, found by running them one by one through NumPy: the warnings due."""
    if not any(s.node.where is not None and not s.node.ran and _asks(s.node.where, flags) for s in order):
        return []
    values: dict[Storage, Any] = {}
    due: list[Due] = []
    for s in order:
        node = s.node
        args = [
            values[a] if a in values else a.full if type(a) is Storage else view(a) if type(a) is Place else a
            for a in node.args
        ]
        values[s], kinds = happened(partial(evaluate, node, args))
        if kinds and node.where is not None and not node.ran:
            due.append((node.serial, node.where, name_of(node), kinds))
    return due


def _asks(where: Where, flags: int) -> bool:
    return any(mode == "warn" and flags & _FLAG[kind] for kind, mode in where.modes.items())


def evaluate(node: Node, args: list[Any]) -> Any:
    """One operation through NumPy itself."""
    params = dict(node.params)
    prim = node.prim
    if isinstance(prim, Reduction):
        return prim.ufunc.reduce(args[0], dtype=node.in_dtypes[0], **params)
    if prim.ufunc is None:
        return prim.impl(*args, **params)
    return prim.ufunc(*args, signature=(*node.in_dtypes, node.dtype))


def name_of(node: Node) -> str:
    if isinstance(node.prim, Reduction):
        return "reduce"
    return node.prim.ufunc.__name__ if node.prim.ufunc is not None else "cast"
