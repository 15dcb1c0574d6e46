"""What the program tests ask of the engine under test; with plain NumPy in its place every request is void."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def recorded(np: Any, from_elements: int | None) -> Iterator[None]:
    """Record operations on arrays of `from_elements` elements and more; None leaves the default."""
    settings = sys.modules.get("tnp.core.config")
    if getattr(np, "__name__", "") != "tnp" or from_elements is None or settings is None:
        yield
        return
    with settings.config(lazy_from=from_elements):
        yield


def finish(np: Any) -> None:
    """Run everything that is still pending, dropped operations that could warn included."""
    binding = sys.modules.get("tnp.bind")
    if getattr(np, "__name__", "") == "tnp" and binding is not None:
        with binding.lock:
            binding.schedule.finish_dropped()


def distinct_kernels(np: Any) -> int:
    """How many different fused kernels this process has run."""
    return int(np.show_config(mode="dicts")["tnp"]["distinct kernels"])
