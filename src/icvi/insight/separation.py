r"""Separation: how far apart two clusters are, in units of their own widths.

Along the direction :math:`w` that tells two clusters apart best,

.. math:: S = \frac{|m_1 - m_2|}{s_1 + s_2},

with the means and standard deviations of what the clusters' samples project to. It carries its own
scale: a uniform density cut anywhere gives :math:`\sqrt 3`, a Gaussian cut at its mean 1.32;
between two equal Gaussians at :math:`S = 2.1` the density falls to a fifth of its peaks. So pieces
of one cluster stay below :math:`\sqrt 3`.

The direction is Fisher's, :math:`w = C^{-1} (v_2 - v_1)`. :math:`C` is the pooled covariance, its
correlations shrunk by d/n because few samples say little about many directions; variances are kept,
so that units of features do not matter. Chosen on the same samples, the direction flatters the
separation in two ways, which are taken out to first order: noise in the centroids adds
:math:`\operatorname{tr}(C^{-1} \Sigma)(1/n_1 + 1/n_2)` to :math:`w^T (v_2 - v_1)`, and :math:`C` is
too narrow along :math:`w` by about d/n.

The standard error, with :math:`t = s_1 + s_2` and :math:`L = |m_1 - m_2|`, is that of means and
standard deviations of normal samples,

.. math:: se^2 = \frac{s_1^2/n_1 + s_2^2/n_2}{t^2}
          + \left(\frac{L}{t^2}\right)^2 \left(\frac{s_1^2}{2 n_1} + \frac{s_2^2}{2 n_2}\right).

Reference: R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of
Eugenics 7, 1936.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: What a uniform density gives wherever it is cut: clusters below it may be pieces of one.
DISTINCT = math.sqrt(3.0)

_BLOCK = 1_000_000  # numbers in a stack of covariances
_INTERVAL = 1.96  # standard errors
_THIN = 1e-12  # of a squared distance: the least variance of a feature that differs


class Groups(NamedTuple):
    """Weights (k,), centroids (k, d) and covariances (k, d, d), S/n, of clusters."""

    counts: Array
    centers: Array
    covariances: Array


class Separation(NamedTuple):
    """Separations of pairs with their standard errors; infinite where both have no width."""

    value: Array
    error: Array

    def interval(self) -> tuple[Array, Array]:
        """Ends of the 95 % intervals; a separation is not negative."""
        ends = _INTERVAL * self.error
        return np.maximum(self.value - ends, 0.0), self.value + ends


def separation(groups: Groups, first: Numbers, second: Numbers) -> Separation:
    """Separation of the pairs (first[p], second[p]) of clusters, from moments alone.

    Parameters
    ----------
    groups : Groups
        The clusters.
    first, second : ndarray of int
        Numbers of clusters.

    Returns
    -------
    Separation
        nan where the two are one point, or where one of them has a single sample.

    Examples
    --------
    >>> import numpy as np
    >>> two = Groups(np.array([100.0, 100.0]), np.array([[0.0], [4.0]]), np.ones((2, 1, 1)))
    >>> s = separation(two, np.array([0]), np.array([1]))
    >>> print(f"{s.value[0]:.2f} +- {s.error[0]:.2f}")
    1.98 +- 0.12
    """
    value, error = np.full(len(first), math.nan), np.full(len(first), math.nan)
    d = groups.centers.shape[1]
    step = max(1, _BLOCK // (d * d))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        with np.errstate(all="ignore"):  # points without width become nan or infinite
            value[part], error[part] = _of_block(groups, first[part], second[part])
    return Separation(value, error)


def along_centers(groups: Groups, first: Numbers, second: Numbers) -> Array:
    """The same along the line through the centroids: quick, and no more than in the best direction.

    nan where two centroids coincide.
    """
    gap = groups.centers[second] - groups.centers[first]
    with np.errstate(all="ignore"):
        w = gap / np.sqrt((gap**2).sum(axis=1, keepdims=True))
        s1, s2 = (
            np.sqrt(np.einsum("pi,pij,pj->p", w, groups.covariances[each], w))
            for each in (first, second)
        )
        return np.asarray(np.einsum("pi,pi->p", w, gap) / (s1 + s2), np.float64)


def nearest_pairs(groups: Groups, most: int) -> tuple[Numbers, Numbers]:
    """All pairs of clusters or, where these are too many, every cluster with its nearest ones.

    Nearest in the metric of the pooled covariance: pairs that are left out are not the closest.
    """
    k = len(groups.counts)
    if k * (k - 1) // 2 <= most:
        first, second = np.triu_indices(k, 1)
        return first.astype(np.int64), second.astype(np.int64)
    pooled = np.einsum("i,ijk->jk", groups.counts / groups.counts.sum(), groups.covariances)
    factor = np.linalg.cholesky(_shrunk(pooled[None], np.array([0.1]))[0])
    places = np.linalg.solve(factor, groups.centers.T).T
    neighbours = max(4, 2 * most // k)
    pairs = set()
    for i in range(k):
        away = ((places - places[i]) ** 2).sum(axis=1)
        away[i] = math.inf
        for j in np.argpartition(away, neighbours)[:neighbours]:
            pairs.add((min(i, int(j)), max(i, int(j))))
    first, second = np.array(sorted(pairs), dtype=np.int64).T
    return first, second


def _of_block(groups: Groups, i: Numbers, j: Numbers) -> tuple[Array, Array]:
    n1, n2 = groups.counts[i], groups.counts[j]
    n, d = n1 + n2, groups.centers.shape[1]
    C1, C2 = groups.covariances[i], groups.covariances[j]
    gap = groups.centers[j] - groups.centers[i]
    pooled = (n1[:, None, None] * C1 + n2[:, None, None] * C2) / n[:, None, None]
    share = np.minimum(1.0, d / n)
    C = _shrunk(pooled, share, gap)
    w = _solve(C, gap)
    L = np.einsum("pi,pi->p", w, gap)
    noise = np.einsum("pii->p", _solve(C, pooled)) * (1.0 / n1 + 1.0 / n2)
    narrow = np.sqrt(1.0 - (1.0 - share) * share)
    s1 = np.sqrt(np.einsum("pi,pij,pj->p", w, C1, w) * n1 / (n1 - 1.0)) / narrow
    s2 = np.sqrt(np.einsum("pi,pij,pj->p", w, C2, w) * n2 / (n2 - 1.0)) / narrow
    return with_error(np.maximum(L - noise, 0.0), s1, s2, n1, n2)


def with_error(L: Array, s1: Array, s2: Array, n1: Array, n2: Array) -> tuple[Array, Array]:
    """Separation and standard error from a distance of means, two widths and two weights."""
    t = s1 + s2
    means = (s1**2 / n1 + s2**2 / n2) / t**2
    widths = (L / t**2) ** 2 * (s1**2 / (2.0 * n1) + s2**2 / (2.0 * n2))
    return np.asarray(L / t, np.float64), np.asarray(np.sqrt(means + widths), np.float64)


def _shrunk(C: Array, share: Array, gap: Array | None = None) -> Array:
    """Covariances whose correlations are shrunk; features without width get next to none."""
    d = C.shape[-1]
    shrunk = (1.0 - share)[:, None, None] * C
    variances = np.einsum("pii->pi", C)
    floor = _THIN * (variances.sum(axis=1, keepdims=True) / d if gap is None else gap**2)
    widths = np.maximum(variances, floor)
    # A feature that has one value everywhere says nothing, whatever width it is given.
    shrunk[:, range(d), range(d)] = np.where(widths > 0.0, widths, 1.0)
    return shrunk


def _solve(C: Array, right: Array) -> Array:
    """Solutions of C x = right for a stack; nan where C is singular (no width at all)."""
    column = right[:, :, None] if right.ndim == 2 else right
    try:
        solved = np.linalg.solve(C, column)
    except np.linalg.LinAlgError:
        solved = np.full(column.shape, math.nan)
        for p in range(len(C)):
            try:
                solved[p] = np.linalg.solve(C[p], column[p])
            except np.linalg.LinAlgError:
                continue
    return np.asarray(solved[:, :, 0] if right.ndim == 2 else solved, np.float64)
