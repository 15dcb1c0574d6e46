"""An orbit from observed positions: the initial state and the mass, fitted by the gradient through the integrator.

The leapfrog integrator works in place, as it would be written for NumPy.
"""

import argparse

from _peers import bfgs, compare, plot

import tnp as np
from tnp_autodiff import value_and_grad

STEP = 0.1


def orbit(parameters, steps):
    """Positions after each step, from x, y, the two velocities and the mass."""
    q, v, mass = parameters[:2] * 1.0, parameters[2:4] * 1.0, parameters[4]
    track = np.zeros((steps, 2))
    for i in range(steps):
        q += 0.5 * STEP * v
        v -= STEP * mass * q / np.sum(q * q) ** 1.5
        q += 0.5 * STEP * v
        track[i] = q
    return track


def misfit(parameters, observed):
    return np.mean((orbit(parameters, len(observed)) - observed) ** 2)


def functional(np, parameters, observed):
    """The same without writes, for libraries that have none."""
    q, v, mass = parameters[:2], parameters[2:4], parameters[4]
    total = 0.0
    for i in range(len(observed)):
        q = q + 0.5 * STEP * v
        v = v - STEP * mass * q / (q * q).sum() ** 1.5
        q = q + 0.5 * STEP * v
        total = total + ((q - observed[i]) ** 2).sum()
    return total / (2 * len(observed))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--plot", default="kepler_orbit.png")
    arguments = parser.parse_args()

    truth = np.array([1.0, 0.0, 0.1, 1.1, 1.0])
    rng = np.random.default_rng(5)
    observed = orbit(truth, arguments.steps) + 1e-3 * rng.standard_normal((arguments.steps, 2))
    guess = truth + np.array([0.05, 0.05, -0.05, 0.03, 0.1])

    slope = value_and_grad(lambda p: misfit(p, observed))
    value, g = slope(guess)
    fitted, values = bfgs(slope, guess, steps=40)
    print(f"misfit {value:.3e} at the start, {values[-1]:.3e} after {len(values) - 1} steps")
    print("found", np.round(fitted, 3))
    print("truth", truth)
    compare(value, g, functional, functional, np.to_numpy(guess), np.to_numpy(observed))

    def draw(axes):
        axes.plot(*np.to_numpy(observed.T), ".", label="observed")
        for name, parameters in (("guess", guess), ("fitted", fitted)):
            axes.plot(*np.to_numpy(orbit(parameters, arguments.steps).T), label=name)
        axes.set_aspect("equal")
        axes.legend()

    plot(arguments.plot, draw)


if __name__ == "__main__":
    main()
