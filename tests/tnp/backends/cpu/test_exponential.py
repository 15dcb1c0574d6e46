"""The vector exp: NumPy's bits and flags, at every size, and given up where they differ."""

import ctypes
import platform

import numpy as np
import pytest

from tnp.backends import cache
from tnp.backends.base import Group
from tnp.backends.cpu import exponential
from tnp.backends.cpu.compile import compiler
from tnp.backends.cpu.exponential import _LOOP_TYPE, exp_loop
from tnp.backends.cpu.inner_loops import find_loop

from .groups import check, same_bits, step

FLOAT = np.dtype(float)
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-200, 709.7, 709.8, -708.5, -745.1, -746, 1e308, 512]


def run(x):
    """The loop by itself, on whatever strides."""
    code, out = exp_loop(), np.empty(x.shape)
    if code is None:
        pytest.skip("NumPy's exp has other bits here, so its own loop is called")
    pointers = (ctypes.c_void_p * 2)(x.ctypes.data, out.ctypes.data)
    steps = (ctypes.c_ssize_t * 2)(*x.strides, 8)
    _LOOP_TYPE(code.addresses["exp_loop"])(None, pointers, ctypes.byref(ctypes.c_ssize_t(x.size)), steps, None)
    return out


def test_it_is_used_where_the_c_library_computes():
    has = np._core._multiarray_umath.__cpu_features__
    if platform.libc_ver()[0] != "glibc" or not compiler().has_fma or has.get("AVX512_SKX"):
        pytest.skip("NumPy's exp is not glibc's with fused multiply-adds here")
    assert find_loop(np.exp, (FLOAT,)).function == exp_loop().addresses["exp_loop"]


@pytest.mark.parametrize("seed", range(4))
def test_bits(seed):
    rng = np.random.default_rng(seed)
    n = 200_003
    for x in (
        rng.standard_normal(n),
        rng.uniform(-745, 709, n),
        -rng.exponential(30, n),
        rng.choice([1.0, -1.0], n) * np.exp2(rng.uniform(-60, 9.5, n)),
        (rng.integers(-90_000, 90_000, n) + 0.5) * (np.log(2) / 128) * (1 + rng.integers(-3, 4, n) * 2.0**-53),
    ):
        with np.errstate(all="ignore"):
            assert same_bits(run(x), np.exp(x)).all()
            assert same_bits(run(x[::-3]), np.exp(x[::-3])).all()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 63, 1023, 1025, 3000])
def test_flags_and_remainders(engine, size):
    """One special number at a time: flags come from it alone."""
    one = step(np.exp, (~0,), (FLOAT,))
    for k, value in enumerate(SPECIAL):
        x = np.random.default_rng(k).uniform(-30, 30, size)
        x[(7 * k) % size] = value
        check(engine, Group([one], [x], [(0, np.empty(size))], (size,)), f"{value}")


def test_other_bits_are_noticed(monkeypatch, keys):
    if exp_loop() is None:
        pytest.skip("NumPy's exp has other bits here, so its own loop is called")
    monkeypatch.setattr(cache, "_chosen", "off")  # kernels there are found by the modules' sources
    monkeypatch.setattr(exponential, "_LOW", exponential._LOW * (1 + 1e-9))
    text = keys.pop(b"exp", "")
    assert exp_loop.__wrapped__() is None
    assert keys.pop(b"exp") != text
