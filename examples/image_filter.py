"""A photograph's way through a dark room: blur, sharpen, edges, gamma, equalised histogram."""

import argparse

import numpy as np


def picture(height, width):
    """A synthetic colour picture with gradients, rings, stripes and noise; values from 0 to 255."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    rings = 0.5 + 0.5 * np.sin(80.0 * np.hypot(x - 0.4, y - 0.5))
    stripes = (np.floor(30.0 * (x + y)) % 2).astype(float)
    image = np.stack([x, 0.6 * rings + 0.4 * y, 0.3 * stripes + 0.7 * (1.0 - x)], axis=-1)
    image += rng.normal(scale=0.03, size=image.shape)
    return (np.clip(image, 0.0, 1.0) * 255.0).astype(np.uint8)


def blur(image, sigma):
    """Gaussian blur: along the rows, then along the columns."""
    radius = int(3 * sigma)
    kernel = np.exp(-(np.arange(-radius, radius + 1) ** 2) / (2.0 * sigma * sigma))
    kernel /= kernel.sum()
    for axis in (0, 1):
        padding = [(0, 0)] * image.ndim
        padding[axis] = (radius, radius)
        padded = np.pad(image, padding, mode="edge")
        length = image.shape[axis]
        image = np.zeros_like(image)
        for offset, weight in enumerate(kernel):
            window = [slice(None)] * image.ndim
            window[axis] = slice(offset, offset + length)
            image += weight * padded[tuple(window)]
    return image


def edges(grey):
    """Length of the gradient by Sobel's masks; zero on the border."""
    across = grey[:, 2:] - grey[:, :-2]
    down = grey[2:, :] - grey[:-2, :]
    gx = across[:-2] + 2.0 * across[1:-1] + across[2:]
    gy = down[:, :-2] + 2.0 * down[:, 1:-1] + down[:, 2:]
    result = np.zeros_like(grey)
    result[1:-1, 1:-1] = np.sqrt(gx * gx + gy * gy)
    return result


def equalise(grey):
    """Spread the grey levels so that all are equally frequent."""
    histogram, bounds = np.histogram(grey, bins=256, range=(0.0, 1.0))
    cumulative = histogram.cumsum() / grey.size
    return np.interp(grey, 0.5 * (bounds[:-1] + bounds[1:]), cumulative)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=900, help="height of the picture")
    size = parser.parse_args().size

    image = picture(size, size * 4 // 3) / 255.0
    soft = blur(image, 2.0)
    sharp = np.clip(image + 0.7 * (image - soft), 0.0, 1.0)
    bright = sharp ** (1.0 / 2.2)
    grey = bright @ np.array([0.299, 0.587, 0.114])
    contour = edges(blur(grey, 1.0))
    result = equalise(grey)
    result[contour > 0.25] = 0.0
    pixels = (result * 255.0 + 0.5).astype(np.uint8)

    print("picture", image.shape, "mean colour", image.mean(axis=(0, 1)))
    print("sharpened", float(sharp.mean()), float(sharp.std()))
    print("edges", np.count_nonzero(contour > 0.25), float(contour.max()))
    print("levels", np.bincount(pixels.ravel() >> 5, minlength=8))
    print("checksum", int(pixels.astype(np.int64).sum()), pixels[size // 2, :: size // 6])


if __name__ == "__main__":
    main()
