"""The soak, shortened: see tests/soak.py."""

import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import tnp
from tests.soak import Held, grown, held, svg

ROOT = Path(__file__).parents[1]


def history(**changed):
    start = {"seconds": 1.0, "resident": 100.0, "storages": 9, "nodes": 0, "cells": 9, "pool_in_use": 0}
    start |= {"pool_held": 0, "kernels": 40}
    return [Held(**{**start, "seconds": 1.0 + i, **{k: f(i) for k, f in changed.items()}}) for i in range(12)]


def test_what_grows_is_told():
    assert grown(history()) == []
    assert grown(history(resident=lambda i: 100.0 + min(i, 5) * 30 + i % 2)) == []  # warming up, then up and down
    assert grown(history(storages=lambda i: 9 + i % 3)) == []
    assert "storages grew" in grown(history(storages=lambda i: 9 + i))[0]
    assert "resident memory grew by 8.0 MiB" in grown(history(resident=lambda i: 100.0 + 2 * i))[0]


def test_live_storages_are_seen():
    x = tnp.array(numpy.ones(100_000))
    y = x[1:] + 1.0 if tnp.config.lazy else x[1:]
    now = held(0.0)
    assert now.storages >= 1
    assert now.cells >= 1
    assert now.pool_in_use >= 0
    assert now.resident > 20
    del x, y
    assert held(0.0).storages < now.storages


def test_the_picture_shows_every_round():
    assert svg(history()).count("<polyline") == 1
    points = svg(history()).split('points="')[1].split('"')[0].split()
    assert len(points) == 12


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_flat(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", "--seconds", "45", "--svg", str(tmp_path / "rss.svg")],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert done.stdout.splitlines()[-1].startswith("flat over")
    assert (tmp_path / "rss.svg").read_text().startswith("<svg")
