"""One event of the stream: prototype p won, q was the runner-up, the sample is in cluster c."""

from __future__ import annotations

import numpy as np

from icvi.kernels.compiler.compiling import kernel
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.edges import add_edge
from icvi.kernels.graph.lifecycle import appear, refresh, settle
from icvi.kernels.graph.pending import put_pending, release_pending
from icvi.kernels.graph.records import cluster, prototype
from icvi.kernels.undefined import EMPTY

_NOBODY = np.int64(-1)


@kernel
def refusal(meta, p, q, c, seen):
    """Why the event cannot be; ``seen`` prototypes exist. Owners on trial are negative."""
    owner = owner_of(meta, p)
    if owner != 0 and owner != c:
        return L.OTHER_OWNER
    if q < 0:
        return L.RUNNER_UP_MISSING if seen > (owner != 0) else L.FINE
    if not has_record(meta, q) or owner_of(meta, q) == 0:
        return L.RUNNER_UP_UNKNOWN
    return L.FINE


@kernel
def owner_of(meta, p):
    """The cluster of a prototype that has weight, an edge, or is declared; 0 for others."""
    i = prototype(meta, p)
    return abs(i.owner) if i.owner != 0 else i.declared


@kernel
def existing(meta):
    """How many prototypes there are, with and without weight."""
    return meta[L.P] + meta[L.SPARE]


@kernel
def has_record(meta, p):
    """Whether the table of prototypes reaches this far."""
    return meta[L.BASE] <= p < meta[L.SIZE + L.PROTOTYPES]


@kernel
def has_room(meta):
    """Whether one more event fits in."""
    for relation in range(L.EDGES, L.PAIRS + 1):
        if meta[L.USED + relation] + L.MOST >= meta[L.SIZE + relation]:
            return False
    return True


@kernel
def absorb_event(meta, p, q, c, w):
    """Count the event."""
    # So far one prototype was alone and its samples had no runner-up; the next one becomes that.
    lonely, next_one = _NOBODY, _NOBODY
    if q >= 0 and prototype(meta, q).owner == 0:
        if meta[L.P] == 1:
            lonely, next_one = alone(meta, p), q
        appear(meta, q, prototype(meta, q).declared)
        settle(meta, prototype(meta, q).owner)
    if prototype(meta, p).owner == 0:
        if lonely >= 0:
            next_one = p
        elif meta[L.P] == 1:
            lonely, next_one = q, p
        appear(meta, p, c)
    if q < 0:
        put_pending(meta, p, w)
    else:
        add_edge(meta, p, q, w)
        if lonely >= 0:
            release_pending(meta, lonely, next_one)
    settle(meta, c)
    refresh(meta, c)
    if q >= 0:
        other = prototype(meta, q).owner
        if other != c and cluster(meta, other).state == L.LIVE:
            refresh(meta, other)
        if lonely >= 0 and lonely != p and lonely != q:
            refresh(meta, prototype(meta, lonely).owner)


@kernel
def alone(meta, p):
    """The only prototype that has weight, which is p unless p is new."""
    if prototype(meta, p).owner == 0:
        p = meta[L.BASE]
        while prototype(meta, p).owner == 0:
            p += 1
    return p


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
