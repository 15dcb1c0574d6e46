"""Ranks of the pages of a synthetic web, by power iteration over its list of links."""

import argparse

import numpy as np

DAMPING = 0.85


def web(pages, rng):
    """Links from page to page, without repetitions; few pages get most of the links, some give none."""
    count = 10 * pages
    source = rng.integers(0, pages, count)
    target = np.minimum((pages * rng.random(count) ** 3).astype(np.int64), pages - 1)
    links = np.unique(source * pages + target)
    source, target = np.divmod(links, pages)
    keep = (source % 17 != 3) & (source != target)
    return source[keep], target[keep]


def rank(source, target, pages):
    out = np.bincount(source, minlength=pages)
    share = 1.0 / np.maximum(out, 1)
    dangling = out == 0
    ranks = np.full(pages, 1.0 / pages)
    for iteration in range(1, 101):
        given = ranks * share
        received = np.bincount(target, weights=given[source], minlength=pages)
        lost = ranks[dangling].sum()
        updated = DAMPING * (received + lost / pages) + (1.0 - DAMPING) / pages
        change = np.abs(updated - ranks).sum()
        ranks = updated
        if iteration % 5 == 0 or change < 1e-10:
            print(f"iteration {iteration:3d}: change {change:.12e}")
        if change < 1e-10:
            break
    return ranks


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=80_000, help="number of pages")
    pages = parser.parse_args().size

    source, target = web(pages, np.random.default_rng(3))
    ranks = rank(source, target, pages)
    best = np.argsort(-ranks, kind="stable")[:5]
    print(f"{pages} pages, {source.size} links, sum of ranks {ranks.sum():.12f}")
    for page in best:
        print(f"page {page:6d}  rank {float(ranks[page])!r}  links {np.count_nonzero(target == page)}")
    half = np.searchsorted(np.cumsum(np.sort(ranks)[::-1]), 0.5) + 1
    print(f"half of all rank lies on {half} pages")


if __name__ == "__main__":
    main()
