"""Prototypes change clusters, and graphs become one: built anew from counts, O(edges)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi.graph_state import Counts, clusters_of, counts_of, lay
from icvi.kernels import graph_layout as L
from icvi.prototype_graph import PrototypeGraph

Integers = NDArray[np.int64]

#: Counts below this, after many a decay, are nothing: their sums would soon have no digits.
_NOTHING = 1e-150


def move(graph: PrototypeGraph, which: Integers, column: int) -> None:
    """Give these prototypes, with all their events, to the cluster in a column."""
    counts, columns = _of(graph), clusters_of(graph)
    owner = counts.owner.copy()
    owner[np.isin(counts.prototype, which)] = column
    if column not in columns:
        columns = np.append(columns, column)
    _lay_anew(graph, columns, counts._replace(owner=owner))


def multiply(graph: PrototypeGraph, factor: float) -> None:
    """All counts times a factor; what becomes too small to matter is forgotten."""
    graph.multiply(factor)
    counts = _of(graph)
    faint = (counts.cadj > 0.0) & (counts.cadj < _NOTHING)
    lonely = (counts.pending > 0.0) & (counts.pending < _NOTHING)
    if faint.any() or lonely.any():
        cadj = {f: np.where(faint, 0.0, getattr(counts, f)) for f in ("cadj", "cadj_rest")}
        rest = {f: np.where(lonely, 0.0, getattr(counts, f)) for f in ("pending", "pending_rest")}
        _lay_anew(graph, clusters_of(graph), counts._replace(**cadj, **rest))


def first_conflict(graph: PrototypeGraph, other: PrototypeGraph, new: Integers) -> int | None:
    """A prototype that belongs to different clusters in both; column c of other is new[c] here."""
    mine, theirs = _of(graph), counts_of(other, new)
    _, i, j = np.intersect1d(
        mine.prototype, theirs.prototype, assume_unique=True, return_indices=True
    )
    conflicts = mine.prototype[i[mine.owner[i] != theirs.owner[j]]]
    return int(conflicts[0]) if conflicts.size else None


def join(graph: PrototypeGraph, other: PrototypeGraph, new: Integers) -> None:
    """Add the counts of another graph; its column c is column new[c] here."""
    mine, theirs = _of(graph), counts_of(other, new)
    columns = np.concatenate([clusters_of(graph), new[clusters_of(other)]])
    # Clusters with weight first: a cluster without may have some in the other graph.
    awake = np.concatenate([graph.order(), new[other.order()]])
    graph.meta[L.DECAYED] |= other.meta[L.DECAYED]
    _lay_anew(graph, _distinct(np.concatenate([awake, columns])), mine, theirs)


def _distinct(columns: Integers) -> Integers:
    return np.array(list(dict.fromkeys(columns.tolist())), dtype=np.int64)


def _of(graph: PrototypeGraph) -> Counts:
    return counts_of(graph, np.arange(len(graph.arrays[L.CLUSTERS])))


def _lay_anew(graph: PrototypeGraph, columns: Integers, *parts: Counts) -> None:
    highest = max([int(graph.meta[L.COLUMNS]), *columns.tolist()])
    graph.clear()
    lay(graph, columns, *parts)
    graph.meta[L.COLUMNS] = highest
