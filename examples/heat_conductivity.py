"""What a rod is made of, from temperatures: the conductivity along it, by the gradient through the diffusion of heat.

The rod is stepped in place. Its conductivity is a field of its own between the nodes, positive because it is the
exponential of the unknowns; a little smoothness is asked of them.
"""

import argparse

from _peers import bfgs, compare, plot

import tnp as np
from tnp_autodiff import value_and_grad

STEP, SMOOTH = 0.2, 1e-5


def diffuse(unknowns, u, steps):
    """The temperatures at every tenth step; both ends keep theirs."""
    conductivity = np.exp(unknowns)
    u = u * 1.0
    seen = np.zeros((steps // 10, len(u)))
    for i in range(steps):
        flow = conductivity * (u[1:] - u[:-1])
        u[1:-1] += STEP * (flow[1:] - flow[:-1])
        if i % 10 == 9:
            seen[i // 10] = u
    return seen


def misfit(unknowns, u, observed):
    seen = diffuse(unknowns, u, 10 * len(observed))
    return np.mean((seen - observed) ** 2) + SMOOTH * np.sum((unknowns[1:] - unknowns[:-1]) ** 2)


def functional(concatenate):
    """The same without writes, for libraries that have none."""

    def f(np, unknowns, u, observed):
        conductivity, total = np.exp(unknowns), 0.0
        for i in range(10 * len(observed)):
            flow = conductivity * (u[1:] - u[:-1])
            u = getattr(np, concatenate)([u[:1], u[1:-1] + STEP * (flow[1:] - flow[:-1]), u[-1:]])
            if i % 10 == 9:
                total = total + ((u - observed[i // 10]) ** 2).sum()
        return total / (len(observed) * len(u)) + SMOOTH * ((unknowns[1:] - unknowns[:-1]) ** 2).sum()

    return f


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=24, help="number of nodes")
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--plot", default="heat_conductivity.png")
    arguments = parser.parse_args()

    place = np.linspace(0.0, 1.0, arguments.size - 1)
    truth = np.where((place > 0.35) & (place < 0.65), -1.2, 0.0)
    rng = np.random.default_rng(2)
    start = np.zeros(arguments.size)
    start[0], start[arguments.size // 2], start[-1] = 1.0, 2.0, -1.0
    observed = diffuse(truth, start, arguments.steps)
    observed += 1e-3 * rng.standard_normal(observed.shape)

    guess = np.full(arguments.size - 1, -0.5)
    slope = value_and_grad(lambda unknowns: misfit(unknowns, start, observed))
    value, g = slope(guess)
    found, values = bfgs(slope, guess, steps=50)
    print(f"misfit {value:.3e} at the start, {values[-1]:.3e} after {len(values) - 1} steps")
    error = np.sqrt(np.mean((found - truth) ** 2))
    print(f"typical error of the logarithm {error:.3f}, of the guess {np.sqrt(np.mean((guess - truth) ** 2)):.3f}")
    compare(value, g, functional("concatenate"), functional("cat"), *map(np.to_numpy, (guess, start, observed)))

    def draw(axes):
        for name, field in (("truth", truth), ("guess", guess), ("found", found)):
            axes.step(np.to_numpy(place), np.to_numpy(np.exp(field)), where="mid", label=name)
        axes.set(xlabel="place", ylabel="conductivity")
        axes.legend()

    plot(arguments.plot, draw)


if __name__ == "__main__":
    main()
