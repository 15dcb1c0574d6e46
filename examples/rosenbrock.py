"""The valley of Rosenbrock's function, by Newton's method with exact second derivatives."""

import argparse

from _peers import compare, plot

import tnp as np
from tnp_autodiff import hessian, value_and_grad


def rosenbrock(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def newton(x, steps=100):
    """Points on the way to the minimum; where a step would climb, half of it is tried."""
    path = [x]
    slope = value_and_grad(rosenbrock)
    for _ in range(steps):
        value, g = slope(x)
        if np.max(abs(g)) < 1e-10:
            break
        curvature = hessian(rosenbrock)(x)
        lowest = np.linalg.eigvalsh(curvature)[0]
        if lowest < 1e-3:  # not convex here
            curvature = curvature + (1e-3 - lowest) * np.eye(len(x))
        step = -np.linalg.solve(curvature, g)
        while rosenbrock(x + step) > value:
            step = step / 2
        x = x + step
        path.append(x)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=8, help="number of variables")
    parser.add_argument("--plot", default="rosenbrock.png")
    arguments = parser.parse_args()

    start = np.linspace(-1.2, 1.0, arguments.size)
    value, g = value_and_grad(rosenbrock)(start)
    print(f"at the start {value:.6f}, slope {np.linalg.norm(g):.3e}")
    path = newton(start)
    print(f"after {len(path) - 1} steps {rosenbrock(path[-1]):.3e}, distance {np.linalg.norm(path[-1] - 1):.3e}")
    compare(value, g, lambda _, x: rosenbrock(x), lambda _, x: rosenbrock(x), np.to_numpy(start))

    def draw(axes):
        axes.semilogy([float(rosenbrock(x)) + 1e-30 for x in path], marker="o")
        axes.set(xlabel="Newton step", ylabel="Rosenbrock's function")

    plot(arguments.plot, draw)


if __name__ == "__main__":
    main()
