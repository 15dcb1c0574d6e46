"""An Asian option priced by simulation, with antithetic paths and a control variate."""

import argparse

import numpy as np

SPOT, STRIKE, RATE, VOLATILITY, YEARS = 100.0, 105.0, 0.04, 0.25, 1.0


def simulate(paths, steps, rng):
    """Discounted payoffs on the arithmetic and the geometric mean of the price, for mirrored pairs of paths."""
    dt = YEARS / steps
    drift = (RATE - 0.5 * VOLATILITY**2) * dt
    up, down = np.zeros(paths), np.zeros(paths)
    sums = np.zeros((2, paths))
    logs = np.zeros((2, paths))
    for _ in range(steps):
        shock = VOLATILITY * np.sqrt(dt) * rng.standard_normal(paths)
        up += drift + shock
        down += drift - shock
        sums[0] += np.exp(up)
        sums[1] += np.exp(down)
        logs[0] += up
        logs[1] += down
    discount = np.exp(-RATE * YEARS)
    arithmetic = discount * np.maximum(SPOT * sums / steps - STRIKE, 0.0)
    geometric = discount * np.maximum(SPOT * np.exp(logs / steps) - STRIKE, 0.0)
    return arithmetic.mean(axis=0), geometric.mean(axis=0)


def estimate(name, samples):
    error = samples.std(ddof=1) / np.sqrt(samples.size)
    print(f"{name:28s} {samples.mean():.12f} +- {error:.12f}")
    return error


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=200_000, help="number of mirrored pairs of paths")
    parser.add_argument("--steps", type=int, default=50)
    arguments = parser.parse_args()

    rng = np.random.default_rng(99)
    payoff, control = simulate(arguments.size, arguments.steps, rng)
    # The slope that takes the most variance away; the control's mean comes from other paths.
    covariance = np.cov(payoff, control)
    slope = covariance[0, 1] / covariance[1, 1]
    _, other = simulate(arguments.size, arguments.steps, rng)

    plain = estimate("arithmetic mean, plain", payoff)
    controlled = estimate("with the geometric control", payoff - slope * (control - other.mean()))
    print(f"error divided by {plain / controlled:.6f}, slope {slope:.12f}")
    print("quantiles of the payoff", np.quantile(payoff, [0.25, 0.5, 0.75, 0.95, 0.99]))
    print("share that pays", float((payoff > 0).mean()))


if __name__ == "__main__":
    main()
