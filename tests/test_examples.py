"""Every example prints the same, bit for bit, under plain Python and under ``python -m tnp``."""

from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.py"))
SMALL = {
    "heat2d": ["--size", "40"],
    "image_filter": ["--size", "60"],
    "kmeans": ["--size", "600"],
    "mandelbrot": ["--size", "48"],
    "monte_carlo": ["--size", "500"],
    "nbody": ["--size", "30", "--steps", "5"],
    "option_pricing": ["--size", "1000"],
    "pagerank": ["--size", "500"],
    "softmax_regression": ["--size", "5000", "--epochs", "2"],
    "spectral_filter": ["--size", "2"],
}
MIDDLE = {
    "heat2d": ["--size", "300"],
    "kmeans": ["--size", "20000"],
    "option_pricing": ["--size", "200000"],
}


@pytest.mark.core
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_small(same_as_python, example):
    result = same_as_python(example, *SMALL[example.stem])
    assert result.returncode == 0
    assert result.stdout.count("\n") >= 4
    assert result.stderr == ""


@pytest.mark.parametrize("name", MIDDLE)
def test_large_enough_for_the_engine(same_as_python, name):
    """Sizes at which operations are recorded, fused and spread over threads."""
    [example] = [path for path in EXAMPLES if path.stem == name]
    assert same_as_python(example, *MIDDLE[name]).returncode == 0


@pytest.mark.parametrize("name", ["heat2d", "kmeans", "option_pricing", "nbody", "softmax_regression"])
def test_small_with_every_operation_recorded(same_as_python, name):
    [example] = [path for path in EXAMPLES if path.stem == name]
    assert same_as_python(example, *SMALL[name], TNP_STRESS="1").returncode == 0
