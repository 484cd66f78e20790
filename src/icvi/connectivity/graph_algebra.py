"""Prototypes change clusters, and graphs become one: built anew from counts, O(edges)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi.connectivity.graph_state import Counts, Declared, clusters_of, counts_of, declared_of, lay
from icvi.connectivity.prototype_graph import PrototypeGraph
from icvi.kernels.graph import layout as L

Integers = NDArray[np.int64]


def move(graph: PrototypeGraph, which: Integers, column: int) -> None:
    """Give these prototypes, with all their events, to the cluster in a column."""
    counts, columns, declared = _of(graph), clusters_of(graph), _declared(graph)
    owner, declared_owner = counts.owner.copy(), declared.declared_owner.copy()
    owner[np.isin(counts.prototype, which)] = column
    declared_owner[np.isin(declared.declared, which)] = column
    if column not in columns:
        columns = np.append(columns, column)
    declared = declared._replace(declared_owner=declared_owner)
    _lay_anew(graph, columns, counts._replace(owner=owner), declared=declared)


def multiply(graph: PrototypeGraph, factor: float) -> None:
    """All counts times a factor; what becomes too small to matter is forgotten."""
    graph.multiply(factor)
    counts = _of(graph)
    faint = (counts.cadj > 0.0) & (counts.cadj < L.NOTHING)
    lonely = (counts.pending > 0.0) & (counts.pending < L.NOTHING)
    if faint.any() or lonely.any():
        cadj = {f: np.where(faint, 0.0, getattr(counts, f)) for f in ("cadj", "cadj_rest")}
        rest = {f: np.where(lonely, 0.0, getattr(counts, f)) for f in ("pending", "pending_rest")}
        _lay_anew(graph, clusters_of(graph), counts._replace(**cadj, **rest))


def first_conflict(graph: PrototypeGraph, other: PrototypeGraph, new: Integers) -> int | None:
    """A prototype that belongs to different clusters in both; column c of other is new[c] here."""
    (mine, owner), (theirs, other_owner) = owners_of(graph, _same(graph)), owners_of(other, new)
    _, i, j = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    conflicts = mine[i[owner[i] != other_owner[j]]]
    return int(conflicts[0]) if conflicts.size else None


def owners_of(graph: PrototypeGraph, new: Integers) -> tuple[Integers, Integers]:
    """All prototypes, counted or declared, and their columns, where column c is new[c]."""
    counts, declared = counts_of(graph, new), declared_of(graph, new)
    numbers, first = np.unique(
        np.concatenate([counts.prototype, declared.declared]), return_index=True
    )
    return numbers, np.concatenate([counts.owner, declared.declared_owner])[first]


def join(graph: PrototypeGraph, other: PrototypeGraph, new: Integers) -> None:
    """Add the counts of another graph; its column c is column new[c] here."""
    mine, theirs = _of(graph), counts_of(other, new)
    columns = np.concatenate([clusters_of(graph), new[clusters_of(other)]])
    # Clusters with weight first: a cluster without may have some in the other graph.
    awake = np.concatenate([graph.order(), new[other.order()]])
    graph.meta[L.DECAYED] |= other.meta[L.DECAYED]
    ours, also = _declared(graph), declared_of(other, new)
    numbers, first = np.unique(np.concatenate([ours.declared, also.declared]), return_index=True)
    owners = np.concatenate([ours.declared_owner, also.declared_owner])[first]
    columns = _distinct(np.concatenate([awake, columns]))
    _lay_anew(graph, columns, mine, theirs, declared=Declared(numbers, owners))


def _distinct(columns: Integers) -> Integers:
    return np.array(list(dict.fromkeys(columns.tolist())), dtype=np.int64)


def _same(graph: PrototypeGraph) -> Integers:
    return np.arange(len(graph.arrays[L.CLUSTERS]))


def _of(graph: PrototypeGraph) -> Counts:
    return counts_of(graph, _same(graph))


def _declared(graph: PrototypeGraph) -> Declared:
    return declared_of(graph, _same(graph))


def _lay_anew(
    graph: PrototypeGraph, columns: Integers, *parts: Counts, declared: Declared | None = None
) -> None:
    highest = max([int(graph.meta[L.COLUMNS]), *columns.tolist()])
    declared = _declared(graph) if declared is None else declared
    graph.clear()
    lay(graph, columns, declared, *parts)
    graph.meta[L.COLUMNS] = highest
