"""k-means clustering (Lloyd's algorithm) with a k-means++ start."""

import argparse

import numpy as np


def squared_distances(points, centre):
    return ((points - centre) ** 2).sum(axis=1)


def start(points, k, rng):
    """Centres far from each other: each next one with probability by its squared distance to the nearest."""
    centres = np.empty((k, points.shape[1]))
    centres[0] = points[rng.integers(len(points))]
    nearest = squared_distances(points, centres[0])
    for index in range(1, k):
        cumulative = np.cumsum(nearest)
        centres[index] = points[np.searchsorted(cumulative, rng.random() * cumulative[-1])]
        nearest = np.minimum(nearest, squared_distances(points, centres[index]))
    return centres


def assign(points, centres):
    distances = np.empty((len(points), len(centres)))
    for index, centre in enumerate(centres):
        distances[:, index] = squared_distances(points, centre)
    labels = distances.argmin(axis=1)
    return labels, distances[np.arange(len(points)), labels].sum()


def means(points, labels, centres):
    counts = np.bincount(labels, minlength=len(centres))
    sums = np.stack([np.bincount(labels, weights=column, minlength=len(centres)) for column in points.T], axis=1)
    occupied = counts > 0
    moved = centres.copy()
    moved[occupied] = sums[occupied] / counts[occupied, None]
    return moved


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=80_000, help="number of points")
    parser.add_argument("--clusters", type=int, default=10)
    arguments = parser.parse_args()

    rng = np.random.default_rng(11)
    true = rng.normal(scale=4.0, size=(arguments.clusters, 8))
    points = true[rng.integers(arguments.clusters, size=arguments.size)] + rng.normal(size=(arguments.size, 8))

    centres = start(points, arguments.clusters, rng)
    for round_number in range(1, 31):
        labels, inertia = assign(points, centres)
        moved = means(points, labels, centres)
        shift = np.abs(moved - centres).max()
        centres = moved
        print(f"round {round_number:2d}: inertia {float(inertia)!r}, largest shift {shift:.6e}")
        if shift < 1e-2:
            break

    order = np.argsort(centres[:, 0])
    print("sizes", np.bincount(labels, minlength=arguments.clusters)[order])
    print("first coordinates", centres[order, 0])


if __name__ == "__main__":
    main()
