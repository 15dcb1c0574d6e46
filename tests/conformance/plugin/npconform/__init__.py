"""pytest plugin: run NumPy's own installed tests against another module.

    pytest -p npconform --pyargs numpy._core.tests.test_indexing        (this folder on PYTHONPATH)

Read from the environment:

NPCONFORM_MODULE
    The substitute (default: numpy itself, which is the identity check).
NPCONFORM_RECORD
    File that receives one JSON line per event (see record.py); without it nothing is recorded.
NPCONFORM_FRACTION, NPCONFORM_SEED
    Run only one test in FRACTION, chosen by a hash of the seed and the test's id.
NPCONFORM_ENGINE
    Dotted path, inside the substitute, of an object whose counters are recorded at the end.
NPCONFORM_TESTS
    Folder whose ``test_*.py`` are redirected (default: NumPy's own).

No test text is copied or rewritten: each test module is executed with builtins of its own, whose ``__import__``
hands out overlays of NumPy's modules (overlay.py).  Helpers, pytest, hypothesis and NumPy itself keep the real one.
"""

import gc
import importlib
import os
import sys
from collections import Counter

import pytest

from . import missing, redirect
from .filters import Filters
from .overlay import Overlays
from .record import Recorder
from .sample import deselect


def pytest_configure(config: pytest.Config) -> None:
    """Put the overlays in place, and register the recorder if a record was asked for."""
    substitute = importlib.import_module(os.environ.get("NPCONFORM_MODULE", "numpy"))
    redirect.install(Overlays(substitute))
    target = os.environ.get("NPCONFORM_RECORD")
    if target:
        config.pluginmanager.register(Recorder(target, substitute), "npconform-recorder")
    if not config.pluginmanager.hasplugin("warnings"):  # -p no:warnings
        config.addinivalue_line("markers", "filterwarnings(text): warning filters of a test")
        config.pluginmanager.register(Filters(), "npconform-filters")


@pytest.hookimpl(trylast=True)  # after "-m not slow"
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tell the recorder all that was collected, then keep the sample."""
    recorder = config.pluginmanager.get_plugin("npconform-recorder")
    found = Counter(item.nodeid.partition("::")[0] for item in items)
    deselect(config, items, int(os.environ.get("NPCONFORM_FRACTION", "1")), os.environ.get("NPCONFORM_SEED", "0"))
    if recorder is not None:
        recorder.collected(found, [item.nodeid for item in items])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """From here on a name that the substitute lacks is an error; who counts references starts without garbage."""
    missing.Missing.armed = True
    code = getattr(getattr(item, "function", None), "__code__", None)
    if code is not None and "getrefcount" in code.co_names:
        background = sys.modules.get("tnp.backends.cpu.background")
        if background is not None:
            background.finish()  # what the compiling thread holds
        gc.collect()


def pytest_collectstart() -> None:
    """While modules are being collected a missing name is NumPy's own, so that one name does not lose a file."""
    missing.Missing.armed = False
