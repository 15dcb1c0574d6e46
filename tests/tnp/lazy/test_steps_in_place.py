"""NumPy's loops choose their steps by strides, and by whether there is one element: bits and warnings follow."""

import pytest

from tests.programs.same import same

ONE = {
    "in place": "x = np.array([v], t); x *= np.array([w], t)",
    "pending": "x = np.array([v], t); x *= np.array([w], t) + 0",
    "by a number": "x = np.array([v], t); x *= 1",
    "of itself": "x = np.array([v], t); x *= x",
    "out": "x = np.array([v], t); np.multiply(x, np.array([w], t), out=x)",
    "second operand": "x = np.array([[v]], t); np.multiply(np.array([[w]], t), x, out=x)",
    "square": "x = np.array([v], t); np.square(x, out=x)",
    "power": "x = np.array([v], t); x **= 2",
    "by a list": "x = np.array([w, v], t); x[[1]] *= 1",
    "part": "x = np.array([w, v, w], t); x[1:2] *= np.array([w], t) + 0",
    "part out": "x = np.array([w, v, w], t); np.multiply(np.array([w], t) + 0, x[1:2], out=x[1:2])",
    "assigned": "x = np.array([w, v, w], t); x[1:2] = x[1:2] * np.array([w], t)",
    "assigned square": "x = np.array([w, v, w], t); x[1:2] = np.square(x[1:2])",
}


@pytest.mark.parametrize("errors", ["ignore", "warn"])
@pytest.mark.parametrize("statement", ONE.values(), ids=ONE.keys())
def test_one_complex_number(statement, errors):
    same(f"""
    parts = [0.0, -0.0, 1.0, -1.5, 3.25, np.inf, -np.inf, np.nan, 1e30, -7.7]
    numbers = [complex(a, b) for a in parts for b in parts]
    found = []
    with np.errstate(all='{errors}'):
        for t in 'FD':
            for v, w in zip(numbers, numbers[::-1]):
                {statement}
                found.append(x)
    saw(found)
    """)


@pytest.mark.parametrize("name", ["power", "fmax", "fmin", "maximum", "minimum"])
def test_one_real_number(name):
    same(f"""
    found = []
    with np.errstate(all='ignore'):
        for t in 'fd':
            for v in (0.0, -0.0, 1.0, -np.inf, np.nan):
                for w in (0.0, -0.0, 0.5, 2.0, np.nan):
                    x, y = np.array([v], t), np.array([w], t)
                    np.{name}(x, y, out=x)
                    found += [x, np.{name}(np.array([v], t), y, out=y)]
    saw(found)
    """)


PLACES = ["::2", "::3", "::-1", "2:"]
STRIDED = {
    "square, same place": "x[{p}] = np.square(x[{p}])",
    "square, another place": "y[{p}] = np.square(x[{p}])",
    "square, out": "np.square(x[{p}] + 0, out=y[{p}])",
    "square, out of itself": "np.square(x[{p}], out=x[{p}])",
    "product, same place": "x[{p}] = x[{p}] * x[{p}]",
    "product, part": "x[{p}] *= x[{p}] + 0",
    "reciprocal": "x[{p}] = np.reciprocal(x[{p}])",
    "sine": "x[{p}] = np.sin(x[{p}])",
}


@pytest.mark.parametrize("errors", ["warn", "ignore"])
@pytest.mark.parametrize("statement", STRIDED.values(), ids=STRIDED.keys())
def test_what_is_written_with_gaps(statement, errors):
    for place in PLACES:
        same(f"""
        found = []
        with np.errstate(all='{errors}'):
            for t in 'FD':
                for n in (4, 13, 130, 700):
                    x = (np.sin(np.arange(n) * 1.7) + 1j * np.cos(np.arange(n) * 2.3)).astype(t)
                    y = np.zeros(n, t)
                    {statement.format(p=place)}
                    found += [x, y]
        saw(found)
        """)
