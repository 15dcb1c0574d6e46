"""From IR to machine code: llvmlite's ORC compiler, with objects kept on disk.

llvmlite is imported with the first kernel, not before.
"""

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from functools import partial, wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, overload

from tnp.backends import cache as disk
from tnp.backends.cpu import background, driver, helpers
from tnp.core.forks import Lock

if TYPE_CHECKING:
    from llvmlite import binding as llvm

_lock = threading.Lock()  # held while LLVM works, and over a fork: the child must not inherit it half done
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


K = TypeVarTuple("K")
T = TypeVar("T")
_making = Lock()


def once(make: Callable[[*K], T]) -> Callable[[*K], T]:
    """Like `functools.cache`, but nobody ever gets another object than the others do.

    Who gets an address must know that the code behind it stays; of two objects made at a time one is dropped. Functions
    made so may call each other and the compiler, but not wait for a lock that another holds while it calls them.
    """
    known: dict[tuple[*K], T] = {}

    @wraps(make)
    def get(*key: *K) -> T:
        try:
            return known[key]
        except KeyError:
            pass
        with _making:
            if key not in known:
                known[key] = make(*key)
            return known[key]

    return get


_alive: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # code that may be run


@atexit.register
def _let_go() -> None:
    """Leave the code in place as the process ends: llvmlite's own finalizers may find llvmlite gone."""
    background.close()  # nothing is compiled from here on
    for tracker in list(_alive.values()):
        tracker.detach()


def _emitters() -> bytes:
    """A digest of the modules that write IR: with other ones, kernels on disk are not what would be compiled."""
    folder = os.path.dirname(__file__)
    digest = disk.sha256(b"")
    try:
        for name in sorted(os.listdir(folder)):
            if name.endswith((".py", ".pyc")):
                with open(os.path.join(folder, name), "rb") as file:
                    digest.update(file.read())
    except OSError:  # imported from an archive, say: nothing on disk is known to fit
        return os.urandom(32)
    return bytes(digest.digest())


class Compiled:
    """Addresses of a module's functions; the code lives as long as this object."""

    __slots__ = ("_tracker", "addresses", "from_disk")

    def __init__(self, tracker: Any, names: tuple[str, ...], from_disk: bool) -> None:
        self._tracker, self.from_disk = tracker, from_disk
        self.addresses = {name: tracker[name] for name in names}


class Compiler:
    """The process's compiler. Use `compiler()`.

    Attributes
    ----------
    register_bytes : int
        Of the vector registers in use: 64, 32 or 16.
    features : str
        What the processor can do, by name, as LLVM spells it.
    built : int
        Modules compiled, not found on disk.
    has_fma : bool
        Does it multiply and add in one step?
    """

    def __init__(self) -> None:
        from llvmlite import binding as llvm

        self._llvm = llvm
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()
        has = llvm.get_host_cpu_features()
        self.features = has.flatten()
        wide = all(has.get(f) for f in ("avx512f", "avx512dq", "avx512bw", "avx512vl"))
        self.has_fma = bool(has.get("fma")) and bool(has.get("avx2"))
        self.register_bytes = 64 if wide else 32 if has.get("avx2") else 16
        self._triple = llvm.get_process_triple()
        self._target = llvm.Target.from_triple(self._triple)
        self._machine = self._new_machine()
        self._jit = llvm.create_lljit_compiler(self._new_machine(), suppress_errors=True)
        self._identity = f"{llvm.llvm_version_info} {self._triple} {self.features}".encode() + _emitters()
        self._count = self.built = 0

    def _new_machine(self) -> "llvm.TargetMachine":
        return self._target.create_target_machine(
            cpu=self._llvm.get_host_cpu_name(), features=self.features, opt=2, jit=True, reloc="pic"
        )

    @overload
    def compile(
        self, key: bytes, text: Callable[[], str], names: tuple[str, ...], *, known: Mapping[str, int] = ...
    ) -> Compiled: ...

    @overload
    def compile(self, key: bytes, text: Callable[[], str], names: tuple[str, ...], build: bool) -> Compiled | None: ...

    def compile(
        self,
        key: bytes,
        text: Callable[[], str],
        names: tuple[str, ...],
        build: bool = True,
        known: Mapping[str, int] = MappingProxyType({}),
    ) -> Compiled | None:
        """Machine code of a module; from disk if it was compiled before.

        Parameters
        ----------
        key : bytes
            All that the text follows from, besides the modules beside this one.
        text : callable
            Makes the module, where it is not on disk.
        names : tuple of str
            The functions whose addresses are wanted.
        build : bool, optional
            Compile it if it is not on disk.
        known : mapping of str to int, optional
            Addresses of the functions that the module only declares.
        """
        key = disk.sha256(self._identity + key).digest()
        image = disk.get(key)
        found = image is not None
        if not found and not build:
            return None
        # The text is made before the lock is taken: making it may ask for other code
        source = "" if found else f'target triple = "{self._triple}"\n{text()}'
        with _lock:
            if image is None:
                module = self._llvm.parse_assembly(source)
                image = self._machine.emit_object(module)
                self.built += 1
            builder = self._llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
            for name in names:
                builder.export_symbol(name)
            for name, address in known.items():
                builder.import_symbol(name, address)
            self._count += 1
            tracker = _alive[self._count] = builder.link(self._jit, f"tnp{self._count}")
        if not found:
            disk.put(key, image)
        return Compiled(tracker, names, found)


@once
def compiler() -> Compiler:
    """The compiler, made at first use."""
    return Compiler()


_loaded = threading.Event()


def is_ready() -> bool:
    """Has everything been loaded that the first kernel needs?"""
    return _loaded.is_set()


class CommonFunctions(dict[str, int]):
    """Addresses of the functions of `helpers` and `driver`, by name.

    The first kernel waits for what every kernel calls; the rest is compiled when somebody asks for it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[Compiled] = []  # keeps the code alive
        self._add(lambda: helpers.core_text() + driver.core_text(), helpers.CORE + driver.CORE)
        _loaded.set()

    def __missing__(self, name: str) -> int:
        self._add(partial(helpers.mover_text if name in helpers.MOVERS else driver.walk_text, name), (name,))
        return self[name]

    def _add(self, text: Callable[[], str], names: tuple[str, ...]) -> None:
        core = {name: self[name] for name in helpers.CORE + driver.CORE if self}
        # two threads may both: either one's code will do
        part = compiler().compile(repr(names).encode(), text, names, known=core)
        self._parts.append(part)
        self.update(part.addresses)


@once
def common_functions() -> CommonFunctions:
    """The functions of `helpers` and `driver`."""
    return CommonFunctions()
