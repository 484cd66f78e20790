"""The moments of a labelled data set in one pass, with numpy alone.

So small jobs never wait for the compiler. The numbers are those of the streaming state: means and
scatter around them, centroids as a sum of two doubles (see `kernels.layout`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.state.cores import cores
from icvi.state.one_thread import one_thread
from icvi.state.precise_scatter import Scatter, precise_scatter
from icvi.state.two_doubles import Pair, product_error, two_sum

Array = NDArray[np.float64]

#: Numbers that are worked on at once. Threads wait for each other where they are fewer: 109 ms with
#: two threads for 32,000, 66 for 256,000 (one thread: 108 and 91).
_BLOCK = 256_000
_MANY = 2_000_000  # numbers that are worth threads


@dataclass(frozen=True)
class Moments:
    """Weights, centroids and scatter of k clusters; ``high + low`` is a centroid.

    ``again`` sums the scatter of a cluster, or of all samples for None, in two doubles.
    """

    n: Array
    high: Array
    low: Array
    CP: Array
    S: Array | None
    again: Callable[[int | None], Scatter] | None = None
    samples: int = 0


def gather(
    X: Array, codes: NDArray[np.int64], k: int, weights: Array | None, *, scatter: bool
) -> Moments:
    """Moments of the clusters 0..k-1 that ``codes`` assigns to the samples."""
    d = X.shape[1]
    order, bounds = sorted_by_cluster(codes, k)
    n, CP = np.empty(k), np.empty(k)
    high, low = np.empty((k, d)), np.empty((k, d))
    S = np.empty((k, d, d)) if scatter else None

    def cluster(i: int) -> None:
        members = order[bounds[i] : bounds[i + 1]]
        part = _of_cluster(X, members, weights, scatter)
        n[i], high[i], low[i] = part.n, part.high, part.low
        if S is not None:
            S[i] = part.squares
        CP[i] = part.squares if S is None else np.trace(S[i])

    with one_thread():
        in_threads(cluster, k, X.size)

    @functools.cache
    def again(i: int | None) -> Scatter:
        members = order if i is None else order[bounds[i] : bounds[i + 1]]
        return scatter_again(X[members], _rows(weights, members))

    return Moments(n, high, low, CP, S, again, len(X))


def scatter_again(x: Array, w: Array | None = None) -> Scatter:
    """The scatter of some samples in two doubles."""
    n, rest = exact_weight(len(x), w)
    mean = Pair(*exact_mean(x, w, n, rest))
    return Scatter(n, (n - 1.0) + rest, len(x), mean, precise_scatter(x, w, mean))


def _rows(weights: Array | None, which: NDArray[Any]) -> Array | None:
    return None if weights is None else weights[which]


def sorted_by_cluster(
    codes: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Samples in order of their codes, and the bounds of the clusters 0..k-1 in that order."""
    # Short integers are sorted digit by digit, many times faster.
    narrow = np.uint16 if k <= np.iinfo(np.uint16).max else np.int64
    order = np.argsort(codes.astype(narrow), kind="stable")
    return order, np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=k))))


def exact_weight(count: int, w: Array | None) -> tuple[float, float]:
    """Sum of the weights: the nearest double, and the remainder."""
    if w is None:
        return float(count), 0.0
    high, low = exact_sum(w[:, None], None)
    return float(high[0]), float(low[0])


def exact_mean(x: Array, w: Array | None, n: float, rest: float = 0.0) -> tuple[Array, Array]:
    """Mean over samples whose weights sum to n + rest: the nearest doubles, and the remainders.

    For data of similar size the result depends neither on the order of the samples nor on their
    number, so that equal means compare equal.
    """
    return quotient(*exact_sum(x, w), n, rest)


class _Part(NamedTuple):
    """Moments of some samples of a cluster; squares are a matrix, or their sum alone."""

    n: float
    sums: tuple[Array, Array]
    high: Array
    low: Array
    squares: Array


def of_part(X: Array, members: NDArray[np.int64], weights: Array | None, scatter: bool) -> _Part:
    """Moments of samples about their own mean."""
    # 20 ms instead of 64 for X[members] of 1,000,000 samples.
    x, w = np.take(X, members, axis=0), _rows(weights, members)
    n, rest = exact_weight(len(x), w)
    sums = exact_sum(x, w)
    high, low = quotient(*sums, n, rest)
    e = x - high
    e -= low
    f = e if w is None else w[:, None] * e
    return _Part(n, sums, high, low, f.T @ e if scatter else np.asarray(np.vdot(f, e)))


def _of_cluster(
    X: Array, members: NDArray[np.int64], weights: Array | None, scatter: bool
) -> _Part:
    """Moments of samples, part by part, each about its own mean.

    So samples are read once from memory. What the means of parts differ by is added at the end.
    """
    step = max(1, _BLOCK // X.shape[1])
    if len(members) <= step:
        return of_part(X, members, weights, scatter)
    parts = [
        of_part(X, members[start : start + step], weights, scatter)
        for start in range(0, len(members), step)
    ]
    total, small = np.zeros((2, X.shape[1]))
    for part in parts:
        total, error = two_sum(total, part.sums[0])
        small = small + (part.sums[1] + error)
    sums = two_sum(total, small)
    n, rest = exact_weight(len(members), _rows(weights, members))
    high, low = quotient(*sums, n, rest)
    between = np.array([(part.high - high) + (part.low - low) for part in parts])
    weighted = np.array([part.n for part in parts])[:, None] * between
    more = weighted.T @ between if scatter else np.vdot(weighted, between)
    return _Part(n, sums, high, low, np.sum([part.squares for part in parts], axis=0) + more)


def in_threads(work: Callable[[int], None], count: int, numbers: int) -> None:
    """Do all of some work, in as many threads as there are cores where it is much."""
    threads = min(count, cores()) if numbers >= _MANY else 1
    if threads == 1:
        for i in range(count):
            work(i)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(count)):
            pass


def exact_sum(x: Array, w: Array | None) -> tuple[Array, Array]:
    """Sum over samples in two parts, exact for data of similar size."""
    high = low = np.zeros(x.shape[1])
    step = max(1, _BLOCK // x.shape[1])
    for start in range(0, len(x), step):
        block = x[start : start + step]
        parts = _exact_parts(block if w is None else block * w[start : start + step, None])
        if w is not None:
            weight = w[start : start + step, None]
            parts.append(product_error(block, weight, block * weight).sum(axis=0))
        for part in parts:
            high, error = two_sum(high, part)
            low = low + error
    return two_sum(high, low)


def _exact_parts(x: Array) -> list[Array]:
    """Vectors whose sum is the sum of the rows of x (after Rump, Ogita & Oishi).

    Adding and subtracting a large power of two cuts all numbers at the same digit. The heads are
    so short that their sum is exact, in whatever order it is made, and the rests, at most half a
    digit, go into the next round. Data of similar size take two rounds.
    """
    parts: list[Array] = []
    ones, longer = np.ones(len(x)), (len(x) - 1).bit_length() + 1
    exponent = math.frexp(float(max(-x.min(), x.max())))[1] + longer
    while x.any():
        cut = 2.0**exponent
        head = x + cut
        head -= cut
        parts.append(ones @ head)  # 6 us instead of 28 for 1,638 rows of 10
        x = x - head
        exponent += longer - 52
    return parts


def quotient(high: Array, low: Array, n: float | Array, rest: float) -> tuple[Array, Array]:
    """(high + low) / (n + rest) in two parts: the nearest double, and the rest rounded likewise.

    So equal quotients have equal parts.
    """
    v = high / n
    v = v + _remainder(high, low, v, n, rest) / n
    return v, _remainder(high, low, v, n, rest) / n


def _remainder(high: Array, low: Array, v: Array, n: float | Array, rest: float) -> Array:
    """The difference high + low - (n + rest) v, where n v is close to high."""
    p = v * n
    return ((high - p) - product_error(v, np.asarray(n), p)) + (low - v * rest)


def overall_mean(m: Moments) -> tuple[Array, Array]:
    """Mean mu of all samples, in two parts."""
    share = m.n / m.n.sum()
    first = share @ m.high
    correction = share @ ((m.high - first) + m.low)
    high = first + correction
    return high, (first - high) + correction


def unweighted_mean(m: Moments) -> tuple[Array, Array]:
    """Mean of the centroids, in two parts."""
    return overall_mean(Moments(np.ones_like(m.n), m.high, m.low, m.CP, None))


def offsets(m: Moments, mean: tuple[Array, Array]) -> Array:
    """(k, d) centroids minus a mean in two parts."""
    return np.asarray((m.high - mean[0]) + (m.low - mean[1]))
