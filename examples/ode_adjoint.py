"""Sensitivities of an ordinary differential equation by its adjoint, and by the derivative of the solver itself.

Predator and prey after Lotka and Volterra. The adjoint equation is integrated backward in time with the state, with
products of vectors and Jacobians from `vjp`: no steps are stored. The derivative through all steps of the solver is the
exact one of the numbers computed; the two meet as the steps become small.
"""

import argparse

from _peers import compare, plot

import tnp as np
from tnp_autodiff import value_and_grad, vjp

START, END = (1.0, 0.5), 6.0


def growth(state, p):
    prey, predators = state[0], state[1]
    return np.stack([prey * (p[0] - p[1] * predators), predators * (p[2] * prey - p[3])])


def runge_kutta(f, y, h):
    k1 = f(y)
    k2 = f(y + 0.5 * h * k1)
    k3 = f(y + 0.5 * h * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(p, steps):
    """The states at all times."""
    states = np.zeros((steps + 1, 2))
    states[0] = START
    for i in range(steps):
        states[i + 1] = runge_kutta(lambda y: growth(y, p), states[i], END / steps)
    return states


def goal(p, steps):
    """Prey at the end."""
    return solve(p, steps)[-1, 0]


def adjoint_gradient(p, steps):
    """The gradient of `goal` from one pass backward in time over state, adjoint and gradient together."""
    state = solve(p, steps)[-1]

    def backward(y):
        _, pull = vjp(growth, y[:2], p)
        by_state, by_parameters = pull(y[2:4])
        return np.concatenate([growth(y[:2], p), -by_state, -by_parameters])

    y = np.concatenate([state, [1.0, 0.0], np.zeros(len(p))])
    for _ in range(steps):
        y = runge_kutta(backward, y, -END / steps)
    return y[4:]


def functional(np, p, *, steps):
    """The goal without writes, for libraries that have none."""

    def f(y):
        return np.stack([y[0] * (p[0] - p[1] * y[1]), y[1] * (p[2] * y[0] - p[3])])

    y = np.stack([0 * p[0] + START[0], 0 * p[0] + START[1]])
    for _ in range(steps):
        y = runge_kutta(f, y, END / steps)
    return y[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--plot", default="ode_adjoint.png")
    arguments = parser.parse_args()

    p = np.array([1.1, 0.9, 0.8, 1.0])
    value, through_the_solver = value_and_grad(lambda p: goal(p, arguments.steps))(p)
    print(f"prey at the end {value:.9f}")
    print("through the solver", through_the_solver)
    steps, errors = [arguments.steps // 4, arguments.steps // 2, arguments.steps], []
    for n in steps:
        exact = value_and_grad(lambda p, n=n: goal(p, n))(p)[1]
        errors.append(float(np.max(abs(adjoint_gradient(p, n) - exact))))
        print(f"{n:4d} steps: the adjoint differs by {errors[-1]:.2e}")
    if not errors[-1] < errors[0] / 16:  # of fourth order, it would be 256
        raise SystemExit("the adjoint does not converge")
    twin = lambda np, p: functional(np, p, steps=arguments.steps)  # noqa: E731
    compare(value, through_the_solver, twin, twin, np.to_numpy(p))

    def draw(axes):
        axes.loglog(steps, errors, marker="o")
        axes.set(xlabel="steps", ylabel="adjoint against the derivative of the solver")

    plot(arguments.plot, draw)


if __name__ == "__main__":
    main()
