"""The parameters of a Gaussian process, by the gradient of the likelihood through the Cholesky factor."""

import argparse

from _peers import bfgs, compare, plot

import tnp
from tnp_autodiff import value_and_grad


def likelihood(np, parameters, x, y):
    """The negative logarithm of it; the parameters are logarithms of amplitude, length and noise."""
    amplitude, length, noise = [np.exp(parameters[i]) for i in range(3)]
    distance = (x[:, None] - x[None, :]) / length
    one = np.eye(len(x), dtype=y.dtype)
    low = np.linalg.cholesky(amplitude**2 * np.exp(-0.5 * distance**2) + (noise**2 + 1e-10) * one)
    white = np.linalg.solve(low, y)
    return 0.5 * (white * white).sum() + np.log(np.diagonal(low, 0)).sum()


def predict(parameters, x, y, at):
    """Mean and standard deviation of the process at other places."""
    amplitude, length, noise = tnp.exp(parameters)

    def kernel(a, b):
        return amplitude**2 * tnp.exp(-0.5 * ((a[:, None] - b) / length) ** 2)

    between = kernel(at, x)
    whole = kernel(x, x) + noise**2 * tnp.eye(len(x))
    variance = amplitude**2 - tnp.sum(between * tnp.linalg.solve(whole, between.T).T, axis=1)
    return between @ tnp.linalg.solve(whole, y), tnp.sqrt(tnp.maximum(variance, 0.0))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=60, help="number of observations")
    parser.add_argument("--plot", default="gaussian_process.png")
    arguments = parser.parse_args()

    rng = tnp.random.default_rng(8)
    x = tnp.sort(rng.uniform(0.0, 6.0, arguments.size))
    y = tnp.sin(2 * x) * tnp.exp(-0.1 * x) + 0.1 * rng.standard_normal(arguments.size)
    start = tnp.zeros(3)
    slope = value_and_grad(lambda p: likelihood(tnp, p, x, y))
    value, g = slope(start)
    found, values = bfgs(slope, start)
    print(f"negative log-likelihood {value:.6f} at the start, {values[-1]:.6f} after {len(values) - 1} steps")
    for name, number in zip(("amplitude", "length", "noise"), tnp.exp(found), strict=True):
        print(f"{name} {number:.4f}")
    compare(value, g, likelihood, likelihood, *map(tnp.to_numpy, (start, x, y)))

    def draw(axes):
        at = tnp.linspace(0.0, 6.0, 200)
        mean, deviation = map(tnp.to_numpy, predict(found, x, y, at))
        at = tnp.to_numpy(at)
        axes.fill_between(at, mean - 2 * deviation, mean + 2 * deviation, alpha=0.3)
        axes.plot(at, mean)
        axes.plot(tnp.to_numpy(x), tnp.to_numpy(y), ".")

    plot(arguments.plot, draw)


if __name__ == "__main__":
    main()
