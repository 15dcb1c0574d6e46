"""A star cluster under its own gravity: leapfrog steps over all pairs."""

import argparse

import numpy as np

SOFTENING = 0.05


def accelerations(position, mass):
    difference = position[:, None, :] - position[None, :, :]
    squared = (difference * difference).sum(axis=-1) + SOFTENING**2
    weight = mass / (squared * np.sqrt(squared))
    return -(difference * weight[:, :, None]).sum(axis=1)


def energy(position, velocity, mass):
    difference = position[:, None, :] - position[None, :, :]
    distance = np.sqrt((difference**2).sum(axis=-1) + SOFTENING**2)
    pairs = np.triu(mass[:, None] * mass[None, :] / distance, k=1)
    return 0.5 * (mass * (velocity**2).sum(axis=1)).sum() - pairs.sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=500, help="number of bodies")
    parser.add_argument("--steps", type=int, default=40)
    arguments = parser.parse_args()
    size = arguments.size

    rng = np.random.default_rng(7)
    position = rng.normal(size=(size, 3))
    velocity = 0.3 * rng.normal(size=(size, 3))
    mass = rng.uniform(0.5, 1.5, size) / size
    velocity -= (mass[:, None] * velocity).sum(axis=0) / mass.sum()

    start = energy(position, velocity, mass)
    step = 0.01
    acceleration = accelerations(position, mass)
    for _ in range(arguments.steps):
        velocity += 0.5 * step * acceleration
        position += step * velocity
        acceleration = accelerations(position, mass)
        velocity += 0.5 * step * acceleration

    end = energy(position, velocity, mass)
    radius = np.sqrt((position**2).sum(axis=1))
    print(f"bodies {size}, steps {arguments.steps}")
    print(f"energy {float(start)!r} -> {float(end)!r} (relative change {(end - start) / abs(start):.3e})")
    print("momentum", (mass[:, None] * velocity).sum(axis=0).round(15) + 0.0)
    print("radii of 10, 50, 90 % of the bodies", np.percentile(radius, [10, 50, 90]))


if __name__ == "__main__":
    main()
