"""Warning filters of a test without a recorder of warnings.

pytest records the warnings of every test, and while somebody records them no operation that could warn is left pending:
an engine under test would never be lazy.  A run that is to judge laziness leaves that recorder out (``-p no:warnings``)
and has the filters that pytest and the test's marks ask for from here.
"""

import importlib
import warnings
from collections.abc import Generator

import pytest


def parse(text: str) -> tuple[str, str, type[Warning]]:
    """Action, pattern of the message and category of a filter written ``action:message:category``."""
    action, message, category = [part.strip() for part in (text + "::").split(":")[:3]]
    module, _, name = category.rpartition(".")
    return action, message, getattr(importlib.import_module(module or "builtins"), name or "Warning")


class Filters:
    """Sets the filters around each test."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Deprecations are always shown, and marks come in the order, as pytest has it."""
        with warnings.catch_warnings():
            warnings.filterwarnings("always", category=DeprecationWarning)
            warnings.filterwarnings("always", category=PendingDeprecationWarning)
            for mark in item.iter_markers("filterwarnings"):
                for text in mark.args:
                    action, message, category = parse(text)
                    warnings.filterwarnings(action, message, category)  # type: ignore[arg-type]
            return (yield)
