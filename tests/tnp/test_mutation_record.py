"""Every public way to write to an array gives NumPy's memory, whatever is pending on that memory.

The calls are tests/tnp/core/mutating.txt, which find_mutating.py beside it makes by trying every public function; the
statements that are no calls are listed here.
"""

import re

import pytest

from tests.programs.same import same
from tests.tnp.core import find_mutating

CALLS = dict(line.split("\t") for line in find_mutating.FILE.read_text().splitlines())

STATEMENTS = {
    "a[...] = b": "a",
    "a[1] = 5": "a",
    "a[1:, ::-1] = b[:-1]": "a",
    "a[::-1] = a": "a",
    "a[[2, 0]] = 7": "a",
    "a[m] = 0": "a",
    "a[m] += 1": "a",
    "a[k, k] *= 2": "a",
    "a[0], a[1] = a[1], a[0]": "a",
    "a += b": "a",
    "a -= a": "a",
    "a *= 2": "a",
    "a /= b": "a",
    "a //= 2": "a",
    "a %= 3": "a",
    "a **= 2": "a",
    "n &= 3": "n",
    "n |= 1": "n",
    "n ^= n": "n",
    "n <<= 1": "n",
    "n >>= 1": "n",
    "s @= s": "s",
    "m &= ~m": "m",
    "a.flat[...] = 4": "a",
    "a.flat[::2] = 1": "a",
    "a.flat[[0, 3]] = [8, 9]": "a",
    "a.flat = b": "a",
    "a.real = 3": "a",
    "z.real = 3": "z",
    "z.imag = x[:3]": "z",
    "z.imag += 1": "z",
    "z.real[1:] = 0": "z",
    "a.T[0] = 1": "a",
    "a.reshape(-1)[3] = 1": "a",
    "a.ravel()[:4] = 2": "a",
    "np.swapaxes(a, 0, 1)[1] = 9": "a",
    "np.einsum('ii->i', s)[...] = 0": "s",
    "a.view('i8')[0] = 5": "a",
    "a.view()[1] = 5": "a",
    "np.asarray(a)[2] = 5": "a",
    "a[0, ...][...] = 1": "a",
    "a[0, 0, ...] += 1": "a",
    "a[None][0, 1] = 3": "a",
    "x.shape = (2, 3)": "x",
    "x.shape = (6,); x.dtype = 'i8'": "x",
    "r['p'] = 8": "r",
    "r['q'][1] = 8": "r",
    "r[0]['p'] = 8": "r",
    "r[['p', 'q']] = (1, 2)": "r",
    "memoryview(a)[0, 1] = 5.5": "a",
    "a.data[1, 1] = 5.5": "a",
    "numpy.asarray(a)[0] = 6": "a",
    "np.frombuffer(x)[0] = 1": "x",
    "o.fill(3)": "o",
    "t.fill('q')": "t",
    "for row in a: row[1] = 5": "a",
    "for e in np.nditer(a, op_flags=['readwrite']): e[...] = 2 * e": "a",
    "for i, _ in np.ndenumerate(x): x[i] = 2": "x",
    "np.lib.stride_tricks.as_strided(x, (3,), (16,))[...] = 1": "x",
    "np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)[2, 1] = 1": "x",
    "np.array_split(x, 2)[1][...] = 0": "x",
    "np.split(a, 2)[0][0] = 9": "a",
    "np.atleast_3d(a)[0] = 9": "a",
    "np.expand_dims(a, 0)[0, 1] = 9": "a",
    "np.rot90(a)[0] = 9": "a",
    "np.flip(a)[0] = 9": "a",
    "np.real(z)[...] = 9": "z",
    "np.moveaxis(a, 0, 1)[1] = 9": "a",
    "np.require(a, requirements='W')[0] = 9": "a",
    "np.add.at(a, (k, k), 1)": "a",
    "np.add(a, 1, out=a, where=m)": "a",
    "np.add(a[1:], a[:-1], out=a[1:])": "a",
    "np.add(a, b, out=a.T[::1].T)": "a",
    "np.cumsum(a, axis=0, out=a)": "a",
    "np.copyto(a, b, where=m)": "a",
    "np.copyto(n, a, casting='unsafe', where=~np.isnan(a))": "n",
    "np.sum(a, axis=0, out=a[0])": "a",
    "np.take(a, k, axis=0, out=b[:3])": "b",
    "np.clip(a, 0, 1, a)": "a",
    "np.round(a, 1, a)": "a",
    "np.concatenate([x[:3], x[3:]], out=x)": "x",
    "np.matmul(s, s.T, out=b[:3])": "b",
    "np.einsum('ij,jk->ik', a, s, out=b)": "b",
    "np.choose(n % 2, [a, b], out=a)": "a",
    "np.random.default_rng(1).random(out=x)": "x",
    "np.random.default_rng(1).standard_normal(out=x)": "x",
    "np.random.default_rng(1).permuted(a, axis=1, out=a)": "a",
    "a.partition(1, axis=0)": "a",
    "np.nan_to_num(a[1:], copy=False)": "a",
    "np.put_along_axis(a, np.argsort(a, axis=0), b, axis=0)": "a",
    "np.fill_diagonal(a, [1, 2, 3])": "a",
    "np.place(a, m, [1, 2])": "a",
    "np.apply_over_axes(np.sum, a, 0)[0].fill(0)": "",
    "x.resize((8,), refcheck=False)": "x",
    "exec('a += 1')": "a",
    "in_thread(lambda: a.fill(1))": "a",
}

WAYS = {**CALLS, **STATEMENTS}
WRITES = {"m": "m ^= True", "o": "o[0] = 1", "t": "t[0] = 'n'", "r": "r['p'] += 1", "n": "n += 1", "k": "k[0] = 1"}


def names(way):
    """The arrays that a call or statement speaks of."""
    return [name for name in find_mutating.NAMES if re.search(rf"\b{name}\b(?!=)", way)]


def for_each(involved, *lines):
    """Lines with @ for each array's name; # stands for an operation that reads it and may wait, ! for a whole write."""
    text = []
    for name in involved:
        reads = {"m": "@ ^ True", "o": "@.copy()", "t": "@.copy()", "r": "@.copy()"}.get(name, "@ * 2")
        for line in lines:
            text.append(line.replace("#", reads).replace("!", WRITES.get(name, "@ *= 1.5")).replace("@", name))
    return "\n".join(text)


@pytest.mark.parametrize("way", WAYS)
def test_write(way):
    """The write as it is, after whole writes, on pending values, on views, and twice with readers between."""
    involved = names(way)
    shown = for_each(involved, "saw(@)") + ("\nsaw(out0)" if WAYS[way] == "out" else "")
    readers, old = for_each(involved, "old_@ = #"), for_each(involved, "saw(old_@)")
    versions = for_each(involved, "!", "old_@ = #", "!")
    pending = for_each([name for name in involved if name not in "motr"], "@ = @ + 1")
    views = for_each(
        involved, "base_@ = np.repeat(@, 2, -1)", "@ = base_@[..., ::2]", "all_@ = base_@.copy()", "old_@ = #"
    )
    again = for_each(involved, "new_@ = #")
    for parts in [
        (readers, way, shown, old),
        (versions, way, shown, old),
        (pending, readers, way, shown, old),
        (views, way, shown, old, for_each(involved, "saw(base_@, all_@)")),
        (readers, way, again, way, old, shown, for_each(involved, "saw(new_@)")),
    ]:
        same("\n".join([find_mutating.SAMPLES, "np.random.seed(5)", *parts]), lazy_from=(1,), functions=(False,))
