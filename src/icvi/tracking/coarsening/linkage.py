"""In which order clusters merge."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.state.clusters import Clusters
from icvi.state.moments import Moments, offsets, overall_mean

Linkage = Literal["ward", "separation"]


class Merges(NamedTuple):
    """The pairs that merge, in order, and what each merge costs.

    Clusters are numbered from 0 to k - 1; what step m makes has the number k + m.
    """

    pairs: NDArray[np.int64]
    costs: NDArray[np.float64]


def merge_order(clusters: Clusters, linkage: Linkage, to: int) -> Merges:
    """The merges that lead from the clusters there are to as few as ``to``.

    Ward's criterion merges the two whose union adds least to the scatter within clusters;
    separation the two that are the least apart in units of their widths. Few samples say little
    about a width: there, a cluster's scatter is that of its samples and of d + 1 more which are
    spread like all samples within clusters.
    """
    from icvi.kernels.linkage import SEPARATION, WARD, link

    moments = moments_of(clusters)
    k, d = moments.high.shape
    steps = max(0, k - to)
    merges = Merges(np.empty((steps, 2), dtype=np.int64), np.empty(steps))
    places = np.ascontiguousarray(offsets(moments, overall_mean(moments)))
    n, scatter = moments.n.copy(), np.zeros((0, 0, 0))
    if linkage == "separation":
        assert moments.S is not None
        # Weights are kept as they are: the additional samples make a cluster wider, not heavier.
        within = moments.S.sum(axis=0) / n.sum()
        more = d + 1.0
        share = (n / (n + more))[:, None, None]
        scatter = share * (moments.S + more * within)
    link(SEPARATION if linkage == "separation" else WARD, n, places, scatter, *merges)
    return merges


def moments_of(clusters: Clusters) -> Moments:
    """Weights, centroids and scatter of clusters, as `icvi.insight` and `icvi.batch` take them."""
    d = clusters.n_features or 0
    n, high, low = clusters.counts, clusters.centers, clusters.centers_low
    S = None
    if clusters.has_covariances:
        degrees = np.maximum(clusters.degrees, 0.0)
        S = np.nan_to_num(clusters.covariances) * degrees[:, None, None]
    assert high.shape[1] == d
    return Moments(n, high, low, clusters.compactness, S)
