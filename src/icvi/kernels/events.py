"""One event of the stream: prototype p won, q was the runner-up, the sample is in cluster c."""

from __future__ import annotations

from icvi.kernels import graph_layout as L
from icvi.kernels.compiling import kernel
from icvi.kernels.edges import add_edge
from icvi.kernels.graph import cluster, prototype
from icvi.kernels.lives import refresh, settle
from icvi.kernels.pending import put_pending, release_pending
from icvi.kernels.undefined import EMPTY


@kernel
def refusal(meta, p, q, c, seen):
    """Why the event cannot be; ``seen`` prototypes exist. Owners on trial are negative."""
    owner = abs(prototype(meta, p).owner)
    if owner != 0 and owner != c:
        return L.OTHER_OWNER
    if q < 0:
        return L.RUNNER_UP_MISSING if seen > (owner != 0) else L.FINE
    if not has_record(meta, q) or prototype(meta, q).owner == 0:
        return L.RUNNER_UP_UNKNOWN
    return L.FINE


@kernel
def has_record(meta, p):
    """Whether the table of prototypes reaches this far."""
    return meta[L.BASE] <= p < meta[L.SIZE + L.PROTOTYPES]


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
    winner = prototype(meta, p)
    alone = False
    if winner.owner == 0:
        winner.owner = c
        cluster(meta, c).prototypes += 1
        alone = meta[L.P] == 1
        meta[L.P] += 1
    if q < 0:
        put_pending(meta, p, w)
    else:
        add_edge(meta, p, q, w)
        if alone:
            # So far q was alone and its samples had no runner-up; now that is p.
            release_pending(meta, q, p)
    settle(meta, c)
    refresh(meta, c)
    if q >= 0:
        other = prototype(meta, q).owner
        if other != c and cluster(meta, other).state == L.LIVE:
            refresh(meta, other)


@kernel
def conn_index(meta):
    """The index, Intra and Inter."""
    k = meta[L.K]
    if k == 0:
        return EMPTY, EMPTY, EMPTY
    s, t = 0.0, 0.0
    c = cluster(meta, 0).after
    while c != 0:
        l = cluster(meta, c)
        s += l.intra
        t += l.worst
        c = l.after
    if k == 1:
        # The paper's default is Inter = 1; the toolbox reports Inter = 0, but 0 for the index.
        return 0.0, s, 0.0 if meta[L.TOOLBOX] else 1.0
    return s / k * (1.0 - t / k), s / k, t / k
