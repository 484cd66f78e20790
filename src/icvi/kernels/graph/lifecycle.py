"""Clusters and prototypes appear and vanish with the events that they have.

A prototype is known while it has weight or an edge, and also when it is declared. A cluster counts
while it has weight.
"""

from __future__ import annotations

from numba import types

from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.records import cluster, pair, prototype


@embedded
def declare(meta, a, c):
    """Prototype a belongs to cluster c, with or without weight."""
    i = prototype(meta, a)
    if i.declared == 0:
        i.declared = c
        cluster(meta, c).declared += 1
        meta[L.SPARE] += i.owner == 0


@embedded
def appear(meta, a, c):
    """A prototype of cluster c gets weight or an edge."""
    i = prototype(meta, a)
    if meta[L.DECLARES]:
        declare(meta, a, c)
    i.owner = c
    cluster(meta, c).prototypes += 1
    meta[L.P] += 1
    meta[L.SPARE] -= i.declared != 0


@embedded
def forget_if_bare(meta, a):
    """Forget a prototype without weight and without an edge; a declaration stays."""
    i = prototype(meta, a)
    if i.owner != 0 and i.links == 0 and not i.pending > 0.0:
        cluster(meta, i.owner).prototypes -= 1
        meta[L.P] -= 1
        meta[L.SPARE] += i.declared != 0
        i.owner = 0
        i.second = 0
        i.r, i.r_rest = 0.0, 0.0


@embedded
def update_state(meta, c):
    """Whether a cluster counts, which may change what other clusters read."""
    l = cluster(meta, c)
    was, now = l.state, L.GONE
    if l.sent > 0:
        now = L.LIVE
    elif l.prototypes > 0:
        now = L.ASLEEP
    elif l.declared > 0:
        now = L.DECLARED
    if now != was:
        l.state = now
        meta[L.SLEEPERS] += (now == L.ASLEEP) - (was == L.ASLEEP)
        meta[L.SPARE_CLUSTERS] += (now == L.DECLARED) - (was == L.DECLARED)
        if now == L.LIVE:
            join_ring(meta, c)
            refresh_neighbours(meta, c)
        elif was == L.LIVE:
            leave_ring(meta, c)
            refresh_neighbours(meta, c)


@embedded
def join_ring(meta, c):
    """A cluster gets weight: it is the last of all."""
    ring, l = cluster(meta, 0), cluster(meta, c)
    l.before, l.after = ring.before, 0
    cluster(meta, ring.before).after = c
    ring.before = c
    meta[L.K] += 1
    meta[L.COLUMNS] = max(meta[L.COLUMNS], c)


@embedded
def leave_ring(meta, c):
    """A cluster has no weight left."""
    l = cluster(meta, c)
    cluster(meta, l.before).after = l.after
    cluster(meta, l.after).before = l.before
    l.before, l.after = 0, 0
    l.n, l.n_rest, l.inside, l.inside_rest = 0.0, 0.0, 0.0, 0.0
    l.pending, l.pending_rest = 0.0, 0.0
    meta[L.K] -= 1


@embedded
def refresh_neighbours(meta, c):
    """Readings of the clusters that touch cluster c, which has appeared or vanished."""
    number = cluster(meta, c).pairs
    while number != 0:
        m = pair(meta, number)
        if cluster(meta, m.column).state == L.LIVE:
            refresh(meta, m.column)
        number = m.next


@embedded
def refresh(meta, c):
    """Intra(l) and the largest Inter(l, m); an event changes those of two clusters at most."""
    l = cluster(meta, c)
    l.intra = intra(l, meta[L.TOOLBOX])
    worst = 0.0
    sleepers = meta[L.SLEEPERS] > 0
    number = l.pairs
    while number != 0:
        m = pair(meta, number)
        if m.border > 0 and not (sleepers and cluster(meta, m.column).state != L.LIVE):
            worst = max(worst, m.X / m.Y)
        number = m.next
    # Sums of fractional weights in different orders may exceed each other by their rounding.
    l.worst = min(worst, 1.0)


@embedded(returns=types.float64)
def intra(l, toolbox):
    """Intra(l): CADJ inside l over the weight of l."""
    if toolbox:
        out = (l.n - l.pending) + (l.n_rest - l.pending_rest)
        return l.inside / out if out > 0.0 else 0.0
    return 1.0 if l.prototypes == 1 else min(l.inside / l.n, 1.0)
