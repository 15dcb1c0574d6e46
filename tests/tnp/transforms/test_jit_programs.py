"""Random programs with mutation do the same compiled as they do plainly: every bit, every write, every warning."""

import warnings

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tnp as np
from tests.tnp.transforms.test_jit import same
from tnp.transforms.jit import jit

# a, b, c: vectors of one length; m: a square matrix; s: a number; V: one of the vectors, W another, K and L numbers
STATEMENTS = """
V = W + K
V = V * W
V = W - s
V = V / (abs(W) + 1.5)
V = np.sin(W)
V = np.exp(-W * W)
V = np.where(V > K, W, V)
V = np.maximum(V, W)
V = np.clip(W, -1.0, 1.0)
V = W.copy()
V = W[::-1]
V = np.sqrt(abs(W))
V = W**2 + V**3
V = np.zeros(len(W)) + s
V = np.array([1.0, 2, 3, 4, 5, 6])
V = np.arange(6) * 0.5
V = np.concatenate([W[:3], V[3:]])
V = np.hstack([V[2:], W[:2]])
V = m[1] + W
V = m @ W
V = W @ m.T
V = m.sum(axis=0)
V = m.max(axis=1)
V = (m * W).sum(axis=1)
V = np.cumsum(W)
V = np.sort(W)
V = W.astype("f4") * 2
V = m.reshape(-1)[::6]
V = np.linalg.solve(m + 9 * np.eye(6), W)
V = (W > 0) * 1.0
V = np.triu(m)[0] + V
V = np.float64(2) * V
V += W
V -= s
V *= K
V /= 3
V[1:] = W[:-1]
V[1:] = V[:-1]
V[:-1] += V[1:]
V[::2] = K
V[1::2] *= W[1::2]
V[2] = W[3] * 2
V[0], V[2] = V[2], V[0]
V[...] = W * 2
V[W > 0] = K
V[W > 0] *= 2
V[V < K] = V[V < K] + 1
V[m[0] > 0] = W[m[0] > 0]**2
V[[0, 0, 3]] += 1
np.add(V, W, out=V)
np.multiply(W, 2, out=V)
np.exp(W[:3], out=V[3:])
np.add.at(V, [1, 1], 2.0)
np.copyto(V, W)
V.fill(s)
m += V
m[1] = V
m[:, 2] = W
m[0], m[1] = m[1], m[0]
m[1:-1, 1:-1] = (m[:-2, 1:-1] + m[2:, 1:-1]) / 2
m = m.T
m = m * 0.5 - V[:, None]
m = m + m.T
m *= W
m.T[1] += V
m[m > 1] = 1
s = V.sum()
s = W.mean() + s
s = V[1] * W[2]
s = s * K + 1
s = np.dot(V, W)
s = V.max() - V.min()
s = m.sum() / (abs(s) + 1)
s += W[0]
t = s; s = s * 2; V = V + t
s = np.sqrt(abs(s))
s = m[V > 0].sum()
""".strip().splitlines()

line = st.tuples(
    st.sampled_from(STATEMENTS), st.sampled_from("abc"), st.sampled_from("abc"), st.sampled_from([0.5, -1.25, 2.0, 3])
)


def function(lines, returned):
    body = [text.replace("V", v).replace("W", w).replace("K", repr(k)) for text, v, w, k in lines]
    source = "def f(a, b, m, s):\n c = a * b\n " + "\n ".join([*body, f"return {returned}"])
    space = {"np": np}
    exec(compile(source, "<program>", "exec"), space)
    return space["f"], source


def inputs(seed):
    rng = numpy.random.default_rng(seed)
    a, b, m = rng.normal(size=6), rng.normal(size=6), rng.normal(size=(6, 6))
    return [np.array(a), np.array(b), np.array(m), numpy.float64(rng.normal())]


def outcome(f, args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = f(*args)
        except (ValueError, TypeError, IndexError, numpy.linalg.LinAlgError) as error:
            result = type(error), str(error)
    return result, sorted({(str(w.message), w.lineno) for w in found if w.category is RuntimeWarning})


def check(lines, returned, shares):
    f, source = function(lines, returned)
    compiled = jit(f)
    for seed in range(3):
        plain, given_ = inputs(seed), inputs(seed)
        if shares:
            plain[1], given_[1] = plain[0][::-1], given_[0][::-1]
        want, told = outcome(f, plain)
        got, said = outcome(compiled, given_)
        try:
            same(want, got)
            same(plain, given_)
            assert told == said
        except AssertionError as error:
            raise AssertionError(f"call {seed} of\n{source}") from error


@given(
    st.lists(line, min_size=1, max_size=12),
    st.sampled_from(["a, b, c, m, s", "c", "s", "(c[1:], m), a"]),
    st.booleans(),
)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_programs(lines, returned, shares):
    check(lines, returned, shares)


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements(text):
    for v, w in ("ab", "aa", "ca", "bc"):
        check([(text, v, w, 0.5), ("V = V + W", v, w, 1)], "a, b, c, m, s", False)
        check([(text, v, w, -1.25)], "a, b, c, m, s", True)
