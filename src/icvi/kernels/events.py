"""One event of the stream: prototype p won, q was the runner-up, the sample is in cluster c."""

from __future__ import annotations

from icvi.kernels import graph_layout as L
from icvi.kernels.compiling import kernel
from icvi.kernels.edges import add_edge
from icvi.kernels.graph import cluster, pair, prototype
from icvi.kernels.undefined import EMPTY


@kernel
def refusal(meta, p, q, c, seen):
    """Why the event cannot be; ``seen`` prototypes exist. Owners on trial are negative."""
    owner = abs(prototype(meta, p).owner)
    if owner != 0 and owner != c:
        return L.OTHER_OWNER
    if q < 0:
        return L.RUNNER_UP_MISSING if seen > (owner != 0) else L.FINE
    if q >= meta[L.SIZE + L.PROTOTYPES] or prototype(meta, q).owner == 0:
        return L.RUNNER_UP_UNKNOWN
    return L.FINE


@kernel
def has_room(meta):
    """Whether one more event fits in: no event makes more than two entries of a relation."""
    for relation in range(L.EDGES, L.PAIRS + 1):
        if meta[L.USED + relation] + 2 >= meta[L.SIZE + relation]:
            return False
    return True


@kernel
def absorb_event(meta, p, q, c, w):
    """Count the event."""
    winner, l = prototype(meta, p), cluster(meta, c)
    pending = 0.0
    if winner.owner == 0:
        winner.owner = c
        l.prototypes += 1
        if meta[L.P] == 1:
            # So far q was alone and its samples had no runner-up; now that is p.
            pending = prototype(meta, q).m
        meta[L.P] += 1
        meta[L.K] = max(meta[L.K], c)
    winner.m += w
    l.n += w
    cluster(meta, 0).n += w
    if q >= 0:
        add_edge(meta, p, q, w)
        if pending > 0.0:
            add_edge(meta, q, p, pending)
        other = prototype(meta, q).owner
        if other != c:
            refresh(meta, other)
    refresh(meta, c)


@kernel
def refresh(meta, c):
    """Intra(l) and the largest Inter(l, m); an event changes those of two clusters at most."""
    l = cluster(meta, c)
    l.intra = intra(l, meta[L.TOOLBOX])
    worst = 0.0
    number = l.pairs
    while number != 0:
        m = pair(meta, number)
        if m.border > 0:
            worst = max(worst, m.X / m.Y)
        number = m.next
    # Sums of fractional weights in different orders may exceed each other by their rounding.
    l.worst = min(worst, 1.0)


@kernel
def intra(l, toolbox):
    """Intra(l): CADJ inside l over the weight of l."""
    if toolbox:
        return l.inside / l.out if l.out > 0.0 else 0.0
    return 1.0 if l.prototypes == 1 else min(l.inside / l.n, 1.0)


@kernel
def conn_index(meta):
    """The index, Intra and Inter."""
    k = meta[L.K]
    if k == 0:
        return EMPTY, EMPTY, EMPTY
    s, t = 0.0, 0.0
    for c in range(1, k + 1):
        l = cluster(meta, c)
        s += l.intra
        t += l.worst
    if k == 1:
        # The paper's default is Inter = 1; the toolbox reports Inter = 0, but 0 for the index.
        return 0.0, s, 0.0 if meta[L.TOOLBOX] else 1.0
    return s / k * (1.0 - t / k), s / k, t / k
