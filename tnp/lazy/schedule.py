"""Running what is pending: which storages get memory, the backend's call, and the warnings of what ran."""

import os
import threading
from collections.abc import Container
from functools import partial, wraps
from typing import Any

import numpy as np

from tnp.backends.base import Backend, Group, is_flat, part
from tnp.core import layout
from tnp.core.cells import Node, Place, Storage, dropped, storage_of
from tnp.core.elementwise import cast_p
from tnp.core.primitive import Reduction
from tnp.lazy import reuse
from tnp.lazy.few import copied, let_go
from tnp.lazy.fusion import build, collect, first_barrier, is_same, view
from tnp.lazy.graph import earlier_warners, pending_readers, reread
from tnp.lazy.interrupts import Uninterrupted
from tnp.lazy.lone import is_read_again, remember, remember_again
from tnp.lazy.warn import FLAGS, KINDS, Where, give, happened, kinds_of

lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child must not inherit the lock from a thread that it has not
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)

PIECE = 1 << 16  # elements of a flat group that are replayed at a time

Due = tuple[int, Where, str, list[str]]  # a warning: serial of the operation, where, its name, the kinds
Found = list[tuple[Storage, list[str]]]  # what happened in which operations


def locked(function: Any) -> Any:
    """`function`, as something that no other thread's recording or running comes between."""

    @wraps(function)
    def run(*args: Any) -> Any:
        with lock:
            return function(*args)

    return run


class Schedule:
    """Runs pending storages on one backend."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.kernels = 0
        self.flags = 0  # of the last kernel
        self.seen = 0  # of all kernels since somebody set it to 0
        self.due: list[Due] = []  # warnings found, not yet given
        self.reuses_from = reuse.REUSED_FROM  # bytes of a result

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
            kept = []
            for s in order:
                if s in targets or (s.live and (s.uses > 1 or s.node.ran or s.node.version or is_read_again(s.node))):
                    kept.append(s)
            over = reuse.spare(order, kept, self.backend, self.reuses_from) if len(targets) == 1 else None
            outputs = {s: self.allocate(s.node) for s in kept if over is None or s is not order[-1]}
            if over is None:
                self.warn(self.launch(order, outputs))
                return
            outputs[order[-1]] = over
            with Uninterrupted():
                due = self.launch(order, outputs, reuses=True)
            self.warn(due)

    def allocate(self, node: Node) -> Any:
        order = node.order
        if order is None:
            return self.backend.empty(node.shape, node.dtype)
        full = self.backend.empty(tuple(node.shape[i] for i in order), node.dtype)
        return full.transpose(np.argsort(order))

    def launch(
        self, order: list[Storage], outputs: dict[Storage, Any], place: Any = None, reuses: bool = False
    ) -> list[Due]:
        """Run the storages `order` as one kernel into ``outputs`` (storage -> destination). Returns warnings to give.

        The last of them goes to `place` too, which may be what the kernel reads. If it `reuses` memory, a destination
        is what the kernel reads and nobody else will: other memory may come in its place.
        """
        self.kernels += 1
        group = build(order, outputs, place)
        group.spare = reuses
        if place is None and not reuses:
            flags = self.backend.run(group)
            found = replay(order, flags, [group]) if flags else []
        else:
            group.watched = watched(order)
            flags = self.backend.run(group)
            found = self.complete(order, group, flags)
        self.flags = flags
        self.seen |= flags
        due = [(s.node.serial, s.node.where, name_of(s.node), kinds) for s, kinds in found]
        note(order)
        if reuses:
            outputs = dict(zip(outputs, [nd for _, nd in group.outputs], strict=True))
        settle(outputs)
        return due

    def complete(self, order: list[Storage], group: Group, flags: int) -> Found:
        """What happened in which operation of a kernel that overwrites; then the blocks that it left as they were."""
        if group.told:
            return [(order[0], kinds_of(flags))] if flags & group.watched else []
        if not group.undone:  # inputs are intact, or nothing happened that anybody wants to know
            return replay(order, flags, [group]) if flags & group.watched else []
        parts = pieces(group)
        try:
            return replay(order, flags, parts)
        finally:
            for p in parts:
                self.backend.run(p)

    def warn(self, due: list[Due]) -> None:
        """Give the warnings `due`, after those of operations that the program wrote before them."""
        if not due:
            return
        outermost = not self.due
        self.due += due
        flags = self.flags
        if outermost:
            try:
                while earlier := earlier_warners(max(serial for serial, *_ in self.due)):
                    for s in reversed(earlier):  # the last first: their kernels run the others
                        if s.node is not None and not s.node.ran:
                            self.run([s])
                ordered = sorted(self.due, key=lambda d: d[0])
            finally:
                self.due, self.flags = [], flags
            for _, where, name, kinds in ordered:
                give(where, name, kinds)

    def serve(self, storage: Storage, but: Container[Storage] = ()) -> None:
        """Run everything pending that reads `storage`, except the storages `but`: it is about to be written.

        Who reads few elements is given a copy of them instead.
        """
        waiting = [s for s in pending_readers(storage) if s not in but and not let_go(s, storage)]
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
                        due = self.launch(order, {})
                        s.node = None
                        self.warn(due)

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
            if dest.readers:
                self.serve(dest, set(order))
                order = [s for s in order if s.node is not None]
            if value.node is None:
                place[...] = value.full
                return
            touched, clash, same = overwritten(order, dest, place)
            clash = clash or layout.may_meet_itself(place)  # the last of the elements stays, and is read by none before
            outputs = {}
            for s in wanted(order, touched):
                if s is not value or not (clash or same):
                    outputs[s] = self.allocate(s.node)
            if clash:
                outputs[value] = self.allocate(value.node)
            if clash:
                due = self.launch(order, outputs)
                place[...] = value.full
            else:
                with Uninterrupted():
                    dtype = value.node.dtype
                    due = self.launch(order, outputs, place)
                    if same:  # whoever still wants the value reads what was written
                        reread(value, cast_p, (("dtype", dtype),), (Place(dest, place),), (dtype,))
            self.warn(due)


def note(order: list[Storage]) -> None:
    """These have run in one kernel."""
    alone = len(order) == 1 or (len(order) == 2 and isinstance(order[1].node.prim, Reduction))
    for s in order:
        node = s.node
        if node.ran:
            remember_again(node)
        node.ran, node.where = True, None  # it has warned; the program's globals are not to be held
        if node.site:
            remember(node.site, alone)


def overwritten(order: list[Storage], dest: Storage, place: Any) -> tuple[set[Storage], bool, bool]:
    """What writing to `place` changes for a kernel of the storages `order`, `place` being memory of `dest`.

    Returns which of them are made of memory that changes; whether the kernel must not write there while it reads; and
    whether it reads the place itself. Few elements are read from a copy instead.
    """
    touched: set[Storage] = set()
    clash = same = False
    for s in order:
        for i, a in enumerate(s.node.args):
            p = storage_of(a)
            if p is None:
                continue
            if touched and p in touched:
                touched.add(s)
            elif p is dest:
                nd = view(a) if type(a) is Place else dest.full
                if is_same(nd, place):
                    touched.add(s)
                    same = True
                    clash = clash or place.size == 1  # NumPy's loops have other steps for one element in place
                elif np.may_share_memory(nd, place):
                    copy = copied(a, dest)
                    if copy is None:
                        touched.add(s)
                        clash = True
                    else:
                        s.node.args = (*s.node.args[:i], copy, *s.node.args[i + 1 :])
    return touched, clash, same


def wanted(order: list[Storage], touched: set[Storage]) -> list[Storage]:
    """Which of the storages `order` must be kept, when what the `touched` ones are made of changes."""
    inside, kept = set(order) if touched else touched, []
    for s in order:
        node = s.node
        if touched and s in touched:
            if s.live or any([u not in inside for u in pending_readers(s)]):
                kept.append(s)
        elif s.live and (s.uses > 1 or node.ran or node.version):
            kept.append(s)
    return kept


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


def pieces(group: Group) -> list[Group]:
    """What `group` left undone; where it is flat, in pieces of a size that replays in cache."""
    flat = is_flat(group)
    found = []
    for first, last in group.undone:
        step = PIECE if flat else last - first
        found += [part(group, start, min(last, start + step), flat) for start in range(first, last, step)]
    return found


_masks: dict[int, tuple[Any, int]] = {}  # by identity of the error modes, kept here


def watched(order: list[Storage]) -> int:
    """The flags that give warnings."""
    flags = 0
    last = None
    for s in order:
        w = s.node.where
        if w is not None and not s.node.ran:
            modes = w.modes
            if modes is last:
                continue
            last = modes
            known = _masks.get(id(modes))
            if known is None or known[0] is not modes:
                if len(_masks) >= 64:
                    _masks.clear()
                known = modes, sum([FLAGS[kind] for kind, mode in modes.items() if mode == "warn"])
                _masks[id(modes)] = known
            flags |= known[1]
    return flags


def replay(order: list[Storage], flags: int, groups: list[Group]) -> Found:
    """Which operation raised which flag, found by running these groups of them one by one through NumPy."""
    if not flags & watched(order):
        return []
    found: dict[Storage, set[str]] = {}
    for group in groups:
        values: list[Any] = []
        for s, step in zip(order, group.steps, strict=True):
            args = [values[i] if i >= 0 else group.leaves[~i] for i in step.args]
            value, kinds = happened(partial(evaluate, s.node, args))
            values.append(value)
            if kinds and s.node.where is not None and not s.node.ran:
                found.setdefault(s, set()).update(kinds)
    return [(s, [kind for kind in KINDS if kind in kinds]) for s, kinds in found.items()]


def evaluate(node: Node, args: list[Any]) -> Any:
    """One operation through NumPy itself."""
    params = dict(node.params)
    prim = node.prim
    if isinstance(prim, Reduction):
        return prim.ufunc.reduce(args[0], dtype=node.in_dtypes[0], **params)
    if prim.ufunc is None:
        return prim.impl(*args, **params)
    # the dtype of a target may be another object than that of the loop: its own name for the same integers
    return prim.ufunc(*args, signature=(*node.in_dtypes, None))


def name_of(node: Node) -> str:
    if isinstance(node.prim, Reduction):
        return "reduce"
    return node.prim.ufunc.__name__ if node.prim.ufunc is not None else "cast"
