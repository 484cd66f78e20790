"""From every sample to every cluster: sums of distances, with or without looking at pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from icvi.batch.centroids import Centroids, centroids, squared_distances, squared_radii
from icvi.batch.clusters import Clusters
from icvi.state.moments import Array

Metric = Literal["euclidean", "sqeuclidean"]

#: For some samples x, named by their columns: the sums over each cluster of the distances from x.
SumsOf = Callable[[slice], Array]

#: Coordinate differences between pairs of samples (N N d) from which compiling pays.
COMPILE_FROM = 2e7

#: Entries of one table of distances or of sums of distances: a few megabytes.
TABLE = 2**18

#: Rows of one piece of compiled work: enough to use the cache well, few enough to report on.
ROWS = 256


def sums_of_distances(c: Clusters, metric: Metric) -> tuple[SumsOf, int]:
    """The sums, and for how many samples at once they are best asked."""
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
    y = Centroids(c.F, np.zeros((len(c.F), 1)))  # every sample is a cluster
    return lambda rows: c.sums(np.sqrt(squared_distances(c.F[:, rows], y)))


def _compiled_pair_sums(c: Clusters) -> SumsOf:
    """The same, compiled."""
    # Here, because numba takes a second to load and small data do without it.
    from icvi.kernels.pairwise import distance_sums

    def sums_of(rows: slice) -> Array:
        sums = np.zeros((rows.stop - rows.start, c.k))
        distance_sums(c.F, c.bounds, rows.start, sums)
        return sums

    return sums_of
