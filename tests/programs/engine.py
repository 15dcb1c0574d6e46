"""What the program tests ask of the engine under test; with plain NumPy in its place every request is void."""

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def recorded(np: Any, from_elements: int | None) -> Iterator[None]:
    """Record operations on arrays of `from_elements` elements and more; None leaves the default."""
    if getattr(np, "__name__", "") != "tnp" or from_elements is None:
        yield
        return
    with np.config(lazy_from=from_elements):
        yield


def finish(np: Any) -> None:
    """Run everything that is still pending, dropped operations that could warn included."""
    if getattr(np, "__name__", "") == "tnp":
        np.evaluate()


def counts(np: Any) -> dict[str, Any]:
    """What the engine has done in this process: kernels launched, distinct kernels, bytes read and written …"""
    counted: dict[str, Any] = np.show_config(mode="dicts")["tnp"]
    return counted
