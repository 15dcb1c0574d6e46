"""What the examples of differentiation share: minimisation, comparison with JAX and PyTorch, and plots."""

import numpy

import tnp as np


def bfgs(value_and_gradient, x, steps=60, tolerance=1e-6):
    """Minimise by the method of Broyden, Fletcher, Goldfarb and Shanno; returns the point and the values on the way."""
    x = np.array(x)
    value, g = value_and_gradient(x)
    inverse = np.eye(len(x)) / max(1.0, float(np.linalg.norm(g)))
    values = [float(value)]
    for _ in range(steps):
        if float(np.max(abs(g))) < tolerance:
            break
        direction = -inverse @ g
        length = 1.0
        while True:
            new = x + length * direction
            new_value, new_g = value_and_gradient(new)
            if new_value <= value + 1e-4 * length * (g @ direction) or length < 1e-8:
                break
            length /= 2
        s, y = new - x, new_g - g
        if s @ y > 1e-12:
            rho = 1 / (s @ y)
            turn = np.eye(len(x)) - rho * np.outer(s, y)
            inverse = turn @ inverse @ turn.T + rho * np.outer(s, s)
        x, value, g = new, new_value, new_g
        values.append(float(value))
    return x, values


def compare(value, gradient, in_jax, in_torch, *arguments):
    """Print how near the value and the gradient are to those of the same function in JAX and PyTorch."""
    for name, differentiate, function in (("JAX", _jax, in_jax), ("PyTorch", _torch, in_torch)):
        try:
            v, g = differentiate(function, *arguments)
        except ImportError:
            print(f"{name}: not installed")
            continue
        difference = max(_relative(value, v), _relative(gradient, g))
        print(f"{name}: value and gradient agree to {difference:.0e}")
        if not difference < 1e-9:
            raise SystemExit(f"{name} gives another gradient")


def _relative(a, b):
    a, b = numpy.asarray(np.to_numpy(a), dtype=float), numpy.asarray(b, dtype=float)
    return numpy.abs(a - b).max() / (1e-300 + numpy.abs(b).max())


def _jax(function, x, *rest):
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy

    value, gradient = jax.value_and_grad(lambda x: function(jax.numpy, x, *map(jax.numpy.asarray, rest)))(
        jax.numpy.asarray(x)
    )
    return value, gradient


def _torch(function, x, *rest):
    import torch

    x = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    value = function(torch, x, *[torch.tensor(r, dtype=torch.float64) for r in rest])
    value.backward()
    return value.detach(), x.grad


def plot(path, draw):
    """Have `draw` fill axes of matplotlib, and write them to `path`; nothing where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        print("matplotlib: not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    draw(axes)
    figure.savefig(path, dpi=120)
    print("plot:", path)
