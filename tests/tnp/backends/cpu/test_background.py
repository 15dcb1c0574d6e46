"""The thread that compiles."""

import subprocess
import sys

AT_EXIT = """
import builtins
import time
from tnp.backends.cpu import background
from tnp.backends.cpu.compile import compiler

kept = builtins.kept = []  # goes last of all
compiler()

def job():
    time.sleep(0.5)
    kept.append(compiler().compile("define i64 @f() { ret i64 1 }", ("f",)))

background.submit(job)
while not background._queue.empty():
    time.sleep(0.01)
"""


def test_what_is_compiled_as_the_process_ends_is_left_in_place():
    ended = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
