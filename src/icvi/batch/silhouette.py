"""Silhouette over all samples: how much nearer each is to its own cluster than to the next."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from icvi.batch.clusters import (
    Centroids,
    Clusters,
    by_cluster,
    centroids,
    squared_distances,
    squared_radii,
)
from icvi.indices.undefined import Undefined, check_undefined, resolve
from icvi.inputs import check_choice
from icvi.kernels.undefined import FEW_CLUSTERS
from icvi.progress import progress
from icvi.state.cores import cores
from icvi.state.moments import Array

Metric = Literal["euclidean", "sqeuclidean"]
Average = Literal["samples", "clusters"]

#: From a slice of the samples to the sums of their distances to the samples of each cluster.
SumsOf = Callable[[slice], Array]

#: Number of coordinate differences between pairs of samples, N N d, from which compiling pays.
COMPILE_FROM = 2e7

#: Entries of one table of distances or of sums of distances: a few megabytes.
TABLE = 2**18

#: Rows per compiled call: enough to use the cache well, few enough to show progress.
ROWS = 256


def silhouette_samples(X: Any, labels: Any, *, metric: Metric = "euclidean") -> Array:
    r"""Silhouette coefficient of every sample: how much nearer its own cluster is than the next.

    Parameters
    ----------
    X : array_like of shape (n_samples, n_features)
        The samples.
    labels : sequence of n_samples hashables
        The cluster of each sample.
    metric : {"euclidean", "sqeuclidean"}
        Distance between samples.

    Returns
    -------
    ndarray of shape (n_samples,)
        Coefficients in [-1, 1]; all nan when there are fewer than two clusters.

    See Also
    --------
    silhouette_score : The mean coefficient.

    Notes
    -----
    For a sample x of cluster i

    .. math:: s(x) = \frac{b(x) - a(x)}{\max(a(x), b(x))}, \quad
              a(x) = \sum_{y \in i} \frac{\delta(x, y)}{n_i - 1}, \quad
              b(x) = \min_{l \ne i} \sum_{y \in l} \frac{\delta(x, y)}{n_l}

    and s(x) = 0 if x is alone in its cluster, or if a(x) = b(x) = 0. With squared distances the
    sums over y need no pairs, because for every cluster l

    .. math:: \sum_{y \in l} \|x - y\|^2 = n_l \|x - v_l\|^2 + CP_l

    so that the work is O(N k d). With plain distances it is O(N² d), in blocks: memory grows
    with N, not with N². For large data the code is compiled, and uses one thread per processor.

    References
    ----------
    P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of
    cluster analysis", Journal of Computational and Applied Mathematics 20, 1987, 53-65.

    Examples
    --------
    >>> from icvi.batch import silhouette_samples
    >>> silhouette_samples([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    array([0.8       , 0.75      , 0.42857143, 0.63636364])
    """
    check_choice(metric, "metric", get_args(Metric))
    return _silhouettes(by_cluster(X, labels), metric)


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: Metric = "euclidean",
    average: Average = "samples",
    undefined: Undefined = "nan",
) -> float:
    r"""Mean silhouette coefficient over all samples, or over the means of the clusters.

    Parameters
    ----------
    X : array_like of shape (n_samples, n_features)
        The samples.
    labels : sequence of n_samples hashables
        The cluster of each sample.
    metric : {"euclidean", "sqeuclidean"}
        Distance between samples.
    average : {"samples", "clusters"}
        Mean over samples, as in scikit-learn, or over the mean coefficients of the clusters, so
        that small clusters count as much as large ones.
    undefined : {"nan", "limit", "raise"}
        Result for fewer than two clusters: nan, the limit (there is none, so nan), or an
        `UndefinedIndexError`.

    Returns
    -------
    float
        A number in [-1, 1]; larger is better.

    See Also
    --------
    silhouette_samples : The coefficients, and how they are computed.

    Notes
    -----
    .. math:: \frac1N \sum_x s(x) \qquad\text{or}\qquad
              \frac1k \sum_i \frac1{n_i} \sum_{x \in i} s(x)

    The streaming index SIL compares centroids instead of samples, so its values differ.

    References
    ----------
    P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of
    cluster analysis", Journal of Computational and Applied Mathematics 20, 1987, 53-65.

    Examples
    --------
    >>> from icvi.batch import silhouette_score
    >>> X, labels = [[0.0], [1.0], [2.0], [7.0], [9.0]], [0, 0, 0, 1, 1]
    >>> round(silhouette_score(X, labels), 6)
    0.767262
    >>> round(silhouette_score(X, labels, average="clusters"), 6)
    0.75744
    """
    check_choice(metric, "metric", get_args(Metric))
    check_choice(average, "average", get_args(Average))
    check_undefined(undefined)
    c = by_cluster(X, labels)
    s = _silhouettes(c, metric)
    if c.k < 2:
        value = FEW_CLUSTERS
    elif average == "samples":
        value = float(s.mean())
    else:
        value = float((c.sums(s[c.order]) / c.n).mean())
    return resolve("silhouette_score", value, undefined, {})


def _silhouettes(c: Clusters, metric: Metric) -> Array:
    if c.k < 2:
        return np.full(len(c.order), FEW_CLUSTERS)
    return _in_blocks(c, *sums_of_distances(c, metric))


def _in_blocks(c: Clusters, sums_of: SumsOf, height: int) -> Array:
    """Silhouette coefficients in the order of the caller's samples."""
    n, own, N = c.n, c.own, len(c.order)
    height = max(height, 16)
    s = np.empty(N)

    def fill(start: int) -> int:
        stop = min(start + height, N)
        rows = slice(start, stop)
        s[c.order[rows]] = _coefficients(sums_of(rows), own[rows], n)
        return stop - start

    with (
        progress("silhouette", N) as advance,
        ThreadPoolExecutor(cores()) as threads,
    ):
        for done in threads.map(fill, range(0, N, height)):
            advance(done)
    return s


def _coefficients(sums: Array, own: NDArray[np.int64], n: NDArray[np.int64]) -> Array:
    """(b - a) / max(a, b) from the sums of distances to every cluster."""
    rows = np.arange(len(own))
    a = sums[rows, own] / np.maximum(n[own] - 1, 1)
    means = sums / n
    means[rows, own] = math.inf
    b = means.min(axis=1)
    larger = np.maximum(a, b)
    s = np.zeros(len(own))
    np.divide(b - a, larger, out=s, where=(larger > 0.0) & (n[own] > 1))
    return s


def sums_of_distances(c: Clusters, metric: Metric) -> tuple[SumsOf, int]:
    """A function for the sums, and the number of samples it is best called for."""
    d, N = c.F.shape
    if metric == "sqeuclidean":
        return _squared_sums(c), TABLE // c.k
    if N * N * d < COMPILE_FROM:
        return _pair_sums(c), TABLE // N
    return _compiled_pair_sums(c), min(ROWS, TABLE // c.k)


def _squared_sums(c: Clusters) -> SumsOf:
    """Sums of squared distances, without pairs: n_l ||x - v_l||^2 + CP_l."""
    v = centroids(c.F, c.bounds)
    CP = c.sums(squared_radii(c.F, c.bounds, v))
    return lambda rows: c.n * squared_distances(c.F[:, rows], v) + CP


def _pair_sums(c: Clusters) -> SumsOf:
    """Sums of distances from all pairs."""
    y = Centroids(c.F, np.zeros((len(c.F), 1)))  # every sample is a centroid
    return lambda rows: c.sums(np.sqrt(squared_distances(c.F[:, rows], y)))


def _compiled_pair_sums(c: Clusters) -> SumsOf:
    """Sums of distances from all pairs, compiled."""
    # Imported here, because Numba takes a second to load and small data do not need it.
    from icvi.kernels.pairwise import distance_sums

    def sums_of(rows: slice) -> Array:
        sums = np.zeros((rows.stop - rows.start, c.k))
        distance_sums(c.F, c.bounds, rows.start, sums)
        return sums

    return sums_of
