"""Batch definitions that need all samples.

The indices of a stream are read from a few moments per cluster: counts, means, sums of squared
deviations. The definitions here average plain distances, and no fixed number of moments gives
the mean of a square root; besides, the means to which, or the samples between which, they
measure all move when one more sample arrives. So they take the whole data set at once.

They are other numbers than the streaming forms of the same name, and neither replaces the other:

- `silhouette_score` compares every sample with all samples; SIL compares centroids only, and
  squares distances.
- `davies_bouldin_score` is the index as published, with exponents p and q; DB squares the
  widths and the distances.
- `i_index_score` and `pbm_score` are the indices as published; I and PBM square every norm.

None of these numbers depends on the origin, and digits are not lost on data far away from it.
No label has a meaning of its own: samples labelled -1 are a cluster like the others, so drop
noise first.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from icvi.errors import UndefinedIndexError
from icvi.inputs import as_label_array, as_samples
from icvi.kernels.undefined import (
    COINCIDENT,
    COINCIDENT_0,
    FEW_CLUSTERS,
    OVERFLOW,
    ZERO_WITHIN,
    ZERO_WITHIN_0,
    limit_of,
    why,
)
from icvi.labels import Labels
from icvi.progress import progress
from icvi.treatment import Undefined

__all__ = [
    "davies_bouldin_score",
    "i_index_score",
    "pbm_score",
    "silhouette_samples",
    "silhouette_score",
]

Metric = Literal["euclidean", "sqeuclidean"]
Average = Literal["samples", "clusters"]

#: Coordinate differences between pairs of samples (N N d) from which compiling pays.
COMPILE_FROM = 2e7

#: Entries of one table of distances or of sums of distances: a few megabytes.
TABLE = 2**18

#: Rows of one piece of compiled work: enough to use the cache well, few enough to report on.
ROWS = 256

#: Binary exponent of the largest entry after scaling. Squares summed over everything stay far
#: from overflow, and what is 1e270 times smaller still has a square.
_EXPONENT = 400

#: A double times this, and less the excess, keeps 26 of its 53 digits (Dekker, Veltkamp).
_SPLIT = 2.0**27 + 1.0

_FloatArray = NDArray[np.float64]

#: For some samples x, named by their columns: the sums over each cluster of the distances from x.
_SumsOf = Callable[[slice], _FloatArray]


def silhouette_samples(X: Any, labels: Any, *, metric: Metric = "euclidean") -> _FloatArray:
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

    and s(x) = 0 when x is alone in its cluster, or when a(x) = b(x) = 0. With squared distances
    the sums over y need no pairs, because for every cluster l

    .. math:: \sum_{y \in l} \|x - y\|^2 = n_l \|x - v_l\|^2 + CP_l

    so that the work is O(N k d). With plain distances it is O(N² d), in blocks: memory grows
    with N, not with N². Large data are compared in compiled code, in as many threads as there
    are processors.

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
    _check_choice("metric", metric, Metric)
    return _silhouettes(_clusters(X, labels), metric)


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
        Mean over samples, as scikit-learn takes it, or over the mean coefficients of the
        clusters, so that small clusters count as much as large ones.
    undefined : {"nan", "limit", "raise"}
        What to do with fewer than two clusters: nan, the limit (there is none, so nan), or
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

    The streaming index SIL compares every centroid with its cluster and the next: another number.

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
    _check_choice("metric", metric, Metric)
    _check_choice("average", average, Average)
    _check_choice("undefined", undefined, Undefined)
    c = _clusters(X, labels)
    s = _silhouettes(c, metric)
    if c.k < 2:
        value = FEW_CLUSTERS
    elif average == "samples":
        value = float(s.mean())
    else:
        value = float((_per_cluster(s[c.order], c) / c.n).mean())
    return _treated("silhouette_score", value, undefined)


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
    if not _number(p) >= 1.0:
        raise ValueError(f"expected p to be a number not below 1 (inf is one), got {p!r}")
    _check_positive("q", q)
    _check_choice("undefined", undefined, Undefined)
    value = _davies_bouldin(_clusters(X, labels), float(p), float(q))
    return _treated("davies_bouldin_score", value, undefined, coincident_centroids=math.inf)


def i_index_score(X: Any, labels: Any, *, p: float = 2.0, undefined: Undefined = "nan") -> float:
    r"""I index as published: the drop in scatter times the largest separation, over k.

    Parameters
    ----------
    X : array_like of shape (n_samples, n_features)
        The samples.
    labels : sequence of n_samples hashables
        The cluster of each sample.
    p : float, positive
        Contrast between different partitions.
    undefined : {"nan", "limit", "raise"}
        What to do with fewer than two clusters, or when every sample lies on its centroid: nan,
        the one-sided limit where there is one (inf), or `UndefinedIndexError`.

    Returns
    -------
    float
        A number not below 0; larger is better.

    See Also
    --------
    pbm_score : The same with p = 2.

    Notes
    -----
    .. math:: I_p = \Bigl(\frac1k \frac{E_1}{E_k} D_k\Bigr)^p, \quad
              E_1 = \sum_x \|x - \mu\|, \quad
              E_k = \sum_i \sum_{x \in i} \|x - v_i\|, \quad
              D_k = \max_{i,j} \|v_i - v_j\|

    Data times s multiply the index by :math:`s^p`. The streaming index I squares every norm:
    another number.

    References
    ----------
    U. Maulik and S. Bandyopadhyay, "Performance evaluation of some clustering algorithms and
    validity indices", IEEE Transactions on Pattern Analysis and Machine Intelligence 24 (12),
    2002, 1650-1654.

    Examples
    --------
    >>> from icvi.batch import i_index_score
    >>> i_index_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1], p=1)
    25.0
    """
    _check_positive("p", p)
    _check_choice("undefined", undefined, Undefined)
    value = _i_index(_clusters(X, labels), float(p))
    return _treated("i_index_score", value, undefined, zero_within=math.inf)


def pbm_score(X: Any, labels: Any, *, undefined: Undefined = "nan") -> float:
    r"""PBM index as published: the I index with p = 2.

    Parameters
    ----------
    X : array_like of shape (n_samples, n_features)
        The samples.
    labels : sequence of n_samples hashables
        The cluster of each sample.
    undefined : {"nan", "limit", "raise"}
        What to do with fewer than two clusters, or when every sample lies on its centroid: nan,
        the one-sided limit where there is one (inf), or `UndefinedIndexError`.

    Returns
    -------
    float
        A number not below 0; larger is better.

    See Also
    --------
    i_index_score : The same with any exponent, and the meaning of the symbols.

    Notes
    -----
    .. math:: PBM = \Bigl(\frac1k \frac{E_1}{E_k} D_k\Bigr)^2

    References
    ----------
    M. K. Pakhira, S. Bandyopadhyay and U. Maulik, "Validity index for crisp and fuzzy clusters",
    Pattern Recognition 37 (3), 2004, 487-501.

    Examples
    --------
    >>> from icvi.batch import pbm_score
    >>> pbm_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    625.0
    """
    _check_choice("undefined", undefined, Undefined)
    value = _i_index(_clusters(X, labels), 2.0)
    return _treated("pbm_score", value, undefined, zero_within=math.inf)


class _Clusters(NamedTuple):
    """Samples sorted by cluster, features first: cluster i is the columns bounds[i]..bounds[i+1].

    They are scaled by 2^scale, exactly, so that no square overflows or vanishes.
    """

    F: _FloatArray
    bounds: NDArray[np.int64]
    order: NDArray[np.int64]
    scale: int

    @property
    def k(self) -> int:
        return len(self.bounds) - 1

    @property
    def n(self) -> NDArray[np.int64]:
        return np.diff(self.bounds)

    @property
    def own(self) -> NDArray[np.int64]:
        """The cluster of each column."""
        return np.repeat(np.arange(self.k), self.n)


class _Centroids(NamedTuple):
    """Means of clusters as (d, k) arrays, the nearest doubles and what these leave over.

    One double per coordinate is as coarse as the offset of the data; two are as fine as their
    spread.
    """

    high: _FloatArray
    low: _FloatArray


def _clusters(X: Any, labels: Any) -> _Clusters:
    samples = as_samples(X)
    columns, _ = Labels().encode(as_label_array(labels, len(samples)))
    order = np.argsort(columns, kind="stable")
    largest = max(samples.max(), -samples.min())
    scale = _EXPONENT - math.frexp(largest)[1]
    F = np.ldexp(np.take(samples.T, order, axis=1), scale)
    bounds = np.concatenate(([0], np.cumsum(np.bincount(columns)[1:])))
    return _Clusters(F, bounds, order, scale)


def _centroids(F: _FloatArray, bounds: NDArray[np.int64]) -> _Centroids:
    segments = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
    means = np.array([[_mean(f[a:b]) for a, b in segments] for f in F])
    return _Centroids(means[:, :, 0].copy(), means[:, :, 1].copy())


def _mean(column: _FloatArray) -> tuple[float, float]:
    """The mean as a double, and what this double leaves over.

    Sums are exact, so that neither the order of the samples nor their number decides whether two
    centroids coincide.
    """
    x = column.data  # yields plain floats, which are faster than numpy's
    n = len(x)
    high = math.fsum(x) / n
    # Half of the digits each, so that the products with n are exact too.
    shifted = high * _SPLIT
    top = shifted - (shifted - high)
    return high, math.fsum(chain(x, (-n * top, -n * (high - top)))) / n


def _per_cluster(values: _FloatArray, c: _Clusters) -> _FloatArray:
    """Sums over the samples of each cluster, along the last axis."""
    return np.add.reduceat(values, c.bounds[:-1], axis=-1)


def _squared_radii(F: _FloatArray, v: _Centroids, own: NDArray[np.int64]) -> _FloatArray:
    """||x - v_i||^2 for every sample x of every cluster i."""
    e = (F - v.high[:, own]) - v.low[:, own]
    return np.asarray(np.einsum("tj,tj->j", e, e))


def _separations(v: _Centroids, p: float) -> Iterator[_FloatArray]:
    """For every i the Minkowski distances ||v_i - v_j||_p to all j."""
    for i in range(v.high.shape[1]):
        e = np.abs((v.high - v.high[:, i, None]) + (v.low - v.low[:, i, None]))
        # Relative to the largest no power overflows, and only what does not count vanishes.
        largest = e.max(axis=0)
        e /= np.where(largest > 0.0, largest, 1.0)
        yield largest * np.sum(e**p, axis=0) ** (1.0 / p)


def _widths(r: _FloatArray, c: _Clusters, q: float) -> _FloatArray:
    """S_i = (mean of r^q)^(1/q) over the samples of each cluster i."""
    largest = np.maximum.reduceat(r, c.bounds[:-1])
    relative = r / np.where(largest > 0.0, largest, 1.0)[c.own]
    return largest * (_per_cluster(relative**q, c) / c.n) ** (1.0 / q)


def _davies_bouldin(c: _Clusters, p: float, q: float) -> float:
    if c.k < 2:
        return FEW_CLUSTERS
    v = _centroids(c.F, c.bounds)
    S = _widths(np.sqrt(_squared_radii(c.F, v, c.own)), c, q)
    R = np.empty(c.k)
    coincident: list[float] = []
    for i, M in enumerate(_separations(v, p)):
        M[i] = math.inf
        coincident.extend((S[i] + S)[M == 0.0])
        with np.errstate(all="ignore"):
            R[i] = ((S[i] + S) / M).max()
    if coincident:
        return COINCIDENT if max(coincident) > 0.0 else COINCIDENT_0
    return _finite(float(R.mean()))


def _i_index(c: _Clusters, p: float) -> float:
    if c.k < 2:
        return FEW_CLUSTERS
    v = _centroids(c.F, c.bounds)
    E_k = float(np.sqrt(_squared_radii(c.F, v, c.own)).sum())
    D_k = float(max(M.max() for M in _separations(v, 2.0)))
    if E_k <= 0.0:
        return ZERO_WITHIN if D_k > 0.0 else ZERO_WITHIN_0
    mu = _centroids(c.F, c.bounds[[0, -1]])
    E_1 = float(np.sqrt(_squared_radii(c.F, mu, np.zeros_like(c.own))).sum())
    try:
        return _finite((E_1 / E_k / c.k * math.ldexp(D_k, -c.scale)) ** p)
    except OverflowError:
        return OVERFLOW


def _silhouettes(c: _Clusters, metric: Metric) -> _FloatArray:
    d, N = c.F.shape
    if c.k < 2:
        return np.full(N, FEW_CLUSTERS)
    if metric == "sqeuclidean":
        return _in_blocks(c, _squared_sums(c), TABLE // c.k)
    if N * N * d < COMPILE_FROM:
        return _in_blocks(c, _pair_sums(c), TABLE // N)
    return _in_blocks(c, _compiled_pair_sums(c), min(ROWS, TABLE // c.k))


def _squared_sums(c: _Clusters) -> _SumsOf:
    """Sums of squared distances, without pairs: n_l ||x - v_l||^2 + CP_l."""
    v = _centroids(c.F, c.bounds)
    CP = _per_cluster(_squared_radii(c.F, v, c.own), c)
    return lambda rows: c.n * _squared_distances(c.F[:, rows], v) + CP


def _pair_sums(c: _Clusters) -> _SumsOf:
    """Sums of distances from all pairs."""
    y = _Centroids(c.F, np.zeros((len(c.F), 1)))
    return lambda rows: _per_cluster(np.sqrt(_squared_distances(c.F[:, rows], y)), c)


def _compiled_pair_sums(c: _Clusters) -> _SumsOf:
    """The same, compiled."""
    # Here, because numba takes a second to load and small data do without it.
    from icvi.kernels.pairwise import distance_sums

    def sums_of(rows: slice) -> _FloatArray:
        sums = np.zeros((rows.stop - rows.start, c.k))
        distance_sums(c.F, c.bounds, rows.start, sums)
        return sums

    return sums_of


def _squared_distances(f: _FloatArray, v: _Centroids) -> _FloatArray:
    """||f_j - v_l||^2 for the columns f_j of f and all l."""
    D = np.zeros((f.shape[1], v.high.shape[1]))
    for f_t, high, low in zip(f, v.high, v.low, strict=True):
        e = (f_t[:, None] - high) - low
        D += e * e
    return D


def _in_blocks(c: _Clusters, sums_of: _SumsOf, height: int) -> _FloatArray:
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
        ThreadPoolExecutor(os.cpu_count() or 1) as threads,
    ):
        for done in threads.map(fill, range(0, N, height)):
            advance(done)
    return s


def _coefficients(sums: _FloatArray, own: NDArray[np.int64], n: NDArray[np.int64]) -> _FloatArray:
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


def _finite(value: float) -> float:
    return value if math.isfinite(value) else OVERFLOW


def _treated(name: str, value: float, undefined: Undefined, **limits: float) -> float:
    if value == value or undefined == "nan":
        return value
    if undefined == "limit":
        return limit_of(value, limits)
    raise UndefinedIndexError(f"{name} is undefined: {why(value)}")


def _check_choice(name: str, value: object, choices: Any) -> None:
    if value not in get_args(choices):
        raise ValueError(f"expected {name} to be one of {get_args(choices)}, got {value!r}")


def _check_positive(name: str, value: object) -> None:
    if not 0.0 < _number(value) < math.inf:
        raise ValueError(f"expected {name} to be a finite number above 0, got {value!r}")


def _number(value: object) -> float:
    """The value as a float; nan when it is no number at all."""
    return float(value) if isinstance(value, Real) else math.nan
