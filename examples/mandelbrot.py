"""The Mandelbrot set drawn in letters: complex arithmetic under a mask, in place."""

import argparse

import numpy as np

LETTERS = np.array(list(" .:-=+*#%@"))


def escape_times(size, limit):
    """After how many steps of z*z + c each point of the plane leaves the circle of radius 2."""
    y, x = np.ogrid[-1.25 : 1.25 : 1j * size, -2.1 : 0.7 : 1j * (size * 9 // 8)]
    c = x + 1j * y
    z = np.zeros_like(c)
    times = np.full(c.shape, limit)
    inside = np.ones(c.shape, dtype=bool)
    for step in range(limit):
        z[inside] = z[inside] ** 2 + c[inside]
        escaped = inside & (z.real * z.real + z.imag * z.imag > 4.0)
        times[escaped] = step
        inside &= ~escaped
    return times, z


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=700, help="rows")
    parser.add_argument("--limit", type=int, default=60, help="steps")
    arguments = parser.parse_args()

    times, z = escape_times(arguments.size, arguments.limit)
    stride = max(1, arguments.size // 24)
    levels = np.minimum(np.log2(times + 1.0) * 1.7, len(LETTERS) - 1).astype(int)
    for row in LETTERS[levels[::stride, :: max(1, stride // 2)]]:
        print("".join(row))
    inside = times == arguments.limit
    print("inside", np.count_nonzero(inside), "mean escape time", float(times[~inside].mean()))
    print("sum of |z| inside", float(np.abs(z[inside]).sum()))


if __name__ == "__main__":
    main()
