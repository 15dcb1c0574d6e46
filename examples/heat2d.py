"""Heat spreading over a square plate: explicit steps by slices, written in place."""

import argparse

import numpy as np


def step(u, power):
    """One explicit step: every inner point moves towards the mean of its four neighbours."""
    centre = u[1:-1, 1:-1]
    flow = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * centre
    u[1:-1, 1:-1] += 0.2 * flow + power


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="points along a side")
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    size = arguments.size

    u = np.zeros((size, size))
    u[0, :] = 100.0
    u[:, -1] = np.linspace(100.0, 0.0, size)
    y, x = np.mgrid[1 : size - 1, 1 : size - 1] / size
    power = 2.0 * np.exp(-60.0 * ((x - 0.3) ** 2 + (y - 0.6) ** 2))

    for number in range(arguments.steps):
        step(u, power)
        if number % 20 == 19:
            u[:, 0] = u[:, 1]  # no heat leaves on the left
            print(f"step {number + 1:4d}: mean {float(u.mean())!r}, hottest inner point {float(u[1:-1, 1:-1].max())!r}")

    print(f"total heat {float(u.sum())!r}")
    print("along the diagonal", np.diagonal(u)[:: size // 8].round(6))


if __name__ == "__main__":
    main()
