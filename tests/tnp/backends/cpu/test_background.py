"""The thread that compiles."""

import subprocess
import sys

AT_EXIT = """
import atexit
import time

compiled = []
atexit.register(lambda: print([c._tracker.closed for c in compiled]))  # the first runs last

from tnp.backends.cpu import background
from tnp.backends.cpu.compile import compiler

def job():
    time.sleep(0.5)
    compiled.append(compiler().compile("define i64 @f() { ret i64 1 }", ("f",)))

compiler()
background.submit(job)
while not background._queue.empty():
    time.sleep(0.01)
"""


def test_what_is_compiled_as_the_process_ends_is_left_in_place():
    ended = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[True]\n", "")
