"""Which level of Ward's path over micro-clusters: readings at every level, from moments alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.indices.from_moments.evaluate import evaluate
from icvi.kernels import layout as L
from icvi.kernels.linkage import WARD, link
from icvi.kernels.micro.choosing import CH, DB, MICRO_PER_CLUSTER, SIL, cut
from icvi.state.moments import Moments
from icvi.tracking.coarsening.choice import best_level, voters

Array = NDArray[np.float64]

_COMPILED = {"DB": DB, "CH": CH, "SIL": SIL}
_NO_SCATTER = np.zeros((0, 0, 0))


class Micro(NamedTuple):
    """Weights, centroids (m, d) and compactness of micro-clusters, in scaled features."""

    n: Array
    V: Array
    CP: Array


def choosing_indices(by: str | Index | Iterable[str | Index]) -> tuple[Index, ...]:
    """The indices that choose a level; those that need covariances are refused."""
    chosen = voters(by)
    needing = [index.name for index in chosen if index.want & L.WANT_SCATTER]
    if needing:
        raise ValueError(
            f"{' and '.join(needing)} cannot choose a level here: micro-clusters have no "
            f"covariances; use CH, DB, SIL, XB, WB, PBM, PS, GD43 or GD53"
        )
    return chosen


def compiled_votes(indices: Sequence[Index]) -> NDArray[np.bool_]:
    """Which of the compiled readings choose; none of them where another index does, too."""
    compiled = all(not index.own and index.name in _COMPILED for index in indices)
    names = [index.name for index in indices]
    return np.array([compiled and name in names for name in _COMPILED], dtype=np.bool_)


def choose_groups(micro: Micro, indices: Sequence[Index]) -> tuple[int, NDArray[np.int64]]:
    """The number of clusters that the indices prefer, and the cluster of each micro-cluster."""
    m = len(micro.n)
    pairs, costs = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    link.compiled(WARD, micro.n.copy(), micro.V.copy(), _NO_SCATTER, pairs, costs)
    finest = max(2, m // MICRO_PER_CLUSTER)
    table = readings(micro, indices, pairs, finest)
    k = finest - best_level(indices, table[::-1])
    groups = np.empty(m, dtype=np.int64)
    cut.compiled(pairs, k, groups)
    return k, groups


def readings(
    micro: Micro, indices: Sequence[Index], pairs: NDArray[np.int64], finest: int
) -> Array:
    """Readings of indices (columns) with 2, 3, ... clusters (rows)."""
    return np.array(
        [list(evaluate(indices, _merged(micro, pairs, k)).values()) for k in range(2, finest + 1)]
    )


def _merged(micro: Micro, pairs: NDArray[np.int64], k: int) -> Moments:
    """Moments of k clusters of micro-clusters."""
    groups = np.empty(len(micro.n), dtype=np.int64)
    cut.compiled(pairs, k, groups)
    member = (groups == np.arange(k)[:, None]).astype(np.float64)
    n = member @ micro.n
    V = (member * micro.n) @ micro.V / n[:, None]
    e = micro.V - V[groups]
    CP = member @ (micro.CP + micro.n * np.einsum("ij,ij->i", e, e))
    return Moments(n, V, np.zeros_like(V), CP, None)
