"""Every emitter on vector registers of 16, 32 and 64 bytes, whatever this machine has, and for other processors."""

import os
import subprocess
import sys

import pytest

from tnp.backends.cpu.engine import SUPPORTED

PROCESSORS = {16: ["x86-64-v2"], 32: ["haswell"], 64: ["skylake-avx512", "sapphirerapids", "znver4"]}


@pytest.mark.parametrize("width", PROCESSORS)
def test_every_operation(width, tmp_path):
    if not SUPPORTED:
        pytest.skip("kernels are compiled on x86-64 only")
    environment = {**os.environ, "TNP_CACHE_DIR": str(tmp_path)}  # compile everything
    command = [sys.executable, "-m", "tests.tnp.backends.cpu.at_width", str(width), *PROCESSORS[width]]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"LLVM does not end on: {(late.stdout or b'').decode().splitlines()[-1:]}")
    assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr[-3000:])
    assert done.stdout.endswith("done\n")
