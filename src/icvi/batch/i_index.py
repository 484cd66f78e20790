"""I index as published, and PBM, which is the I index with p = 2."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi.batch.clusters import (
    Centroids,
    Clusters,
    by_cluster,
    centroids,
    finite,
    separations,
    squared_radii,
)
from icvi.indices.undefined import Undefined, check_undefined, resolve
from icvi.inputs import as_positive
from icvi.kernels.undefined import FEW_CLUSTERS, OVERFLOW, ZERO_WITHIN, ZERO_WITHIN_0


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
    exponent = as_positive(p, "p")
    check_undefined(undefined)
    value = _i_index(by_cluster(X, labels), exponent)
    return resolve("i_index_score", value, undefined, {"zero_within": math.inf})


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
    check_undefined(undefined)
    value = _i_index(by_cluster(X, labels), 2.0)
    return resolve("pbm_score", value, undefined, {"zero_within": math.inf})


def _i_index(c: Clusters, p: float) -> float:
    if c.k < 2:
        return FEW_CLUSTERS
    v = centroids(c.F, c.bounds)
    E_k = _scatter(c, c.bounds, v)
    D_k = float(max(M.max() for M in separations(v, 2.0)))
    if E_k <= 0.0:
        return ZERO_WITHIN if D_k > 0.0 else ZERO_WITHIN_0
    together = c.bounds[[0, -1]]
    E_1 = _scatter(c, together, centroids(c.F, together))
    try:
        return finite((E_1 / E_k / c.k * math.ldexp(D_k, -c.scale)) ** p)
    except OverflowError:
        return OVERFLOW


def _scatter(c: Clusters, bounds: NDArray[np.int64], v: Centroids) -> float:
    """Distances of all samples from their centroids, summed."""
    return float(np.sqrt(squared_radii(c.F, bounds, v)).sum())
