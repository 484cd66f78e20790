"""A prototype graph from its counts alone."""

from __future__ import annotations

from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, SAMPLE, compiled
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.edges import add_both, add_pending
from icvi.kernels.graph.events import has_room
from icvi.kernels.graph.lifecycle import appear, declare, forget_if_bare, refresh, update_state
from icvi.kernels.graph.records import cluster, prototype


@compiled(types.void(INTEGERS, INTEGERS, INTEGERS, INTEGERS, SAMPLE, SAMPLE))
def put_prototypes(meta, numbers, owners, seconds, pending, rests):
    """Prototypes with their clusters and their events without a runner-up."""
    for r in range(numbers.size):
        i = prototype(meta, numbers[r])
        if i.owner == 0:
            appear(meta, numbers[r], owners[r])
        if i.second == 0 or seconds[r] == 0:
            i.second += seconds[r]
        elif i.second != seconds[r]:
            i.second = -1
        add_pending(meta, numbers[r], pending[r], rests[r])


@compiled(types.void(INTEGERS, INTEGERS, INTEGERS))
def declare_all(meta, numbers, owners):
    """Prototypes belong to clusters, with or without weight."""
    for r in range(numbers.size):
        declare(meta, numbers[r], owners[r])
        update_state(meta, owners[r])
        meta[L.COLUMNS] = max(meta[L.COLUMNS], owners[r])


@compiled(types.int64(INTEGERS, INTEGERS, INTEGERS, SAMPLE, SAMPLE, types.int64))
def put_edges(meta, winners, runners_up, cadj, rests, start):
    """Edges between prototypes that are there, until there is no room; where it stopped."""
    for r in range(start, winners.size):
        if not has_room(meta):
            return r
        add_both(meta, winners[r], runners_up[r], cadj[r], rests[r])
    return winners.size


@compiled(types.void(INTEGERS, INTEGERS, INTEGERS))
def place_clusters(meta, numbers, columns):
    """Clusters appear in this order, unless they have no weight."""
    for r in range(numbers.size):
        forget_if_bare(meta, numbers[r])
    for r in range(columns.size):
        update_state(meta, columns[r])
        # Columns are in use whether their clusters have weight or not.
        meta[L.COLUMNS] = max(meta[L.COLUMNS], columns[r])


@compiled(types.void(INTEGERS))
def refresh_all(meta):
    """Readings of all clusters, whose sums have changed."""
    c = cluster(meta, 0).after
    while c != 0:
        refresh(meta, c)
        c = cluster(meta, c).after
