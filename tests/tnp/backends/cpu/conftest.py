"""What tests of the CPU engine share."""

import pytest

from tnp.backends.cpu.engine import SUPPORTED

from .groups import compiling


@pytest.fixture(scope="module")
def engine():
    return compiling()


@pytest.fixture(scope="session", autouse=True)
def keys():
    """Every module compiled by these tests, by its key: one key never stands for two texts."""
    texts: dict[bytes, str] = {}
    if not SUPPORTED:
        yield texts
        return
    from tnp.backends.cpu.compile import Compiler

    real = Compiler.compile

    def compile_(self, key, text, names, *args, **known):
        assert texts.setdefault(key, text()) == text(), key
        return real(self, key, text, names, *args, **known)

    Compiler.compile = compile_
    yield texts
    Compiler.compile = real
