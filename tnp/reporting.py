"""Where time and memory went: `tnp.report`, `tnp.show_config`."""

from typing import Any

import numpy as _np

from tnp import content
from tnp.backends import cache
from tnp.core.config import config
from tnp.core.native import COMPILED


def counts() -> dict[str, Any]:
    """What the engine did since the start of the program."""
    stats = content.backend.stats
    return {
        "kernels launched": stats.launched,
        "distinct kernels": stats.distinct,
        "kernels compiled": stats.compiled,
        "kernels from disk": stats.from_disk,
        "groups run through NumPy": stats.interpreted,
        "bytes read": stats.bytes_read,
        "bytes written": stats.bytes_written,
    }


def report() -> str:
    """Kernels with their launches and traffic, and what the memory pool holds, as text."""
    lines = [f"{name}: {value:,}" for name, value in counts().items()]
    kernels = [k for k in content.backend.stats.kernels if k.launches]
    for k in sorted(kernels, key=lambda k: -k.elements * (k.bytes_read + k.bytes_written))[:20]:
        traffic = k.elements * (k.bytes_read + k.bytes_written)
        lines.append(f"  {k.launches:6,} x {k.name[:80]}: {traffic / 1e6:,.1f} MB")
    lines.append(f"memory pool: {content.backend.memory_report()}")
    return "\n".join(lines)


def show_config(mode: str = "stdout") -> Any:
    """`numpy.show_config`, and how this tnp was built and is set.

    Parameters
    ----------
    mode : {"stdout", "dicts"}
    """
    own = {
        "hot path": "compiled" if COMPILED else "pure Python",
        **{name: getattr(config, name) for name in ("threads", "math", "lazy", "lazy_from", "memory_limit")},
        "kernel cache": cache.folder() or "off",
        **counts(),
    }
    if mode == "dicts":
        return {**_np.show_config(mode="dicts"), "tnp": own}
    show: Any = _np.show_config  # raises NumPy's error where mode is neither
    show(mode=mode)
    print("tnp:")
    for name, value in own.items():
        print(f"  {name}: {value}")
    return None
