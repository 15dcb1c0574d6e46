"""What the program tests ask of the engine under test; with plain NumPy in its place every request is void."""

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def recorded(np: Any, from_elements: int | None) -> Iterator[None]:
    """Record operations on arrays of `from_elements` elements and more; None leaves the default."""
    config = getattr(np, "config", None)
    if config is None or from_elements is None:
        yield
        return
    with config(lazy_from=from_elements):
        yield


def finish(np: Any) -> None:
    """Run everything that is still pending, dropped operations that could warn included."""
    evaluate = getattr(np, "evaluate", None)
    if evaluate is not None:
        evaluate()


def distinct_kernels(np: Any) -> int:
    """How many different fused kernels this process has run."""
    return int(np.show_config(mode="dicts")["tnp"]["distinct kernels"])
