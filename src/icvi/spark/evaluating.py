"""Read indices from a combined state with numpy alone, so that the driver need not compile."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.indices.from_moments.evaluate import evaluate, wanted
from icvi.kernels import layout as L
from icvi.kernels.undefined import EMPTY
from icvi.spark.refusals import refuse_prototypes
from icvi.state.clusters import Clusters
from icvi.state.moments import Moments
from icvi.state.partition import Partition
from icvi.state.precise_scatter import Scatter
from icvi.state.two_doubles import Pair

Floats = NDArray[np.float64]


def needs_scatter(indices: Sequence[Index]) -> bool:
    """Whether one of the indices needs covariances; refuses those on prototypes."""
    refuse_prototypes(indices)
    return bool(wanted(indices) & L.WANT_SCATTER)


def readings(state: Partition, indices: Sequence[Index]) -> dict[str, float]:
    """Values of the indices, nan with a reason where they are undefined."""
    if not state.n_clusters:
        return dict.fromkeys((index.name for index in indices), EMPTY)
    return evaluate(indices, moments_of(state.moments))


def moments_of(clusters: Clusters) -> Moments:
    """The moments of a state as arrays; its scatter is there in two doubles, too."""
    k, d = clusters.n_clusters, clusters.n_features or 0
    used = slice(1, k + 1)
    A, Q = clusters.A, clusters.Q

    @functools.cache
    def again(i: int | None) -> Scatter:
        column = 0 if i is None else i + 1
        n, rest = A[L.HELD, column], A[L.HELD + 1, column]
        mean = Pair(*Q[column, L.Q_MEAN : L.Q_MEAN + 2, :d])
        halves = (_symmetric(Q[column, L.Q_S + half : L.Q_S + 2 * d : 2, :d]) for half in (0, 1))
        return Scatter(n, (n - 1.0) + rest, int(A[L.COUNT, column]), mean, Pair(*halves))

    S = None
    if clusters.has_covariances:
        S = np.stack([_symmetric(Q[i, L.Q_S : L.Q_S + 2 * d : 2, :d]) for i in range(1, k + 1)])
    return Moments(
        n=clusters.counts,
        high=clusters.centers,
        low=A[L.V + d : L.V + 2 * d, used].T.copy(),
        CP=clusters.compactness,
        S=S,
        again=again,
        samples=int(A[L.COUNT, 0]),
    )


def _symmetric(lower: Floats) -> Floats:
    """A symmetric matrix from its lower triangle; above it there may be anything."""
    lower = np.tril(lower)
    return np.asarray(lower + np.tril(lower, -1).T)
