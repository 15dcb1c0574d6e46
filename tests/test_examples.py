"""Every example runs.

Those of plain NumPy print the same, bit for bit, under plain Python and under ``python -m tnp``; those of derivatives
agree with JAX and PyTorch where these are installed, and draw a plot.
"""

import importlib.util
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "examples"
GRADIENTS = {
    "rosenbrock": ["--size", "4"],
    "kepler_orbit": ["--steps", "25"],
    "ode_adjoint": ["--steps", "40"],
    "gaussian_process": ["--size", "30"],
    "heat_conductivity": ["--size", "12", "--steps", "30"],
}
EXAMPLES = [path for path in sorted(FOLDER.glob("[!_]*.py")) if path.stem not in GRADIENTS]
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


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(python, tmp_path, name):
    result = python(FOLDER / f"{name}.py", *GRADIENTS[name])
    assert (result.returncode, result.stderr) == (0, "")
    for peer, module in (("JAX", "jax"), ("PyTorch", "torch")):
        there = importlib.util.find_spec(module) is not None
        assert re.search(rf"^{peer}: {'value and gradient agree' if there else 'not installed'}", result.stdout, re.M)
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


def better(text, what):
    """Two numbers of a line, the second of which is to be smaller."""
    first, second = re.search(rf"{what} (\S+) at the start, (\S+) after", text).groups()
    return float(second) < float(first)


@pytest.mark.parametrize(
    ("name", "what"),
    [("kepler_orbit", "misfit"), ("gaussian_process", "likelihood"), ("heat_conductivity", "misfit")],
)
def test_gradients_lead_downhill(python, name, what):
    assert better(python(FOLDER / f"{name}.py", *GRADIENTS[name]).stdout, what)
