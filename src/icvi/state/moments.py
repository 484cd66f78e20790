"""The moments of a labelled data set in one pass, with numpy alone.

So small jobs never wait for the compiler. The numbers are those of the streaming state: means and
scatter around them, centroids as a sum of two doubles (see `kernels.layout`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icvi.state.precise_scatter import Scatter, precise_scatter
from icvi.state.two_doubles import Pair, product_error, two_sum

Array = NDArray[np.float64]

_BLOCK = 16_384  # numbers


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
    for i in range(k):
        members = order[bounds[i] : bounds[i + 1]]
        x, w = X[members], None if weights is None else weights[members]
        n[i], rest = exact_weight(len(x), w)
        high[i], low[i] = exact_mean(x, w, n[i], rest)
        if S is not None:
            S[i] = _scatter(x, w, high[i], low[i])
            CP[i] = np.trace(S[i])
        else:
            CP[i] = _compactness(x, w, high[i], low[i])

    @functools.cache
    def again(i: int | None) -> Scatter:
        members = order if i is None else order[bounds[i] : bounds[i + 1]]
        x, w = X[members], None if weights is None else weights[members]
        n, rest = exact_weight(len(x), w)
        mean = Pair(*exact_mean(x, w, n, rest))
        return Scatter(n, (n - 1.0) + rest, len(x), mean, precise_scatter(x, w, mean))

    return Moments(n, high, low, CP, S, again, len(X))


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
    return _quotient(*exact_sum(x, w), n, rest)


def _blocks(x: Array, w: Array | None) -> Iterator[tuple[Array, Array | None]]:
    """Samples in blocks that fit into the processor's cache."""
    step = max(1, _BLOCK // x.shape[1])
    for start in range(0, len(x), step):
        part = slice(start, start + step)
        yield x[part], None if w is None else w[part, None]


def _differences(
    x: Array, w: Array | None, high: Array, low: Array
) -> Iterator[tuple[Array, Array]]:
    """Differences x - v and w (x - v), block by block."""
    for block, weight in _blocks(x, w):
        e = block - high
        e -= low
        yield e, e if weight is None else weight * e


def _scatter(x: Array, w: Array | None, high: Array, low: Array) -> Array:
    return np.asarray(sum(weighted.T @ e for e, weighted in _differences(x, w, high, low)))


def _compactness(x: Array, w: Array | None, high: Array, low: Array) -> float:
    return float(sum(np.vdot(weighted, e) for e, weighted in _differences(x, w, high, low)))


def exact_sum(x: Array, w: Array | None) -> tuple[Array, Array]:
    """Sum over samples in two parts, exact for data of similar size."""
    high = low = np.zeros(x.shape[1])
    for block, weight in _blocks(x, w):
        parts = _exact_parts(block if weight is None else block * weight)
        if weight is not None:
            parts.append(product_error(block, weight, block * weight).sum(axis=0))
        for part in parts:
            high, error = two_sum(high, part)
            low = low + error
    return two_sum(high, low)


def _exact_parts(x: Array) -> list[Array]:
    """Vectors whose sum is the sum of the rows of x (after Rump, Ogita & Oishi).

    Adding and subtracting a large power of two cuts all numbers at the same digit. The heads are
    so short that their sum is exact, and the rests go into the next round. Data of similar size
    take two rounds.
    """
    parts: list[Array] = []
    while (size := float(max(-x.min(), x.max()))) > 0.0:
        cut = 2.0 ** (math.frexp(size)[1] + (len(x) - 1).bit_length() + 1)
        head = x + cut
        head -= cut
        parts.append(head.sum(axis=0))
        x = x - head
    return parts


def _quotient(high: Array, low: Array, n: float, rest: float) -> tuple[Array, Array]:
    """(high + low) / (n + rest) in two parts: the nearest double, and the rest rounded likewise.

    So equal quotients have equal parts.
    """
    v = high / n
    v = v + _remainder(high, low, v, n, rest) / n
    return v, _remainder(high, low, v, n, rest) / n


def _remainder(high: Array, low: Array, v: Array, n: float, rest: float) -> Array:
    """The difference high + low - (n + rest) v, where n v is close to high."""
    p = v * n
    return ((high - p) - product_error(v, np.float64(n), p)) + (low - v * rest)


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
