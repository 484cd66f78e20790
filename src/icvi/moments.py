"""The state of a labelled data set in one go, with numpy alone.

Small jobs never meet the compiler. The numbers are those of the streaming state: two-pass
means and scatter, centroids as a sum of two doubles (see `kernels.layout`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """Weights, centroids and scatter of k clusters; ``high + low`` is a centroid."""

    n: Array
    high: Array
    low: Array
    CP: Array
    S: Array | None


def gather(
    X: Array, codes: NDArray[np.int64], k: int, weights: Array | None, *, scatter: bool
) -> Moments:
    """Moments of the clusters 0..k-1 that ``codes`` assigns to the samples."""
    d = X.shape[1]
    narrow = np.uint16 if k <= np.iinfo(np.uint16).max else np.int64
    order = np.argsort(codes.astype(narrow), kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=k))
    n, CP = np.empty(k), np.empty(k)
    high, low = np.empty((k, d)), np.empty((k, d))
    S = np.empty((k, d, d)) if scatter else None
    for i in range(k):
        members = order[ends[i - 1] if i else 0 : ends[i]]
        w = None if weights is None else weights[members]
        n[i] = len(members) if w is None else w.sum()
        e, high[i], low[i] = _centre(X[members], w, n[i])
        weighted = e if w is None else e * w[:, None]
        if S is not None:
            S[i] = weighted.T @ e
            CP[i] = np.trace(S[i])
        else:
            CP[i] = np.einsum("ij,ij->", weighted, e)
    return Moments(n, high, low, CP, S)


def _centre(x: Array, w: Array | None, n: float) -> tuple[Array, Array, Array]:
    """Differences to the mean, and the mean in two parts.

    The first mean is rounded at the size of the data, its correction at the size of the
    differences, so an offset costs no digits.
    """
    share = None if w is None else w / n
    first = x[0] + 0.0 if len(x) == 1 else _mean(x, share)
    e = x - first
    correction = _mean(e, share)
    e -= correction
    high = first + correction
    return e, high, (first - high) + correction


def _mean(x: Array, share: Array | None) -> Array:
    return np.asarray(x.mean(axis=0) if share is None else share @ x)


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
