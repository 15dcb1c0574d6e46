"""Which tests of a file belong to the sample."""

import zlib

import pytest


def chosen(nodeid: str, fraction: int, seed: str) -> bool:
    """Whether a test is in the sample: one in `fraction`, independent of the order and number of the others."""
    return fraction <= 1 or zlib.crc32(f"{seed}|{nodeid}".encode()) % fraction == 0


def deselect(config: pytest.Config, items: list[pytest.Item], fraction: int, seed: str) -> None:
    """Drop in place the items outside the sample, the way pytest wants it reported."""
    dropped = [item for item in items if not chosen(item.nodeid, fraction, seed)]
    if dropped:
        items[:] = [item for item in items if chosen(item.nodeid, fraction, seed)]
        config.hook.pytest_deselected(items=dropped)
