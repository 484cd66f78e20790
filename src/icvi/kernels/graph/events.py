"""One signed event: prototype p won, q was the runner-up, the sample is in cluster c.

A positive weight counts the event, a negative one takes it back; 0.0 and -0.0 only look whether
it would be refused.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from icvi.kernels.compiler.compiling import INTEGERS, SAMPLE, compiled
from icvi.kernels.compiler.embedded import embedded
from icvi.kernels.doubles import plus
from icvi.kernels.graph import layout as L
from icvi.kernels.graph.edges import (
    add_both,
    add_edge,
    add_pending,
    count_of,
    release_pending,
    to_take,
    tolerance,
)
from icvi.kernels.graph.lifecycle import appear, forget_if_bare, refresh, update_state
from icvi.kernels.graph.records import cluster, prototype
from icvi.kernels.undefined import EMPTY

_NONE = np.int64(-1)

_WINNERS = types.Array(types.int64, 2, "C", readonly=True)
_RESULTS = types.float64[::1]


# -- one event ---------------------------------------------------------------------------------


@embedded(returns=types.int64)
def apply_event(meta, p, q, c, w, mode):
    """Count the event, or take it back; FINE, or why nothing has changed."""
    if math.copysign(1.0, w) > 0.0:
        reason = refusal_to_count(meta, p, q, c)
        if reason == L.FINE and w > 0.0 and mode != L.CHECK:
            count_event(meta, p, q, c, w)
        return reason
    reason = refusal_to_take(meta, p, q, c, -w)
    if mode == L.LENIENT:
        # The owner may have changed since, and rounding or decay may have left less, or nothing.
        if w < 0.0 and reason != L.NOT_KNOWN:
            q = runner_up_of(meta, p, q)
            if count_of(meta, p, q)[0] > 0.0:
                take_event(meta, p, q, -w)
        return L.FINE
    if reason == L.FINE and w < 0.0 and mode != L.CHECK:
        take_event(meta, p, runner_up_of(meta, p, q), -w)
    if meta[L.DECAYED] and 0.0 < -w < L.NOTHING:
        return L.FINE  # it may have decayed to nothing, and is not there any more
    return reason


@embedded(returns=types.int64)
def refusal_to_count(meta, p, q, c):
    """Why the event cannot be counted."""
    if not has_record(meta, p) or c >= meta[L.SIZE + L.CLUSTERS] or not has_room(meta):
        return L.NO_ROOM
    owner = owner_of(meta, p)
    if owner != 0 and owner != c:
        return L.OTHER_OWNER
    if q < 0:
        others = meta[L.P] + meta[L.SPARE] - (owner != 0)
        return L.RUNNER_UP_MISSING if others > 0 else L.FINE
    if not has_record(meta, q) or owner_of(meta, q) == 0:
        return L.RUNNER_UP_UNKNOWN
    return L.FINE


@embedded(returns=types.int64)
def refusal_to_take(meta, p, q, c, w):
    """Why the event cannot be taken back."""
    if not has_record(meta, p) or prototype(meta, p).owner == 0:
        return L.NOT_KNOWN
    winner = prototype(meta, p)
    if winner.owner != c:
        return L.OTHER_OWNER
    if q < 0 and not winner.pending > 0.0 and winner.second <= 0:
        return L.NEVER_ALONE if winner.second == 0 else L.SEVERAL_SECONDS
    count, rest = count_of(meta, p, runner_up_of(meta, p, q))
    missing = -plus(count, rest, -w)[0]
    return L.TOO_MUCH if missing > tolerance(meta, w) else L.FINE


@embedded
def count_event(meta, p, q, c, w):
    """Count the event, which is not refused."""
    # While there is only one prototype its events are pending; the next prototype that appears
    # becomes their runner-up. Here up to two appear: q, if it was only declared, and p.
    lonely, second = _NONE, _NONE
    if q >= 0 and prototype(meta, q).owner == 0:
        if meta[L.P] == 1:
            lonely, second = only_prototype(meta, p), q
        appear(meta, q, prototype(meta, q).declared)
        update_state(meta, prototype(meta, q).owner)
    if prototype(meta, p).owner == 0:
        if lonely >= 0:
            second = p
        elif meta[L.P] == 1:
            lonely, second = q, p
        appear(meta, p, c)
    if q < 0:
        add_pending(meta, p, w, 0.0)
        update_clusters(meta, c, c)
        return
    add_edge(meta, p, q, w)
    if lonely >= 0:
        release_pending(meta, lonely, second)
    update_clusters(meta, c, prototype(meta, q).owner)
    if lonely >= 0 and lonely != p and lonely != q:
        refresh(meta, prototype(meta, lonely).owner)


@embedded
def take_event(meta, p, q, w):
    """Take the event back, which is there, or as much of it as there is."""
    c = prototype(meta, p).owner
    other = c
    count, rest = count_of(meta, p, q)
    w, rest = to_take(meta, count, rest, w)
    if q < 0:
        add_pending(meta, p, -w, -rest)
    else:
        other = prototype(meta, q).owner
        add_both(meta, p, q, -w, -rest)
        forget_if_bare(meta, q)
    forget_if_bare(meta, p)
    update_clusters(meta, c, other)


@embedded
def update_clusters(meta, c, other):
    """State and readings of both clusters of an event, which has changed."""
    update_state(meta, c)
    if other != c:
        update_state(meta, other)
        if cluster(meta, other).state == L.LIVE:
            refresh(meta, other)
    if cluster(meta, c).state == L.LIVE:
        refresh(meta, c)


@embedded(returns=types.int64)
def owner_of(meta, p):
    """The cluster of a prototype that has weight, an edge, or is declared; 0 for others."""
    i = prototype(meta, p)
    return i.owner if i.owner != 0 else i.declared


@embedded(returns=types.int64)
def runner_up_of(meta, p, q):
    """q, or the runner-up that an event without one got later; -1 while it is pending."""
    winner = prototype(meta, p)
    return q if q >= 0 or winner.pending > 0.0 else winner.second - 1


@embedded(returns=types.int64)
def only_prototype(meta, p):
    """The only prototype that has weight, which is p unless p is new."""
    if prototype(meta, p).owner == 0:
        p = meta[L.BASE]
        while prototype(meta, p).owner == 0:
            p += 1
    return p


@embedded(returns=types.boolean)
def has_record(meta, p):
    """Whether the array of prototypes has a record of this number."""
    return meta[L.BASE] <= p < meta[L.SIZE + L.PROTOTYPES]


@embedded(returns=types.boolean)
def has_room(meta):
    """Whether one more event fits in."""
    for table in range(L.EDGES, L.PAIRS + 1):
        if meta[L.USED + table] + L.MOST >= meta[L.SIZE + table]:
            return False
    return True


@embedded(returns=types.UniTuple(types.float64, 3))
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


# -- what Python calls -------------------------------------------------------------------------


@compiled(types.int64(INTEGERS, types.int64, types.int64, types.int64, types.float64, types.int64))
def apply_one(meta, p, q, c, w, mode):
    """Apply one event; FINE, or why nothing has changed."""
    return apply_event(meta, p, q, c, w, mode)


@compiled(
    types.UniTuple(types.int64, 2)(
        *(INTEGERS, _WINNERS, INTEGERS, SAMPLE, types.int64, types.int64, _RESULTS)
    )
)
def apply_many(meta, winners, columns, weights, mode, start, out):
    """Apply events from ``start`` on, with the index after each; where it stopped, and why."""
    for r in range(start, winners.shape[0]):
        reason = apply_event(meta, winners[r, 0], winners[r, 1], columns[r], weights[r], mode)
        if reason != L.FINE:
            return r, reason
        out[r] = conn_index(meta)[0]
    return winners.shape[0], L.FINE


@compiled(types.UniTuple(types.float64, 3)(INTEGERS))
def read_index(meta):
    """The index, Intra and Inter."""
    return conn_index(meta)
