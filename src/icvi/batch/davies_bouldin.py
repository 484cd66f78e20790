"""Davies-Bouldin index as published, with both exponents."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from icvi.batch.clusters import Clusters, by_cluster, centroids, finite, separations, squared_radii
from icvi.indices.undefined import Undefined, check_undefined, resolve
from icvi.inputs import as_number, as_positive
from icvi.kernels.undefined import COINCIDENT, COINCIDENT_0, FEW_CLUSTERS
from icvi.state.moments import Array
from icvi.wording import short


def davies_bouldin_score(
    X: Any, labels: Any, *, p: float = 2.0, q: float = 1.0, undefined: Undefined = "nan"
) -> float:
    r"""Davies-Bouldin index as published: for every cluster the worst ratio of widths to distance.

    Parameters
    ----------
    X : array_like of shape (n_samples, n_features)
        The samples.
    labels : sequence of n_samples hashables
        The cluster of each sample.
    p : float, at least 1
        Exponent of the Minkowski distance between centroids; inf is the largest coordinate.
    q : float, positive
        Exponent of the mean that is a cluster's width: q = 1 is the mean distance from the
        centroid, q = 2 the standard deviation.
    undefined : {"nan", "limit", "raise"}
        What to do with fewer than two clusters or coincident centroids: nan, the one-sided limit
        where there is one (inf for coincident centroids), or `UndefinedIndexError`.

    Returns
    -------
    float
        A number not below 0; smaller is better.

    Notes
    -----
    .. math:: DB = \frac1k \sum_i \max_{j \ne i} \frac{S_i + S_j}{M_{ij}}, \quad
              S_i = \Bigl(\frac1{n_i} \sum_{x \in i} \|x - v_i\|_2^q\Bigr)^{1/q}, \quad
              M_{ij} = \|v_i - v_j\|_p

    p = 2 with q = 1 is what scikit-learn computes, except that it counts a pair of coincident
    centroids as 0, the best possible ratio; here the index is undefined then. The streaming
    index DB takes squares of widths and distances: another number.

    References
    ----------
    D. L. Davies and D. W. Bouldin, "A cluster separation measure", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 1 (2), 1979, 224-227.

    Examples
    --------
    >>> from icvi.batch import davies_bouldin_score
    >>> X, labels = [[0.0, 0.0], [2.0, 0.0], [4.0, 4.0], [8.0, 4.0]], [0, 0, 1, 1]
    >>> round(davies_bouldin_score(X, labels), 6)
    0.468521
    >>> round(davies_bouldin_score(X, labels, p=1), 6)
    0.333333
    """
    distance_power, width_power = as_number(p, "p"), as_positive(q, "q")
    if not distance_power >= 1.0:
        raise ValueError(f"expected p to be at least 1, or infinite, got {short(p)}")
    check_undefined(undefined)
    value = _davies_bouldin(by_cluster(X, labels), distance_power, width_power)
    return resolve("davies_bouldin_score", value, undefined, {"coincident_centroids": math.inf})


def _davies_bouldin(c: Clusters, p: float, q: float) -> float:
    if c.k < 2:
        return FEW_CLUSTERS
    v = centroids(c.F, c.bounds)
    S = _widths(np.sqrt(squared_radii(c.F, c.bounds, v)), c, q)
    R = np.empty(c.k)
    coincident: list[float] = []
    for i, M in enumerate(separations(v, p)):
        M[i] = math.inf
        coincident.extend((S[i] + S)[M == 0.0])
        with np.errstate(all="ignore"):
            R[i] = ((S[i] + S) / M).max()
    if coincident:
        return COINCIDENT if max(coincident) > 0.0 else COINCIDENT_0
    return finite(float(R.mean()))


def _widths(r: Array, c: Clusters, q: float) -> Array:
    """S_i = (mean of r^q)^(1/q) over the samples of each cluster i."""
    largest = np.maximum.reduceat(r, c.bounds[:-1])
    relative = r / np.where(largest > 0.0, largest, 1.0)[c.own]
    return largest * (c.sums(relative**q) / c.n) ** (1.0 / q)
