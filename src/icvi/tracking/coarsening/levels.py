"""Readings at every level of a path, exact, from moments alone.

Clusters merge on the way down, and every union is kept. Readings are taken on the way up: a union
is replaced by its two halves, one in its place and one behind all others. Only two clusters change
from one level to the next, and none moves, so that the caches of a stream serve as they are: a
level costs what two samples cost.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from icvi.indices import Index
from icvi.kernels import layout as L
from icvi.progress import progress
from icvi.state.arrays import ALL
from icvi.state.clusters import Clusters
from icvi.tracking.coarsening.linkage import Merges
from icvi.tracking.index_reader import IndexReader


def read_levels(
    clusters: Clusters, indices: Sequence[Index], merges: Merges
) -> NDArray[np.float64]:
    """Readings of indices (columns) at all levels (rows), the finest first."""
    steps, k = len(merges.costs), clusters.n_clusters
    table = np.empty((steps + 1, len(indices)))
    nodes = _nodes(clusters, merges)
    reader = IndexReader(indices, scatter=clusters.has_covariances)
    seen = reader.partition
    assert nodes.n_features is not None
    seen.reserve(k, nodes.n_features)
    seen.put(ALL, nodes, ALL)
    columns = {node: column for column, node in enumerate(_coarsest(k, merges), start=1)}
    for node, column in columns.items():
        seen.put(column, nodes, node + 1)
    seen.meta[L.K] = len(columns)
    seen.touch_all()
    with progress("icvi: reading levels", steps + 1) as advance:
        table[steps] = reader.read()
        for step in reversed(range(steps)):
            a, b = merges.pairs[step].tolist()
            column = columns.pop(k + step)
            seen.split(column, nodes, (a + 1, b + 1))
            columns[a], columns[b] = column, seen.n_clusters
            table[step] = reader.read()
            advance(1)
    return table


def _nodes(clusters: Clusters, merges: Merges) -> Clusters:
    """The clusters, and behind them the union that each step makes."""
    nodes, k = copy.deepcopy(clusters), clusters.n_clusters
    nodes.apply_factor(0.0)
    assert nodes.n_features is not None
    nodes.reserve(k + len(merges.pairs), nodes.n_features)
    for step, (a, b) in enumerate(merges.pairs.tolist(), start=k + 1):
        nodes.put(step, nodes, a + 1)
        nodes.join(step, nodes, b + 1)
    return nodes


def _coarsest(k: int, merges: Merges) -> list[int]:
    """What is left after the last step."""
    gone = {*merges.pairs.ravel().tolist()}
    return [node for node in range(k + len(merges.pairs)) if node not in gone]
