"""Multinomial logistic regression, trained by mini-batches with momentum."""

import argparse

import numpy as np


def data(size, features, classes, rng):
    """Points on noisy curved sheets, one sheet for each class."""
    labels = rng.integers(0, classes, size)
    centres = rng.normal(size=(classes, features))
    x = centres[labels] + 1.5 * rng.normal(size=(size, features))
    x += 0.3 * np.sin(3.0 * x[:, ::-1])
    return (x - x.mean(axis=0)) / x.std(axis=0), labels


def softmax(scores):
    scores = scores - scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def loss_and_gradient(x, target, weights, bias, decay):
    probability = softmax(x @ weights + bias)
    likelihood = np.log(np.maximum((probability * target).sum(axis=1), 1e-300))
    error = (probability - target) / len(x)
    loss = -likelihood.mean() + 0.5 * decay * (weights * weights).sum()
    return loss, x.T @ error + decay * weights, error.sum(axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=40_000, help="number of examples")
    parser.add_argument("--epochs", type=int, default=8)
    arguments = parser.parse_args()
    features, classes, batch = 48, 10, 1000

    rng = np.random.default_rng(1)
    x, labels = data(arguments.size, features, classes, rng)
    target = np.eye(classes)[labels]
    split = arguments.size * 4 // 5

    weights, bias = np.zeros((features, classes)), np.zeros(classes)
    speed_w, speed_b = np.zeros_like(weights), np.zeros_like(bias)
    for epoch in range(arguments.epochs):
        order = rng.permutation(split)
        losses = []
        for first in range(0, split, batch):
            chosen = order[first : first + batch]
            loss, gradient_w, gradient_b = loss_and_gradient(x[chosen], target[chosen], weights, bias, 1e-4)
            speed_w *= 0.9
            speed_w -= 0.3 * gradient_w
            weights += speed_w
            speed_b *= 0.9
            speed_b -= 0.3 * gradient_b
            bias += speed_b
            losses.append(loss)
        guess = (x[split:] @ weights + bias).argmax(axis=1)
        accuracy = (guess == labels[split:]).mean()
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.12f}, accuracy {accuracy:.6f}")

    confusion = np.zeros((classes, classes), dtype=int)
    np.add.at(confusion, (labels[split:], guess), 1)
    print("right", confusion.diagonal(), "of", confusion.sum(axis=1))
    print("largest weight", float(np.abs(weights).max()), "norm", float(np.linalg.norm(weights)))


if __name__ == "__main__":
    main()
